"""Special functions: error functions, Bessel functions of imaginary argument, entropies, normal distribution.

Owns: those with a gradient; gamma functions are in `gammas`, Bessel functions without one and orthogonal polynomials in `polynomials`.
`jtensor.special` gives them their public names. float32 is computed through float64 where XLA's own function is off by more than
PyTorch's. May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special as jsp

from ...trace.lowering.elementary import polynomial
from ..operator import Tensor, TensorOrNumber, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import refuses, through_double, unary, wide

_HIDDEN = {"out": True, "function": False, "method": False}
_PER_SQRT_PI = 1 / math.sqrt(math.pi)


def _number(x):
    return isinstance(x, (int, float, complex, np.generic))


# -- error functions --------------------------------------------------------------------------------------------------

# Fitted for float32: erf(x) = x * p(x²) below the cut, 1 - exp(-q(|x| - cut)) above it; lowest coefficient first.
_CUT, _ONE = 0.9, 3.95
_NEAR = (-0.3761253244491205, 0.11282229959959299, -0.02678195687241224, 0.005016228328206047, -0.0006111291850113888)
_FAR = (1.594097246421203, 2.4716340595927706, 0.8300161418282949, 0.04578269231580683, -0.011081602909281861, 0.0021708247994444933,
        -0.0002908626716569124, 1.6621039485977634e-05, 7.374557594942956e-07)
_SLOPE_LESS_1 = 0.1283791553190747


@wide
def erf_of(x):
    """The error function. XLA's own for float32 is off by up to 5 ulp and has other bits in vector than in scalar code; this one by 1.4."""
    if x.dtype != jnp.float32:
        return lax.erf(x)
    size = jnp.minimum(jnp.abs(x), _ONE)
    square = size * size
    near = size + size * (_SLOPE_LESS_1 + square * polynomial(square, _NEAR))
    far = 1 - jnp.exp(-polynomial(size - _CUT, _FAR))
    return jnp.copysign(jnp.where(size < _CUT, near, far), x)


@op("float", grad=lambda grad, self: 2 * _PER_SQRT_PI * jnp.exp(-(self * self)) * grad, **unary("erf_vml_cpu"), double="MulBackward0",
    quirks=Quirks(saved_first=True))
@wide
def erf(self: Tensor):
    """The error function.

    >>> torch.erf(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8427])
    """
    return erf_of(self)


@op("float", grad=lambda grad, self: -2 * _PER_SQRT_PI * jnp.exp(-(self * self)) * grad, **unary("erfc_vml_cpu"), double="MulBackward0")
@wide
def erfc(self: Tensor):
    """The complementary error function, ``1 - erf(input)``, accurate where it is small.

    >>> torch.erfc(torch.tensor([0., 1.]))
    tensor([1.0000, 0.1573])
    """
    return through_double(lax.erfc, self)


@op("float", grad=lambda grad, self: 0.5 * math.sqrt(math.pi) * jnp.exp(jnp.square(wide(_erfinv)(self))) * grad, **unary("erfinv_vml_cpu"),
    double="MulBackward0", quirks=Quirks(saved_first=True))
@wide
def erfinv(self: Tensor):
    """The inverse of `erf`; infinite at ±1, NaN beyond.

    >>> torch.erfinv(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.4769])
    """
    return _erfinv(self)


def _erfinv(x):
    return through_double(lax.erf_inv, x)


def _scaled_erfc(x):
    """``exp(x²) erfc(x)``: directly where that fits, by the asymptotic series beyond."""
    x = x.astype(jnp.float64)
    size = jnp.abs(x)
    near = jnp.minimum(size, 10)
    direct = jnp.exp(near * near) * lax.erfc(near)
    far = jnp.maximum(size, 10)
    u, series = 0.5 / (far * far), jnp.ones_like(x)
    for k in range(12, 0, -1):
        series = 1 - (2 * k - 1) * u * series
    value = jnp.where(size < 10, direct, series * _PER_SQRT_PI / far)
    return jnp.where(x < 0, 2 * jnp.exp(x * x) - value, value)


@op("float", name="special_erfcx", grad=lambda grad, self, result: (2 * self * result - 2 * _PER_SQRT_PI) * grad,
    check=refuses("erfcx_cpu", "narrow", "complex"), **_HIDDEN, double="MulBackward0")
@wide
def special_erfcx(self: Tensor):
    """The scaled complementary error function, ``exp(input ** 2) * erfc(input)``."""
    return _scaled_erfc(self).astype(self.dtype)


# -- normal distribution ----------------------------------------------------------------------------------------------

# Fitted for float32: the log-odds of the area left of x are x * l(x²).
_ODDS = (1.5957688352516826, 0.0726693235904669, -6.770246374227927e-05, -0.0001098479508041534, 7.831084527579696e-06,
         -2.594472291724741e-07, 3.437631563859491e-09)


def normal_area(x):
    """The area under the standard normal density up to float32 or float64 ``x``, absolutely within 1e-7 for float32."""
    if x.dtype != jnp.float32:
        return 0.5 * (1 + lax.erf(x * math.sqrt(0.5)))
    x = jnp.clip(x, -15, 15)            # beyond it is 0 or 1, and powers of x would overflow: a second derivative would be NaN
    return lax.logistic(x * polynomial(x * x, _ODDS))


@op("float", name="special_ndtr", grad=lambda grad, self: grad * jnp.exp(-0.5 * self * self) * (1 / math.sqrt(2 * math.pi)), **_HIDDEN,
    check=refuses("erf_vml_cpu", "complex"), backward="MulBackward1")
def special_ndtr(self: Tensor):
    """The area under the standard normal density up to ``input``, by PyTorch's formula, which has few digits left far below 0."""
    return (1 + wide(erf_of)(wide(lambda x: x * math.sqrt(0.5))(self))) * 0.5


@op("float", name="special_ndtri", grad=lambda grad, result: grad * math.sqrt(2 * math.pi) * jnp.exp(result * result / 2), **_HIDDEN,
    check=refuses("ndtri_cpu", "narrow", "complex"), double="MulBackward0")
@wide
def special_ndtri(self: Tensor):
    """The inverse of `special.ndtr`."""
    return through_double(jsp.ndtri, self)


def _log_ndtr(x):
    """In float64: XLA's own loses all digits right of 5."""
    half = x.astype(jnp.float64) * math.sqrt(0.5)
    left, right = jnp.minimum(half, -0.5), jnp.maximum(half, -0.5)
    far = jnp.log(0.5 * _scaled_erfc(-left)) - left * left
    return jnp.where(half < -0.5, far, jnp.log1p(-0.5 * lax.erfc(right)))


@op("float", name="special_log_ndtr", check=refuses("log_ndtr_cpu", "narrow", "complex"), **_HIDDEN, double="MulBackward0",
    grad=lambda grad, self, result: grad / math.sqrt(2 * math.pi) * jnp.exp(-(result + self * self / 2)))
@wide
def special_log_ndtr(self: Tensor):
    """The logarithm of `special.ndtr`, accurate where that is small, or nearly 1."""
    return _log_ndtr(self).astype(self.dtype)


# -- Bessel functions of imaginary argument ---------------------------------------------------------------------------

def _i1(x):
    return through_double(jsp.i1, x)


@op("float", grad=lambda grad, self: grad * wide(_i1)(self), **unary("i0_vml_cpu"), double="MulBackward0")
@wide
def i0(self: Tensor):
    """The modified Bessel function of order 0.

    >>> torch.i0(torch.tensor([0., 1.]))
    tensor([1.0000, 1.2661])
    """
    return through_double(jsp.i0, self)


@op("float", name="special_i0e", backward="SpecialI0EBackward0", double="MulBackward0", check=refuses("i0e_cpu", "complex"), **_HIDDEN,
    grad=lambda grad, self, result: grad * (wide(lambda x: through_double(jsp.i1e, x))(self) - jnp.sign(self) * result))
@wide
def special_i0e(self: Tensor):
    """`i0` scaled by ``exp(-|input|)``."""
    return through_double(jsp.i0e, self)


@wide
def _i1_gradient(grad, self, result):
    zero = jnp.abs(self) <= jnp.finfo(self.dtype).eps
    slope = through_double(jsp.i0, self) - result / jnp.where(zero, jnp.ones_like(self), self)
    return grad * jnp.where(zero, jnp.full_like(self, 0.5), slope)


@op("float", name="special_i1", grad=_i1_gradient, check=refuses("i1_cpu", "complex"), **_HIDDEN, double="MulBackward0")
@wide
def special_i1(self: Tensor):
    """The modified Bessel function of order 1."""
    return _i1(self)


@wide
def _i1e_gradient(grad, self, result):
    zero = jnp.abs(self) <= jnp.finfo(self.dtype).eps
    safe = jnp.where(zero, jnp.ones_like(self), self)
    slope = through_double(jsp.i0e, self) - result * (jnp.sign(self) + 1 / safe)
    return grad * jnp.where(zero, jnp.full_like(self, 0.5), slope)


@op("float", name="special_i1e", backward="SpecialI1EBackward0", double="MulBackward0", grad=_i1e_gradient,
    check=refuses("i1e_cpu", "complex"), **_HIDDEN)
@wide
def special_i1e(self: Tensor):
    """`i1` scaled by ``exp(-|input|)``."""
    return through_double(jsp.i1e, self)


# -- logarithms times something ---------------------------------------------------------------------------------------
# Their kernels round half-precision numbers at each step, not once at the end, and so do these.

def _log_times(log, corner):
    def times(x, y):
        x, y = jnp.broadcast_arrays(x, y)
        value = x * log(y)
        return jnp.where(jnp.isnan(y), y, jnp.where(x == 0, jnp.zeros_like(value), value))

    def first(grad, self, other):
        return jnp.where((self == 0) & (other <= corner), jnp.zeros((), grad.dtype), times(grad, other))

    def second(grad, self, other):
        return grad * self / (other - corner)
    return times, first, second


_xlogy, _xlogy_first, _xlogy_second = _log_times(jnp.log, 0)
_xlog1py, _xlog1py_first, _xlog1py_second = _log_times(jnp.log1p, -1)


@op("float", name="xlogy_Tensor", backward="XlogyBackward0", inplace=True, **_HIDDEN, grad={"self": _xlogy_first, "other": _xlogy_second},
    check=refuses("xlogy_cpu", "complex"), double={"self": "MaskedFillBackward0", "other": "DivBackward0"})
def xlogy_Tensor(self: Tensor, other: Tensor):
    """``input * log(other)`` of two tensors."""
    return _xlogy(self, other)


@op("float", name="xlogy_Scalar_Self", backward="XlogyBackward1", **_HIDDEN, grad={"other": _xlogy_second},
    check=refuses("xlogy_cpu", "complex"))
def xlogy_Scalar_Self(self: TensorOrNumber, other: Tensor):
    """``input * log(other)`` of a number and a tensor."""
    return _xlogy(self, other)


@op("float", name="xlogy_Scalar_Other", backward="XlogyBackward2", inplace=True, **_HIDDEN, grad={"self": _xlogy_first},
    check=refuses("xlogy_cpu", "complex"), double="MaskedFillBackward0!")
def xlogy_Scalar_Other(self: Tensor, other: TensorOrNumber):
    """``input * log(other)`` of a tensor and a number."""
    return _xlogy(self, other)


def _xlogy_form(input, other):
    return xlogy_Scalar_Other if _number(other) else xlogy_Scalar_Self if _number(input) else xlogy_Tensor


@composite()
def xlogy(input, other, *, out=None):
    """``input * log(other)``, and 0 where ``input`` is 0, unless ``other`` is NaN.

    >>> torch.xlogy(torch.tensor([0., 2.]), torch.tensor([0., 1.]))
    tensor([0., 0.])
    """
    form = _xlogy_form(input, other)
    return form(input, other) if out is None else form(input, other, out=out)


@composite()
def xlogy_(input, other):
    """``xlogy``, written back into the tensor."""
    return _xlogy_form(input, other).inplace_form(input, other)


_XLOG1PY = {**_HIDDEN, "check": refuses("xlog1py_cpu", "complex")}


@op("float", name="xlog1py_Tensor", backward="SpecialXlog1PyBackward0", **_XLOG1PY,
    grad={"self": _xlog1py_first, "other": _xlog1py_second})
def xlog1py_Tensor(self: Tensor, other: Tensor):
    """``input * log1p(other)`` of two tensors."""
    return _xlog1py(self, other)


@op("float", name="xlog1py_Scalar_Self", backward="SpecialXlog1PyBackward1", **_XLOG1PY, grad={"other": _xlog1py_second})
def xlog1py_Scalar_Self(self: TensorOrNumber, other: Tensor):
    """``input * log1p(other)`` of a number and a tensor."""
    return _xlog1py(self, other)


@op("float", name="xlog1py_Scalar_Other", backward="SpecialXlog1PyBackward2", **_XLOG1PY, grad={"self": _xlog1py_first})
def xlog1py_Scalar_Other(self: Tensor, other: TensorOrNumber):
    """``input * log1p(other)`` of a tensor and a number."""
    return _xlog1py(self, other)


@composite("special_xlog1py", function=False, method=False)
def special_xlog1py(input, other, *, out=None):
    """``input * log1p(other)``, and 0 where ``input`` is 0, unless ``other`` is NaN."""
    form = xlog1py_Scalar_Other if _number(other) else xlog1py_Scalar_Self if _number(input) else xlog1py_Tensor
    return form(input, other) if out is None else form(input, other, out=out)


@op("float", name="special_entr", grad=lambda grad, self: grad * -(1 + jnp.log(self)), check=refuses("entr_cpu", "complex"),
    double="MulBackward0", **_HIDDEN)
def special_entr(self: Tensor):
    """``-input * log(input)``; 0 at 0 and -inf below."""
    inside = -self * jnp.log(jnp.where(self > 0, self, jnp.ones_like(self)))
    flat = jnp.where(self == 0, jnp.zeros_like(self), jnp.full_like(self, -jnp.inf))
    return jnp.where(jnp.isnan(self), self, jnp.where(self > 0, inside, flat))


@wide
def _logit_gradient(grad, self, eps):
    low = 0.0 if eps is None else eps
    low, high = jnp.asarray(low, self.dtype), jnp.asarray(1.0, self.dtype) - jnp.asarray(low, self.dtype)
    outside = (self < low) | (self > high)
    beyond = jnp.asarray(jnp.nan if eps is None else 0.0, grad.dtype)
    return jnp.where(outside, beyond, grad / (self * (1 - self)))


@op("float", inplace=True, out=True, grad=_logit_gradient, check=refuses("logit_cpu", "complex"), double="WhereBackward0")
def logit(self: Tensor, eps=None):
    """``log(input / (1 - input))``; with ``eps`` the input is kept between ``eps`` and ``1 - eps``.

    >>> torch.logit(torch.tensor([0.5]))
    tensor([0.])
    """
    x = self
    if eps is not None:
        low, high = jnp.asarray(eps, x.dtype), jnp.asarray(1.0, x.dtype) - jnp.asarray(eps, x.dtype)
        x = jnp.where(x < low, low, jnp.where(x > high, high, x))
    return jnp.log(x / (1 - x))
