"""The float32 block of ``normal`` as XLA programs: the same bits at an eighth of the price for large arrays, and one call instead of
seventy of NumPy's for small ones.

Owns the programs, their proof, and the overlap of drawing (here) with transforming (in XLA's threads). The formulas are `normals`' own in
plain single precision, where the compiler turns each product and sum that stand together into one fused step, as PyTorch's compiler did.
That is nowhere promised, so a program serves only after it has given the bits of ``normals.block32`` for a sample that no other choice
would pass.
"""
import functools
import struct

import numpy as np

from . import normals as plain
from .programs import HostProgram, put

CHUNK, FEW = 1 << 17, 1 << 14   # words transformed by one call of a program: two shapes, so two compilations
_LARGE = 1 << 16                # numbers from which on the program for many serves
_PAYS_AFTER = 1 << 19           # numbers: who has drawn so many will draw more; compiling is done in the background
_PAYS_AFTER_FEW = 1 << 17       # the same of small arrays, where NumPy's price is twice as high
_MODERATE = 2.0**40             # between its inverse and this no result is subnormal, which XLA would flush to zero

_F = np.float32


def serves(n, mean, std):
    """What makes ``n`` numbers of N(mean, std**2), ``(engine, n, mean, std, fill_first)``, where a program can and is there; else None."""
    if not _moderate(mean, std):
        return None
    program, chunk = (PROGRAM, CHUNK) if n >= _LARGE else (FOR_FEW, FEW)
    run = program.after(n)
    return None if run is None else functools.partial(normal32, run, chunk)


def _moderate(mean, std):
    return 1 / _MODERATE < std < _MODERATE and (mean == 0.0 or 1 / _MODERATE < abs(mean) < _MODERATE)


def few32(words, mean, std):
    """Numbers of N(mean, std**2) out of words, a multiple of 16 and at most `FEW` of them; None as for `serves`."""
    run = FOR_FEW.after(words.size) if _moderate(mean, std) else None
    if run is None:
        return None
    out = np.empty(words.size, np.float32)
    if words.size < FEW:
        drawn, words = words, np.zeros(FEW, np.uint32)
        words[: drawn.size] = drawn
    _collect(out.reshape(-1, 2, plain.BLOCK // 2), run([put(words), _stretch(struct.pack("ff", std, mean), False), _zero(False)]))
    return out


def normal32(run, chunk, engine, n, mean, std, fill_first):
    """``n`` (16 or more) numbers of N(mean, std**2) in float32, as ``normal`` draws them; ``fill_first`` as for float32, not for halves.

    ``run``: of the program for so many words, ``chunk``, at a time.
    """
    beside = chunk == CHUNK
    stretch, zero = _stretch(struct.pack("ff", std, mean), beside), _zero(beside)
    whole = n // plain.BLOCK * plain.BLOCK
    ragged = n > whole
    idle = n - whole if ragged and fill_first else 0
    # The last 16 numbers of a ragged end take a block of their own, which lies behind the others till the end.
    count = whole + plain.BLOCK if ragged else whole
    out = np.empty(count, np.float32)
    blocks = out.reshape(-1, 2, plain.BLOCK // 2)
    waiting = None
    for start in range(0, count, chunk):
        stop = min(start + chunk, count)
        words = engine.words(min(stop, whole) - start)
        if len(words) < chunk:
            drawn, words = words, np.zeros(chunk, np.uint32)
            words[: len(drawn)] = drawn
            if stop > whole:
                engine.words(idle)
                words[len(drawn) : stop - start] = engine.words(plain.BLOCK)
        halves = run([put(words, beside), stretch, zero])       # in many chunks it runs while the next words are drawn
        if waiting is not None:
            _collect(*waiting)
        waiting = blocks[start // plain.BLOCK : stop // plain.BLOCK], halves
    _collect(*waiting)
    if ragged:
        out[n - plain.BLOCK : n] = out[whole:].copy()
        out = out[:n]
    return out


def _collect(blocks, halves):
    for half, values in enumerate(halves):
        blocks[:, half] = np.asarray(values)[: len(blocks)]


@functools.lru_cache(maxsize=64)
def _stretch(of, beside):
    return put(np.frombuffer(of, np.float32), beside)


@functools.cache
def _zero(beside):
    return put(_ZERO, beside)


_ZERO = np.zeros((), np.int32)


def _transform(words, stretch, zero):
    import jax.numpy as jnp

    u = (words & 0xFFFFFF).astype(jnp.int32).astype(jnp.float32) * _F(2.0**-24)
    u = u.reshape(-1, 2, plain.BLOCK // 2)
    radius = _radius32(jnp, _F(1.0) - u[:, 0])
    # The angle is a product that PyTorch rounds before it goes on; a sum that only the run knows keeps the compiler from fusing it.
    angle = ((u[:, 1] * _F(6.2831855)).view(jnp.int32) + zero).view(jnp.float32)
    cosine, sine = _cos_sin32(jnp, angle)
    # Two results, which the host lays side by side: as one array they are ten times as slow, for XLA gives up vectorising.
    return [radius * cosine * stretch[0] + stretch[1], radius * sine * stretch[0] + stretch[1]]


def _radius32(jnp, a):
    bits = a.view(jnp.int32)
    exponent = (bits >> 23) - 126
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).view(jnp.float32)
    small = mantissa < _F(0.70710677)
    e = jnp.where(small, exponent - 1, exponent).astype(jnp.float32)
    x = mantissa - _F(1.0)
    x = jnp.where(small, x + mantissa, x)
    z = x * x
    y = jnp.full_like(x, _F(plain._LOG_P[0]))
    for p in plain._LOG_P[1:]:
        y = y * x + _F(p)
    y = y * x * z + e * _F(plain._LOG_Q1)
    y = y - z * _F(0.5)
    x = x + y
    return jnp.sqrt((e * _F(plain._LOG_Q2) + x) * _F(-2.0))


def _cos_sin32(jnp, angle):
    quadrant = ((angle * _F(1.2732395)).astype(jnp.int32) + 1) & ~1
    y = quadrant.astype(jnp.float32)
    x = angle
    for p in plain._REDUCE:
        x = y * _F(p) + x
    z = x * x
    c = _F(plain._COS_P[0]) * z + _F(plain._COS_P[1])
    c = c * z + _F(plain._COS_P[2])
    c = z * (z * c) + z * _F(-0.5) + _F(1.0)
    s = _F(plain._SIN_P[0]) * z + _F(plain._SIN_P[1])
    s = s * z + _F(plain._SIN_P[2])
    s = x * (z * s) + x
    swap = (quadrant & 2) != 0
    cosine, sine = jnp.where(swap, s, c), jnp.where(swap, c, s)
    sine = (sine.view(jnp.int32) ^ ((quadrant & 4) << 29)).view(jnp.float32)
    cosine = (cosine.view(jnp.int32) ^ ((~(quadrant - 2) & 4) << 29)).view(jnp.float32)
    return cosine, sine


def _proven(run, chunk=CHUNK):
    """Whether a program gives `normals`' bits: on words spread over all, and on the ends of the ranges."""
    words = np.random.RandomState(24).randint(0, 1 << 24, CHUNK).astype(np.uint32).reshape(-1, plain.BLOCK)
    ends = np.r_[np.arange(64), 2**24 - 1 - np.arange(64), 2**23 + np.arange(-64, 64)].astype(np.uint32)
    words[:256, 0] = words[256:512, 8] = words[512:768, 3] = words[512:768, 11] = ends
    words = words.reshape(-1)
    wanted = plain.block32(words.astype(np.float32) * _F(2.0**-24))
    for std, mean in ((_F(0.7).item(), 1.5), (1.0, 0.0)):
        made = np.empty_like(wanted)
        blocks = made.reshape(-1, 2, plain.BLOCK // 2)
        for start in range(0, CHUNK, chunk):
            halves = run([words[start : start + chunk], np.array([std, mean], np.float32), _ZERO])
            _collect(blocks[start // plain.BLOCK : (start + chunk) // plain.BLOCK], halves)
        if not np.array_equal(made.view(np.uint32), plain.stretched32(wanted.copy(), std, mean).view(np.uint32)):
            return False
    return True


def _program(name, chunk, pays_after, beside):
    inputs = [((chunk,), np.uint32), ((2,), np.float32), ((), np.int32)]
    return HostProgram(name, _transform, inputs, pays_after, lambda run: _proven(run, chunk), beside)


PROGRAM = _program("normal32", CHUNK, _PAYS_AFTER, True)
FOR_FEW = _program("normal32 few", FEW, _PAYS_AFTER_FEW, False)
