"""Circular and hyperbolic functions, their inverses, sinc, degrees.

Owns: which of them are computed through float64, because XLA's own have other last bits in vector than in scalar code, or, as the sine and
the cosine, ask the C library number by number.
May not know: tensors as objects.
"""
import math

import jax
import jax.numpy as jnp
from jax import lax

from ...trace.lowering.elementary import polynomial
from ...trace.plan import is_for_cpu
from ..operator import Tensor, op
from ..quirks import Quirks
from .numeric import is_complex, refuses, through_double, wide

conj = jnp.conj
_UNARY = {"inplace": True, "out": True}


def _rsqrt(x):
    return 1 / jnp.sqrt(x)


# -- sine and cosine of float32 ---------------------------------------------------------------------------------------

_PI_HIGH, _PI_LOW = 3.1415926534682512, 1.2154201013012384e-10          # the first has 33 bits, so that its multiples below are exact
_FAR = 1 << 21
_SINE = (-0.16666666666658458, 0.008333333330937984, -0.00019841268708156053, 2.755712305769773e-06, -2.5036738931224052e-08,
         1.550239959997099e-10)         # (sin(x) / x - 1) / x² of x² up to (π/2)², as the polynomials in `elementary`
_HALF_SINE = (-0.16666666666663885, 0.008333333331079223, -0.00019841266916985966, 2.755599092956532e-06, -2.4805636241834762e-08)
_HALF_COSINE = (0.04166666666666468, -0.0013888888887277342, 2.4801585210990515e-05, -2.7556369695573e-07, 2.070060048343283e-09)
#                                       the same, and (cos(x) - 1 + x² / 2) / x⁴, of x² up to (π/4)²
_ARC_SINE = (0.16666666665495086, 0.07500000598829049, 0.044642358484883196, 0.030397634130580702, 0.022132443623426794,
             0.019306260869368045, 0.0054431851027481075, 0.02930523970533579)         # (asin(x) / x - 1) / x² of x² up to 1/4
MANY = 1 << 13          # numbers of which it is worth knowing whether any is far from 0


def _near(x, turned):
    """``sin`` of float32 by float64, within half a unit in the last place and a thousandth; ``turned``: a quarter turn on, ``cos``."""
    wide = x.astype(jnp.float64)
    turns = jnp.round(wide * (1 / math.pi) - 0.5) + 0.5 if turned else jnp.round(wide * (1 / math.pi))
    rest = wide - turns * _PI_HIGH - turns * _PI_LOW
    square = rest * rest
    size = (rest + rest * (square * polynomial(square, _SINE))).astype(jnp.float32)
    odd = jnp.floor(turns).astype(jnp.int32) & 1 == 1
    return jnp.where(odd, size, -size) if turned else jnp.where(x == 0, x, jnp.where(odd, -size, size))


def _circular(x, function, turned):
    if x.dtype != jnp.float32 or not is_for_cpu():
        return function(x)
    far, near = jnp.abs(x) >= _FAR, _near(x, turned)

    def with_far():
        return jnp.where(far, function(x), near)            # the C library's, number by number
    return with_far() if x.size < MANY else lax.cond(jnp.any(far), with_far, lambda: near)


@jax.custom_jvp
def sine(x):
    """The sine of an array of any type."""
    return _circular(x, jnp.sin, False)


@jax.custom_jvp
def cosine(x):
    """The cosine of an array of any type."""
    return _circular(x, jnp.cos, True)


sine.defjvps(lambda slope, _, x: slope * cosine(x))
cosine.defjvps(lambda slope, _, x: slope * -sine(x))


# -- tangent, and the angles of sines and cosines -----------------------------------------------------------------------

def _near_tangent(x):
    """``tan`` of float32 by float64, as `_near`."""
    wide = x.astype(jnp.float64)
    turns = jnp.round(wide * (2 / math.pi))
    rest = wide - turns * (_PI_HIGH / 2) - turns * (_PI_LOW / 2)
    square = rest * rest
    sine = rest + rest * (square * polynomial(square, _HALF_SINE))
    cosine = 1 - square / 2 + square * square * polynomial(square, _HALF_COSINE)
    odd = turns.astype(jnp.int32) & 1 == 1
    size = (jnp.where(odd, -cosine, sine) / jnp.where(odd, sine, cosine)).astype(jnp.float32)
    return jnp.where(x == 0, x, size)


def _tangent(x):
    if x.dtype != jnp.float32 or not is_for_cpu():
        return jnp.tan(x)
    far, near = jnp.abs(x) >= _FAR // 2, _near_tangent(x)

    def with_far():
        return jnp.where(far, jnp.tan(x), near)
    return with_far() if x.size < MANY else lax.cond(jnp.any(far), with_far, lambda: near)


def _arc(x, cosine):
    """The angle whose sine or cosine is ``x``, of float32 by float64: a multiple of an angle up to π/6, and of a quarter of a turn."""
    if x.dtype != jnp.float32:
        return jnp.arccos(x) if cosine else jnp.arcsin(x)
    size, sign = jnp.abs(x.astype(jnp.float64)), jnp.where(jnp.signbit(x), -1.0, 1.0)
    large = size > 0.5
    square = jnp.where(large, (1 - size) * 0.5, size * size)
    root = jnp.where(large, jnp.sqrt(square), size)
    small = root + root * (square * polynomial(square, _ARC_SINE))
    if cosine:
        turned, angle = jnp.where(large, 1 - sign, 1.0), jnp.where(large, 2 * sign, -sign) * small
    else:
        turned, angle = jnp.where(large, sign, jnp.where(sign < 0, -0.0, 0.0)), jnp.where(large, -2 * sign, sign) * small
    return (turned * (math.pi / 2) + angle).astype(x.dtype)


# -- circular ---------------------------------------------------------------------------------------------------------

@op("float", grad=lambda grad, self: grad * conj(cosine(self)), **_UNARY, double="MulBackward0", quirks=Quirks(factor=True))
@wide
def sin(self: Tensor):
    """The sine of an angle in radians.

    >>> torch.sin(torch.tensor([0., 1.5707964]))
    tensor([0., 1.])
    """
    return sine(self)


@op("float", grad=lambda grad, self: grad * -conj(sine(self)), **_UNARY, double="MulBackward0", quirks=Quirks(factor=True))
@wide
def cos(self: Tensor):
    """The cosine of an angle in radians.

    >>> torch.cos(torch.tensor([0.]))
    tensor([1.])
    """
    return cosine(self)


@op("float", grad=lambda grad, result: grad * conj(1 + result * result), **_UNARY, double="MulBackward0", quirks=Quirks(factor=True))
@wide
def tan(self: Tensor):
    """The tangent of an angle in radians.

    >>> torch.tan(torch.tensor([0., 0.7853982]))
    tensor([0., 1.])
    """
    return _tangent(self)


@op("float", grad=lambda grad, self: grad * conj(_rsqrt(-self * self + 1)), **_UNARY, double="MulBackward0")
@wide
def asin(self: Tensor):
    """The angle whose sine it is, between -π/2 and π/2.

    >>> torch.asin(torch.tensor([0., 1.]))
    tensor([0.0000, 1.5708])
    """
    return _arc(self, False)


@op("float", grad=lambda grad, self: grad * -conj(_rsqrt(-self * self + 1)), **_UNARY, double="MulBackward0")
@wide
def acos(self: Tensor):
    """The angle whose cosine it is, between 0 and π.

    >>> torch.acos(torch.tensor([1., 0.]))
    tensor([0.0000, 1.5708])
    """
    return _arc(self, True)


@op("float", grad=lambda grad, self: grad / conj(self * self + 1), **_UNARY, double="DivBackward0")
@wide
def atan(self: Tensor):
    """The angle whose tangent it is, between -π/2 and π/2.

    >>> torch.atan(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7854])
    """
    return through_double(jnp.arctan, self)


def _atan2_scale(self, other):
    squares = self * self + other * other
    zero = squares == 0
    return jnp.where(zero, jnp.zeros_like(squares), 1 / jnp.where(zero, jnp.ones_like(squares), squares))


@op("float", inplace=True, out=True, check=refuses("atan2_cpu", "complex"),
    grad={"self": lambda grad, self, other: grad * other * _atan2_scale(self, other),
          "other": lambda grad, self, other: grad * -self * _atan2_scale(self, other)}, double="MulBackward0",
    quirks=Quirks(met_first=True))
@wide
def atan2(self: Tensor, other: Tensor):
    """The angle of the point (``other``, ``input``), between -π and π.

    >>> torch.atan2(torch.tensor([1.]), torch.tensor([-1.]))
    tensor([2.3562])
    """
    return through_double(jnp.arctan2, self, other)


# -- hyperbolic (tanh is an activation) -------------------------------------------------------------------------------

@op("float", grad=lambda grad, self: grad * conj(jnp.cosh(self)), **_UNARY, double="MulBackward0", quirks=Quirks(factor=True))
@wide
def sinh(self: Tensor):
    """The hyperbolic sine.

    >>> torch.sinh(torch.tensor([0., 1.]))
    tensor([0.0000, 1.1752])
    """
    return jnp.sinh(self)


@op("float", grad=lambda grad, self: grad * conj(jnp.sinh(self)), **_UNARY, double="MulBackward0", quirks=Quirks(factor=True))
@wide
def cosh(self: Tensor):
    """The hyperbolic cosine.

    >>> torch.cosh(torch.tensor([0., 1.]))
    tensor([1.0000, 1.5431])
    """
    return jnp.cosh(self)


@op("float", grad=lambda grad, self: grad * conj(_rsqrt(self * self + 1)), **_UNARY, double="MulBackward0")
@wide
def asinh(self: Tensor):
    """The inverse of `sinh`.

    >>> torch.asinh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8814])
    """
    return jnp.arcsinh(self)


def _acosh_gradient(grad, self):
    if is_complex(self):
        return grad * conj(_rsqrt(self + 1) * _rsqrt(self - 1))
    return grad * _rsqrt(self * self - 1)


@op("float", grad=_acosh_gradient, **_UNARY, double="MulBackward0")
@wide
def acosh(self: Tensor):
    """The inverse of `cosh`, not negative; NaN below 1.

    >>> torch.acosh(torch.tensor([1., 2.]))
    tensor([0.0000, 1.3170])
    """
    return jnp.arccosh(self)


@op("float", grad=lambda grad, self: grad / conj(1 - self * self), **_UNARY, double="DivBackward0")
@wide
def atanh(self: Tensor):
    """The inverse of `tanh`; infinite at ±1, NaN beyond.

    >>> torch.atanh(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.5493])
    """
    return jnp.arctanh(self)


# -- sinc and degrees -------------------------------------------------------------------------------------------------

@wide
def _sinc_gradient(grad, self):
    angle, scale = self * math.pi, self * self * math.pi
    zero = scale == 0
    slope = (angle * jnp.cos(angle) - jnp.sin(angle)) / jnp.where(zero, jnp.ones_like(scale), scale)
    return jnp.where(zero, jnp.zeros_like(grad), grad * conj(slope))


@op("float", grad=_sinc_gradient, **_UNARY, double="WhereBackward0", quirks=Quirks(factor=True))
@wide
def sinc(self: Tensor):
    """``sin(π input) / (π input)``, and 1 at 0.

    >>> torch.sinc(torch.tensor([0., 0.5]))
    tensor([1.0000, 0.6366])
    """
    angle = self * math.pi
    zero = self == 0
    return jnp.where(zero, jnp.ones_like(self), jnp.sin(angle) / jnp.where(zero, jnp.ones_like(angle), angle))


_TO_RADIANS, _TO_DEGREES = math.pi / 180, 180 / math.pi


@op("float", backward="Deg2RadBackward0", grad=lambda grad: grad * _TO_RADIANS, **_UNARY,
    check=refuses("deg2rad", "complex", error=RuntimeError("deg2rad is not supported for complex tensors.")), double="MulBackward1")
@wide
def deg2rad(self: Tensor):
    """Degrees as radians.

    >>> torch.deg2rad(torch.tensor([180.]))
    tensor([3.1416])
    """
    return self * _TO_RADIANS


@op("float", backward="Rad2DegBackward0", grad=lambda grad: grad * _TO_DEGREES, **_UNARY,
    check=refuses("rad2deg", "complex", error=RuntimeError("rad2deg is not supported for complex tensors.")), double="MulBackward1")
@wide
def rad2deg(self: Tensor):
    """Radians as degrees.

    >>> torch.rad2deg(torch.tensor([3.1415927]))
    tensor([180.])
    """
    return self * _TO_DEGREES
