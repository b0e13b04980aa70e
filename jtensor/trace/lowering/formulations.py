"""Functions in a formulation of their own, where XLA's does not give the same bits everywhere.

XLA expands `log1p`, `atan` and what is built on them into products and sums, and which of these LLVM contracts differs between
vectors, their last elements and scattered data. Here they are written out, so that the rules of `fences.py` reach their products, too.
Complex arithmetic is written out in real parts for the same reason. (`erf` is one long Horner scheme, which leaves LLVM no choice; `erfc`,
`tanh`, `sinh` and `cosh` are here for their errors, 3, 1 and 2 units in the last place instead of 60, 4 and 32; the extremes, since
XLA's may lose a NaN.)
Knows of nothing but JAX, and in what order sums are made.

Narrower types are computed in float32. The polynomials' numbers are in `coefficients.py`.
"""
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from ...base import compat
from ..plan import is_for_cpu
from .barriers import LIBRARY, UNROLLED, is_wide
from .coefficients import ATAN, ERF, ERFC, ERFC_CENTRE, SINH, TANH
from .in_order import by_rows, is_by_rows, is_in_windows, reduce_sum, sum_order

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


# ------------------------------------------------------------------ real functions

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


# ------------------------------------------------------------------ complex arithmetic

def _parts(x):
    return lax.real(x), lax.imag(x)


def complex_mul(x, y):
    (a, b), (c, d) = _parts(x), _parts(y)
    return lax.complex(a * c - b * d, a * d + b * c)


def complex_square(x):
    return complex_mul(x, x)


def complex_power(x, *, y):
    if y < 0:
        return complex_div(jnp.ones_like(x), complex_power(x, y=-y))
    result = None
    while y:
        if y & 1:
            result = x if result is None else complex_mul(result, x)
        y >>= 1
        x = complex_mul(x, x) if y else x
    return jnp.ones_like(x) if result is None else result


def complex_div(x, y):
    (a, b), (c, d) = _parts(x), _parts(y)
    wide, zero = abs(c) >= abs(d), (c == 0) & (d == 0)
    large, small = jnp.where(wide, c, d), jnp.where(wide, d, c)
    ratio = jnp.where(zero, 0, small / large).astype(a.dtype)
    first, second = jnp.where(wide, a, b), jnp.where(wide, b, a)
    length = jnp.where(zero, abs(c), large + small * ratio)
    turned = jnp.where(wide, b - a * ratio, b * ratio - a)
    return lax.complex((first + second * ratio) / length, turned / length)


def complex_abs(x):
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


def complex_exp(x):
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


def complex_sinh(x):
    a, b = _parts(x)
    return _turned(a, b, sinh(a), cosh(a))


def complex_cosh(x):
    a, b = _parts(x)
    return _turned(a, b, cosh(a), sinh(a))


def complex_sin(x):
    """i sinh(-i x)"""
    a, b = _parts(x)
    across, along = _parts(complex_sinh(lax.complex(b, -a)))
    return lax.complex(-along, across)


def complex_cos(x):
    a, b = _parts(x)
    return complex_cosh(lax.complex(b, -a))


def complex_atan(z):
    """atan(x + iy): half the angle of (1 - x² - y², 2x), and a quarter of the logarithm of the distances' squares from i and -i."""
    x, y = (part.astype(np.float64) for part in _parts(z))
    size, height = abs(x), abs(y)
    large, small = jnp.maximum(size, height), jnp.minimum(size, height)
    far, infinite = large > 1e17, (size == np.inf) | (height == np.inf)
    angle = 0.5 * atan2(2 * x, (1 - large) * (1 + large) - small * small)
    real = jnp.where((far | infinite) & (x == x), with_sign(math.pi / 2, x), angle)
    # Beside i itself the square of x is lost, and with it the logarithm.
    beside = (height == 1) & (size < 1e-8)
    near = jnp.where(beside, 0.5 * (LN2 - lax.log(size)), 0.25 * log1p(4 * height / (size * size + (height - 1) * (height - 1))))
    ratio = jnp.where(far & ~infinite, small / large, 0)
    imaginary = jnp.where(infinite | (height == 0), 0, jnp.where(far, height / large / large / (1 + ratio * ratio), near))
    kind = lax.real(z).dtype
    return lax.complex(real.astype(kind), with_sign(imaginary, y).astype(kind))


def complex_prod(x, *, axes):
    for axis in sorted(axes, reverse=True):
        x = jnp.moveaxis(x, axis, 0)
        while len(x) > 1:
            half = len(x) // 2
            x = jnp.concatenate([complex_mul(x[:half], x[half:2 * half]), x[2 * half:]])
        x = x[0] if len(x) else jnp.ones(x.shape[1:], x.dtype)
    return x


def real_hypot_log(x):
    return lax.complex(lax.log(complex_abs(x)), atan2(*_parts(x)[::-1]))


def dot_general(x, y, *, dimension_numbers, preferred_element_type):
    """A small product with a vector, as a sum of products: XLA would make a sum of it, too, but in which order is up to the neighbours."""
    (left, right), (left_batch, right_batch) = dimension_numbers
    dtype = np.dtype(preferred_element_type or jnp.result_type(x, y))
    wide = np.dtype(np.float32) if dtype.kind == "V" or dtype.itemsize < 4 else dtype
    rows, columns = _free(x.ndim, left, left_batch), _free(y.ndim, right, right_batch)
    x = jnp.transpose(x, (*left_batch, *rows, *left)).astype(wide)
    y = jnp.transpose(y, (*right_batch, *columns, *right)).astype(wide)
    batch, free = len(left_batch), len(left_batch) + len(rows)
    x = jnp.expand_dims(x, range(free, free + len(columns)))
    y = jnp.expand_dims(y, range(batch, free))
    products = complex_mul(x, y) if wide.kind == "c" else x * y
    return _total(products, free + len(columns)).astype(dtype)


def _total(products, rank):
    """The sum over all axes from this one on, in steps of which none is the library's: its sums are kernels, one for each shape."""
    length = math.prod(products.shape[rank:])
    if not LIBRARY <= products.size <= MANY_PRODUCTS or length <= UNROLLED or rank == 0:
        return jnp.sum(products, axis=tuple(range(rank, products.ndim)))
    windows = -(-length // UNROLLED)
    products = jnp.reshape(products, (*products.shape[:rank], length))
    products = jnp.pad(products, [*[(0, 0)] * rank, (0, windows * UNROLLED - length)])
    return jnp.sum(jnp.sum(jnp.reshape(products, (*products.shape[:rank], windows, UNROLLED)), axis=-1), axis=-1)


def _free(rank, contracted, batch):
    return [axis for axis in range(rank) if axis not in contracted and axis not in batch]


def rsqrt(x):
    """Of float16: XLA's two emitters have each its own."""
    return lax.rsqrt(x.astype(np.float32)).astype(x.dtype)


def _is_sum(params, avals):
    """Whether a product of matrices is done as a sum of products: of two vectors always, of complex ones where nothing is summed, and of
    small matrices with vectors if there are several. (A single one XLA runs in the caller's thread, which it would not do with the fences
    of a sum, and its shape seldom changes; those of several, attention to what was there before, do so all the time.)"""
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    a, b = (aval.shape for aval in avals)
    rows, columns = [a[d] for d in _free(len(a), left, left_batch)], [b[d] for d in _free(len(b), right, right_batch)]
    if not rows and not columns:
        return len(left) > 0
    summed = math.prod(a[d] for d in left)
    if summed == 1 and left and avals[0].dtype.kind == "c":         # products, which LLVM may contract
        return True
    if min(math.prod(rows), math.prod(columns)) != 1 or math.prod(a[d] for d in left_batch) == 1:
        return False
    return 1 < summed <= UNROLLED ** 2 and 0 < math.prod(b if math.prod(rows) == 1 else a) <= MANY_PRODUCTS


def reduce_max(x, axes):
    return _or_nan(lax.reduce_max(x, axes), x, axes)


def reduce_min(x, axes):
    return _or_nan(lax.reduce_min(x, axes), x, axes)


def _or_nan(extreme, x, axes):
    # From 4,096 elements on XLA's library for the CPU (jaxlib 0.10.2) passes over NaNs.
    def marked():
        return lax.select(lax.reduce_or(lax.ne(x, x), axes), lax.full_like(extreme, jnp.nan), extreme)
    few = x.size < SUMMED or math.prod(x.shape[axis] for axis in axes) < LONG
    if few or x.dtype.itemsize < 4 or not is_for_cpu():
        return marked()
    # Looking at each element takes several times as long as the library's sum, which is a number unless one of them is NaN (or infinities
    # meet, or what overflows). Accelerators have no such library, and would wait for the choice.
    total = lax.reduce_sum(x, axes)
    return lax.cond(lax.reduce_or(lax.ne(total, total), tuple(range(total.ndim))), marked, lambda: extreme)


MANY = 1024                     # elements, well below those
SUMMED, LONG = 1 << 16, 64      # elements in all, and for each extreme, from which on they are added up
MANY_PRODUCTS = 1 << 15


REAL = {f.__name__: f for f in (log1p, atan, atan2, tanh, sinh, cosh, asinh, acosh, atanh, erfc, rsqrt, dot_general, reduce_max,
                                reduce_min, reduce_sum)}
COMPLEX = {"mul": complex_mul, "square": complex_square, "integer_pow": complex_power, "div": complex_div, "abs": complex_abs,
           "exp": complex_exp, "sinh": complex_sinh, "cosh": complex_cosh, "sin": complex_sin, "cos": complex_cos, "atan": complex_atan,
           "log": real_hypot_log, "reduce_prod": complex_prod, "dot_general": dot_general}
STATICS = "y", "axes", "dimension_numbers", "preferred_element_type"


def formulation(name, params, avals):
    """The jaxpr that stands for a primitive applied to these types, or None. The primitive itself may be in it, and is meant as it is."""
    kind = getattr(getattr(avals[0], "dtype", None), "kind", None) if avals else None
    table = COMPLEX if kind == "c" else REAL
    if name not in table or kind not in "fcV":
        return None
    if name == "reduce_sum" and not any(of(avals[0].shape, avals[0].dtype, params["axes"]) for of in (sum_order, is_in_windows)):
        return None
    rows = name == "dot_general" and is_by_rows(params, avals)
    if name == "dot_general" and not rows and not _is_sum(params, avals) or name == "rsqrt" and avals[0].dtype != np.float16:
        return None
    if name in ("reduce_max", "reduce_min") and (avals[0].size < MANY or is_wide(avals[0].shape, avals[0].dtype, params["axes"])):
        return None                             # the latter are written out (`fences`), and so lose no NaN
    statics = tuple((key, params[key]) for key in STATICS if key in params)
    function = by_rows if rows else table[name]
    return _traced(function, statics, tuple((a.shape, a.dtype) for a in avals), (jax.config.jax_enable_x64, is_for_cpu()))


@functools.lru_cache(1024)
def _traced(function, statics, types, settings):
    with jax.enable_x64(True):
        return compat.trace(lambda *arrays: [function(*arrays, **dict(statics))], [jax.ShapeDtypeStruct(*t) for t in types])
