"""Arithmetic whose last bit is promised: the fused multiply-add, and the C library's functions in bulk.

PyTorch's samplers end in fused multiply-adds and call the C library for double results. numpy has no fused multiply-add, and on
machines with AVX-512 its own ``log``, ``log1p``, ``exp`` and ``tan`` differ from the C library in the last bit now and then. Owns both
remedies. Knows numpy only; what it chooses, it chooses at the first use and never at import.
"""

import ctypes
import functools
import math
from fractions import Fraction

import numpy as np

# Bits of a double that a float32 has no room for, and the pattern that stands half-way between two float32 numbers.
_BELOW_FLOAT32 = np.uint64(0x1FFFFFFF)
_HALF_WAY = np.uint64(0x10000000)

CHUNK = 8192  # doubles worked on at a time: several buffers of this size stay in the second-level cache
_FEW = 32  # up to here a loop over Python floats beats the overhead of numpy calls


def chunks(n, size=CHUNK):
    """Slices that cover ``range(n)``."""
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


# -- fused multiply-add ----------------------------------------------------------------------------------------------------------


def fma32(a, b, c):
    """``a * b + c`` in float32 with one rounding; ``a`` a float32 array, ``b`` and ``c`` Python floats that are float32 numbers."""
    out = np.empty(a.shape, np.float32)
    if c == 0.0 and abs(b) > 1e-30 and math.isfinite(b):
        np.multiply(a, np.float32(b), out=out)  # samplers give no |a| below 1e-8 but zero: the product cannot vanish, one rounding
        out += np.float32(c)
        return out
    flat, flat_out = a.reshape(-1), out.reshape(-1)
    for part in chunks(flat.size):
        product = flat[part].astype(np.float64)
        product *= b  # 24 by 24 bits: exact
        flat_out[part] = add_rounding_once(product, c)
    return out


def add_rounding_once(product, c):
    """``float32(product + c)`` as if the sum had not been rounded to double on the way. Destroys nothing."""
    total = product + c
    if 0.0 < abs(c) < 2.0**-100:
        suspects = np.arange(total.size)  # the result may be subnormal, where half-way has other bit patterns
    else:
        suspects = ((total.view(np.uint64) & _BELOW_FLOAT32) == _HALF_WAY).nonzero()[0]
    if suspects.size:
        total[suspects] = _to_odd(total[suspects], product[suspects], c)
    with np.errstate(over="ignore"):
        return total.astype(np.float32)


def _to_odd(total, a, b):
    """``total = a + b`` with the part lost in rounding kept visible in the last bit."""
    back = total - a
    lost = (a - (total - back)) + (b - back)
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    towards = np.where(lost > 0, np.inf, -np.inf)
    return np.where((lost != 0) & even, np.nextafter(total, towards), total)


def fma64(a, b, c):
    """``a * b + c`` in double with one rounding; ``a`` a double array of numbers of moderate size, ``b`` and ``c`` Python floats.

    Boldo and Melquiond's scheme: split the product exactly, add its halves to ``c`` keeping every error, round the small part to odd.
    """
    if c == 0.0:
        if b == 1.0:
            return a + c
        product = a * b
        product += c
        return product
    if not (math.isfinite(b) and math.isfinite(c)) or b == 0.0:
        return a * b + c
    if b in (1.0, -1.0):
        return a * b + c
    if not (1e-200 < abs(b) < 1e200 and 1e-200 < abs(c) < 1e200):
        return _fma64_by_fractions(a, b, c)
    out = np.empty(a.shape, np.float64)
    flat, flat_out = a.reshape(-1), out.reshape(-1)
    for part in chunks(flat.size):
        flat_out[part] = _fma64_part(flat[part], b, c)
    return out


def _fma64_part(a, b, c):
    scaled = b * 134217729.0
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    split = a * 134217729.0
    a_high = split - (split - a)
    a_low = a - a_high
    product = a * b
    # the rounding error of the product, exactly
    error = a_high * b_high
    error -= product
    error += a_high * b_low
    error += a_low * b_high
    error += a_low * b_low
    t_high, t_low = _two_sum(error, c)
    v_high, v_low = _two_sum(product, t_high)
    small, lost = _two_sum(t_low, v_low)
    step = (lost != 0).nonzero()[0]
    if step.size:
        some, lost = small[step], lost[step]
        even = (some.view(np.uint64) & np.uint64(1)) == 0
        small[step] = np.where(even, np.nextafter(some, np.where(lost > 0, np.inf, -np.inf)), some)
    v_high += small
    return v_high


def _two_sum(a, b):
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _fma64_by_fractions(a, b, c):
    """The same for magnitudes at which the splitting would overflow or vanish; slow, and never wrong."""
    b, c = Fraction(b), Fraction(c)
    flat = [float(Fraction(x) * b + c) if math.isfinite(x) else x * float(b) + float(c) for x in a.reshape(-1).tolist()]
    return np.array(flat, np.float64).reshape(a.shape)


# -- the C library's functions ---------------------------------------------------------------------------------------------------


def log(x):
    """The C library's logarithm of each double; -inf at 0."""
    return _apply("log", x)


def log1p(x):
    """The C library's ``log(1 + x)`` of each double; -inf at -1."""
    return _apply("log1p", x)


def exp(x):
    """The C library's exponential of each double; inf where it overflows."""
    return _apply("exp", x)


def sin(x):
    """The C library's sine of each double."""
    return _apply("sin", x)


def cos(x):
    """The C library's cosine of each double."""
    return _apply("cos", x)


def tan(x):
    """The C library's tangent of each double."""
    return _apply("tan", x)


def scalar_log(x):
    """``math.log`` with the C library's answer where Python raises."""
    return math.log(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan)


def scalar_log1p(x):
    """``math.log1p`` with the C library's answer where Python raises."""
    return math.log1p(x) if x > -1.0 else (-math.inf if x == -1.0 else math.nan)


def scalar_exp(x):
    """``math.exp`` with the C library's answer where Python raises."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


@functools.cache
def _c_lgamma():
    # Python's math.lgamma is a formula of its own, off in the last bits of every second value.
    try:
        function = ctypes.CDLL(None).lgamma
    except (AttributeError, OSError, TypeError):
        return math.lgamma
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


def scalar_lgamma(x):
    """The C library's logarithm of the gamma function of a finite number; x itself where it is not finite."""
    return _c_lgamma()(x) if math.isfinite(x) else x


_SCALAR = {"log": scalar_log, "log1p": scalar_log1p, "exp": scalar_exp, "sin": math.sin, "cos": math.cos, "tan": math.tan}


def _by_scalars(name, x):
    return np.fromiter(map(_SCALAR[name], x.tolist()), np.float64, x.size)


def _by_ufunc(name, x):
    return getattr(np, name)(x)


def _by_reversed_ufunc(name, x):
    # A negative output stride takes numpy off its vector loops and on to the C library; the input must run the other way, or numpy
    # turns both round. A length-1 axis would lose its stride.
    return getattr(np, name)(x, out=np.empty(x.size, np.float64)[::-1])


@functools.cache
def _route(name):
    """The quickest way that answers like the C library, found by asking: vector loops differ in one of 20 to 300 values."""
    rng = np.random.Generator(np.random.MT19937(7))
    sample = rng.random(4096)
    sample = {"log1p": -sample, "exp": sample * 12 - 6, "tan": (sample - 0.5) * math.pi, "sin": sample * 6.28, "cos": sample * 6.28}.get(
        name, sample
    )
    wanted = _by_scalars(name, sample)
    for way in (_by_ufunc, _by_reversed_ufunc):
        if np.array_equal(way(name, sample), wanted):
            return way
    return _by_scalars


def _apply(name, x):
    flat = x.reshape(-1)
    if flat.size <= _FEW:
        return _by_scalars(name, flat).reshape(x.shape)
    with np.errstate(all="ignore"):
        return _route(name)(name, flat).reshape(x.shape)


# -- float32 results of double formulas ------------------------------------------------------------------------------------------


def float32_of(quick, careful, x, tolerance=16):
    """``float32(careful(x))`` at nearly the price of ``float32(quick(x))``.

    ``quick`` may be off by a few last bits of the double. That can only matter where the double lies next to the middle between two
    float32 numbers, or is so small or large that float32 spaces its numbers otherwise; there, and only there, ``careful`` is asked.
    """
    out = np.empty(x.shape, np.float32)
    reach = np.uint64(2 * tolerance)
    start = np.uint64(int(_HALF_WAY) - tolerance)
    with np.errstate(all="ignore"):
        for part in chunks(x.size):
            some = x[part]
            value = quick(some)
            near = (((value.view(np.uint64) & _BELOW_FLOAT32) - start) <= reach) | (np.abs(value) < 2.0**-126)
            redo = near.nonzero()[0]
            if redo.size:
                value[redo] = careful(some[redo])
            out[part] = value
    return out
