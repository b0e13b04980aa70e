"""Elements moved or repeated: repeat, tile, repeat_interleave, roll, flip, rot90.

Owns: operators that only copy. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np

from ...base import dtypes
from ...trace.plan import is_particular
from ..layout import like, of_all
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import no_bools
from .numeric import axes_of, axis_at, not_implemented, wrap_dim

# -- repetition -------------------------------------------------------------------------------------------------------

def _check_repeat(self, repeats):
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    lengths = [n * r for n, r in zip((*(1,) * (len(repeats) - self.ndim), *self.size), repeats, strict=True)]
    for n in lengths:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {lengths}")


def _repeat_gradient(grad, repeats, shapes):
    shape = (1,) * (len(repeats) - len(shapes[0])) + tuple(shapes[0])
    if 0 in repeats:
        return jnp.zeros(shapes[0], grad.dtype)
    split = [n for r, m in zip(repeats, shape, strict=True) for n in (r, m)]
    return grad.reshape(split).sum(tuple(range(0, 2 * len(shape), 2))).reshape(shapes[0])


def _repeated_once(grad, node):
    """Where nothing is repeated the gradient is the one that arrives."""
    repeats = node.plan.notes.template[1]
    return (grad,) if len(repeats) == len(node.plan.inputs[0].shape) and set(repeats) <= {1} else None


@op(name="repeat.raw", backward="RepeatBackward0", check=_check_repeat, grad={"self": _repeat_gradient}, inverse=_repeated_once, **RAW,
    double="SumBackward1", quirks=Quirks(constant_if=lambda plan: 0 in plan.notes.template[1]))
def repeat_raw(self: Tensor, repeats):
    """The tensor laid out again and again along its dimensions."""
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    if 0 in shape:                                                 # any number of times nothing, even less than none
        return jnp.zeros([n * m for n, m in zip(shape, repeats, strict=True)], self.dtype)
    return jnp.tile(self.reshape(shape), repeats)


def _listed(sizes, named):
    """Numbers given one by one, as one sequence, or by name."""
    given = sizes if named is None else (named,)
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    no_bools(*given)
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


@op(name="repeat_places", sync="slices", nondiff=("repeats",), **RAW)
def repeat_places(repeats: Tensor):
    """Each position as often as its number says."""
    if (repeats < 0).any():
        raise RuntimeError("repeats can not be negative")
    return np.repeat(np.arange(len(repeats)), repeats).astype(repeats.dtype)


def _check_rank(repeats):
    if repeats._spec.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")


def _whole_numbers(repeats):
    return repeats._spec.dtype in (dtypes.int32, dtypes.int64)


@composite()
def repeat_interleave(input=None, repeats=None, dim=None, *, output_size=None):
    """Each element (or slice along ``dim``) ``repeats`` times in a row; ``repeats`` may be a tensor, which is looked at.

    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if input is None:                           # what is repeated are places: PyTorch calls the one argument of that form so
        input, repeats = repeats, None
    if repeats is None:
        if input._spec.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        if not _whole_numbers(input):
            raise not_implemented("repeat_interleave_cpu", input._spec.dtype)
        return _of_size(repeat_places(input), 0, output_size)
    if dim is None:
        input, dim = input.reshape(-1), 0
    if not hasattr(repeats, "_spec"):
        return _interleaved(input, repeats, dim, output_size)
    _check_rank(repeats)
    axis = axis_at(input._spec, dim)
    n = input._spec.size[axis]
    if repeats._spec.numel == 1:
        repeats = repeats.reshape(1).expand(n)
    elif repeats._spec.size[0] != n:
        raise RuntimeError(f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats._spec.size[0]} and "
                           f"input.size({dim}) = {n}")
    if not _whole_numbers(repeats):
        raise not_implemented("repeat_interleave_cpu", repeats._spec.dtype)
    return _of_size(input.index_select(axis, repeat_places(repeats)), axis, output_size)


def _of_size(made, axis, output_size):
    if output_size is not None and made._spec.size[axis] != output_size:
        raise RuntimeError("allocated size does not match required size")
    return made


def _interleaved(input, repeats, dim, output_size):
    axis = wrap_dim(dim, input._spec.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    wrap_dim(axis + 1, input._spec.ndim + 1)                       # a tensor without dimensions has none to repeat along
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
    for d in dims if input.numel else ():                          # of a tensor without elements nobody asks for the dimensions
        axis_at(input, d)


def _rolled(x, shifts, dims, sign=1):
    if x.size and any(abs(shift) > n for shift, n in zip(shifts, [x.shape[d] for d in dims] or [x.size], strict=False)):
        is_particular()                     # more than once around: what is left depends on how often
    if not dims:
        return jnp.roll(x.reshape(-1), sign * shifts[0]).reshape(x.shape)
    return jnp.roll(x, tuple(sign * s for s in shifts), dims) if x.size else x


def _roll_layout(specs, outputs, statics):
    """Strides of what PyTorch makes dimension by dimension, of two pieces that it puts together (as `cat` does)."""
    size, stride, shape = tuple(specs[0].size), specs[0].stride, outputs[0].shape
    if not statics["dims"] or not specs[0].numel:
        return [like(size, stride) if statics["dims"] else None]
    for shift, d in zip(statics["shifts"], statics["dims"], strict=True):
        second = -shift % size[d]
        pieces = [(*size[:d], n, *size[d % len(size) + 1:]) for n in (size[d] - second, second)]
        stride = of_all([(piece, stride) for piece in pieces], shape)
        if stride is None:
            break
    return [stride]


@op(name="roll.raw", backward="RollBackward0", check=_check_roll, moves=True, layout=_roll_layout,
    grad={"input": lambda grad, shifts, dims: _rolled(grad, shifts, dims, -1)}, **RAW, double="RollBackward0")
def roll_raw(input: Tensor, shifts, dims):
    """The elements moved along dimensions, those that leave coming in at the other end."""
    return _rolled(input, shifts, dims)


def _tuple(value):
    no_bools(*value if isinstance(value, (tuple, list)) else (value,))
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
    return [like(tuple(specs[0].size), specs[0].stride)]


@op(name="flip.raw", backward="FlipBackward0", check=lambda input, dims: axes_of(dims, input.ndim) if dims else None, moves=True,
    layout=_flip_layout, grad={"input": lambda grad, dims: _flipped(grad, dims)}, **RAW, double="FlipBackward0",
    quirks=Quirks(by_elements=True))
def flip_raw(input: Tensor, dims):
    """The elements in reverse order along dimensions."""
    return _flipped(input, dims)


def _flipped(x, dims):
    return jnp.flip(x, dims) if x.ndim and dims else x


@composite(one_list=True)
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
    if wrap_dim(dims[0], input.ndim) == wrap_dim(dims[1], input.ndim):
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")


def _rot90_layout(specs, outputs, statics):
    """PyTorch flips, which keeps the strides, then transposes."""
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


@composite(asked=True)
def rot90(input, k=1, dims=(0, 1)):
    """The plane of two dimensions turned by 90 degrees ``k`` times, from the first dimension towards the second.

    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    return rot90_raw(input, k, _tuple(dims))
