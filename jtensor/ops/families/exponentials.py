"""Exponentials and logarithms, each with its own base, and logarithms of sums of exponentials.

Owns: exp, exp2, expm1, log, log2, log10, log1p, logaddexp, logaddexp2. May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
from jax import lax

from ...trace.lowering.elementary import polynomial
from ..operator import Tensor, op
from ..quirks import Quirks
from .numeric import is_complex, refuses, wide

conj = jnp.conj
LN2, LN10 = math.log(2), math.log(10)
_EXP2 = (1.0, 0.6931471805459335, 0.2402265069581299, 0.05550410941205933, 0.009618129159402558, 0.0013333450568000645,
               0.00015403455852453838, 1.5310079402249296e-05, 1.3255224878668817e-06)
#           2 ** x of x between -1/2 and 1/2, as the polynomials in `elementary`
_ATANH = (0.33333333333688114, 0.19999999397895532, 0.14285877425812554, 0.11095690394522167, 0.09681521524375625)
#           (atanh(x) / x - 1) / x² of x up to 0.1716


def _power_of_two(x):
    """``2 ** x`` of float32 by float64: the exponent is put together of its bits, the rest is a polynomial."""
    wide = jnp.clip(x.astype(jnp.float64), -200, 200)
    whole = jnp.round(wide)
    scale = lax.bitcast_convert_type((whole.astype(jnp.int64) + 1023) << 52, jnp.float64)
    return jnp.where(x != x, x, (polynomial(wide - whole, _EXP2) * scale).astype(jnp.float32))


def _log10(x):
    """``log10`` of float32 by float64, whose last bits are lost in rounding: of powers of ten it is whole."""
    bits = lax.bitcast_convert_type(x.astype(jnp.float64), jnp.int64)
    mantissa = lax.bitcast_convert_type(bits & ((1 << 52) - 1) | (1023 << 52), jnp.float64)
    high = mantissa > math.sqrt(2)
    mantissa = jnp.where(high, mantissa / 2, mantissa)
    exponent = (bits >> 52) - 1023 + high
    part = (mantissa - 1) / (mantissa + 1)
    square = part * part
    log = (part + part * (square * polynomial(square, _ATANH))) * (2 / LN10) + exponent.astype(jnp.float64) * (LN2 / LN10)
    odd = jnp.where(x == 0, -jnp.inf, jnp.where(x == jnp.inf, x, jnp.nan))
    return jnp.where((x > 0) & (x < jnp.inf), log, odd).astype(jnp.float32)


@op("float", inplace=True, out=True, grad=lambda grad, result: grad * conj(result), double="MulBackward0")
def exp(self: Tensor):
    """``e ** input``.

    >>> torch.exp(torch.tensor([0., 1.]))
    tensor([1.0000, 2.7183])
    """
    return jnp.exp(self)


@op("float", inplace=True, out=True, grad=lambda grad, result: grad * conj(result) * LN2, double="MulBackward1")
@wide
def exp2(self: Tensor):
    """``2 ** input``.

    >>> torch.exp2(torch.tensor([0., 3.]))
    tensor([1., 8.])
    """
    if is_complex(self):
        return jnp.exp(self * LN2)
    return _power_of_two(self) if self.dtype == jnp.float32 else lax.pow(jnp.full_like(self, 2), self)


@op("float", inplace=True, out=True, grad=lambda grad, result: grad * (conj(result) + 1), double="MulBackward0", quirks=Quirks(factor=True))
@wide
def expm1(self: Tensor):
    """``e ** input - 1``, accurate near 0.

    >>> torch.expm1(torch.tensor([0., 1.]))
    tensor([0.0000, 1.7183])
    """
    return jnp.expm1(self)


@op("float", inplace=True, out=True, grad=lambda grad, self: grad / conj(self), double="DivBackward0")
def log(self: Tensor):
    """The natural logarithm; -inf at 0, NaN for negative real numbers.

    >>> torch.log(torch.tensor([1., 10.]))
    tensor([0.0000, 2.3026])
    """
    return jnp.log(self)


def _scaled(x, factor):
    return lax.complex(x.real * factor, x.imag * factor)


def _exact_log2(x):
    """log2 with whole results for powers of two: the exponent, and the logarithm of a mantissa near 1."""
    if is_complex(x):
        return _scaled(jnp.log(x), 1 / LN2)
    mantissa, exponent = jnp.frexp(x)
    low = mantissa < math.sqrt(0.5)
    mantissa = jnp.where(low, mantissa * 2, mantissa)
    exponent = exponent.astype(x.dtype) - low.astype(x.dtype)
    ordinary = (x > 0) & (x < jnp.inf)
    return jnp.where(ordinary, exponent + jnp.log(mantissa) * (1 / LN2), jnp.log(x))


@op("float", inplace=True, out=True, grad=lambda grad, self: grad / (conj(self) * LN2), double="DivBackward0",
    quirks=Quirks(computed=("self",)))
@wide
def log2(self: Tensor):
    """The logarithm to base 2.

    >>> torch.log2(torch.tensor([1., 8.]))
    tensor([0., 3.])
    """
    return _exact_log2(self)


def _exact_log10(x):
    if is_complex(x):
        return _scaled(jnp.log(x), 1 / LN10)
    if x.dtype == jnp.float32:
        return _log10(x)
    y = jnp.log(x.astype(jnp.float64)) / LN10
    near = jnp.round(y)
    exact = jnp.isfinite(y) & (jnp.abs(y - near) < 1e-13 * jnp.maximum(jnp.abs(y), 1))
    return jnp.where(exact, near, y).astype(x.dtype)


@op("float", inplace=True, out=True, grad=lambda grad, self: grad / (conj(self) * LN10), double="DivBackward0",
    quirks=Quirks(computed=("self",)))
@wide
def log10(self: Tensor):
    """The logarithm to base 10.

    >>> torch.log10(torch.tensor([1., 1000.]))
    tensor([0., 3.])
    """
    return _exact_log10(self)


@op("float", inplace=True, out=True, backward="Log1PBackward0", grad=lambda grad, self: grad / conj(self + 1), double="DivBackward0",
    quirks=Quirks(computed=("self",)))
@wide
def log1p(self: Tensor):
    """``log(1 + input)``, accurate near 0.

    >>> torch.log1p(torch.tensor([0., 1.]))
    tensor([0.0000, 0.6931])
    """
    return jnp.log1p(self)


def _complex_logaddexp(a, b):
    """The larger real part comes out of the logarithm, its imaginary part as it is: no turn is taken off. A NaN makes both parts NaN."""
    swap = a.real < b.real
    high, low = jnp.where(swap, b, a), jnp.where(swap, a, b)
    infinite = (high.real == low.real) & jnp.isinf(high.real)
    top = jnp.where(high.real < 0, low, jnp.log(jnp.exp(low) + jnp.exp(high)))
    found = jnp.where(infinite, top, high + jnp.log1p(jnp.exp(low - high)))
    return jnp.where(jnp.isnan(a) | jnp.isnan(b), complex(jnp.nan, jnp.nan), found)


@wide
def log_of_sum(a, b):
    a, b = jnp.broadcast_arrays(a, b)
    if is_complex(a):
        return _complex_logaddexp(a, b)
    top = jnp.where(a < b, b, a)
    same = (a == b) & jnp.isinf(a)
    gap = jnp.where(same, jnp.zeros_like(a), -jnp.abs(a - b))
    return jnp.where(same, a, jnp.where(jnp.isnan(a) | jnp.isnan(b), a + b, top + jnp.log1p(jnp.exp(gap))))


@op("float", inplace=False, out=True, check=refuses("logaddexp_cpu", "bool", "integral"),
    grad={"self": lambda grad, self, other: grad / conj(1 + jnp.exp(other - self)),
          "other": lambda grad, self, other: grad / conj(1 + jnp.exp(self - other))}, double="DivBackward0",
    quirks=Quirks(computed=("self", "other")))
def logaddexp(self: Tensor, other: Tensor):
    """``log(exp(input) + exp(other))`` without overflow on the way.

    >>> torch.logaddexp(torch.tensor([0.]), torch.tensor([0.]))
    tensor([0.6931])
    """
    return log_of_sum(self, other)


@wide
def _log2_of_sum(a, b):
    a, b = jnp.broadcast_arrays(a, b)
    if is_complex(a):
        return jnp.logaddexp(a * LN2, b * LN2) * (1 / LN2)
    top = jnp.where(a < b, b, a)
    same = (a == b) & jnp.isinf(a)
    gap = jnp.where(same, jnp.zeros_like(a), -jnp.abs(a - b))
    value = top + jnp.log1p(jnp.exp2(gap)) * (1 / LN2)
    return jnp.where(same, a, jnp.where(jnp.isnan(a) | jnp.isnan(b), a + b, value))


@op("float", out=True, check=refuses("logaddexp2_cpu", "bool", "integral", "complex"),
    grad={"self": lambda grad, self, other: grad / (1 + jnp.exp2(other - self)),
          "other": lambda grad, self, other: grad / (1 + jnp.exp2(self - other))}, double="DivBackward0")
def logaddexp2(self: Tensor, other: Tensor):
    """``log2(2 ** input + 2 ** other)`` without overflow on the way.

    >>> torch.logaddexp2(torch.tensor([1.]), torch.tensor([1.]))
    tensor([2.])
    """
    return _log2_of_sum(self, other)
