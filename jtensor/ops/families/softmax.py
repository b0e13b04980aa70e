"""Softmax and its logarithm, as operators.

Owns: both, with the type they are computed in. What is saved is PyTorch's: the result. May not know: tensors as objects.
"""
import jax.numpy as jnp
from jax import lax

from ...trace.tape import LOCAL
from ..build import cast_to
from ..operator import Tensor, op
from ..registry import composite
from .numeric import NARROW, not_implemented, wide, wrap_dim


def _check_softmax(name):
    def check(self, dim, dtype):
        last = wrap_dim(dim, self.ndim) >= self.ndim - 1
        if (dtype or self.dtype).category != 2 and self.numel:                       # of nothing, nothing is computed
            raise not_implemented(f"{name}_lastdim_kernel_impl" if last else f"{name}_kernel_impl", dtype or self.dtype)
    return check


def _as(x, dtype):
    return x if dtype is None else cast_to(x, dtype.numpy)


def _normal_exponents(x, dim):
    top = jnp.max(x, axis=dim, keepdims=True)
    return x - lax.stop_gradient(top)


@wide
def _softmax_gradient(grad, result, dim):
    if result.size == 0:
        return jnp.zeros_like(grad)
    if result.ndim == 0:                                # not simply zero: a result can have been changed by its `.data`
        return _softmax_gradient(grad[None], result[None], 0)[0]
    product = grad * result
    return product - result * product.sum(axis=dim, keepdims=True)


@wide
def _log_softmax_gradient(grad, result, dim):
    if result.size == 0:
        return jnp.zeros_like(grad)
    if result.ndim == 0:
        return _log_softmax_gradient(grad[None], result[None], 0)[0]
    return grad + jnp.exp(result) * (-grad).sum(axis=dim, keepdims=True)       # where all is -0.0 PyTorch's answer is 0.0


@op(None, name="_softmax", backward="SoftmaxBackward0", function=False, method=False, out=True,
    grad=_softmax_gradient, check=_check_softmax("softmax"), double="SoftmaxBackwardDataBackward0")
def _softmax(self: Tensor, dim, dtype=None):
    """The softmax of a tensor along a dimension, in ``dtype``."""
    return _softmax_body(_as(self, dtype), dim)


@wide
def _softmax_body(x, dim):
    if x.ndim == 0:
        return _softmax_body(x[None], 0)[0]
    if x.size == 0:
        return x
    e = jnp.exp(_normal_exponents(x, dim))
    return e / e.sum(axis=dim, keepdims=True)


@op(None, name="_safe_softmax", backward="SafeSoftmaxBackward0", function=False, method=False,
    grad=_softmax_gradient, check=_check_softmax("softmax"), double="SoftmaxBackwardDataBackward0")
def _safe_softmax(self: Tensor, dim, dtype=None):
    """The softmax, and zeros where all is minus infinity; such a row hands on zeros for a gradient, too, as its result is what is saved."""
    x = _as(self, dtype)
    if x.ndim == 0 or x.size == 0:
        return _softmax_body(x, dim)
    return jnp.where(jnp.isneginf(jnp.max(x, axis=dim, keepdims=True)), jnp.zeros((), x.dtype), _softmax_body(x, dim))


@op(None, name="_log_softmax", backward="LogSoftmaxBackward0", function=False, method=False, out=True,
    grad=_log_softmax_gradient, check=_check_softmax("log_softmax"), double="LogSoftmaxBackwardDataBackward0")
def _log_softmax(self: Tensor, dim, dtype=None):
    """The logarithm of the softmax along a dimension, in ``dtype``."""
    x = _as(self, dtype)
    return _log_softmax_body(x, dim, x.dtype if dim % max(x.ndim, 1) == x.ndim - 1 else None)


@wide
def _log_softmax_body(x, dim, kept_in):
    """``kept_in``: the type in which PyTorch's kernel for a last dimension keeps the sums and their logarithms."""
    if x.ndim == 0:
        return x - x
    if x.size == 0:
        return x
    shifted = _normal_exponents(x, dim)
    total = jnp.exp(shifted).sum(axis=dim, keepdims=True)
    if kept_in in NARROW:
        return shifted - jnp.log(total.astype(kept_in).astype(x.dtype)).astype(kept_in).astype(x.dtype)
    return shifted - jnp.log(total)


@composite()
def softmax(input, dim, dtype=None, *, out=None):
    """``exp(input)`` divided by its sum along ``dim``; ``dtype`` is the type it is computed in.

    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    if out is None:
        if dtype is not None and _is_cast_apart(input, dtype):
            input = input.to(dtype)
        return _softmax.record(input, dim, _float_of(input, dtype))
    return _softmax(input, dim, _float_of(input, dtype), out=out)


@composite()
def log_softmax(input, dim, dtype=None, *, out=None):
    """``log(softmax(input))``, computed without overflow.

    >>> torch.log_softmax(torch.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    if out is None:
        if dtype is not None and _is_cast_apart(input, dtype):
            input = input.to(dtype)
        return _log_softmax.record(input, dim, _float_of(input, dtype))
    return _log_softmax(input, dim, _float_of(input, dtype), out=out)


def _is_cast_apart(input, dtype):
    """Whether PyTorch's graph shows the cast."""
    return input.requires_grad and LOCAL.grad_enabled and dtype is not input.dtype


def _float_of(input, dtype):
    return None if dtype is input.dtype else dtype
