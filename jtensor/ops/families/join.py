"""Tensors put together: cat, stack and their kin, block_diag.

Owns: concatenation with promotion. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ...base.naming import type_name
from ...views.rules.shapes import compute_view_strides
from ..build import cast_to
from ..layout import of_all
from ..operator import Tensors, op
from ..quirks import Quirks
from ..registry import composite
from .composing import only_tensors
from .numeric import wrap_dim

# -- cat --------------------------------------------------------------------------------------------------------------


def _legacy(shape):
    """An empty vector, which `cat` takes no notice of."""
    return tuple(shape) == (0,)


def _common(arrays):
    found = dtypes.of_numpy(arrays[0].dtype)
    for x in arrays[1:]:
        found = dtypes.promote_types(found, dtypes.of_numpy(x.dtype))
    return found.numpy


def _check_list(name, tensors):
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")


def _check_cat(tensors, dim):
    _check_list("cat", tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for at, s in enumerate(tensors):
        if s.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {at}) cannot be concatenated")
    real = [(at, s) for at, s in enumerate(tensors) if not _legacy(s.size)]
    if not real:
        return                                                     # nobody asks then whether there is such a dimension
    first = real[0][1]
    axis = wrap_dim(dim, first.ndim)
    for at, s in real:
        if s.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {s.ndim}")
        for d, (n, m) in enumerate(zip(first.size, s.size, strict=True)):
            if d != axis and n != m:
                raise RuntimeError(f"Sizes of tensors must match except in dimension {axis}. Expected size {n} but got size {m} for tensor "
                                   f"number {at} in the list.")


def _cat_gradient(grad, dim, shapes):
    real = [s for s in shapes if not _legacy(s)]
    axis = dim % (len(real[0]) if real else 1)
    answers, at = [], 0
    for shape in shapes:
        if _legacy(shape):
            answers.append(jnp.zeros(shape, grad.dtype))
            continue
        answers.append(lax.slice_in_dim(grad, at, at + shape[axis], axis=axis))
        at += shape[axis]
    return answers


def _pieces(grad, node):
    """The gradient's parts along the dimension of `cat`, as views; nothing is known of those of which it took no notice."""
    inputs, dim = node.plan.inputs, node.plan.notes.template[1]
    starts = [0]
    for a in inputs:
        starts.append(starts[-1] + (0 if _legacy(a.shape) else a.shape[dim]))
    complex_ = grad._spec.dtype.is_complex

    def part(at):
        if _legacy(inputs[at].shape):
            made = grad.new_zeros(0, dtype=inputs[at].dtype)
            made._counter.version = 1                              # PyTorch makes it empty and writes to it
            return made
        return (grad.real if complex_ and not inputs[at].dtype.is_complex else grad).narrow(dim, starts[at], inputs[at].shape[dim])
    return tuple([part(at) for at in node.needs])


def _cat_layout(specs, outputs, statics):
    return [of_all([(s.size, s.stride) for s in specs], outputs[0].shape)]


@op(out=True, method=False, check=_check_cat, layout=_cat_layout, grad={"tensors": _cat_gradient}, name="cat", double="SliceBackward0",
    inverse=lambda grad, node: _pieces(grad, node), on_host=np.concatenate, quirks=Quirks(first="tensors", out_grows=True, out_apart=True))
def cat(tensors: Tensors, dim=0):
    """The tensors one behind the other along ``dim``; all other sizes have to agree. Types are promoted.

    >>> torch.cat((torch.tensor([1, 2]), torch.tensor([3.])))
    tensor([1., 2., 3.])
    """
    target = _common(tensors)
    real = [x for x in tensors if not _legacy(x.shape)] or tensors[:1]
    return _together(jnp.concatenate, [cast_to(x, target) for x in real], dim % real[0].ndim)


@composite("concat", method=False, aliases=("concatenate",))
def concat(tensors, dim=0, *, axis=None, out=None):
    """Another name of `cat`.

    >>> torch.concat((torch.tensor([1]), torch.tensor([2])))
    tensor([1, 2])
    """
    return cat(tensors, dim if axis is None else axis, out=out)


def _check_stack(tensors, dim):
    _check_list("stack", tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    wrap_dim(dim, tensors[0].ndim + 1)
    for at, s in enumerate(tensors):
        if tuple(s.size) != tuple(tensors[0].size):
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].size)} at entry 0 and "
                               f"{list(s.size)} at entry {at}")


def _stack_layout(specs, outputs, statics):
    """That of `cat` along ``dim``, seen with one dimension more; behind the last one, of `cat` of tensors that have one more."""
    shape, n = outputs[0].shape, specs[0].ndim
    dim = wrap_dim(statics["dim"], n + 1)
    if dim == n:
        return [of_all([((*s.size, 1), (*s.stride, 1)) for s in specs], shape)]
    together = (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2:])
    strides = of_all([(s.size, s.stride) for s in specs], together)
    return [strides and compute_view_strides(together, strides, shape)]


@op(out=True, method=False, check=_check_stack, layout=_stack_layout,
    grad={"tensors": lambda grad, dim: list(jnp.moveaxis(grad, dim, 0))}, double="SelectBackward0",
    inverse=lambda grad, node: tuple([grad.select(node.plan.notes.template[1], at) for at in node.needs]), on_host=np.stack,
    quirks=Quirks(first="tensors", out_grows=True, out_apart=True))
def stack(tensors: Tensors, dim=0):
    """Tensors of one size side by side along a new dimension ``dim``.

    >>> torch.stack((torch.tensor([1, 2]), torch.tensor([3, 4])), dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    target = _common(tensors)
    return _together(jnp.stack, [cast_to(x, target) for x in tensors], dim % (tensors[0].ndim + 1))


_AT_ONCE = 64           # operands of one concatenation: XLA writes them as a chain of branches, and 2,000 of them took 20 s to compile


def _together(join, parts, axis):
    """``join(parts, axis)``; of many parts by groups, each of which is in memory before they are put together."""
    if len(parts) <= 2 * _AT_ONCE:
        return join(parts, axis)
    groups = [lax.optimization_barrier(join(parts[at:at + _AT_ONCE], axis)) for at in range(0, len(parts), _AT_ONCE)]
    return _together(jnp.concatenate, groups, axis)


# -- raised to more dimensions ----------------------------------------------------------------------------------------

def _each(name, function, tensors):
    """`atleast_...` of one tensor or of several."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    elif len(tensors) == 1:
        if not hasattr(tensors[0], "_spec"):
            kind = type_name(type(tensors[0]))
            unfit = f"\n      didn't match because some of the arguments have invalid types: (!{kind}!)\n"
            raise TypeError(f"{name}() received an invalid combination of arguments - got ({kind}), but expected one of:\n * (Tensor input)"
                            f"{unfit} * (tuple of Tensors tensors){unfit}")
        return function(tensors[0])
    only_tensors(tensors)
    return tuple([function(t) for t in tensors])


def _one(t):
    return t if t._spec.ndim else t.reshape(1)


def _two(t):
    return t if t._spec.ndim > 1 else t.unsqueeze(0) if t._spec.ndim else t.reshape(1, 1)


def _three(t):
    n = t._spec.ndim
    return t if n > 2 else t.unsqueeze(-1) if n == 2 else t.unsqueeze(0).unsqueeze(-1) if n else t.reshape(1, 1, 1)


@composite(method=False)
def atleast_1d(*tensors):
    """Tensors of no dimension given one.

    >>> torch.atleast_1d(torch.tensor(1.))
    tensor([1.])
    """
    return _each("atleast_1d", _one, tensors)


@composite(method=False)
def atleast_2d(*tensors):
    """Tensors given dimensions of size 1 in front until they have two.

    >>> torch.atleast_2d(torch.tensor([1., 2.]))
    tensor([[1., 2.]])
    """
    return _each("atleast_2d", _two, tensors)


@composite(method=False)
def atleast_3d(*tensors):
    """Tensors given dimensions of size 1 until they have three: a vector becomes ``(1, n, 1)``.

    >>> torch.atleast_3d(torch.tensor([1., 2.])).shape
    torch.Size([1, 2, 1])
    """
    return _each("atleast_3d", _three, tensors)


def _nonempty(name, tensors):
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}")
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@composite(method=False)
def hstack(tensors, *, out=None):
    """Tensors one behind the other: along the first dimension of vectors, else along the second.

    >>> torch.hstack((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
    """
    _nonempty("hstack", tensors)
    raised = [_one(t) for t in tensors]
    return cat(raised, 0 if raised[0]._spec.ndim == 1 else 1, out=out)


@composite(method=False, aliases=("row_stack",))
def vstack(tensors, *, out=None):
    """Tensors below one another; vectors are rows.

    >>> torch.vstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
    """
    _nonempty("vstack", tensors)
    return cat([_two(t) for t in tensors], 0, out=out)


@composite(method=False)
def dstack(tensors, *, out=None):
    """Tensors behind one another along the third dimension.

    >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4]))).shape
    torch.Size([1, 2, 2])
    """
    _nonempty("dstack", tensors)
    return cat([_three(t) for t in tensors], 2, out=out)


@composite(method=False)
def column_stack(tensors, *, out=None):
    """Vectors as columns, and matrices, side by side.

    >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
    """
    _nonempty("column_stack", tensors)
    return hstack([t if t._spec.ndim > 1 else t.reshape(t._spec.numel, 1) for t in tensors], out=out)


# -- blocks -----------------------------------------------------------------------------------------------------------

def _check_blocks(tensors):
    for at, s in enumerate(tensors):
        if s.ndim > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has {s.ndim} dimensions")


def _as_block(shape):
    return shape if len(shape) == 2 else (1, shape[0]) if shape else (1, 1)


def _block_gradient(grad, shapes):
    answers, row, column = [], 0, 0
    for shape in shapes:
        n, m = _as_block(shape)
        answers.append(grad[row:row + n, column:column + m].reshape(shape))
        row, column = row + n, column + m
    return answers


@op(name="block_diag.raw", backward="BlockDiagBackward0", function=False, method=False, check=_check_blocks,
    grad={"tensors": _block_gradient})
def block_diag_raw(tensors: Tensors):
    """A matrix with the given ones along its diagonal."""
    target = _common(tensors)
    blocks = [cast_to(x, target).reshape(_as_block(x.shape)) for x in tensors]
    width = sum(b.shape[1] for b in blocks)
    rows, column = [], 0
    for b in blocks:
        rows.append(jnp.pad(b, ((0, 0), (column, width - column - b.shape[1]))))
        column += b.shape[1]
    return jnp.concatenate(rows, 0)


@composite(method=False)
def block_diag(*tensors):
    """A matrix with the given matrices (vectors are rows) along its diagonal, zero elsewhere.

    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    import jtensor
    return block_diag_raw(list(tensors) or [jtensor.empty(0)])
