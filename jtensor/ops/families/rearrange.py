"""Elements moved, repeated or masked by position: tril, diag, scattered views, repeat, roll, flip, rot90.

Owns: operators that copy and place; nothing here computes with values but zeros. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..build import cast_to
from ..operator import Tensor, op
from ..registry import composite
from .composing import put_out
from .numeric import axes_of, wrap_dim

RAW = {"function": False, "method": False}


# -- triangles --------------------------------------------------------------------------------------------------------

def _triangle(x, diagonal, lower):
    rows, columns = (lax.broadcasted_iota(jnp.int32, x.shape[-2:], d) for d in (0, 1))
    keep = (columns - rows <= diagonal) if lower else (columns - rows >= diagonal)
    return jnp.where(keep, x, jnp.zeros((), x.dtype))


def _check_triangle(name):
    def check(input, diagonal):
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return check


@op(inplace=True, out=True, check=_check_triangle("tril"), grad={"input": lambda grad, diagonal: _triangle(grad, diagonal, True)},
    double="TrilBackward0")
def tril(input: Tensor, diagonal=0):
    """The lower triangle of matrices, up to ``diagonal``; zero above.

    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle(input, diagonal, True)


@op(inplace=True, out=True, check=_check_triangle("triu"), grad={"input": lambda grad, diagonal: _triangle(grad, diagonal, False)},
    double="TriuBackward0")
def triu(input: Tensor, diagonal=0):
    """The upper triangle of matrices, from ``diagonal``; zero below.

    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triangle(input, diagonal, False)


def _triangle_indices(name, find, row, col, offset, dtype, device):
    from ...tensor.create import from_host
    dtype = dtype or dtypes.int64
    if row < 0 or col < 0:
        what, n = ("row", row) if row < 0 else ("col", col)
        raise RuntimeError(f"{what} must be non-negative, got{n}")
    if dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(f'"{name}" not implemented for \'{dtypes.scalar_name(dtype)}\'')
    made = from_host(np.stack(find(row, offset, col)).astype(dtype.numpy))
    return made if device is None else made.to(device)


@composite(method=False)
def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False, requires_grad=False):
    """The coordinates of the lower triangle of a ``row`` by ``col`` matrix: two rows of integers.

    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle_indices("tril_indices", np.tril_indices, row, col, offset, dtype, device)


@composite(method=False)
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


@op(saves=(), check=_check_embed, out=False, inverse=lambda grad, node: (grad.diagonal(*node.plan.notes.template[1:]),))
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


@composite()
def diag(input, diagonal=0, *, out=None):
    """A matrix with the vector on its diagonal; of a matrix a copy of its diagonal.

    >>> torch.diag(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    n = input._spec.ndim
    if n not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
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


@op(saves=(), out=True, check=_check_diagonal_scatter)
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


@op(saves=(), out=True, check=_check_select_scatter)
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


@op(saves=(), out=True, check=_check_slice_scatter)
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
    place = (slice(None),) * axis + (slice(start, start + (count - 1) * step + 1 if count else start, step),)
    return input.at[place].set(src)


@composite()
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


# -- repetition -------------------------------------------------------------------------------------------------------

def _check_repeat(self, repeats):
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(r < 0 for r in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(repeats)}: {list(repeats)}")


def _repeat_gradient(grad, repeats, shapes):
    shape = (1,) * (len(repeats) - len(shapes[0])) + tuple(shapes[0])
    if 0 in repeats:
        return jnp.zeros(shapes[0], grad.dtype)
    split = [n for r, m in zip(repeats, shape, strict=True) for n in (r, m)]
    return grad.reshape(split).sum(tuple(range(0, 2 * len(shape), 2))).reshape(shapes[0])


@op(name="repeat.raw", backward="RepeatBackward0", check=_check_repeat, grad={"self": _repeat_gradient}, **RAW, double="SumBackward1")
def repeat_raw(self: Tensor, repeats):
    """The tensor laid out again and again along its dimensions."""
    return jnp.tile(self.reshape((1,) * (len(repeats) - self.ndim) + self.shape), repeats)


def _listed(sizes, named):
    """Numbers given one by one, as one sequence, or by name."""
    given = sizes if named is None else (named,)
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    return tuple(n.__index__() for n in given)


@composite(function=False)
def repeat(self, *sizes, repeats=None):
    """The tensor repeated along each dimension; more numbers than dimensions add dimensions in front.

    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return repeat_raw(self, _listed(sizes, repeats))


@composite()
def tile(input, *sizes, dims=None):
    """The tensor repeated along its last dimensions, as often as ``dims`` says.

    >>> torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    """
    dims = _listed(sizes, dims)
    return repeat_raw(input, (1,) * (input._spec.ndim - len(dims)) + dims)


@op(name="repeat_places", sync=True, nondiff=("repeats",), **RAW)
def repeat_places(repeats: Tensor):
    """Each position as often as its number says."""
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    return np.repeat(np.arange(len(repeats)), repeats).astype(repeats.dtype)


def _check_repeats(repeats):
    if repeats._spec.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats._spec.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError("repeats has to be Long or Int tensor")


@composite()
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element (or slice along ``dim``) ``repeats`` times in a row; ``repeats`` may be a tensor, which is looked at.

    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if repeats is None:
        _check_repeats(input)
        return repeat_places(input)
    if dim is None:
        input, dim = input.reshape(-1), 0
    if not hasattr(repeats, "_spec"):
        return _interleaved(input, repeats, dim, output_size)
    _check_repeats(repeats)
    axis = wrap_dim(dim, input._spec.ndim)
    n = input._spec.size[axis] if input._spec.ndim else 1
    if repeats._spec.numel == 1:
        repeats = repeats.reshape(1).expand(n)
    elif repeats._spec.size[0] != n:
        raise RuntimeError(f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats._spec.size[0]} and "
                           f"input.size({axis}) = {n}")
    made = input.index_select(axis, repeat_places(repeats))
    if output_size is not None and made._spec.size[axis] != output_size:
        raise RuntimeError("allocated size does not match required size")
    return made


def _interleaved(input, repeats, dim, output_size):
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if not input._spec.ndim:
        input = input.reshape(1)
    axis = wrap_dim(dim, input._spec.ndim)
    size = list(input._spec.size)
    if output_size is not None and output_size != size[axis] * repeats:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size[axis] * repeats} but got {output_size}")
    full = [*size[:axis + 1], repeats, *size[axis + 1:]]
    return input.unsqueeze(axis + 1).expand(full).clone(memory_format=_contiguous()).flatten(axis, axis + 1)


def _contiguous():
    import jtensor
    return jtensor.contiguous_format


# -- turning ----------------------------------------------------------------------------------------------------------

def _check_roll(input, shifts, dims):
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for d in dims:
        if not input.ndim:
            raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
        wrap_dim(d, input.ndim)


def _rolled(x, shifts, dims, sign=1):
    if not dims:
        return jnp.roll(x.reshape(-1), sign * shifts[0]).reshape(x.shape)
    return jnp.roll(x, tuple(sign * s for s in shifts), dims) if x.ndim else x


@op(name="roll.raw", backward="RollBackward0", check=_check_roll, moves=True,
    grad={"input": lambda grad, shifts, dims: _rolled(grad, shifts, dims, -1)}, **RAW, double="RollBackward0")
def roll_raw(input: Tensor, shifts, dims):
    """The elements moved along dimensions, those that leave coming in at the other end."""
    return _rolled(input, shifts, dims)


def _tuple(value):
    return tuple(v.__index__() for v in value) if isinstance(value, (tuple, list)) else (value.__index__(),)


@composite()
def roll(input, shifts, dims=None):
    """The elements moved by ``shifts`` along ``dims``, those that leave coming in at the other end.

    Without ``dims`` the tensor is flattened for it.

    >>> torch.roll(torch.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    return roll_raw(input, _tuple(shifts), () if dims is None else _tuple(dims))


def _flip_layout(specs, outputs, statics):
    from ..layout import like
    return [like(tuple(specs[0].size), specs[0].stride)]


@op(name="flip.raw", backward="FlipBackward0", check=lambda input, dims: axes_of(dims, input.ndim) if dims else None, moves=True,
    layout=_flip_layout, grad={"input": lambda grad, dims: _flipped(grad, dims)}, **RAW, double="FlipBackward0")
def flip_raw(input: Tensor, dims):
    """The elements in reverse order along dimensions."""
    return _flipped(input, dims)


def _flipped(x, dims):
    return jnp.flip(x, dims) if x.ndim and dims else x


@composite()
def flip(input, *sizes, dims=None):
    """The elements in reverse order along ``dims``; a copy.

    >>> torch.flip(torch.tensor([1, 2, 3]), (0,))
    tensor([3, 2, 1])
    """
    return flip_raw(input, _listed(sizes, dims))


@composite()
def fliplr(input):
    """The elements in reverse order along the second dimension.

    >>> torch.fliplr(torch.tensor([[1, 2]]))
    tensor([[2, 1]])
    """
    if input._spec.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_raw(input, (1,))


@composite()
def flipud(input):
    """The elements in reverse order along the first dimension.

    >>> torch.flipud(torch.tensor([1, 2]))
    tensor([2, 1])
    """
    if input._spec.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_raw(input, (0,))


def _check_rot90(input, k, dims):
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == input.ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    for at, d in enumerate(dims):
        if not -input.ndim <= d < input.ndim:
            raise RuntimeError(f"Rotation dim{at} out of range, dim{at} = {d}")


def _rot90_layout(specs, outputs, statics):
    """PyTorch flips, which keeps the strides, then transposes."""
    from ..layout import like
    k, (a, b) = statics["k"] % 4, statics["dims"]
    if not k:
        return [None]
    strides = list(like(tuple(specs[0].size), specs[0].stride))
    if k % 2:
        strides[a], strides[b] = strides[b], strides[a]
    return [strides]


@op(name="rot90.raw", backward="Rot90Backward0", check=_check_rot90, moves=True, saves=(), layout=_rot90_layout, double="Rot90Backward0",
    **RAW)
def rot90_raw(input: Tensor, k, dims):
    """The plane of two dimensions turned by 90 degrees ``k`` times."""
    return jnp.rot90(input, k, dims)


@composite()
def rot90(input, k=1, dims=(0, 1)):
    """The plane of two dimensions turned by 90 degrees ``k`` times, from the first dimension towards the second.

    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    return rot90_raw(input, k, _tuple(dims))


@composite()
def trace(input):
    """The sum of a matrix's diagonal.

    >>> torch.trace(torch.eye(3))
    tensor(3.)
    """
    return trace_raw(input)


def _check_trace(self):
    if self.ndim != 2:
        raise RuntimeError("trace: expected a matrix" if self.ndim != 2 else "")


@op(name="trace.raw", backward="TraceBackward0", saves=(), check=_check_trace, **RAW)
def trace_raw(self: Tensor):
    """The sum of the diagonal; integers add up in int64."""
    x = jnp.diagonal(self)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        x = x.astype(jnp.int64)
    return jnp.sum(x, dtype=jnp.float32 if x.dtype in (jnp.float16, jnp.bfloat16) else x.dtype).astype(x.dtype)


