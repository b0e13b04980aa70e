"""Sums and their kin over dimensions: sum, mean, prod, nansum, nanmean, all, any, count_nonzero.

Owns: how a dtype and dims become a sum; integers add up in int64, narrow floats in float32. Variances are in `variance`, extrema in
`extrema`, norms and logsumexp in `norms`. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ...trace.plan import is_for_cpu, is_particular
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import NO_DIM, NO_KEEPDIM, no_keepdim, no_none, no_out
from .numeric import axes_of, is_complex, is_floating, is_integral, not_implemented, restored, size_of, spread, wide
from .running import running_product

_PRIVATE = {"out": True, "function": False, "method": False}


def _check_dim(self, dim, *others):
    axes_of(dim, self.ndim)


def _sum_type(x, dtype):
    """The array in the type it is summed in."""
    if dtype is not None:
        return _to(x, dtype.numpy)
    return x.astype(jnp.int64) if is_integral(x) else x


def _to(x, kind):
    if x.dtype == kind:
        return x
    if is_complex(x) and not jnp.issubdtype(kind, jnp.complexfloating):
        x = x.real
    return x != 0 if kind == jnp.bool_ else x.astype(kind)


# -- how many are true ------------------------------------------------------------------------------------------------

_IN_A_BYTE = 128        # truth values that are counted in a byte before these are added up
_MANY = _IN_A_BYTE ** 2


def _count(truth, axes, keepdim=False):
    """How many are true along ``axes`` (None: all), in int64. XLA's loop over all axes, or the last one, would be preceded by one that
    makes eight bytes of each."""
    over = tuple(range(truth.ndim)) if axes is None else tuple(axes)
    n = truth.size if len(over) == truth.ndim else truth.shape[-1] if over == (truth.ndim - 1,) else 0
    if truth.size < _MANY or n < _MANY and len(over) == truth.ndim or n < 8 * _IN_A_BYTE or not is_for_cpu():
        return jnp.sum(truth.astype(jnp.int64), axis=axes, keepdims=keepdim)
    is_particular()
    lead = () if len(over) == truth.ndim else truth.shape[:-1]
    rows, whole = truth.reshape(*lead, n), n - n % _MANY if n >= _MANY else n - n % _IN_A_BYTE
    bytes_ = rows[..., :whole].astype(jnp.uint8).reshape(*lead, -1, min(_IN_A_BYTE, whole // _IN_A_BYTE), _IN_A_BYTE)
    total = jnp.sum(bytes_, axis=-2, dtype=jnp.uint8).astype(jnp.int64).sum((-2, -1))
    if whole < n:
        total = total + rows[..., whole:].astype(jnp.int64).sum(-1)
    return total.reshape([1 if at in over else size for at, size in enumerate(truth.shape)]) if keepdim else total


def _is_counted(x, dtype):
    return x.dtype == jnp.bool_ and (dtype is None or dtype is dtypes.int64)


# -- sum --------------------------------------------------------------------------------------------------------------

@wide
def _total(x, axes, keepdim):
    return jnp.any(x, axis=axes, keepdims=keepdim) if x.dtype == jnp.bool_ else jnp.sum(x, axis=axes, keepdims=keepdim, dtype=x.dtype)


@op(None, name="sum_all", backward="SumBackward0", grad={"self": lambda grad, shapes: jnp.broadcast_to(grad, shapes[0])},
    inverse=lambda grad, node: (grad.expand(node.plan.inputs[0].shape),), **_PRIVATE)
def sum_all(self: Tensor, *, dtype=None):
    """The sum of all elements."""
    if _is_counted(self, dtype):
        return _count(self, None)
    return _total(_sum_type(self, dtype), None, False)


def _expanded(grad, shape, dim, keepdim):
    """The gradient of a sum, as a view that repeats it."""
    if not keepdim and shape:
        for axis in sorted(axes_of(dim, len(shape))):
            grad = grad.unsqueeze(axis)
    return grad.expand(shape)


@op(None, name="sum_dim", backward="SumBackward1", check=_check_dim, **_PRIVATE,
    grad={"self": lambda grad, shapes, dim, keepdim: spread(grad, shapes[0], dim, keepdim)},
    inverse=lambda grad, node: (_expanded(grad, node.plan.inputs[0].shape, *node.plan.notes.template[1:3]),), quirks=Quirks(out_fold="sum"))
def sum_dim(self: Tensor, dim, keepdim=False, *, dtype=None):
    """The sum over some dimensions."""
    if _is_counted(self, dtype):
        return _count(self, axes_of(dim, self.ndim), keepdim)
    return _total(_sum_type(self, dtype), axes_of(dim, self.ndim), keepdim)


@composite()
def sum(input, dim=NO_DIM, keepdim=NO_KEEPDIM, *, dtype=None, out=None):
    """The sum of all elements, or over the dimensions ``dim``. Integers and bools add up to int64 unless ``dtype`` says otherwise.

    >>> torch.sum(torch.tensor([[1., 2.], [3., 4.]]), 0)
    tensor([4., 6.])
    """
    if dim is NO_DIM:
        no_keepdim(keepdim) if out is None else no_out()
        return sum_all.record(input, dtype)
    if keepdim is NO_KEEPDIM:
        keepdim = False
    if out is None:
        return sum_dim.record(input, dim, keepdim, dtype)
    return sum_dim(input, dim, keepdim, dtype=out.dtype if dtype is None else dtype, out=out)


@composite(function=False)
def sum_to_size(self, *size):
    """The sum over the dimensions that broadcasting ``size`` to this shape adds or repeats."""
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    shape = tuple(self.shape)
    lead = len(shape) - len(size)
    if not size:
        return self.sum()                                          # of a number, too, which is another tensor then
    if lead < 0 or [n for n, m in zip(size, shape[lead:], strict=True) if n not in (1, m)]:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    axes = [*range(lead), *[lead + d for d, n in enumerate(size) if n == 1 and shape[lead + d] != 1]]
    if not axes:
        return self
    summed = self.sum(axes, True)
    return summed.view(size) if lead else summed


@op(None, name="nansum_dim", backward="NansumBackward0", check=_check_dim, **_PRIVATE, double="MulBackward0!", grad={
    "self": lambda grad, self, dim, keepdim: spread(grad, self.shape, dim, keepdim).astype(self.dtype) * (self == self).astype(self.dtype)},
    quirks=Quirks(by_elements=True, out_fold="sum"))
def nansum_dim(self: Tensor, dim=None, keepdim=False, *, dtype=None):
    """The sum without NaNs."""
    x = _sum_type(self, dtype)
    return _total(jnp.where(x != x, jnp.zeros_like(x), x), axes_of(dim, self.ndim), keepdim)


@composite()
def nansum(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The sum with NaN counted as 0.

    >>> torch.nansum(torch.tensor([1., float("nan")]))
    tensor(1.)
    """
    if input.dtype.is_complex:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    more = {} if out is None else {"out": out}
    return nansum_dim(input, dim, keepdim, dtype=dtype, **more)


# -- mean -------------------------------------------------------------------------------------------------------------

def _check_mean(self, dim, keepdim, dtype):
    _check_mean_type(self, dtype)
    axes_of(dim, self.ndim)


def _check_mean_type(self, dtype):
    if (dtype or self.dtype).category < 2:
        what = "Input dtype" if dtype is None else "Optional dtype"
        if dtype is None:
            raise RuntimeError(f"mean(): could not infer output dtype. {what} must be either a floating point or complex dtype. "
                               f"Got: {dtypes.scalar_name(self.dtype)}")
        raise RuntimeError(f"mean(): could not infer output dtype. {what} must be either a floating point or complex dtype. "
                           f"Got: {dtypes.scalar_name(dtype)}")


@wide
def _average(x, axes, keepdim):
    n = size_of(x.shape, range(x.ndim) if axes is None else axes)
    total = jnp.sum(x, axis=axes, keepdims=keepdim)
    return total / jnp.asarray(n, total.dtype)


@wide
def share(grad, shape, dim, keepdim):
    n = size_of(shape, axes_of(dim, len(shape)))
    return spread(grad, shape, dim, keepdim) / jnp.asarray(n, grad.dtype)


@op(None, name="mean_all", backward="MeanBackward0", check=_check_mean_type, **_PRIVATE,
    grad={"self": lambda grad, shapes: share(grad, shapes[0], None, False)}, double="DivBackward1")
def mean_all(self: Tensor, *, dtype=None):
    """The mean of all elements."""
    return _average(_to(self, dtype.numpy) if dtype else self, None, False)


@op(None, name="mean_dim", backward="MeanBackward1", check=_check_mean, **_PRIVATE,
    grad={"self": lambda grad, shapes, dim, keepdim: share(grad, shapes[0], dim, keepdim)}, double="DivBackward1")
def mean_dim(self: Tensor, dim, keepdim=False, *, dtype=None):
    """The mean over some dimensions."""
    return _average(_to(self, dtype.numpy) if dtype else self, axes_of(dim, self.ndim), keepdim)


@composite()
def mean(input, dim=NO_DIM, keepdim=NO_KEEPDIM, *, dtype=None, out=None):
    """The mean of all elements, or over the dimensions ``dim``. Integers raise ``RuntimeError`` unless ``dtype`` is a floating type.

    >>> torch.mean(torch.tensor([[1., 2.], [3., 4.]]), 0)
    tensor([2., 3.])
    """
    if dim is NO_DIM:
        no_keepdim(keepdim)
        return mean_all.record(input, dtype) if out is None else mean_all(input, dtype=dtype, out=out)
    if keepdim is NO_KEEPDIM:
        keepdim = False
    return mean_dim.record(input, dim, keepdim, dtype) if out is None else mean_dim(input, dim, keepdim, dtype=dtype, out=out)


@composite(asked=True)
def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """The mean of what is not NaN.

    >>> torch.nanmean(torch.tensor([1., 3., float("nan")]))
    tensor(2.)
    """
    if input.dtype.category < 2:
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {dtypes.scalar_name(input.dtype)}")
    if dtype is not None and dtype.category < 2:
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: "
                           + dtypes.scalar_name(dtype))
    count = sum(~input.detach().isnan(), dim, keepdim)
    total = nansum(input, dim, keepdim, dtype=dtype)
    return total / count if out is None else _div_out(total, count, out)


def _div_out(a, b, out):
    from .division import div_Tensor
    return div_Tensor(a, b, out=out)


# -- prod -------------------------------------------------------------------------------------------------------------

@wide
def _multiply(x, axes, keepdim):
    return jnp.all(x, axis=axes, keepdims=keepdim) if x.dtype == jnp.bool_ else jnp.prod(x, axis=axes, keepdims=keepdim, dtype=x.dtype)


def _others(x, axis):
    """At each place the product of all others along an axis, zeros or not."""
    one = jnp.ones_like(lax.slice_in_dim(x, 0, 1, axis=axis))
    n = x.shape[axis]
    before = running_product(jnp.concatenate([one, lax.slice_in_dim(x, 0, n - 1, axis=axis)], axis), axis)
    after = running_product(jnp.concatenate([lax.slice_in_dim(x, 1, n, axis=axis), one], axis), axis, reverse=True)
    return before * after


@wide
def _prod_gradient(grad, self, result, dim, keepdim):
    self = self.astype(grad.dtype)
    if self.ndim == 0 or self.size == 0:
        return grad if self.ndim == 0 else jnp.zeros_like(self)
    zero = self == 0
    without = jnp.where(zero, jnp.ones_like(self), self)
    result = result.astype(grad.dtype)
    if dim is None:
        made = grad * jnp.conj(lax.cond(jnp.any(zero), lambda: _others(self.reshape(-1), 0).reshape(self.shape), lambda: result / without))
        return jnp.where(jnp.sum(zero) > 1, jnp.zeros_like(made), made)     # whatever else is there: NaN, an infinite gradient
    axis = axes_of(dim, self.ndim)
    quotient = restored(result, axis, keepdim) / without           # PyTorch's way where there are no zeros: a later `.data` write shows
    return restored(grad, axis, keepdim) * jnp.conj(lax.cond(jnp.any(zero), lambda: _others(self, axis[0]), lambda: quotient))


@op(None, name="prod_all", backward="ProdBackward0", **_PRIVATE,
    grad={"self": lambda grad, self, result: _prod_gradient(grad, self, result, None, False)}, double="MulBackward0",
    quirks=Quirks(by_elements=True))
def prod_all(self: Tensor, *, dtype=None):
    """The product of all elements."""
    return _multiply(_sum_type(self, dtype), None, False)


@op(None, name="prod_dim", backward="ProdBackward1", check=_check_dim, grad={"self": _prod_gradient}, **_PRIVATE, double="MulBackward0",
    quirks=Quirks(by_elements=True, out_fold="prod"))
def prod_dim(self: Tensor, dim, keepdim=False, *, dtype=None):
    """The product over a dimension."""
    return _multiply(_sum_type(self, dtype), axes_of(dim, self.ndim), keepdim)


@composite()
def prod(input, dim=NO_DIM, keepdim=NO_KEEPDIM, *, dtype=None, out=None):
    """The product of all elements, or over the dimension ``dim``.

    >>> torch.prod(torch.tensor([2., 3., 4.]))
    tensor(24.)
    """
    if dim is NO_DIM:
        no_keepdim(keepdim)
        return prod_all(input, dtype=dtype) if out is None else no_out()
    no_none(dim)
    more = {} if out is None else {"out": out}
    return prod_dim(input, dim, keepdim is not NO_KEEPDIM and keepdim, dtype=dtype, **more)


# -- all, any, count --------------------------------------------------------------------------------------------------

def _truth(self, result):
    return result.astype(jnp.uint8) if self.dtype == jnp.uint8 else result


def _axes_or_none(dim, ndim):
    return () if dim == () else axes_of(dim, ndim)


@op(None, name="all_dims", nondiff=("self", 0), check=_check_dim, **_PRIVATE, quirks=Quirks(out_fold="all"))
def all_dims(self: Tensor, dim=None, keepdim=False):
    """Whether all elements are true."""
    return _truth(self, jnp.all(self != 0, axis=_axes_or_none(dim, self.ndim), keepdims=keepdim))


@op(None, name="any_dims", nondiff=("self", 0), check=_check_dim, **_PRIVATE, quirks=Quirks(out_fold="any"))
def any_dims(self: Tensor, dim=None, keepdim=False):
    """Whether any element is true."""
    return _truth(self, jnp.any(self != 0, axis=_axes_or_none(dim, self.ndim), keepdims=keepdim))


@composite()
def all(input, dim=None, keepdim=False, *, out=None):
    """Whether all elements (along ``dim``) are not zero.

    >>> torch.all(torch.tensor([[True, False], [True, True]]), 1)
    tensor([False,  True])
    """
    return all_dims(input, dim, keepdim) if out is None else all_dims(input, dim, keepdim, out=out)


@composite()
def any(input, dim=None, keepdim=False, *, out=None):
    """Whether any element (along ``dim``) is not zero.

    >>> torch.any(torch.tensor([[False, False], [True, False]]), 1)
    tensor([False,  True])
    """
    return any_dims(input, dim, keepdim) if out is None else any_dims(input, dim, keepdim, out=out)


def _check_hash(self, dim, keepdim):
    if self.dtype.is_complex:
        raise not_implemented("xor_sum_cpu", self.dtype)
    axes = axes_of(dim, self.ndim)
    if not self.numel and not dim and dim != 0:
        raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                           "'dim' argument.")
    for d in axes:
        if self.ndim and not self.size[d]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")


@op(None, name="hash_tensor.raw", nondiff=("self", 0), check=_check_hash, out=True, **RAW)
def hash_raw(self: Tensor, dim=None, keepdim=False):
    """The bits of the elements, as 64 of a float or an integer, by exclusive or."""
    wide = self.astype(jnp.float64 if is_floating(self) else jnp.int64)
    bits = lax.bitcast_convert_type(wide, jnp.uint64)
    axes = axes_of(dim, self.ndim)
    found = lax.reduce(bits, jnp.uint64(0), lax.bitwise_xor, axes)
    return jnp.expand_dims(found, axes) if keepdim and self.ndim else found


@composite(asked=True)
def hash_tensor(input, dim=(), *, keepdim=False, mode=0, out=None):
    """A hash of the elements (along ``dim``): exclusive or of their bits, each as a float or an integer of 64 bits. ``mode`` is 0.

    >>> torch.hash_tensor(torch.tensor([1, 2, 4]))
    tensor(7, dtype=torch.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if out is None:
        return hash_raw(input, dim, keepdim)
    if out.dtype is not dtypes.uint64:
        raise RuntimeError(f"Expected result to be of dtype uint64, but got {dtypes.scalar_name(out.dtype)}")
    return hash_raw(input, dim, keepdim, out=out)


@op(None, nondiff=("self", 0), check=_check_dim)
def count_nonzero(self: Tensor, dim=None):
    """How many elements (along ``dim``) are not zero.

    >>> torch.count_nonzero(torch.tensor([0, 3, 5]))
    tensor(2)
    """
    return _count(self != 0, axes_of(dim, self.ndim))
