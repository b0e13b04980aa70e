"""The float32 block of ``normal`` as XLA programs: the same bits at a quarter of the price, for large arrays.

Owns the programs, when they are worth compiling, and the overlap of drawing (here) with transforming (in XLA's threads). Uses double
arithmetic under a scoped ``jax.enable_x64``; JAX's global configuration is never touched, and JAX is imported at the first large draw.

Contraction by the compiler is harmless: each fused step is an exact double product, a double sum and a rounding to single.
"""

import functools
import threading

import numpy as np

from . import normals as plain
from .exact import chunks, fma32
from .uniforms import u24

CHUNK = 1 << 17  # words transformed by one call of the program: one shape, so one compilation
_WORDS = 1 << 14  # drawn at a time
_PAYS_AFTER = 6_000_000  # numbers: compiling costs about what numpy's way costs for so many

_lock = threading.Lock()
_seen = 0


def serves(n, mean, std):
    """Whether a draw of ``n`` numbers should go this way: once large draws have added up to more than compiling costs."""
    global _seen
    with _lock:
        _seen += n
        enough = _seen > _PAYS_AFTER
    return enough and np.isfinite(std) and (mean == 0.0 or 2.0**-100 < abs(mean) < np.inf)


def normal32(engine, n, mean, std, fill_first):
    """``n`` (16 or more) numbers of N(mean, std**2) in float32, as ``normal`` draws them; ``fill_first`` as for float32, not for halves."""
    standard, stretched = _programs()
    mean, std = np.float32(mean), np.float32(std)
    out = np.empty(n, np.float32)
    whole = n // plain.BLOCK * plain.BLOCK
    buffers = np.zeros((2, CHUNK), np.uint32)  # in turn: XLA may read one in place while the other is filled
    waiting = None
    for turn, start in enumerate(range(0, whole, CHUNK)):
        stop = min(start + CHUNK, whole)
        words = buffers[turn % 2]
        for part in chunks(stop - start, _WORDS):
            words[part] = engine.words(part.stop - part.start)
        values = standard(words)  # runs while the next words are drawn
        if std != 1.0 or mean != 0.0:
            values = stretched(values, mean, std)
        if waiting is not None:
            _collect(out, waiting, mean)
        waiting = (start, stop, values)
    _collect(out, waiting, mean)
    if n > whole:
        if fill_first:
            engine.words(n - whole)
        out[n - plain.BLOCK :] = fma32(plain.block32(u24(engine, plain.BLOCK)), float(std), float(mean))
    return out


def _collect(out, done, mean):
    start, stop, values = done
    values = np.asarray(values)[: stop - start]
    if mean == 0.0:
        np.add(values, mean, out=out[start:stop])  # makes +0 of -0, unless the mean is -0 too
    else:
        out[start:stop] = values


@functools.cache
def _programs():
    import jax

    words = jax.ShapeDtypeStruct((CHUNK,), np.uint32)
    values = jax.ShapeDtypeStruct((CHUNK,), np.float32)
    scalar = jax.ShapeDtypeStruct((), np.float32)
    cpu = jax.local_devices(backend="cpu")[0]
    # Two programs: as one, XLA gives up vectorising and takes six times as long.
    with jax.enable_x64(True), jax.default_device(cpu):
        return jax.jit(_standard).lower(words).compile(), jax.jit(_stretched).lower(values, scalar, scalar).compile()


def _standard(words):
    import jax.numpy as jnp

    u = (words & 0xFFFFFF).astype(jnp.float32) * np.float32(2.0**-24)
    u = u.reshape(-1, 2, plain.BLOCK // 2)
    radius = _radius32(jnp, np.float32(1.0) - u[:, 0])
    cosine, sine = _cos_sin32(jnp, u[:, 1] * np.float32(6.2831855))
    return jnp.stack([radius * cosine, radius * sine], 1).reshape(-1)


def _stretched(values, mean, std):
    """``fma(value, std, mean)``, rounded once: a double half-way between two singles is first moved to its true side."""
    import jax.numpy as jnp

    mean = mean.astype(jnp.float64)
    product = values.astype(jnp.float64) * std
    total = product + mean
    back = total - product
    lost = (product - (total - back)) + (mean - back)
    bits = total.view(jnp.int64)
    away = jnp.where((lost > 0) == (total > 0), 1, -1)
    half_way = ((bits & 0x1FFFFFFF) == 0x10000000) & (lost != 0)
    return jnp.where(half_way, bits + away, bits).view(jnp.float64).astype(jnp.float32)


def _fused(jnp, a, b, c):
    return (a.astype(jnp.float64) * b + c).astype(jnp.float32)


def _radius32(jnp, a):
    bits = a.view(jnp.int32)
    exponent = (bits >> 23) - 126
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).view(jnp.float32)
    small = mantissa < np.float32(0.70710677)
    exponent = jnp.where(small, exponent - 1, exponent)
    x = mantissa - np.float32(1.0)
    x = jnp.where(small, x + mantissa, x)
    z = x * x
    wide = x.astype(jnp.float64)
    y = jnp.full_like(x, np.float32(plain._LOG_P[0]))
    for p in plain._LOG_P[1:]:
        y = _fused(jnp, y, wide, p)
    e = exponent.astype(jnp.float64)
    y = _fused(jnp, (y.astype(jnp.float64) * wide).astype(jnp.float32), z.astype(jnp.float64), _round(jnp, e * plain._LOG_Q1))
    y = y - z * np.float32(0.5)
    x = x + y
    log = (e * plain._LOG_Q2 + x).astype(jnp.float32)
    return jnp.sqrt(log * np.float32(-2.0))


def _round(jnp, x):
    return x.astype(jnp.float32).astype(jnp.float64)


def _cos_sin32(jnp, angle):
    quadrant = ((angle * np.float32(1.2732395)).astype(jnp.int32) + 1) & ~1
    y = quadrant.astype(jnp.float64)
    x = angle
    for p in plain._REDUCE:
        x = (y * p + x).astype(jnp.float32)
    z = x * x
    wide = z.astype(jnp.float64)
    c = _fused(jnp, jnp.full_like(z, np.float32(plain._COS_P[0])), wide, plain._COS_P[1])
    c = _fused(jnp, c, wide, plain._COS_P[2])
    c = _fused(jnp, (wide * c).astype(jnp.float32), wide, wide * -0.5) + np.float32(1.0)
    s = _fused(jnp, jnp.full_like(z, np.float32(plain._SIN_P[0])), wide, plain._SIN_P[1])
    s = _fused(jnp, s, wide, plain._SIN_P[2])
    s = _fused(jnp, (wide * s).astype(jnp.float32), x.astype(jnp.float64), x)
    swap = (quadrant & 2) != 0
    cosine, sine = jnp.where(swap, s, c), jnp.where(swap, c, s)
    sine = (sine.view(jnp.int32) ^ ((quadrant & 4) << 29)).view(jnp.float32)
    cosine = (cosine.view(jnp.int32) ^ ((~(quadrant - 2) & 4) << 29)).view(jnp.float32)
    return cosine, sine
