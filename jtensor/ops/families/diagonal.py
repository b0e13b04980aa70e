"""Triangles and diagonals, and views written to a copy: tril, triu, diag, diag_embed, select_scatter and its kin, trace.

Owns: operators that place elements by their position; nothing here computes with values but zeros and the trace's sum.
May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import devices, dtypes
from ...trace.plan import is_particular
from ..build import cast_to
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import put_out
from .numeric import not_implemented, wrap_dim

# -- triangles --------------------------------------------------------------------------------------------------------

def _triangle(x, diagonal, lower):
    rows, columns = (lax.broadcasted_iota(jnp.int32, x.shape[-2:], d) for d in (0, 1))
    diagonal = min(max(diagonal, -x.shape[-2]), x.shape[-1])             # int32 is enough for it then
    keep = (columns - rows <= diagonal) if lower else (columns - rows >= diagonal)
    return jnp.where(keep, x, jnp.zeros((), x.dtype))


def _check_triangle(name):
    def check(input, diagonal):
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return check


@op(inplace=True, out=True, check=_check_triangle("tril"), grad={"input": lambda grad, diagonal: _triangle(grad, diagonal, True)},
    double="TrilBackward0", quirks=Quirks(overlap_allowed=True))
def tril(input: Tensor, diagonal=0):
    """The lower triangle of matrices, up to ``diagonal``; zero above.

    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle(input, diagonal, True)


@op(inplace=True, out=True, check=_check_triangle("triu"), grad={"input": lambda grad, diagonal: _triangle(grad, diagonal, False)},
    double="TriuBackward0", quirks=Quirks(overlap_allowed=True, out_fold="last"))
def triu(input: Tensor, diagonal=0):
    """The upper triangle of matrices, from ``diagonal``; zero below.

    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triangle(input, diagonal, False)


def _triangle_indices(name, find, row, col, offset, dtype, device):
    from ...tensor.creating.from_data import from_host
    dtype = dtype or dtypes.int64
    if row < 0 or col < 0:
        what, n = ("row", row) if row < 0 else ("col", col)
        raise RuntimeError(f"{what} must be non-negative, got{n}")
    if dtype not in (dtypes.int32, dtypes.int64):
        raise not_implemented(name, dtype)
    made = from_host(np.stack(find(row, offset, col)).astype(dtype.numpy))
    return made.to(devices.current() if device is None else device)


@composite(method=False, asked=True)
def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False, requires_grad=False):
    """The coordinates of the lower triangle of a ``row`` by ``col`` matrix: two rows of integers.

    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle_indices("tril_indices", np.tril_indices, row, col, offset, dtype, device)


@composite(method=False, asked=True)
def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False, requires_grad=False):
    """The coordinates of the upper triangle of a ``row`` by ``col`` matrix: two rows of integers.

    >>> torch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _triangle_indices("triu_indices", np.triu_indices, row, col, offset, dtype, device)


# -- diagonals --------------------------------------------------------------------------------------------------------

def _check_embed(input, offset, dim1, dim2):
    n = input.ndim + 1
    a, b = wrap_dim(dim1, n), wrap_dim(dim2, n)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


@op(saves=(), check=_check_embed, out=False, inverse=lambda grad, node: (grad.diagonal(*node.plan.notes.template[1:]),),
    quirks=Quirks(into_ordinary=True))
def diag_embed(input: Tensor, offset=0, dim1=-2, dim2=-1):
    """Matrices (in dimensions ``dim1`` and ``dim2``) whose diagonals are the last dimension of the input; zero elsewhere.

    >>> torch.diag_embed(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    n = input.shape[-1] + abs(offset)
    rows, columns = (lax.broadcasted_iota(jnp.int32, (n, n), d) for d in (0, 1))
    here = columns - rows == offset
    low, high = max(-offset, 0), max(offset, 0)
    config = [(0, 0, 0)] * (input.ndim - 1)
    padded = lax.pad(input.astype(jnp.uint8) if input.dtype == jnp.bool_ else input,
                     jnp.zeros((), jnp.uint8 if input.dtype == jnp.bool_ else input.dtype), [*config, (low, high, 0)])
    full = jnp.where(here, padded[..., :, None], jnp.zeros((), padded.dtype))
    return jnp.moveaxis(full, (-2, -1), (dim1 % (input.ndim + 1), dim2 % (input.ndim + 1))).astype(input.dtype)


def _diagonal_places(shape, offset, dim1, dim2):
    """Row and column numbers of a diagonal."""
    rows, columns = shape[dim1], shape[dim2]
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    at = np.arange(n)
    return at + max(-offset, 0), at + max(offset, 0)


def _check_diagonal(input, offset, dim1, dim2):
    a, b = wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


@op(saves=(), backward="DiagonalBackward0_copy", check=_check_diagonal, method=False, out=True)
def diagonal_copy(input: Tensor, offset=0, dim1=0, dim2=1):
    """A copy of a diagonal as the last dimension.

    >>> torch.diagonal_copy(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return jnp.diagonal(input, offset, dim1, dim2)


@composite("linalg_diagonal", **RAW)
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices; a view.

    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return A.diagonal(offset, dim1, dim2)


@composite()
def diag(input, diagonal=0, *, out=None):
    """A matrix with the vector on its diagonal; of a matrix a copy of its diagonal.

    >>> torch.diag(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    n = input._spec.ndim
    if n not in (1, 2):
        raise RuntimeError(f"{'diag(): ' if out is None else ''}Supports 1D or 2D tensors. Got {n}D")
    return put_out("diag", diag_embed(input, diagonal) if n == 1 else diagonal_copy(input, diagonal), out)


@composite()
def diagflat(input, offset=0):
    """A matrix with all elements on its diagonal.

    >>> torch.diagflat(torch.tensor([[1, 2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(input.contiguous().view(-1), offset)


@composite(function=False)
def fill_diagonal_(self, fill_value, wrap=False):
    """Puts a number on the main diagonal, in place; ``wrap``: of a tall matrix again and again."""
    n = self._spec.ndim
    if n < 2:
        raise RuntimeError("dimensions must larger than 1")
    size = self._spec.size
    if n > 2 and any(m != size[0] for m in size):
        raise RuntimeError("all dimensions of input must be of equal length")
    stride = sum(self._spec.stride)
    self.as_strided((min(size),), (stride,), self._offset).fill_(fill_value)
    if wrap and n == 2 and size[0] > size[1] + 1:
        rows, columns = size
        step = columns * self._spec.stride[0]
        begin = (columns + 1) * self._spec.stride[0]
        count = -(-(rows * columns - (columns + 1) * columns) // (columns + 1))
        if count > 0 and step:
            self.as_strided((count,), (stride,), self._offset + begin).fill_(fill_value)
    return self


# -- views written to a copy ------------------------------------------------------------------------------------------

def _same(size, src):
    if tuple(src.size) != tuple(size):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.size)}, slice size = "
                           f"{list(size)}")


def _check_diagonal_scatter(input, src, offset, dim1, dim2):
    _check_diagonal(input, offset, dim1, dim2)
    a, b = wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim)
    rest = [n for d, n in enumerate(input.size) if d not in (a, b)]
    _same([*rest, len(_diagonal_places(input.size, offset, a, b)[0])], src)


def _on_diagonal(x, values, offset, dim1, dim2):
    moved = jnp.moveaxis(x, (dim1, dim2), (-2, -1))
    rows, columns = _diagonal_places(x.shape, offset, dim1 % x.ndim, dim2 % x.ndim)
    made = moved.at[..., rows, columns].set(values, mode="promise_in_bounds", unique_indices=True)
    return jnp.moveaxis(made, (-2, -1), (dim1, dim2))


@op(saves=(), out=True, layout="like", check=_check_diagonal_scatter)
def diagonal_scatter(input: Tensor, src: Tensor, offset=0, dim1=0, dim2=1):
    """A copy of the tensor with ``src`` on a diagonal.

    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _on_diagonal(input, cast_to(src, input.dtype), offset, dim1, dim2)


def _check_select_scatter(input, src, dim, index):
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, input.ndim)
    n = input.size[axis]
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.size)} at dimension {axis}")
    _same([m for d, m in enumerate(input.size) if d != axis], src)


@op(saves=(), out=True, layout="like", check=_check_select_scatter, quirks=Quirks(real_only="select_scatter"))
def select_scatter(input: Tensor, src: Tensor, dim, index):
    """A copy of the tensor with ``src`` as the slice at ``index`` along ``dim``.

    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    axis = dim % input.ndim
    n = input.shape[axis]
    return lax.dynamic_update_slice_in_dim(input, jnp.expand_dims(cast_to(src, input.dtype), axis), index % n, axis)


def _slice_bounds(n, start, end, step):
    start, end = 0 if start is None else start, n if end is None else end
    start = min(max(start + n if start < 0 else start, 0), n)
    end = min(max(end + n if end < 0 else end, start), n)
    return start, end, -(-(end - start) // step)


def _check_slice_scatter(input, src, dim, start, end, step):
    axis = wrap_dim(dim, input.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    size = list(input.size)
    size[axis] = _slice_bounds(size[axis], start, end, step)[2]
    _same(size, src)


@op(saves=(), out=True, layout="like", check=_check_slice_scatter, quirks=Quirks(real_only="slice_scatter"))
def slice_scatter(input: Tensor, src: Tensor, dim=0, start=None, end=None, step=1):
    """A copy of the tensor with ``src`` as the slice from ``start`` to ``end`` along ``dim``.

    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    axis = dim % input.ndim
    start, _, count = _slice_bounds(input.shape[axis], start, end, step)
    src = cast_to(src, input.dtype)
    if step == 1:
        return lax.dynamic_update_slice_in_dim(input, src, start, axis)
    is_particular()
    place = (slice(None),) * axis + (slice(start, start + (count - 1) * step + 1 if count else start, step),)
    return input.at[place].set(src)


@composite(asked=True)
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of the tensor with ``src`` in the places that ``as_strided`` shows.

    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    made = input.clone()
    view = made.as_strided(size, stride, storage_offset)
    if tuple(view._spec.size) != tuple(src._spec.size):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src._spec.size)}, slice size = "
                           f"{list(view._spec.size)}")
    view.copy_(src)
    return made


# -- trace -------------------------------------------------------------------------------------------------------------

@composite()
def trace(input):
    """The sum of a matrix's diagonal.

    >>> torch.trace(torch.eye(3))
    tensor(3.)
    """
    return trace_raw(input)


def _check_trace(self):
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    if self.dtype is dtypes.bool:
        raise not_implemented("trace", self.dtype)


def _trace_gradient(grad, node):
    """A vector of zeros with the gradient in some places, seen as the matrix."""
    from ...tensor.creating.create import arange
    rows, columns = node.plan.inputs[0].shape
    flat = grad.new_zeros(rows * columns).index_fill_(0, arange(min(rows, columns), device=grad.device) * (columns + 1), grad)
    flat._counter.version = 2                            # PyTorch fills a copy
    return (flat.view(rows, columns),)


@op(name="trace.raw", backward="TraceBackward0", saves=(), check=_check_trace, inverse=_trace_gradient, **RAW)
def trace_raw(self: Tensor):
    """The sum of the diagonal; integers add up in int64."""
    x = jnp.diagonal(self)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        x = x.astype(jnp.int64)
    return jnp.sum(x, dtype=jnp.float32 if x.dtype in (jnp.float16, jnp.bfloat16) else x.dtype).astype(x.dtype)
