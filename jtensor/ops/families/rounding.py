"""Rounding: floor, ceil, round, trunc, frac, frexp, nextafter.

Owns: how numbers become whole. May not know: tensors as objects.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..operator import Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import NO_DECIMALS
from .numeric import is_integral, not_implemented, refuses, wide, zeros_gradient


def _refuses_complex(name):
    def check(self, *others):
        if self.dtype.is_complex:
            raise NotImplementedError(f"{name} is not supported for complex inputs")
        if self.dtype is dtypes.bool:
            raise not_implemented(f"{name}_vml_cpu", self.dtype)
    return check


@op("numeric", inplace=True, out=True, grad=zeros_gradient, check=_refuses_complex("floor"), double="-")
def floor(self: Tensor):
    """Rounded down.

    >>> torch.floor(torch.tensor([1.7, -1.2]))
    tensor([ 1., -2.])
    """
    return self if is_integral(self) else jnp.floor(self)


@op("numeric", inplace=True, out=True, grad=zeros_gradient, check=_refuses_complex("ceil"), double="-")
def ceil(self: Tensor):
    """Rounded up.

    >>> torch.ceil(torch.tensor([1.2, -1.7]))
    tensor([ 2., -1.])
    """
    return self if is_integral(self) else jnp.ceil(self)


@op("numeric", inplace=True, out=True, grad=zeros_gradient, check=_refuses_complex("trunc"), double="-")
def trunc(self: Tensor):
    """Rounded towards zero.

    >>> torch.trunc(torch.tensor([1.7, -1.7]))
    tensor([ 1., -1.])
    """
    return self if is_integral(self) else jnp.trunc(self)


@op("numeric", inplace=True, out=True, grad=lambda grad: grad, check=refuses("frac_cpu", "integral", "bool", "complex"), double="=")
@wide
def frac(self: Tensor):
    """What truncation takes away: ``input - trunc(input)``.

    >>> torch.frac(torch.tensor([1.5, -1.5]))
    tensor([ 0.5000, -0.5000])
    """
    return self - jnp.trunc(self)


_ROUND = {"inplace": True, "out": True, "function": False, "method": False, "grad": zeros_gradient}


@op("numeric", name="round_whole", backward="RoundBackward0", check=refuses("round_vml_cpu", "complex", "bool"), **_ROUND, double="-")
def round_whole(self: Tensor):
    """To the nearest whole number, halves to the even one."""
    return self if is_integral(self) else lax.round(self, lax.RoundingMethod.TO_NEAREST_EVEN)


@op("numeric", name="round_decimals", backward="RoundBackward1", **_ROUND,
    check=lambda self, decimals: refuses("round_cpu" if decimals else "round_vml_cpu", "complex")(self), double="-")
@wide
def round_decimals(self: Tensor, decimals):
    """To a number of decimal places."""
    if is_integral(self):
        return self
    places = abs(decimals)
    with np.errstate(over="ignore"):                               # in a narrow type it may be infinite
        scale = jnp.asarray(float(10**places) if places <= 308 else np.inf, self.dtype)
    even = lax.RoundingMethod.TO_NEAREST_EVEN
    return lax.round(self * scale, even) / scale if decimals >= 0 else lax.round(self / scale, even) * scale


@composite()
def round(input, *, decimals=NO_DECIMALS, out=None):
    """To the nearest whole number (halves to the even one), or to so many decimal places; negative ones are left of the point.

    >>> torch.round(torch.tensor([0.5, 1.5, 2.345]), decimals=0)
    tensor([0., 2., 2.])
    """
    more = {} if out is None else {"out": out}
    if decimals is NO_DECIMALS:
        return round_whole(input, **more)
    return round_decimals(_fractional(input, decimals), decimals, **more)


@composite()
def round_(input, *, decimals=NO_DECIMALS):
    """``round``, written back into the tensor."""
    if decimals is NO_DECIMALS:
        return round_whole.inplace_form(input)
    return round_decimals.inplace_form(_fractional(input, decimals), decimals)


def _fractional(input, decimals):
    if input.dtype.category < 2:
        raise not_implemented("round_cpu" if decimals else "round_vml_cpu", input.dtype)
    return input


def _check_frexp(self):
    if not self.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    if self.dtype.itemsize == 1:
        raise not_implemented("frexp_cpu", self.dtype)


def _halved(x):
    """(mantissa in [0.5, 1), exponent); denormals are zeros to XLA's arithmetic, so nothing has to be said of them."""
    mantissa, exponent = jnp.frexp(x)
    return mantissa, exponent.astype(jnp.int32)


@op(None, layout="like", nondiff=(1,), outputs=("mantissa", "exponent"), check=_check_frexp, out=True,
    grad={"self": lambda grads, result1: grads[0] / jnp.exp2(result1.astype(grads[0].dtype))}, quirks=Quirks(out_asked_first=True))
@wide
def frexp(self: Tensor):
    """``(mantissa, exponent)``: each element as a number in [0.5, 1) times a power of two.

    >>> torch.frexp(torch.tensor([8., 3.])).exponent
    tensor([4, 2], dtype=torch.int32)
    """
    return _halved(self)


def _unequal_gradient(grad, self, other):
    return jnp.where(self != other, grad, jnp.zeros_like(grad))


@op("numeric", inplace=True, out=True, check=refuses("nextafter_cpu", "bool", "integral", "complex"),
    grad={"self": _unequal_gradient, "other": zeros_gradient})
def nextafter(self: Tensor, other: Tensor):
    """The next number after ``input`` on the way to ``other``.

    >>> torch.nextafter(torch.tensor([1.]), torch.tensor([2.])) > 1
    tensor([True])
    """
    a, b = jnp.broadcast_arrays(self, other)
    return lax.nextafter(a, b)
