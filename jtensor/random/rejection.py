"""The samplers that try and try again: ``poisson``, ``binomial``, ``_standard_gamma``, ``_sample_dirichlet``.

How many numbers an element takes is known only when it is done, so they run element by element over numbers read ahead (``lookahead``);
for many elements at once ``loops`` and ``gammas`` have the same in compiled code.
Mostly double arithmetic, but some steps of gamma and binomial round to the tensor's dtype, as noted at each. Knows the engine's
lookahead and numpy; parameters come as arrays that were checked, results have their shape and dtype.

The rejection rules are Hoermann's transformed ones (PTRS, BTRS) and Marsaglia and Tsang's.
"""

import math

import numpy as np

from . import gammas, loops
from .exact import scalar_lgamma, scalar_log, scalar_log1p
from .lookahead import Lookahead
from .rounding import FLOAT32, FLOAT64, cast, single


def _each(engine, parameters, one, expected_draws):
    """``one(ahead, *parameters)`` for each element of the broadcast parameters, in index order, under the engine's lock."""
    lists = [p.reshape(-1).astype(np.float64).tolist() for p in parameters]
    with engine.lock:
        ahead = Lookahead(engine, expected_draws * len(lists[0]))
        try:
            values = [one(ahead, *some) for some in zip(*lists, strict=True)]
        finally:
            ahead.close()
    return np.array(values, np.float64).reshape(parameters[0].shape)


# -- poisson ---------------------------------------------------------------------------------------------------------------------


def poisson(engine, rate):
    """A Poisson number for each rate (float dtype, not negative)."""
    if rate.size >= loops.FEW_ALIKE:
        wide = rate.reshape(-1).astype(np.float64)
        some = wide if wide.min() > 0.0 else wide[wide > 0.0]
        if some.size and some.max() < 1e15:
            with engine.lock:
                values = loops.poisson(engine, some, poisson_by_rejection)
            if values is not None:
                if some is not wide:
                    wide[wide > 0.0] = values
                    values = wide
                return cast(values, rate.dtype).reshape(rate.shape)
    return cast(_each(engine, (rate,), _poisson, 4), rate.dtype)


def _poisson(ahead, rate):
    if rate == 0.0:
        return 0.0
    return _poisson_by_product(ahead.uniform, rate) if rate < 10.0 else poisson_by_rejection(ahead.uniform, rate)


def _poisson_by_product(uniform, rate):
    limit = math.exp(-rate)
    count = 0
    product = uniform()
    while product > limit:
        count += 1
        product *= uniform()
    return float(count)


def poisson_by_rejection(uniform, rate):
    """One Poisson number for a rate >= 10, out of what ``uniform()`` gives."""
    root = math.sqrt(rate)
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = uniform() - 0.5
        v = uniform()
        us = 0.5 - abs(u)
        k = _floor((2 * a / us + b) * u + rate + 0.43) if us else -math.inf
        if us >= 0.07 and v <= quick:
            return _by_int64(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        if scalar_log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= -rate + k * log_rate - scalar_lgamma(k + 1):
            return _by_int64(k)


def _floor(x):
    return float(math.floor(x)) if math.isfinite(x) else x


def _by_int64(k):
    """The count passes through an int64; one that does not fit becomes the smallest, by the processor's conversion."""
    return k if -(2.0**63) <= k < 2.0**63 else -(2.0**63)


# -- gamma and dirichlet -----------------------------------------------------------------------------------------------------------


def standard_gamma(engine, alpha):
    """A Gamma(alpha, 1) number for each alpha (float32 or float64); at least the smallest normal number of the dtype.

    Uses and leaves the cached normal, as the pair-by-pair normals do.
    """
    fit, fit_one = (_singles, single) if alpha.dtype == FLOAT32 else (_same, _same)
    values, wide = None, alpha.reshape(-1).astype(np.float64)
    if wide.size >= gammas.FEW_ALIKE and 1.0 <= wide.min() == wide.max() < 1e10:
        with engine.lock, np.errstate(over="ignore"):
            values = gammas.alike(engine, float(wide[0]), wide.size, fit_one)
    if values is None and wide.size >= gammas.FEW and ((wide > 0.0) & (wide < 1e10)).all():
        with engine.lock, np.errstate(over="ignore"):
            values = gammas.standard_gamma(engine, wide, fit)
    if values is None:
        values = _each(engine, (alpha,), lambda ahead, a: _gamma(ahead, a, fit_one), 4)
    values = cast(values.reshape(alpha.shape), alpha.dtype)
    return _at_least(values, np.finfo(alpha.dtype).tiny)


def _at_least(x, low):
    return np.where(x > low, x, low)  # a nan becomes the lower bound, too


def dirichlet(engine, alpha):
    """A Dirichlet point for each row of ``alpha`` (float32 or float64); a single number is a row."""
    if not alpha.ndim:
        return dirichlet(engine, alpha.reshape(1)).reshape(())
    made = standard_gamma(engine, alpha.astype(np.float64))
    with np.errstate(all="ignore"):
        shares = cast(made / _row_sums(made)[..., None], alpha.dtype)
    info = np.finfo(alpha.dtype)
    return np.minimum(_at_least(shares, info.tiny), alpha.dtype.type(1) - info.epsneg)


def _gamma(ahead, alpha, fit):
    """One gamma number; ``fit`` rounds 1/alpha, alpha + 1 and alpha - 1/3 to the tensor's dtype."""
    if alpha == 0.0:
        return 0.0
    d, c, power = gammas.parameters(alpha, fit)
    scale = 1.0 if power is None else gammas.power(1.0 - ahead.uniform(), power)
    return scale * d * gammas.by_rejection(ahead.uniform, ahead.normal, d, c)


def _row_sums(x):
    """Sums over the last axis in the order of PyTorch's vectorised double sum.

    Four lanes, in each four interleaved running sums that are emptied into higher ones every 16 steps (a cascade); what is left over is
    added number by number, then the lanes in order.
    """
    columns = np.moveaxis(x, -1, 0)
    whole = len(columns) // 4 * 4
    lanes = _cascade(columns[:whole].reshape(-1, 4, *columns.shape[1:]))
    total = np.zeros(columns.shape[1:])
    for part in (*columns[whole:], *lanes):
        total = total + part
    return total


def _cascade(steps):
    """The sum of rows of four lanes by four interleaved cascades."""
    count = len(steps) // 4
    sums = _cascade_levels(steps[: 4 * count].reshape(count, 4, *steps.shape[1:]))
    for row in steps[4 * count :]:
        sums[0] = sums[0] + row
    return ((sums[0] + sums[1]) + sums[2]) + sums[3]


def _cascade_levels(groups, levels=4):
    size = len(groups)
    power = max(4, -(-max(size, 1).bit_length() // levels)) if size else 4
    step = 1 << power
    zeros = np.zeros(groups.shape[1:])
    acc = [zeros] * levels
    i = 0
    while i + step <= size:
        for _ in range(step):
            acc[0] = acc[0] + groups[i]
            i += 1
        for level in range(1, levels):
            acc[level] = acc[level] + acc[level - 1]
            acc[level - 1] = zeros
            if i & ((step - 1) << (level * power)):
                break
    while i < size:
        acc[0] = acc[0] + groups[i]
        i += 1
    for level in range(1, levels):
        acc[0] = acc[0] + acc[level]
    return acc[0]


# -- binomial ----------------------------------------------------------------------------------------------------------------------


def binomial(engine, count, p):
    """The number of successes in ``count`` trials of probability ``p``, for each element of the two (same shape, float32 or float64).

    Float32 counts beyond 2**24, where that dtype no longer tells neighbours apart, may come out other than PyTorch's.
    """
    dtype = count.dtype
    if count.size >= loops.FEW_ALIKE:
        made = _binomial_by_loops(engine, count.reshape(-1).astype(np.float64), p.reshape(-1).astype(np.float64), dtype)
        if made is not None:
            return cast(made, dtype).reshape(count.shape)
    fit = _same if dtype == FLOAT64 else single
    return cast(_each(engine, (count, p), lambda ahead, n, q: _binomial(ahead.uniform, n, q, fit), 4), dtype)


def _binomial_by_loops(engine, count, p, dtype):
    """All of them by the compiled loop; None where that is not there, or not exact."""
    top = 2.0**24 if dtype == FLOAT32 else 2.0**50
    if not ((count < top) & (p == p)).all():
        return None
    fit, fit_one = (_same, _same) if dtype == FLOAT64 else (_singles, single)
    tried = (count > 0.0) & (p > 0.0) & (p < 1.0)
    values = np.where((count > 0.0) & (p >= 1.0), count, 0.0)
    if tried.any():
        n, mirrored = count[tried], p[tried] > 0.5
        q = np.where(mirrored, fit(1.0 - p[tried]), p[tried])
        with engine.lock:
            made = loops.binomial(engine, n, q, fit, lambda *one: binomial_by_rejection(*one, fit_one))
        if made is None:
            return None
        values[tried] = np.where(mirrored, fit(n - made), made)
    return values


def _same(x):
    return x


def _singles(x):
    return x.astype(np.float32).astype(np.float64)


def _binomial(uniform, count, p, fit):
    if count <= 0.0 or p <= 0.0:
        return 0.0
    if p >= 1.0:
        return count
    if p <= 0.5:
        return _binomial_small(uniform, count, p, fit)
    if p > 0.5:
        return fit(count - _binomial_small(uniform, count, fit(1.0 - p), fit))
    return math.nan


def _binomial_small(uniform, count, p, fit):
    return binomial_by_rejection(uniform, count, p, fit) if fit(count * p) >= 10.0 else _binomial_by_steps(uniform, count, p, fit)


def _binomial_by_steps(uniform, count, p, fit):
    scale = fit(scalar_log1p(-p))
    reached = 0.0
    successes = 0
    while True:
        reached += math.ceil(scalar_log(uniform()) / scale)
        if reached > count:
            return float(successes)
        successes += 1


def _stirling_tail(k):
    """`loops.stirling_tail` of one number."""
    if k <= 9:
        return _STIRLING[int(k)] if k > 0 else _STIRLING[0]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


_STIRLING = loops.STIRLING.tolist()


def binomial_by_rejection(uniform, count, p, fit=_same):
    """One binomial number for count * p >= 10 and p <= 0.5, out of what ``uniform()`` gives."""
    spread = fit(math.sqrt(fit(fit(count * p) * fit(1.0 - p))))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = fit(count * p) + 0.5
    quick = 0.92 - 4.2 / b
    odds = fit(p / fit(1.0 - p))
    alpha = (2.83 + 5.1 / b) * spread
    mode = math.floor(fit(fit(count + 1) * p))
    while True:
        u = uniform() - 0.5
        v = uniform()
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = fit(math.floor((2 * a / us + b) * u + c))
        if k < 0 or k > count:
            continue
        if us >= 0.07 and v <= quick:
            return float(k)
        v = scalar_log(v * alpha / (a / (us * us) + b))
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
            + fit(count + 1) * math.log((count - mode + 1) / fit(count - k + 1))
            + (k + 0.5) * math.log(odds * fit(count - k + 1) / fit(k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(count - mode)
            - _stirling_tail(k)
            - _stirling_tail(fit(count - k))
        )
        if v <= bound:
            return float(k)
