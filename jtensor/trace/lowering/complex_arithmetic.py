"""Complex arithmetic written out in real parts, whose products the rules of `fences.py` reach. Knows of nothing but JAX."""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from . import elementary
from .elementary import LN2, with_sign


def _parts(x):
    return lax.real(x), lax.imag(x)


def mul(x, y):
    (a, b), (c, d) = _parts(x), _parts(y)
    return lax.complex(a * c - b * d, a * d + b * c)


def square(x):
    return mul(x, x)


def power(x, *, y):
    if y < 0:
        return div(jnp.ones_like(x), power(x, y=-y))
    result = None
    while y:
        if y & 1:
            result = x if result is None else mul(result, x)
        y >>= 1
        x = mul(x, x) if y else x
    return jnp.ones_like(x) if result is None else result


def div(x, y):
    (a, b), (c, d) = _parts(x), _parts(y)
    wide, zero = abs(c) >= abs(d), (c == 0) & (d == 0)
    large, small = jnp.where(wide, c, d), jnp.where(wide, d, c)
    ratio = jnp.where(zero, 0, small / large).astype(a.dtype)
    first, second = jnp.where(wide, a, b), jnp.where(wide, b, a)
    length = jnp.where(zero, abs(c), large + small * ratio)
    turned = jnp.where(wide, b - a * ratio, b * ratio - a)
    return lax.complex((first + second * ratio) / length, turned / length)


def absolute(x):
    a, b = _parts(x)
    a, b = abs(a), abs(b)
    most = np.finfo(a.dtype).max                            # a number: NumPy, which computes small arrays, is given no infinite ones
    if a.dtype.itemsize == 4:
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        length = lax.sqrt(wide_a * wide_a + wide_b * wide_b).astype(np.float32)
    else:
        large, small = jnp.maximum(a, b), jnp.minimum(a, b)
        ratio = jnp.where(large == 0, 0, small / large).astype(large.dtype)
        length = large * lax.sqrt(1 + ratio * ratio)
    return jnp.where(a > most, a, jnp.where(b > most, b, length))            # infinite whatever the other part is, NaN among it


def exp(x):
    a, b = _parts(x)
    size = lax.exp(a)
    most = np.finfo(a.dtype).max
    turning = (abs(a) > most) & ~(abs(b) <= most)           # without end: nothing, or infinity in no direction
    real = jnp.where(turning, size, size * lax.cos(b))
    return lax.complex(real, jnp.where(turning, jnp.where(a < 0, 0, b - b), jnp.where(b == 0, b, size * lax.sin(b))))


def _turned(a, b, real, imaginary):
    """real cos(b) + i imaginary sin(b), where both are functions of ``a``: no NaN of an infinity that is not turned, or of a zero."""
    most = np.finfo(a.dtype).max
    endless = ~(abs(b) <= most)
    along = jnp.where(endless & (abs(a) > most), abs(a), jnp.where(endless & (real == 0), real, real * lax.cos(b)))
    across = jnp.where(endless & (imaginary == 0), imaginary, imaginary * lax.sin(b))
    return lax.complex(along, jnp.where(b == 0, with_sign(b, imaginary), across))


def sinh(x):
    a, b = _parts(x)
    return _turned(a, b, elementary.sinh(a), elementary.cosh(a))


def cosh(x):
    a, b = _parts(x)
    return _turned(a, b, elementary.cosh(a), elementary.sinh(a))


def sin(x):
    """i elementary.sinh(-i x)"""
    a, b = _parts(x)
    across, along = _parts(sinh(lax.complex(b, -a)))
    return lax.complex(-along, across)


def cos(x):
    a, b = _parts(x)
    return cosh(lax.complex(b, -a))


def atan(z):
    """atan(x + iy): half the angle of (1 - x² - y², 2x), and a quarter of the logarithm of the distances' squares from i and -i."""
    x, y = (part.astype(np.float64) for part in _parts(z))
    size, height = abs(x), abs(y)
    large, small = jnp.maximum(size, height), jnp.minimum(size, height)
    far, infinite = large > 1e17, (size == np.inf) | (height == np.inf)
    angle = 0.5 * elementary.atan2(2 * x, (1 - large) * (1 + large) - small * small)
    real = jnp.where((far | infinite) & (x == x), with_sign(math.pi / 2, x), angle)
    # Beside i itself the square of x is lost, and with it the logarithm.
    beside = (height == 1) & (size < 1e-8)
    near = jnp.where(beside, 0.5 * (LN2 - lax.log(size)), 0.25 * elementary.log1p(4 * height / (size * size + (height - 1) * (height - 1))))
    ratio = jnp.where(far & ~infinite, small / large, 0)
    imaginary = jnp.where(infinite | (height == 0), 0, jnp.where(far, height / large / large / (1 + ratio * ratio), near))
    kind = lax.real(z).dtype
    return lax.complex(real.astype(kind), with_sign(imaginary, y).astype(kind))


def prod(x, *, axes):
    for axis in sorted(axes, reverse=True):
        x = jnp.moveaxis(x, axis, 0)
        while len(x) > 1:
            half = len(x) // 2
            x = jnp.concatenate([mul(x[:half], x[half:2 * half]), x[2 * half:]])
        x = x[0] if len(x) else jnp.ones(x.shape[1:], x.dtype)
    return x


def log(x):
    return lax.complex(lax.log(absolute(x)), elementary.atan2(*_parts(x)[::-1]))
