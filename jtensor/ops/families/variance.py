"""Variances and standard deviations over dimensions: var, std, var_mean, std_mean.

Owns: how a correction and dims become a spread; forms of the arguments from before `correction`. May not know: tensors as objects, but in
composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import sites
from ..operator import Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import axes_of, cast, is_complex, restored, size_of, wide, widened
from .reduce import share


def _check_var(name):
    def check(self, dim, correction, keepdim):
        if self.dtype.category < 2:
            raise RuntimeError(f"{name} only support floating point and complex dtypes")
        axes_of(dim, self.ndim)
    return check


def _moments(x, dim, correction, keepdim):
    """(variance, mean) over dims."""
    axes = axes_of(dim, x.ndim)
    n = size_of(x.shape, axes)
    real = x.real.dtype
    middle = _middle(x, dim)
    away = x - middle
    squares = jnp.square(away.real) + jnp.square(away.imag) if is_complex(x) else away * away
    left = jnp.maximum(jnp.asarray(n, real) - cast(correction, real), 0) if n else jnp.asarray(jnp.nan, real)
    variance = jnp.sum(squares, axis=axes, keepdims=keepdim) / left
    return variance, middle if keepdim else jnp.squeeze(middle, axes)


def _root(x, dim, correction, keepdim):
    """(standard deviation, mean) over dims; squares of float32, which may be too small for it, are added up in float64 as in PyTorch."""
    if x.dtype != jnp.float32:
        variance, middle = _moments(x, dim, correction, keepdim)
        return jnp.sqrt(variance), middle
    axes = axes_of(dim, x.ndim)
    middle = _middle(x, dim)
    n = size_of(x.shape, axes)
    left = jnp.maximum(n - cast(correction, jnp.float64), 0) if n else jnp.nan
    variance = jnp.sum(jnp.square((x - middle).astype(jnp.float64)), axis=axes, keepdims=keepdim) / left
    return jnp.sqrt(variance).astype(x.dtype), middle if keepdim else jnp.squeeze(middle, axes)


def _middle(x, dim):
    """The mean. Along dims that of equal numbers is the number itself, so that nothing is away from it, where their sum would have been
    rounded; of a whole tensor it is not in PyTorch either, and looking costs as much as the rest."""
    axes = axes_of(dim, x.ndim)
    n = size_of(x.shape, axes)
    middle = jnp.sum(x, axis=axes, keepdims=True) / jnp.asarray(n, x.dtype)
    if n < 3 or dim is None or dim == ():
        return middle
    first = lax.slice(x, [0] * x.ndim, [1 if axis in axes else size for axis, size in enumerate(x.shape)])
    return jnp.where(jnp.sum(jnp.abs(x - first), axis=axes, keepdims=True) == 0, first, middle)


def _var_gradient(grad, self, dim, correction, keepdim):
    """PyTorch's formula; of a half each step of it is rounded, for it is several operators there."""
    narrow, grad, self = self.dtype, widened(grad), widened(self)

    def rounded(x):
        return x.astype(narrow).astype(x.dtype)

    axes = axes_of(dim, self.ndim)
    away = rounded(self - rounded(_middle(self, dim)))
    left = jnp.asarray(size_of(self.shape, axes), grad.dtype) - cast(correction, grad.dtype)
    flat = restored(grad, axes, keepdim)
    slope = jnp.where(left > 0, 2 / left, jnp.asarray(jnp.nan if size_of(self.shape, axes) else jnp.inf, left.dtype))
    slope = jnp.where(left == 0, jnp.asarray(jnp.inf, left.dtype), slope)
    return (rounded((slope * flat).astype(self.dtype)) * away).astype(narrow)


def _half_over(grad, std):
    zero = std == 0
    return jnp.where(zero, jnp.zeros_like(grad), grad / (2 * jnp.where(zero, jnp.ones_like(std), std)))


def _std_gradient(grad, self, result, dim, correction, keepdim):
    return _var_gradient(wide(_half_over)(grad, result), self, dim, correction, keepdim)


def _mean_part(grad, self, dim, keepdim):
    return share(grad, self.shape, dim, keepdim).astype(self.dtype)


_VAR = {"function": False, "method": False}


@op(None, name="var_dims", backward="VarBackward0", check=_check_var("std and var"), grad={"self": _var_gradient}, out=True, **_VAR,
    double="MulBackward0", quirks=Quirks(computed=("self",), by_elements=True))
@wide
def var_dims(self: Tensor, dim=None, *, correction: Number = 1, keepdim=False):
    """The variance over dimensions."""
    return _moments(self, dim, correction, keepdim)[0]


@op(None, name="std_dims", backward="StdBackward0", check=_check_var("std and var"), grad={"self": _std_gradient}, out=True, **_VAR,
    double="MulBackward0", quirks=Quirks(by_elements=True))
@wide
def std_dims(self: Tensor, dim=None, *, correction: Number = 1, keepdim=False):
    """The standard deviation over dimensions."""
    return _root(self, dim, correction, keepdim)[0]


@op(None, name="var_mean_dims", backward="VarMeanBackward0", check=_check_var("var_mean"), **_VAR,
    grad={"self": lambda grads, self, dim, correction, keepdim: _var_gradient(grads[0], self, dim, correction, keepdim)
          + _mean_part(grads[1], self, dim, keepdim)}, double="MulBackward0")
@wide
def var_mean_dims(self: Tensor, dim=None, *, correction: Number = 1, keepdim=False):
    """(variance, mean) over dimensions."""
    return _moments(self, dim, correction, keepdim)


@op(None, name="std_mean_dims", backward="StdMeanBackward0", check=_check_var("std_mean"), **_VAR,
    grad={"self": lambda grads, self, result0, dim, correction, keepdim: _std_gradient(grads[0], self, result0, dim, correction, keepdim)
          + _mean_part(grads[1], self, dim, keepdim)}, double="MulBackward0")
@wide
def std_mean_dims(self: Tensor, dim=None, *, correction: Number = 1, keepdim=False):
    """(standard deviation, mean) over dimensions."""
    return _root(self, dim, correction, keepdim)


def _spread_arguments(name, input, dim, unbiased, correction):
    """PyTorch's two signatures: ``(dim, unbiased, keepdim)`` and ``(dim, *, correction, keepdim)``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    elif correction is None:
        correction = 1
    if input.dtype.category < 2:
        raise RuntimeError(f"{name if name.endswith('mean') else 'std and var'} only support floating point and complex dtypes")
    axes = axes_of(tuple(dim) if isinstance(dim, list) else dim, input.ndim)
    if isinstance(correction, (int, float)) and (size_of(input.shape, axes) if input._spec.numel else 0) <= correction:
        sites.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
                   "divided by output numel).")
    return dim, correction


@composite(asked=True)
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
    """The variance over ``dim``: squared distances from the mean, divided by ``n - correction`` (1 unless given).

    >>> torch.var(torch.tensor([1., 2., 3.]))
    tensor(1.)
    """
    dim, correction = _spread_arguments("var", input, dim, unbiased, correction)
    more = {} if out is None else {"out": out}
    return var_dims(input, dim, correction=correction, keepdim=keepdim, **more)


@composite(asked=True)
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
    """The standard deviation over ``dim``; the gradient where it is 0 is 0.

    >>> torch.std(torch.tensor([1., 2., 3.]))
    tensor(1.)
    """
    dim, correction = _spread_arguments("std", input, dim, unbiased, correction)
    more = {} if out is None else {"out": out}
    return std_dims(input, dim, correction=correction, keepdim=keepdim, **more)


@composite(method=False, asked=True)
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """``(var, mean)`` over ``dim``.

    >>> torch.var_mean(torch.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = _spread_arguments("var_mean", input, dim, unbiased, correction)
    return var_mean_dims(input, dim, correction=correction, keepdim=keepdim)


@composite(method=False, asked=True)
def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """``(std, mean)`` over ``dim``.

    >>> torch.std_mean(torch.tensor([1., 2., 3.]))
    (tensor(1.), tensor(2.))
    """
    dim, correction = _spread_arguments("std_mean", input, dim, unbiased, correction)
    return std_mean_dims(input, dim, correction=correction, keepdim=keepdim)
