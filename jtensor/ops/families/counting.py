"""Counting and looking up in order: bincount, histc, searchsorted, bucketize, unique.

Owns: what has sizes that depend on the data (which is looked at), and binary search. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np

from ...base import dtypes, sites
from ..fitting import as_double
from ..loops import fori_loop
from ..operator import RAW, Tensor, op
from ..registry import composite
from .bounds import check_bounds
from .composing import only_bools, put_out
from .numeric import not_implemented, wrap_dim
from .sort import keys_of

# -- counting ---------------------------------------------------------------------------------------------------------

@op(name="bincount.raw", sync="slices", nondiff=("self",), **RAW)
def bincount_raw(self: Tensor, minlength):
    """How often each integer occurs."""
    return np.bincount(self, minlength=minlength).astype(np.int64)


@op(name="bincount.weighted", sync="slices", nondiff=("self", "weights"), **RAW)
def bincount_weighted(self: Tensor, weights: Tensor, minlength):
    """The sum of the weights of each integer."""
    wide = weights.dtype if weights.dtype in (np.float32, np.float64) else np.float64
    out = np.zeros(max(minlength, int(self.max()) + 1 if self.size else 0), wide)
    np.add.at(out, self, weights.astype(wide))
    return out


@composite()
def bincount(input, weights=None, minlength=0):
    """How often each non-negative integer occurs in a vector, or the sums of the ``weights`` at each.

    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    if input._spec.dtype.category > 1 or input._spec.dtype is dtypes.bool:
        raise not_implemented("bincount_cpu", input._spec.dtype)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input._spec.ndim == 1 and not input._spec.numel:
        return input.new_zeros((minlength,), dtype=dtypes.int64)
    from ...tensor.lifted.batching import whole
    if input._spec.ndim != 1 or whole(input).min().item() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return bincount_raw(input, minlength)
    if weights._spec.ndim != 1 or weights._spec.numel != input._spec.numel:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    from ...tensor.underivable import without_derivative
    made = bincount_weighted(input, weights, minlength)
    without_derivative("bincount", (weights,), (made,))
    return made


@op(name="histc.raw", sync="slices", nondiff=("self",), **RAW)
def histc_raw(self: Tensor, bins, low, high):
    """The number of elements in each of equal bins."""
    x = self.reshape(-1)
    if low == high and x.size:
        low, high = float(x.min()), float(x.max())
    if not np.isfinite([low, high]).all():
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    # PyTorch's arithmetic, each step in the type of the data: the offset from the lowest edge, times the bins, divided by the width.
    low, high = (np.asarray(edge).astype(x.dtype) for edge in (low, high))
    x = x[(x >= low) & (x <= high)]
    at = ((x - low) * np.asarray(bins).astype(x.dtype) / (high - low)).astype(np.int64)
    return np.bincount(np.minimum(at, bins - 1), minlength=bins).astype(self.dtype)


@composite(asked=True)
def histc(input, bins=100, min=0, max=0, *, out=None):
    """The number of elements in each of ``bins`` equal bins from ``min`` to ``max`` (of the data where both are equal).

    >>> torch.histc(torch.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    dtype, min, max = input._spec.dtype, as_double(min), as_double(max)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    if not dtype.is_floating_point:
        smallest = dtype.is_complex and min == max and input.numel()
        raise not_implemented("linspace_cpu" if dtype is dtypes.bool else "aminmax_cpu" if smallest else "histogram_cpu", dtype)
    return put_out("histc", histc_raw(input, bins, min, max), out)


# -- binary search ----------------------------------------------------------------------------------------------------

def _value_among(boundaries, number):
    """A Python number as a tensor of the boundaries' type; a broken one among integers keeps its fraction."""
    fraction = isinstance(number, float) and boundaries._spec.dtype.category < 2
    return boundaries.new_tensor(number, dtype=dtypes.get_default_dtype() if fraction else None)


def _check_search(boundaries, values):
    if not boundaries.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if boundaries.ndim != 1 and tuple(boundaries.size[:-1]) != tuple(values.size[:-1]):
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
                           f"and input value tensor must match, but we got boundaries tensor {list(boundaries.size)} and input value "
                           f"tensor {list(values.size)}")


@op(name="searchsorted.raw", nondiff=("boundaries", "values", 0), **RAW)
def searchsorted_raw(boundaries: Tensor, values: Tensor, int32, right):
    """Where each value goes in the sorted last dimension of the boundaries."""
    kind = jnp.int32 if int32 else jnp.int64
    common = jnp.promote_types(boundaries.dtype, values.dtype)
    if not boundaries.size or not values.size:
        return jnp.zeros(values.shape, kind)
    boundaries, wanted = boundaries.astype(common), keys_of(values.astype(common))
    edges = keys_of(boundaries)
    if jnp.issubdtype(common, jnp.floating):                # a NaN is below what is compared with it, and a value that is one above all
        edges = jnp.where(boundaries != boundaries, jnp.iinfo(edges.dtype).min, edges)
    if edges.ndim == 1:
        return _halved(edges[None], wanted.reshape(1, -1), right).reshape(wanted.shape).astype(kind)
    rows, targets = edges.reshape(-1, edges.shape[-1]), wanted.reshape(-1, wanted.shape[-1])
    return _halved(rows, targets, right).reshape(wanted.shape).astype(kind)


def _halved(rows, targets, right):
    """Where each target goes in its row, found as PyTorch finds it, also in rows that are in no order."""
    def step(_, ends):
        low, high = ends
        middle = low + ((high - low) >> 1)
        edge = jnp.take_along_axis(rows, jnp.minimum(middle, rows.shape[1] - 1), 1)
        behind = ~(edge > targets if right else edge >= targets)
        return jnp.where((low < high) & behind, middle + 1, low), jnp.where((low < high) & ~behind, middle, high)
    ends = jnp.zeros(targets.shape, jnp.int64), jnp.full(targets.shape, rows.shape[1], jnp.int64)
    return fori_loop(0, rows.shape[1].bit_length(), step, ends)[0]


def _no_kernel(*given):
    """Refuses complex numbers, and truth values among themselves."""
    kinds = [one._spec.dtype for one in given if hasattr(one, "_spec")]
    for kind in kinds:
        if kind.is_complex or all(k is dtypes.bool for k in kinds):
            raise not_implemented("searchsorted_out_cpu", kind)


def _warn_of_copies(boundaries, values, sorter=None):
    """Says what PyTorch would have to copy."""
    if not values._spec.numel:
        return
    for what, tensor in (("input value", values), ("boundary", boundaries), ("sorter", sorter)):
        if tensor is not None and not tensor._spec.contiguous:
            sites.warn_once(f"torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to extra data "
                            f"copy when converting non-contiguous tensor to contiguous, please use contiguous {what} tensor if possible. "
                            "This message will only appear once per program.")


@composite(method=False, asked=True)
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, out=None, sorter=None):
    """Where each value of ``input`` goes in the sorted last dimension of ``sorted_sequence``: before equals, or (``right``) behind.

    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
        if side == "left" and right:
            raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
        right = side == "right"
    number = isinstance(input, (bool, int, float))
    values = _value_among(sorted_sequence, input) if number else input
    if number and sorted_sequence._spec.ndim != 1:
        raise RuntimeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
                           f"boundaries tensor dim({sorted_sequence._spec.ndim}) and input value's dim(0) numel(1)")
    if sorter is not None:
        if tuple(sorter._spec.size) != tuple(sorted_sequence._spec.size):
            raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                               f"{list(sorted_sequence._spec.size)}and got sorter tensor {list(sorter._spec.size)}")
        if sorter._spec.dtype is not dtypes.int64:
            raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                               f"{dtypes.scalar_name(sorter._spec.dtype)}")
        check_bounds(sorter, sorted_sequence._spec.size[-1], lambda n: RuntimeError("torch.searchsorted(): sorter index out of range"))
    _check_search(sorted_sequence._spec, values._spec)
    _no_kernel(sorted_sequence, values)
    _warn_of_copies(sorted_sequence, values, sorter)
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    return put_out("searchsorted", searchsorted_raw(sorted_sequence, values, bool(out_int32), bool(right)), out)


@composite(method=False, asked=True)
def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The number of boundaries below each value (``right``: or equal to it); the boundaries are a sorted vector.

    >>> torch.bucketize(torch.tensor([3, 6]), torch.tensor([1, 3, 5]))
    tensor([1, 3])
    """
    if boundaries._spec.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._spec.ndim})")
    if isinstance(input, (bool, int, float)):
        input = _value_among(boundaries, input)
    _no_kernel(input, boundaries)
    _warn_of_copies(boundaries, input)
    return put_out("bucketize", searchsorted_raw(boundaries, input, bool(out_int32), bool(right)), out)


# -- unique -----------------------------------------------------------------------------------------------------------

@op(name="unique.raw", sync=True, nondiff=("self",), **RAW)
def unique_raw(self: Tensor, dim, inverse):
    """The distinct elements (or slices) in order, where each is among them if that is asked for, and how often it occurs. Every NaN is
    distinct."""
    x = self.astype(np.float32) if self.dtype.kind == "V" else self                # NumPy's sort of bfloat16 does not know NaNs
    if dim is None:
        x = x.reshape(-1)
        values, places, counts = _distinct(x, inverse)
        places = places.reshape(self.shape if inverse else 0)
        if x.dtype.kind == "f" and (zero := values == 0).any():
            values[zero] = x[np.argmax(x == 0)]                                     # of -0.0 and 0.0 the one that comes first
    else:
        values, places, counts = np.unique(x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
        places = places.reshape(-1)
    return values.astype(self.dtype), places.astype(np.int64), counts.astype(np.int64)


NEAR = 4                # integers are near each other if no more than so many times as many would lie between the least and the greatest


def _distinct(x, inverse):
    """What `unique_raw` does, of a vector. Integers that are near each other are counted; NumPy sorts fast where nobody asks for places."""
    if x.size and x.dtype.kind in "iu" and int(x.max()) - (least := int(x.min())) < NEAR * x.size:
        above = x if x.dtype == np.uint64 else x.astype(np.int64)
        above = (above - above.dtype.type(least)).astype(np.int64)
        found = np.bincount(above)
        there = found > 0
        values = np.flatnonzero(there)
        places = (np.cumsum(there) - 1)[above] if inverse else values[:0]
        return values.astype(x.dtype) + x.dtype.type(least), places, found[values]
    if inverse:
        return np.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
    x = np.sort(x)
    begins = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]])) if x.size else np.zeros(0, np.int64)
    return x[begins], begins[:0], np.diff(begins, append=x.size)


@op(name="unique_runs.raw", sync=True, nondiff=("self",), **RAW)
def unique_runs_raw(self: Tensor, dim):
    """The elements (or slices) that differ from the one before, the run of each, and the runs' lengths."""
    x = self.reshape(-1) if dim is None else np.moveaxis(self, dim, 0)
    n = len(x)
    if not n or not x.size:
        return (self.reshape(0) if dim is None else self), np.zeros(self.shape if dim is None else (n,), np.int64), np.zeros(0, np.int64)
    differs = (x[1:] != x[:-1]).any(tuple(range(1, x.ndim)))
    begins = np.concatenate([[True], differs])
    run = np.cumsum(begins) - 1
    lengths = np.diff(np.append(np.flatnonzero(begins), n)).astype(np.int64)
    values = x[begins] if dim is None else np.moveaxis(x[begins], 0, dim)
    return values, run.reshape(self.shape if dim is None else (-1,)).astype(np.int64), lengths


def _check_slices(self, axis, dim):
    """PyTorch's errors for slices along ``axis`` of a number, or of a tensor without elements."""
    size = tuple(self._spec.size)
    if not size:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if 0 not in size:
        return
    if size[axis]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if size.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")


def _answer(input, made, return_inverse, return_counts, name, node):
    from ...tensor.underivable import without_derivative
    values, inverse, counts = made
    without_derivative(name, (input,), (values,), node)
    answer = (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))
    return answer if len(answer) > 1 else values


@composite(asked=True)
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along ``dim``), in order; with where each element is among them, and how often each occurs.

    >>> torch.unique(torch.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    only_bools("_unique2" if dim is None else "unique_dim", sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    axis = None if dim is None else wrap_dim(dim, input._spec.ndim)
    if input._spec.dtype.is_complex:
        raise not_implemented("unique" if axis is None else "unique_dim", input._spec.dtype)
    if axis is not None:
        _check_slices(input, axis, dim)
    name, node = ("_unique2", "Unique2Backward0") if axis is None else ("unique_dim", "UniqueDimBackward0")
    return _answer(input, unique_raw(input, axis, bool(return_inverse)), return_inverse, return_counts, name, node)


@composite(asked=True)
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices along ``dim``) without those that equal the one before.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    only_bools("unique_consecutive", return_inverse=return_inverse, return_counts=return_counts)
    if input._spec.dtype.is_complex:
        raise not_implemented("unique" if dim is None else "unique_dim", input._spec.dtype)
    axis = None if dim is None else wrap_dim(dim, input._spec.ndim)
    if axis is not None:
        _check_slices(input, axis, dim)
    return _answer(input, unique_runs_raw(input, axis), return_inverse, return_counts, "unique_consecutive", "UniqueConsecutiveBackward0")
