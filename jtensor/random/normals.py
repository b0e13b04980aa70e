"""Normal numbers: ``randn`` and ``normal_``, by the two ways PyTorch has.

*By blocks* (16 or more numbers into contiguous memory): Box-Muller on blocks of 16 uniforms, element j with element j + 8; float32 and
the halves use single-precision polynomials with fused steps, double the C library. A ragged end draws 16 fresh uniforms for the last 16
places. *Pair by pair* (fewer than 16 numbers, or other memory): double Box-Muller whose second half waits in the engine for the next call,
whoever makes it.

Owns both ways. Knows the engine, exact arithmetic and uniforms; a faster twin of the float32 block lives in ``normals_jax`` and gives the
same bits.
"""

import math

import numpy as np

from . import exact
from .exact import chunks, fma32, fma64
from .rounding import FLOAT32, FLOAT64, REAL_OF_COMPLEX, cast, single
from .uniforms import MASK24, u24, u53

BLOCK = 16
_AT_ONCE = 16384  # numbers worked on at a time
_FEW = 8192         # numbers up to which several calls' are made at once, if they come in a row
_MODERATE = 1e30
_TWO_PI = 2.0 * math.pi
_ULP24 = np.float32(2.0**-24)
_SQRT2 = math.sqrt(2.0)


def normal(engine, n, mean=0.0, std=1.0, dtype=FLOAT32, contiguous=True):
    """``n`` numbers of N(mean, std**2) in memory order, as ``normal_`` fills a tensor.

    ``dtype``: float16, bfloat16, float32, float64, complex64, complex128 (2n reals of std / sqrt(2); complex32 is left to the caller to
    view as 2n halves). ``contiguous=False`` says that the target is not one dense block in index order, which is drawn pair by pair.
    """
    with engine.lock:
        if dtype is FLOAT32 and contiguous and n >= BLOCK:          # most are
            return _normal32(engine, n, single(mean), single(std), True)
        if dtype in REAL_OF_COMPLEX:
            return normal(engine, 2 * n, mean, std / _SQRT2, REAL_OF_COMPLEX[dtype], contiguous).view(dtype)
        if n < BLOCK or not contiguous:
            values = fma64(_few_pairs(engine, n) if n < BLOCK else pairwise(engine, n), float(std), float(mean))
            if dtype == FLOAT32 and std < _MODERATE and -_MODERATE < mean < _MODERATE:         # nothing to say about overflow
                return values.astype(FLOAT32)
            return cast(values, dtype)
        if dtype == FLOAT64:
            return fma64(_standard64(engine, n), float(std), float(mean))
        return cast(_normal32(engine, n, single(mean), single(std), dtype == FLOAT32), dtype)


def _normal32(engine, n, mean, std, fill_first):
    if n <= _FEW:
        return _few32(engine, n, mean, std, fill_first)
    from . import normals_jax

    if quick := normals_jax.serves(n, mean, std):
        return quick(engine, n, mean, std, fill_first)
    return stretched32((_standard32 if fill_first else _standard_half)(engine, n), std, mean)


def stretched32(values, std, mean):
    """``fma(values, std, mean)`` of float32 numbers; may write over them."""
    if std != 1.0 or mean != 0.0:
        return fma32(values, std, mean)
    values += np.float32(mean)  # makes +0 of -0, unless the mean is -0 too
    return values


# -- pair by pair ----------------------------------------------------------------------------------------------------------------


def one_pair(u1, u2):
    """Two standard normals out of two uniforms."""
    radius = math.sqrt(-2.0 * math.log1p(-u2))
    angle = _TWO_PI * u1
    return radius * math.cos(angle), radius * math.sin(angle)


def pairwise(engine, n):
    """``n`` standard normals as a double array; an odd one out is left in the engine's cache, and one found there is used first."""
    if n <= 0:
        return np.empty(0, np.float64)
    cached = engine.cached_normal
    fresh = n if cached is None else n - 1
    pairs = (fresh + 1) // 2
    values = np.empty(2 * pairs + 1, np.float64)
    if pairs <= 8:
        words = engine.word_list(4 * pairs)
        for i in range(pairs):
            a, b, c, d = words[4 * i : 4 * i + 4]
            u1 = (((a << 32) | b) & 0x1FFFFFFFFFFFFF) * 2.0**-53
            u2 = (((c << 32) | d) & 0x1FFFFFFFFFFFFF) * 2.0**-53
            values[2 * i + 1], values[2 * i + 2] = one_pair(u1, u2)
    else:
        _fill_pairs(engine, values[1:].reshape(pairs, 2))
    if cached is None:
        values = values[1:]
    else:
        values[0] = cached
    if fresh > 0:
        engine.cached_normal = float(values[n]) if fresh % 2 else None
    else:
        engine.cached_normal = None
    return values[:n]


def _few_pairs(engine, n):
    """`pairwise`, of an even number or of one, made ahead where it is asked for again and again."""
    if engine.cached_normal is None and n > 0 and (n == 1 or n % 2 == 0):
        pairs = (n + 1) // 2
        made = engine.row(("pairs", pairs), 4 * pairs, lambda calls: _pairs(engine, calls * pairs).reshape(calls, 2 * pairs))
        if n == 1:
            engine.cached_normal, made = float(made[1]), made[:1]
        return made
    return pairwise(engine, n)


def _pairs(engine, pairs):
    if pairs <= 8:
        return pairwise(engine, 2 * pairs)
    out = np.empty((pairs, 2), np.float64)
    _fill_pairs(engine, out)
    return out


def _fill_pairs(engine, out):
    for part in chunks(len(out)):
        target = out[part]
        u = u53(engine, 2 * len(target)).reshape(-1, 2)
        radius = exact.log1p(-u[:, 1])
        radius *= -2.0
        np.sqrt(radius, out=radius)
        angle = u[:, 0] * _TWO_PI
        target[:, 0] = radius * exact.cos(angle)
        target[:, 1] = radius * exact.sin(angle)


# -- by blocks -------------------------------------------------------------------------------------------------------------------


def _standard(engine, n, uniforms, block, idle):
    """``n`` (16 or more) standard normals by blocks.

    ``uniforms`` draws, ``block`` transforms multiples of 16. A ragged end of n % 16 is overwritten by a block of its own over the last 16
    places; ``idle`` uniforms of it are drawn before, for nothing.
    """
    whole = n // BLOCK * BLOCK
    if whole == n:
        if n <= _AT_ONCE:
            return block(uniforms(engine, n))
    elif n <= _AT_ONCE:
        u = uniforms(engine, whole + idle + BLOCK)
        values = block(np.concatenate((u[:whole], u[whole + idle :])))
        values[n - BLOCK : n] = values[whole:].copy()
        return values[:n]
    out = None
    for part in chunks(whole, _AT_ONCE):
        values = block(uniforms(engine, part.stop - part.start))
        if out is None:
            out = np.empty(n, values.dtype)
        out[part] = values
    if whole < n:
        uniforms(engine, idle)
        out[n - BLOCK :] = block(uniforms(engine, BLOCK))
    return out


def _standard64(engine, n):
    return _standard(engine, n, u53, block64, n % BLOCK)


def _standard32(engine, n):
    return _standard(engine, n, u24, block32, n % BLOCK)


def _few32(engine, n, mean, std, fill_first):
    """What `_normal32` makes of a few, made ahead where they are asked for again and again."""
    whole = n // BLOCK * BLOCK
    ragged = whole < n
    behind = n if fill_first else whole         # where the words of a ragged end begin: those in between are drawn for nothing
    each = behind + BLOCK if ragged else n

    def made(count):
        words = engine.words(each * count).reshape(count, each)
        if not ragged:
            return _blocks32(words, mean, std)
        values = _blocks32(np.concatenate((words[:, :whole], words[:, behind:]), 1), mean, std)
        values[:, n - BLOCK : n] = values[:, whole:].copy()
        return values[:, :n]
    if mean == 0.0 and math.copysign(1.0, mean) < 0.0 or std == 0.0:
        return made(1)[0]                       # zeros of either sign make the same key, and other numbers
    return engine.row(("normal32", n, mean, std, fill_first), each, made)


def _blocks32(words, mean, std):
    from . import normals_jax

    values = normals_jax.few32(words.reshape(-1), mean, std)
    if values is None:
        u = (words & MASK24).astype(np.float32)
        u *= _ULP24
        values = stretched32(block32(u.reshape(-1)), std, mean)
    return values.reshape(words.shape)


def _standard_half(engine, n):
    # Halves are made block by block in a float32 buffer: a ragged end is not filled before its own 16 numbers are drawn.
    return _standard(engine, n, u24, block32, 0)


def block64(u):
    """Standard normals out of double uniforms, a multiple of 16 of them, by the C library's functions."""
    u = u.reshape(-1, 2, BLOCK // 2)
    radius = exact.log(1.0 - u[:, 0].reshape(-1))
    radius *= -2.0
    np.sqrt(radius, out=radius)
    angle = u[:, 1].reshape(-1) * _TWO_PI
    u[:, 0] = (radius * exact.cos(angle)).reshape(-1, BLOCK // 2)
    u[:, 1] = (radius * exact.sin(angle)).reshape(-1, BLOCK // 2)
    return u.reshape(-1)


def block32(u):
    """Standard normals out of float32 uniforms, a multiple of 16 of them: bit for bit what the vectorised single-precision kernel makes.

    Every fused step is done as a double product (exact), a double sum and one rounding to single. That rounds twice at most once in
    2**29 times, and over all 2**24 possible inputs of either half it never shows.
    """
    u = u.reshape(-1, 2, BLOCK // 2)
    radius = _radius32(1.0 - u[:, 0].reshape(-1))
    angle = u[:, 1].reshape(-1) * np.float32(6.2831855)
    cosine, sine = _cos_sin32(angle)
    out = np.empty_like(u)
    np.multiply(radius.reshape(-1, BLOCK // 2), cosine.reshape(-1, BLOCK // 2), out=out[:, 0])
    np.multiply(radius.reshape(-1, BLOCK // 2), sine.reshape(-1, BLOCK // 2), out=out[:, 1])
    return out.reshape(-1)


_F32 = np.float32
_LOG_P = tuple(
    float(_F32(p))
    for p in (
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    )
)
_LOG_Q1, _LOG_Q2 = float(_F32(-2.12194440e-4)), float(_F32(0.693359375))
_REDUCE = tuple(float(_F32(p)) for p in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8))
_COS_P = tuple(float(_F32(p)) for p in (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2))
_SIN_P = tuple(float(_F32(p)) for p in (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1))


def _single(x):
    """A double array rounded to single and back: where a float32 kernel rounds."""
    return x.astype(np.float32).astype(np.float64)


def _radius32(a):
    """``sqrt(-2 log a)`` for a in (0, 1], single precision."""
    bits = a.view(np.int32)
    exponent = (bits >> 23) - 126
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).view(np.float32)  # in [0.5, 1)
    small = mantissa < _F32(0.70710677)
    exponent -= small
    x32 = mantissa - _F32(1.0)
    x32 += np.where(small, mantissa, _F32(0.0))
    x = x32.astype(np.float64)
    e = exponent.astype(np.float64)
    z32 = x32 * x32
    z = z32.astype(np.float64)
    y = _LOG_P[0] * x
    y += _LOG_P[1]
    for p in _LOG_P[2:]:
        y = _single(y)
        y *= x
        y += p
    y = _single(_single(y) * x)
    y *= z
    y += _single(e * _LOG_Q1)
    y32 = y.astype(np.float32)
    z32 *= _F32(0.5)
    y32 -= z32
    x32 += y32
    e *= _LOG_Q2
    e += x32
    out = e.astype(np.float32)
    out *= _F32(-2.0)
    return np.sqrt(out, out=out)


def _cos_sin32(angle):
    """Cosine and sine of float32 angles in [0, 2 pi), single precision."""
    quadrant = (angle * _F32(1.2732395)).astype(np.int32)
    quadrant += 1
    quadrant &= ~1
    y = quadrant.astype(np.float64)
    x = angle.astype(np.float64)
    for p in _REDUCE:
        x += y * p
        x = _single(x)
    x32 = x.astype(np.float32)
    z32 = x32 * x32
    z = z32.astype(np.float64)
    c = _single(_COS_P[0] * z + _COS_P[1])
    c *= z
    c += _COS_P[2]
    c32 = c.astype(np.float32)
    c32 *= z32
    c = z * c32
    c -= z * 0.5
    c32 = c.astype(np.float32)
    c32 += _F32(1.0)
    s = _single(_SIN_P[0] * z + _SIN_P[1])
    s *= z
    s += _SIN_P[2]
    s32 = s.astype(np.float32)
    s32 *= z32
    s = x * s32
    s += x
    s32 = s.astype(np.float32)
    swap = (quadrant & 2) != 0
    cosine = np.where(swap, s32, c32)
    sine = np.where(swap, c32, s32)
    sine.view(np.int32)[...] ^= (quadrant & 4) << 29
    cosine.view(np.int32)[...] ^= (~(quadrant - 2) & 4) << 29
    return cosine, sine
