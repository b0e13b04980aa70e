"""Uniform numbers: ``rand`` and ``uniform_``.

A float32 number is the low 24 bits of one word, a double the low 53 bits of a two-word draw. Owns these two conversions and the
stretching to ``[low, high)``. Knows the engine and exact arithmetic.

Every function takes the engine first, answers with a fresh one-dimensional array in memory order, and holds the engine's lock.
"""

import math
from fractions import Fraction

import numpy as np

from .exact import CHUNK, add_rounding_once, chunks, fma64
from .rounding import FLOAT32, FLOAT64, HALVES, REAL_OF_COMPLEX, rounded

MASK24 = np.uint32(0xFFFFFF)
MASK53 = np.uint64(0x1FFFFFFFFFFFFF)
_ULP24 = np.float32(2.0**-24)
_ULP53 = 2.0**-53
_FEW = 8                     # numbers up to which Python is done before NumPy has begun
_ALIKE = 1 << 11             # numbers up to which several calls' are made at once, if they come in a row


def rand(engine, n, dtype=FLOAT32):
    """``n`` numbers in [0, 1).

    ``dtype``: float16, bfloat16, float32, float64, complex64 or complex128 (real and imaginary parts drawn in turn).
    """
    if dtype == FLOAT32:
        with engine.lock:
            return alike(engine, "rand", n, n, u24)
    return uniform(engine, n, 0.0, 1.0, dtype)


def alike(engine, key, n, words, draw):
    """``draw(engine, n)``, each number of which is made of words of its own, ``words`` in all; a few are made with those of later calls.

    To be used under the engine's lock.
    """
    if n > _ALIKE or n <= 0:
        return draw(engine, n)
    return engine.row((key, n), words, lambda calls: draw(engine, calls * n).reshape(calls, n))


def uniform(engine, n, low=0.0, high=1.0, dtype=FLOAT32):
    """``n`` numbers in [low, high), as ``uniform_`` fills a tensor. The bounds are taken as checked."""
    with engine.lock:
        if dtype in REAL_OF_COMPLEX:
            return uniform(engine, 2 * n, low, high, REAL_OF_COMPLEX[dtype]).view(dtype)
        if low == high:                         # zeros of either sign make the same key, and other numbers
            return _uniform(engine, n, low, high, dtype)
        words = 2 * n if dtype == FLOAT64 else n
        return alike(engine, ("uniform", low, high, dtype), n, words, lambda engine, n: _uniform(engine, n, low, high, dtype))


def _uniform(engine, n, low, high, dtype):
    if dtype == FLOAT64:
        return _uniform64(engine, n, float(low), float(high))
    return _uniform32(engine, n, rounded(low, FLOAT32), rounded(high, FLOAT32), dtype)


def u24(engine, n):
    """``n`` float32 numbers: low 24 bits of a word, times 2**-24."""
    if n <= _FEW:
        return np.array([(word & 0xFFFFFF) * 2.0**-24 for word in engine.word_list(n)], np.float32)
    bits = engine.words(n)
    bits &= MASK24
    if n <= CHUNK:
        out = bits.astype(np.float32)
        out *= _ULP24
        return out
    out = bits.view(np.float32)  # converted where it stands: fresh pages cost more than the arithmetic
    signed = bits.view(np.int32)  # below 2**24 both readings agree, and signed integers convert faster
    for part in chunks(n, 2 * CHUNK):
        np.multiply(signed[part].astype(np.float32), _ULP24, out=out[part])
    return out


def u53(engine, n):
    """``n`` doubles: low 53 bits of a 64-bit draw, times 2**-53."""
    bits = engine.draws(n)
    bits &= MASK53
    out = bits.view(np.float64)  # converted where it stands
    signed = bits.view(np.int64)
    for part in chunks(n):
        np.multiply(signed[part].astype(np.float64), _ULP53, out=out[part])
    return out


def _uniform32(engine, n, low, high, dtype):
    width = rounded(high - low, FLOAT32)
    if low == 0.0:
        out = u24(engine, n)
        if width != 1.0:
            out *= np.float32(width)  # fma(x, width, 0): one rounding
    else:
        out = _stretched32(engine, n, low, width)
    if dtype in HALVES:
        out = out.astype(dtype)
    if _reaches(low, high, width, dtype):
        with np.errstate(over="ignore"):
            out[out == np.float32(high).astype(dtype)] = np.float32(low).astype(dtype)
    return out


def _reaches(low, high, width, dtype):
    """Whether a number of [low, high) may round to ``high``; the stretch is monotone, so the largest x tells."""
    product = (1.0 - 2.0**-24) * width
    top = product + low
    if dtype == FLOAT32 and abs(high) > 1e-30 and top < high - math.ldexp(1.0, math.frexp(high)[1] - 24):
        return False        # by more than a last place, as where the bounds lie around zero
    if (low - (top - product)) or (product - (top - (top - product))):
        return True  # the sum was inexact and might have been rounded twice: better look than guess
    return rounded(top, dtype) >= rounded(high, dtype)


def _stretched32(engine, n, low, width):
    bits = engine.words(n)
    bits &= MASK24
    scale = width * 2.0**-24
    # With the summands this close in size the sum of product and low fits a double: nothing is lost, nothing rounds twice.
    close = low != 0.0 and width != 0.0 and 2.0**-20 < abs(low / width) < 8.0
    signed = bits.view(np.int32)
    if close and n <= CHUNK:
        product = signed * scale
        product += low
        return product.astype(np.float32)
    out = np.empty(n, np.float32)
    for part in chunks(n):
        product = signed[part].astype(np.float64)
        product *= scale
        if close:
            product += low
            out[part] = product
        else:
            out[part] = add_rounding_once(product, low)
    return out


def _uniform64(engine, n, low, high):
    width = high - low
    if low == 0.0:
        out = u53(engine, n)
        if width != 1.0:
            out *= width
    else:
        share = _exact_share(low, width)
        if share is None:
            out = fma64(u53(engine, n), width, low)
        else:
            out = u53(engine, n)
            out += share  # exact: both are multiples of 2**-53 and the sum stays within [-1, 1]
            out *= width
    if high != 1.0 or low != 0.0:
        out[out == high] = low
    return out


def _exact_share(low, width):
    """``low / width`` if it is a multiple of 2**-53 in [-1, 0], as for bounds symmetric around zero; else None.

    Then ``x * width + low`` is ``(x + share) * width`` with nothing rounded but the product.
    """
    if not -width <= low <= 0.0 < width or width < 1e-290:
        return None
    share = Fraction(low) / Fraction(width)
    return float(share) if (share * 2**53).denominator == 1 else None
