"""Integers: ``random_`` and ``randint``.

The remainder of a word (or of a 64-bit draw, from a range of 2**28 up) whatever the dtype; float dtypes move their bounds inward first, so
that rounding cannot leave the range. Owns these rules. Knows the engine and the number formats; bounds are taken as checked (``checks``).
"""

import numpy as np

from .exact import CHUNK, chunks
from .rounding import DIGITS, INT64, cast, rounded
from .uniforms import alike

_WIDE = 1 << 28  # from this range up two words are drawn for a number
_TWO64 = 1 << 64


def randint(engine, n, low, high, dtype=INT64):
    """``n`` integers of [low, high), as ``randint`` and ``random_(low, high)`` make them.

    ``dtype``: any integer dtype, bool, float16, bfloat16, float32 or float64.
    """
    if dtype in DIGITS:
        low, high = inward(low, high, dtype)
    return _from_range(engine, n, low, high - low, dtype)


def random_from(engine, n, low, dtype=INT64):
    """``n`` integers from ``low`` to the largest that ``dtype`` counts to, that one included: ``random_(low, None)``."""
    if low == -(1 << 63):
        with engine.lock:
            return cast(engine.draws(n).view(np.int64), dtype)
    top = largest(dtype)
    if dtype in DIGITS:
        low, _ = inward(low, top + 1, dtype)
    return _from_range(engine, n, low, top - low + 1, dtype)


def random(engine, n, dtype=INT64):
    """``n`` integers over the whole range that ``random_()`` has for ``dtype``; not for unsigned ones wider than 8 bits."""
    with engine.lock:
        if dtype == np.bool_:
            return (engine.words(n) & np.uint32(1)).astype(np.bool_)
        if dtype == np.int64:
            drawn = engine.draws(n)
            drawn &= np.uint64((1 << 63) - 1)
            return drawn.view(np.int64)
        if dtype == np.float64:
            return _remainder(engine.draws(n), (1 << 53) + 1).astype(np.float64)
        if dtype in DIGITS:
            return cast(_remainder(engine.words(n), (1 << DIGITS[dtype]) + 1).view(np.int32).astype(np.float32), dtype)
        return (engine.words(n) & np.uint32(np.iinfo(dtype).max)).astype(dtype)


def largest(dtype):
    """The largest integer up to which ``dtype`` counts without a gap.

    >>> largest(np.dtype(np.float32)), largest(np.dtype(np.bool_))
    (16777216, 1)
    """
    if dtype in DIGITS:
        return 1 << DIGITS[dtype]
    return 1 if dtype == np.bool_ else int(np.iinfo(dtype).max)


def inward(low, high, dtype):
    """Bounds from which rounding to ``dtype`` stays within the range asked for."""
    digits = DIGITS[dtype]
    if (nearest := _as_int64(rounded(low + 1, dtype))) < low:
        low = nearest + _spacing(low + 1, digits)
    if (nearest := _as_int64(rounded(high - 1, dtype))) >= high:
        high = nearest - _spacing(high - 1, digits)
    return low, high


def _spacing(value, digits):
    """The distance of neighbouring floats of so many digits around an integer, 1 if it is less."""
    return 1 << max(abs(value).bit_length() - digits, 0)


def _as_int64(value):
    """The processor's conversion: what does not fit becomes the smallest integer. So a bound next to 2**63 is never moved."""
    return int(value) if -(2.0**63) <= value < 2.0**63 else -(1 << 63)


def _from_range(engine, n, low, span, dtype):
    span %= _TWO64
    wide = span >= _WIDE or span == 0
    with engine.lock:
        return alike(engine, ("integers", low, span, dtype), n, 2 * n if wide else n, lambda engine, n: (_wide if wide else _narrow)(
            engine, n, low, span, dtype))


def _wide(engine, n, low, span, dtype):
    drawn, low = engine.draws(n), low % _TWO64
    if span:
        _remainder(drawn, span)
    if low:
        drawn += np.uint64(low)
    return cast_integers(drawn.view(np.int64), dtype)


def _narrow(engine, n, low, span, dtype):
    drawn = _remainder(engine.words(n), span)
    if low == 0:
        return cast_integers(drawn.view(np.int32), dtype)
    low_bits = low % _TWO64
    if n <= CHUNK or dtype != np.int64:
        wide = drawn.astype(np.uint64)
        wide += np.uint64(low_bits)
        return cast_integers(wide.view(np.int64), dtype)
    out = np.empty(n, np.int64)
    signed = drawn.view(np.int32)
    low = low - _TWO64 if low_bits == low and low >= 1 << 63 else low
    for part in chunks(n):
        np.add(signed[part], np.int64(low), out=out[part])
    return out


def cast_integers(x, dtype):
    """int32 or int64 values in ``dtype``: wrapping for integers, through float32 for the halves."""
    return x if x.dtype == dtype else cast(x, dtype)


def _remainder(x, m):
    """``x % m`` in place for unsigned ``x``; division by a scalar has a vector loop, the remainder has none."""
    if m & (m - 1) == 0:
        x &= x.dtype.type(m - 1)
        return x
    m = x.dtype.type(m)
    if x.size <= 256:
        x %= m
        return x
    for part in chunks(x.size):
        some = x[part]
        some -= some // m * m
    return x
