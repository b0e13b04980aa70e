"""Counter-based numbers, made inside the program: the operators that tensors on an accelerator record in place of a draw on the host.

Seed and offset are run-time inputs, so a new draw compiles nothing and waits for nothing. Owns the distributions' formulas for these
streams. Their numbers are not those of PyTorch's GPU kernels, whose order depends on the GPU; they do not depend on the device here.
Elements are counted in the target's memory order. Knows JAX, Philox and the operators; no generator and no checks.
"""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..ops.build import cast_to
from ..ops.operator import Number, op
from ..ops.operator import Tensor as TensorKind
from .integers import inward, largest
from .philox import philox
from .rounding import DIGITS

_TWO_PI = 2.0 * math.pi


# -- words ---------------------------------------------------------------------------------------------------------------------------


def _words(count, seed, offset, each):
    """``each`` (1 or 2) words for each of ``count`` elements: a tuple of uint32 arrays."""
    calls = -(-count * each // 4)
    seed, turn = seed.astype(jnp.uint64), offset.astype(jnp.uint64) // 4
    at = lax.iota(jnp.uint64, calls)
    halves = [(x.astype(jnp.uint32), (x >> 32).astype(jnp.uint32)) for x in (seed, turn, at)]
    key, counter = halves[0], [jnp.broadcast_to(half, (calls,)) for pair in halves[1:] for half in pair]
    words = jnp.stack(philox(key, counter), -1).reshape(-1)
    return tuple(words[: each * count].reshape(count, each)[:, i] for i in range(each))


def _wide(count, seed, offset):
    """A 64-bit number for each of ``count`` elements."""
    high, low = _words(count, seed, offset, 2)
    return high.astype(jnp.uint64) << 32 | low.astype(jnp.uint64)


def _unit(count, seed, offset, dtype):
    """Uniform numbers of [0, 1), with as many bits as the type has."""
    if dtype == np.float64:
        return (_wide(count, seed, offset) >> 11).astype(jnp.float64) * 2.0**-53
    return (_words(count, seed, offset, 1)[0] >> 8).astype(jnp.float32) * np.float32(2.0**-24)


# -- distributions: of (count, seed, offset, a, b, numpy dtype, the type to compute in) ------------------------------------------------


def _uniform(count, seed, offset, low, high, dtype, kind):
    made = (_unit(count, seed, offset, kind) * (high - low).astype(kind) + low.astype(kind)).astype(dtype)
    return jnp.where(made >= high.astype(kind).astype(dtype), low.astype(kind).astype(dtype), made)


def _standard(count, seed, offset, kind):
    u = 1 - _unit(count + count % 2, seed, offset, kind).reshape(-1, 2)      # of (0, 1]
    radius, angle = jnp.sqrt(-2 * jnp.log(u[:, 0])), u[:, 1] * kind(_TWO_PI)
    return jnp.stack([radius * jnp.cos(angle), radius * jnp.sin(angle)], -1).reshape(-1)[:count]


def _normal(count, seed, offset, mean, std, dtype, kind):
    return (_standard(count, seed, offset, kind) * std.astype(kind) + mean.astype(kind)).astype(dtype)


def _log_normal(count, seed, offset, mean, std, dtype, kind):
    return jnp.exp(_standard(count, seed, offset, kind) * std.astype(kind) + mean.astype(kind)).astype(dtype)


def _exponential(count, seed, offset, rate, _, dtype, kind):
    return (-jnp.log(1 - _unit(count, seed, offset, kind)) / rate.astype(kind)).astype(dtype)


def _cauchy(count, seed, offset, median, sigma, dtype, kind):
    angle = (_unit(count, seed, offset, kind) - kind(0.5)) * kind(math.pi)
    return (median.astype(kind) + sigma.astype(kind) * jnp.tan(angle)).astype(dtype)


def _geometric(count, seed, offset, p, _, dtype, kind):
    trials = jnp.ceil(jnp.log(1 - _unit(count, seed, offset, kind)) / jnp.log1p(-p.astype(kind)))
    return cast_to(jnp.maximum(trials, 1), dtype)


def _below(count, seed, offset, p):
    limit = jnp.ceil(p.astype(jnp.float64) * 2.0**32).astype(jnp.uint64)
    return _words(count, seed, offset, 1)[0].astype(jnp.uint64) < limit


def _bernoulli(count, seed, offset, p, _, dtype, kind):
    return _below(count, seed, offset, p).astype(dtype)


def _dropout(count, seed, offset, p, _, dtype, kind):
    keep = 1 - p.astype(jnp.float64)
    return jnp.where(_below(count, seed, offset, keep), (1 / keep.astype(kind)).astype(dtype), jnp.zeros((), dtype))


def _integers(count, seed, offset, low, span, dtype, kind):
    word = _words(count, seed, offset, 1)[0]
    return cast_to((word % span.astype(jnp.uint32)).astype(jnp.int64) + low, dtype)


def _wide_integers(count, seed, offset, low, span, dtype, kind):
    drawn, span = _wide(count, seed, offset), span.astype(jnp.uint64)       # a span of 2**64 arrives as 0
    drawn = jnp.where(span == 0, drawn, drawn % jnp.maximum(span, 1))
    return cast_to(drawn.astype(jnp.int64) + low, dtype)


def _permutation(count, seed, offset, _, __, dtype, kind):
    keys = _wide(count, seed, offset)
    return cast_to(lax.sort((keys, lax.iota(jnp.int64, count)), num_keys=1)[1], dtype)


_FORMULAS = {name: globals()["_" + name] for name in (
    "uniform", "normal", "log_normal", "exponential", "cauchy", "geometric", "bernoulli", "dropout", "integers", "wide_integers",
    "permutation")}


# -- which integers ------------------------------------------------------------------------------------------------------------------


def integers_of(low, high, dtype):
    """What `drawn` is to draw for integers of [low, high), bounds moved inward where a float dtype would round out of them."""
    if dtype in DIGITS:
        low, high = inward(low, high, dtype)
    return _span(low, high - low)


def integers_from(low, dtype):
    """The same from ``low`` to the largest that the dtype counts to, that one included."""
    if low == -(1 << 63):
        return _span(0, 1 << 64)
    top = largest(dtype)
    if dtype in DIGITS:
        low, _ = inward(low, top + 1, dtype)
    return _span(low, top - low + 1)


def all_integers(dtype):
    """The same for the whole range that ``random_()`` has."""
    return _span(0, largest(dtype) + 1)


def _span(low, span):
    low, span = (_signed(x) for x in (low, span))
    return ("integers" if 0 < span < 1 << 28 else "wide_integers"), low, span


def _signed(x):
    return (x + (1 << 63)) % (1 << 64) - (1 << 63)


def _compute_type(dtype):
    return np.float64 if dtype == np.float64 else np.float32


def _laid_out(flat, size, order):
    """Numbers in memory order as an array of the size; ``order``: the dimensions from the slowest to the quickest, None as they come."""
    if order is None:
        return flat.reshape(size)
    return flat.reshape([size[d] for d in order]).transpose(tuple(order.index(d) for d in range(len(size))))


@op(name="drawn_by_counter", function=False, method=False)
def drawn(size, order, name, seed: Number, offset: Number, a: Number, b: Number, dtype, device):
    """Numbers of the distribution ``name`` with parameters ``a`` and ``b``."""
    kind, count = dtype.numpy, math.prod(size)
    if dtype.is_complex:
        real = np.dtype(np.float64 if kind.itemsize == 16 else np.float32)
        parts = _FORMULAS[name](2 * count, seed, offset, a, b, real, _compute_type(real)).reshape(-1, 2)
        return _laid_out(lax.complex(parts[:, 0], parts[:, 1]), size, order)
    return _laid_out(_FORMULAS[name](count, seed, offset, a, b, kind, _compute_type(kind)), size, order)


@op(name="bernoulli_by_counter", function=False, method=False, nondiff=("p",))
def bernoulli(p: TensorKind, order, seed: Number, offset: Number, dtype, device):
    """Ones, each with the probability that stands in ``p`` (which the program does not check), and zeros."""
    wide = p.dtype if p.dtype in (np.float32, np.float64) else jnp.float32
    u = _unit(p.size, seed, offset, np.float64 if wide == np.float64 else np.float32)
    return (_laid_out(u, p.shape, order) < p.astype(wide)).astype(dtype.numpy)
