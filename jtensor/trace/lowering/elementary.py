"""Elementary functions written out in products and sums, where XLA's do not give the same bits everywhere, or not accurate ones.

XLA expands `log1p`, `atan` and what is built on them into products and sums, and which of these LLVM contracts differs between
vectors, their last elements and scattered data. Here they are written out, so that the rules of `fences.py` reach their products, too.
(`erf` is one long Horner scheme, which leaves LLVM no choice; `erfc`, `tanh`, `sinh` and `cosh` are here for their errors, 3, 1 and 2
units in the last place instead of 60, 4 and 32.)

Narrower types are computed in float32. The polynomials' numbers are in `coefficients.py`. Knows of nothing but JAX.
"""
import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from .coefficients import ATAN, ERF, ERFC, ERFC_CENTRE, SINH, TANH

barrier = core.Primitive("barrier")
"""Identity, and always a fence: XLA takes (1 + x) - 1 for x and exp(a) exp(b) for exp(a + b)."""
barrier.def_impl(lambda x: x)
barrier.def_abstract_eval(lambda aval: aval)

LN2 = float(np.log(2))
PI_HIGH = {"float32": (1.5707963705062866, -4.371139000186241e-08), "float64": (1.5707963267948966, 6.123233995736766e-17)}


def polynomial(x, coefficients):
    """By Horner's rule, the constant term first."""
    total = jnp.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


def with_sign(size, x):
    return jnp.where(jnp.signbit(x), -size, size)


def widened(function):
    """Computes types narrower than float32 in float32."""
    @functools.wraps(function)
    def wide(*arrays):
        dtype = arrays[0].dtype
        if dtype.itemsize >= 4:
            return function(*arrays)
        return function(*[x.astype(np.float32) for x in arrays]).astype(dtype)
    return wide


@widened
def log1p(x):
    y = barrier.bind(1 + x)
    lost = x - barrier.bind(y - 1)                  # what the rounding of the sum has lost, exactly
    # No choice of x where y is 1, which would be -0.0 for -0.0, and a subnormal number, as well: for that LLVM leaves vectors in rows of
    # three to eight, and a logarithm has other last bits outside of them.
    made = with_sign(abs(lax.log(y) + jnp.where((y > 0) & (y < np.inf), lost / y, 0)), x)
    bits = f"uint{8 * x.dtype.itemsize}"
    subnormal = jnp.where(abs(x) < np.finfo(x.dtype).smallest_normal, lax.bitcast_convert_type(x, bits), jnp.zeros((), bits))
    return lax.bitcast_convert_type(lax.bitcast_convert_type(made, bits) | subnormal, x.dtype)


@widened
def atan(x):
    size = abs(x)
    high, low = PI_HIGH[x.dtype.name]
    large, middle = size > 2.414213562373095, size > 0.4142135623730951
    top = jnp.where(large, -1.0, jnp.where(middle, size - 1, size))
    bottom = jnp.where(large, size, jnp.where(middle, size + 1, 1.0))
    t = top / bottom
    square = t * t
    rest = t * (square * polynomial(square, ATAN[x.dtype.name])) + t
    base = jnp.where(large, high, jnp.where(middle, high / 2, 0.0)).astype(x.dtype)
    tail = jnp.where(large, low, jnp.where(middle, low / 2, 0.0)).astype(x.dtype)
    return with_sign(jnp.where(middle, base + (rest + tail), rest), x)


@widened
def atan2(y, x):
    high, low = PI_HIGH[x.dtype.name]
    a, b = abs(y), abs(x)
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    ratio = jnp.where(large == 0, 0, jnp.where(small == np.inf, 1, small / large)).astype(x.dtype)
    angle = atan(ratio)
    steep, back = a > b, jnp.signbit(x)
    # A quarter or half of a turn is added at once: of two steps, the first would be rounded for nothing.
    turns = jnp.where(steep, 1, jnp.where(back, 2, 0)).astype(x.dtype)
    angle = turns * high + barrier.bind(jnp.where(steep != back, -angle, angle) + turns * low)
    return jnp.where((x != x) | (y != y), x + y, with_sign(angle, y))


@widened
def tanh(x):
    """XLA's own errs by 4 units in the last place, and 1 - tanh(x)², the gradient, by all of its size where x is large."""
    size = abs(x)
    square = jnp.minimum(size * size, 0.36)
    near = size * (square * polynomial(square, TANH[x.dtype.name])) + size
    return with_sign(jnp.where(size < 0.6, near, 1 - 2 / (lax.exp(size + size) + 1)), x)


def _half_exp(size):
    """exp(size) / 2, which ends later than exp(size) does. XLA takes exp(size - log(2)): what is rounded there costs it up to 32 units."""
    large = size > (709 if size.dtype.itemsize == 8 else 88)        # 1 is subtracted without rounding there
    return lax.exp(jnp.where(large, size - 1, size)) * jnp.where(large, math.e / 2, 0.5).astype(size.dtype)


@widened
def sinh(x):
    size = abs(x)
    half = _half_exp(size)
    square = jnp.minimum(size * size, 1)
    near = size * (square * polynomial(square, SINH[:5] if size.dtype.itemsize == 4 else SINH)) + size
    return with_sign(jnp.where(size < 1, near, half - 0.25 / half), x)


@widened
def cosh(x):
    half = _half_exp(abs(x))
    return half + 0.25 / half


@widened
def asinh(x):
    size = abs(x)
    large = size > (1e8 if x.dtype.itemsize == 8 else 1e4)
    a = jnp.where(large, 1, size)
    square = a * a
    near = log1p(a + square / (1 + lax.sqrt(square + 1)))
    return with_sign(jnp.where(large, lax.log(size) + LN2, near), x)


@widened
def acosh(x):
    large = x > (1e8 if x.dtype.itemsize == 8 else 1e4)
    t = jnp.where(large, 1, jnp.where(x < 1, np.nan, x - 1))        # the square below is as good as positive where x is below -1
    return jnp.where(large, lax.log(x) + LN2, log1p(t + lax.sqrt(t * (t + 2))))


@widened
def atanh(x):
    size = abs(x)
    return with_sign(0.5 * log1p(2 * size / (1 - size)), x)


def _erfc_large(x):
    """erfc of 0.5 and more. The square in the exponent is taken apart, lest its rounding decide."""
    bits, mask = (np.uint32, 0xFFFFF000) if x.dtype.itemsize == 4 else (np.uint64, 0xFFFFFFFFF8000000)
    short = lax.bitcast_convert_type(lax.bitcast_convert_type(x, bits) & bits(mask), x.dtype)
    scale = barrier.bind(lax.exp(-(short * short))) * lax.exp(-((x - short) * (x + short)))
    return scale * polynomial((x - ERFC_CENTRE) / (x + ERFC_CENTRE), ERFC[x.dtype.name]) / (1 + 2 * x)


@widened
def erfc(x):
    size = abs(x)
    near = 1 - (x * polynomial(jnp.minimum(x * x, 1), ERF[x.dtype.name]) + x)
    large = _erfc_large(jnp.clip(size, 0.5, 28))
    far = jnp.where(x < 0, 2 - large, large)
    return jnp.where(size < 0.5, near, jnp.where(x != x, x, far))
