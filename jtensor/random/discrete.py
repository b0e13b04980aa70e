"""Yes-or-no numbers and choices: ``bernoulli``, ``geometric_``, ``multinomial``, and the noise of the dropout family.

Owns their formulas. Knows the engine, uniforms and exponentials; tensors of probabilities come as numpy arrays, arguments as checked.
"""

import functools
import math

import numpy as np

from . import exact
from .continuous import exponential
from .exact import chunks
from .rounding import FLOAT32, FLOAT64, HALVES, cast
from .uniforms import MASK53, alike, rand, u53

# -- bernoulli -------------------------------------------------------------------------------------------------------------------


def bernoulli(engine, n, p, dtype=FLOAT32):
    """``n`` numbers that are 1 with probability ``p`` (a Python number) and else 0. Draws two words for each whatever p and dtype."""
    with engine.lock:
        return alike(engine, ("bernoulli", p, dtype), n, 2 * n, lambda engine, n: _below(engine, n, p).astype(dtype))


def _below(engine, n, p):
    drawn = engine.draws(n)
    limit = np.uint64(min(math.ceil(p * 2.0**53), 1 << 53))
    if n <= exact.CHUNK:
        drawn &= MASK53
        return drawn < limit
    out = np.empty(n, np.bool_)
    for part in chunks(n):
        np.less(drawn[part] & MASK53, limit, out=out[part])
    return out


def bernoulli_from(engine, p, dtype=None):
    """1 with the probability that stands at each place of the array ``p``, else 0; drawn in the order of ``p``'s elements.

    Answers in ``p``'s dtype and shape unless ``dtype`` says otherwise. Float64 probabilities take two words a number, all others one.
    """
    with engine.lock:
        flat = p.reshape(-1)
        if p.dtype == FLOAT64:
            ones = alike(engine, "u53", flat.size, 2 * flat.size, u53) < flat
        else:
            ones = rand(engine, flat.size) < flat.astype(np.float32)
    return ones.astype(p.dtype if dtype is None else dtype).reshape(p.shape)


def geometric(engine, n, p, dtype=FLOAT32):
    """``n`` numbers of trials up to the first success, each trial of probability ``p`` in (0, 1)."""
    scale = exact.scalar_log1p(-p)
    with engine.lock, np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        values = np.ceil(exact.log(u53(engine, n)) / scale)
    return cast_like_c(values, dtype)


def cast_like_c(x, dtype):
    """Doubles in ``dtype``; integers as the processor converts them: what does not fit its register becomes the smallest integer."""
    if dtype.kind not in "iu":
        return cast(x, dtype)
    register = np.int64 if dtype.itemsize == 8 else np.int32
    info = np.iinfo(register)
    fits = (x >= info.min) & (x < info.max)
    whole = np.where(fits, x, 0.0).astype(register)
    whole[~fits] = info.min
    return whole.astype(dtype)


# -- the noise of dropout ----------------------------------------------------------------------------------------------------------


def dropout_noise(engine, n, p, dtype=FLOAT32):
    """What ``dropout`` multiplies its input by: 0 with probability ``p``, else 1 / (1 - p) rounded to ``dtype``. ``0 < p < 1``."""
    def noise(engine, n):
        keep = 1.0 - p
        return _two_valued(_below(engine, n, keep), *_off_and_on(keep, dtype))
    with engine.lock:
        return alike(engine, ("dropout", p, dtype), n, 2 * n, noise)


@functools.lru_cache(maxsize=256)
def _off_and_on(keep, dtype):
    """What dropout multiplies by."""
    return np.zeros((), dtype), _quotient(1.0, keep, dtype)


def _two_valued(kept, off, on):
    return np.where(kept, on, off)


def _quotient(number, divisor, dtype):
    wide = np.float64 if dtype == FLOAT64 else np.float32
    return (wide(number) / wide(divisor)).astype(dtype)


# -- multinomial -----------------------------------------------------------------------------------------------------------------


def _wide(x):
    return x.astype(np.float32) if x.dtype in HALVES else x


def multinomial(engine, p, samples, replacement=False, columns_first=False):
    """``samples`` category numbers (int64) for each row of ``p`` (one or two dimensions, unnormalised, float).

    Where PyTorch meets equal scores without replacement, the order in which it lists them follows its C++ library's partial sort; here
    they are listed by index. With float64 and float32 that is rare, with the halves a few places in a hundred.
    ``columns_first``: the weights lay transposed in memory, which is the order of the draws without replacement.
    """
    with engine.lock:
        if replacement and samples > 1:
            rows = p.reshape(-1, p.shape[-1])
            drawn = u53(engine, len(rows) * samples).reshape(len(rows), samples)
            return _chosen(rows, drawn).reshape(*p.shape[:-1], samples)
        q = exponential(engine, p.size, 1.0, p.dtype)
        q = q.reshape(p.shape[::-1]).T if columns_first else q.reshape(p.shape)
    with np.errstate(all="ignore"):
        scores = (_wide(p) / _wide(q)).astype(p.dtype)
    if samples == 1:
        return scores.argmax(-1, keepdims=True) if scores.size else np.empty((*p.shape[:-1], 1), np.int64)
    return _largest(_wide(scores), samples)


def _chosen(rows, u):
    """For each row of weights the first category whose running share is not below the number, for each of the row's ``u``."""
    chosen = np.empty(u.shape, np.int64)
    count, each = rows.shape[1], rows.shape[1] * (u.shape[1] + 1)
    at_once = max(_AT_ONCE // each, 1)
    for start in range(0, len(rows), at_once):
        part = slice(start, start + at_once)
        running = _wide(rows[part]).cumsum(1)
        with np.errstate(all="ignore"):
            running /= running[:, -1:]
        running = running.astype(np.float64)
        if each <= _FEW_COMPARISONS:
            chosen[part] = (running[:, None, :-1] < u[part, :, None]).sum(-1)
        else:
            running[:, -1] = 1
            for row, some, out in zip(running, u[part], chosen[part], strict=True):
                np.minimum(np.searchsorted(row, some, side="left"), count - 1, out=out)
    return chosen


_AT_ONCE = 1 << 16              # numbers held at a time
_FEW_COMPARISONS = 1 << 11      # a row's, up to which comparing all with all beats a search in each row


def _largest(scores, k):
    n = scores.shape[-1]
    if k * 4 < n and scores.ndim == 1:
        threshold = np.partition(scores, n - k)[n - k]
        candidates = (scores >= threshold).nonzero()[0]
        order = np.argsort(-scores[candidates], kind="stable")[:k]
        return candidates[order]
    return np.argsort(-scores, axis=-1, kind="stable")[..., :k].copy()
