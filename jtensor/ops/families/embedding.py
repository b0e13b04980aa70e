"""Rows of a table by index: embedding and embedding_bag.

Owns: the look-up and its gradient, a sum of rows. May not know: tensors as objects, but in composites.
"""
import jax
import jax.numpy as jnp
import numpy as np

from ...base import dtypes
from ..loops import searchsorted
from ..operator import RAW, OptTensor, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .bounds import check_bounds, rows_of
from .index import read_at
from .numeric import NARROW, legacy_type

_INDEX_TYPES = (dtypes.int64, dtypes.int32)
_WEIGHT_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def scalars_wanted(argument, spec, wanted, function):
    """PyTorch's error for a tensor argument of none of the ``wanted`` types; some types it calls by another name."""
    d = spec.dtype
    if d not in wanted:
        listed = ", ".join(map(dtypes.scalar_name, wanted))
        raise RuntimeError(f"Expected tensor for argument #1 '{argument}' to have one of the following scalar types: {listed}; but got "
                           f"{legacy_type(d)} instead (while checking arguments for {function})")


def _check(weight, indices, *settings):
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    scalars_wanted("indices", indices, _INDEX_TYPES, "embedding")


def add_rows(count, indices, rows):
    """A table of ``count`` rows with ``rows`` added at ``indices``; narrow floats add up in float32."""
    wide = jnp.float32 if rows.dtype in NARROW else rows.dtype
    table = jnp.zeros((count, rows.shape[-1]), wide)
    return table.at[indices].add(rows.astype(wide), mode="promise_in_bounds").astype(rows.dtype)


def _gradient(grad, indices, padding_idx, scale_grad_by_freq, shapes):
    rows, dim = shapes[0]
    flat = indices.reshape(-1)
    g = grad.reshape(flat.shape[0], dim)
    if padding_idx >= 0:
        g = jnp.where((flat == padding_idx)[:, None], jnp.zeros((), g.dtype), g)
    if scale_grad_by_freq:
        counts = jnp.zeros((rows,), g.dtype).at[flat].add(jnp.ones((), g.dtype), mode="promise_in_bounds")
        g = g / counts.at[flat].get(mode="promise_in_bounds")[:, None]
    return add_rows(rows, flat, g)


@op(name="embedding.raw", backward="EmbeddingBackward0", check=_check, nondiff=("indices",), grad={"weight": _gradient}, **RAW,
    double="EmbeddingDenseBackwardBackward0", quirks=Quirks(real_only="embedding"))
def embedding_raw(weight: Tensor, indices: Tensor, padding_idx, scale_grad_by_freq):
    """The rows that the indices name."""
    return read_at(weight, [indices], (0,))


@op(name="_pack_padded_sequence", method=False, function=False, backward="PackPaddedSequenceBackward0", nondiff=("rows",),
    grad={"input": lambda grad, rows, shapes: jnp.zeros((shapes[0][0] * shapes[0][1], *shapes[0][2:]), grad.dtype).at[rows].set(
        grad, mode="promise_in_bounds", unique_indices=True).reshape(shapes[0])})
def packed_rows(input: Tensor, rows: Tensor):
    """Of padded sequences ``(T, N, *)`` the steps at the places ``t * N + n`` that there are: ``nn.utils.rnn``'s operator."""
    return input.reshape(-1, *input.shape[2:]).at[rows].get(mode="promise_in_bounds")


def _bag_in_range(indices, rows, mode):
    def error(n):
        if mode == _MAX:
            return RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {n}")
        at = indices.flatten().tolist().index(n)
        return RuntimeError(f"Index {at} of input takes value {n} which is not in the valid range [0, {rows})")
    check_bounds(indices, rows, error)


@composite(method=False)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` ``(V, D)`` that the integers ``indices`` ``(*)`` name: ``(*, D)``. IndexError out of range.

    >>> torch.embedding(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1]))
    tensor([[3., 4.]])
    """
    if sparse and weight.requires_grad:
        from ...sparse.embedding import embedding as with_sparse_gradient
        return with_sparse_gradient(weight, indices, int(padding_idx), scale_grad_by_freq)
    if weight._spec.ndim and not weight._spec.size[0] and indices._spec.numel:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    made = embedding_raw(weight, indices, int(padding_idx), bool(scale_grad_by_freq))
    check_bounds(indices, weight._spec.size[0], lambda n: IndexError("index out of range in self"))
    return made


# -- bags -------------------------------------------------------------------------------------------------------------

_SUM, _MEAN, _MAX = 0, 1, 2


def _bags(indices, offsets, include_last_offset):
    """(bag of each index, number of bags)."""
    count = offsets.shape[0] - bool(include_last_offset)
    places = jnp.arange(indices.shape[0], dtype=offsets.dtype)
    return searchsorted(offsets[:count], places, side="right").astype(jnp.int64) - 1, count


def _greatest(weight, indices, rows, used, bags, sizes):
    """(the greatest number of each bag and column, the index it stands at): the first of equals, and a NaN only where it comes first."""
    count, columns = sizes.shape[0], weight.shape[1]
    if not indices.shape[0]:
        return jnp.zeros((count, columns), weight.dtype), jnp.zeros((count, columns), indices.dtype)
    places = jnp.arange(indices.shape[0])
    begin = jax.ops.segment_min(jnp.where(used, places, places.shape[0]), bags, count)
    begins = (used & (places == begin.at[bags].get(mode="promise_in_bounds")))[:, None]
    rows = jax.lax.stop_gradient(rows)
    low = jnp.where(used[:, None] & (begins | (rows == rows)), rows, -jnp.inf)
    most = jax.ops.segment_max(low, bags, count).at[bags].get(mode="promise_in_bounds")
    hit = used[:, None] & (low == most) | begins & (low != low)
    first = jax.ops.segment_min(jnp.where(hit, places[:, None], places.shape[0]), bags, count)
    is_there = (sizes > 0)[:, None]
    where = jnp.where(is_there, indices.at[jnp.where(is_there, first, 0)].get(mode="promise_in_bounds"), 0)
    made = weight.at[where, jnp.arange(columns)].get(mode="promise_in_bounds")
    return jnp.where(is_there, made, jnp.zeros((), weight.dtype)), where


@op(name="embedding_bag.raw", backward="EmbeddingBagBackward0", nondiff=("indices", "offsets", 1, 2, 3), **RAW)
def embedding_bag_raw(weight: Tensor, indices: Tensor, offsets: Tensor, per_sample_weights: OptTensor, mode, include_last_offset,
                      padding_idx, scale_grad_by_freq):
    """(the bags' sums, means or maxima; the bag of each index; indices a bag; where maxima were)."""
    bags, count = _bags(indices, offsets, include_last_offset)
    rows = weight.at[indices].get(mode="promise_in_bounds")
    rows = rows.astype(jnp.float32) if rows.dtype in NARROW else rows
    used = jnp.ones(indices.shape, bool) if padding_idx < 0 else indices != padding_idx
    sizes = jnp.zeros((count,), jnp.int64).at[bags].add(used.astype(jnp.int64), mode="drop")
    if mode == _MAX:
        out, where = _greatest(weight, indices, rows, used, bags, sizes)
        return out, bags, sizes, where
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None].astype(rows.dtype)
    if scale_grad_by_freq:
        counts = jnp.zeros((weight.shape[0],), rows.dtype).at[indices].add(1)
        factor = (1 / counts.at[indices].get(mode="promise_in_bounds"))[:, None]
        rows = jax.lax.stop_gradient(rows - rows * factor) + rows * factor
    rows = jnp.where(used[:, None], rows, jnp.zeros((), rows.dtype))
    out = jnp.zeros((count, weight.shape[1]), rows.dtype).at[bags].add(rows, mode="drop")
    if mode == _MEAN:
        out = out / jnp.where(sizes > 0, sizes, 1).astype(out.dtype)[:, None]
    return out.astype(weight.dtype), bags, sizes, sizes


def _check_bag(weight, indices, offsets, per_sample_weights):
    for t in (indices, offsets):                # PyTorch calls both by the first one's name
        scalars_wanted("indices", t._spec, _INDEX_TYPES, "embedding_bag")
    scalars_wanted("weight", weight._spec, _WEIGHT_TYPES, "embedding_bag")
    if per_sample_weights is not None and per_sample_weights._spec.dtype is not weight._spec.dtype:
        of_weight, of_samples = (f"torch.{dtypes.scalar_name(t._spec.dtype)}Tensor" for t in (weight, per_sample_weights))
        raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; "
                           f"but type {of_weight} does not equal {of_samples} (while checking arguments for embedding_bag)")
    for name, t, wanted in (("offsets", offsets, 1), ("weight", weight, 2)):
        if t.dim() != wanted:
            raise RuntimeError(f"{name} has to be a {wanted}D Tensor, but got Tensor of dimension {t.dim()}")


def _check_offsets(offsets, count, include_last_offset, mode):
    """Bags begin at the first index and within the indices, of which there are ``count``, one after the other."""
    if include_last_offset and not offsets._spec.numel:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    rows = rows_of(offsets)
    if rows is None:
        return
    first, last = int(rows[:, 0].max()), int(rows[:, -1].max())
    if first != 0:
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                           f"{first}\n[ torch.{dtypes.scalar_name(offsets._spec.dtype)}Tensor{{}} ]")
    if last > count:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {last}")
    if mode != _MAX and (np.diff(rows) < 0).any():
        raise RuntimeError("Expected i < index_size to be true, but got false.  (Could this error message be improved?  If so, please "
                           "report an enhancement request to PyTorch.)")


@composite(method=False)
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """The sum (``mode`` 0), mean (1) or maximum (2) of the rows of ``weight`` in every bag of indices; ``offsets`` say where bags begin.

    Answers (result, the bag of each index, sizes of the bags, where maxima were).

    >>> torch.embedding_bag(torch.eye(3), torch.tensor([0, 2, 1]), torch.tensor([0, 2]))[0]
    tensor([[1., 0., 1.],
            [0., 1., 0.]])
    """
    if sparse and weight.requires_grad:
        from ...sparse.embedding import embedding_bag as with_sparse_gradient
        return with_sparse_gradient(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset,
                                    padding_idx)
    _check_bag(weight, indices, offsets, per_sample_weights)
    if indices._spec.dtype is not offsets._spec.dtype:
        wide = dtypes.int64
        indices, offsets = indices.to(wide), offsets.to(wide)
    indices = indices if indices.dim() == 1 else indices.reshape(-1)
    rows = weight._spec.size[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got {padding_idx}")
    _check_offsets(offsets, indices._spec.size[0], include_last_offset, mode)
    _bag_in_range(indices, rows, mode)
    padding = -1 if padding_idx is None else padding_idx + rows if padding_idx < 0 else padding_idx
    return embedding_bag_raw(weight, indices, offsets, per_sample_weights, mode, bool(include_last_offset), padding,
                             bool(scale_grad_by_freq))
