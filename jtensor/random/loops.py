"""``poisson`` and ``binomial`` for many elements at once, as loops of the host's XLA programs, at the speed of compiled code.

Owns their formulas there: what an attempt is (`rejection` has the same element by element, in Python), the parameters of each element, the
programs and their proofs. Everything is exact, or computed here beforehand with the C library, but for the logarithms of the tests, of
which the programs say when they are in doubt. Knows `walks`, exact arithmetic and `programs`.
"""
import functools
import math

import numpy as np

from . import exact, walks
from .mt19937 import MT19937
from .programs import HostProgram
from .walks import ELEMENTS, NO_LIMIT, ROOM

FEW = 512               # elements; for fewer Python is as quick
FEW_ALIKE = 64          # the same where all elements are of one kind
_PAYS_AFTER = 1 << 13
_TABLE = 1024           # log k! for so many k: a look-up costs a fifth of a logarithm


def _apart(jnp, zero, x):
    """``x`` as it was rounded: a sum that only the run knows keeps the compiler from fusing the product into the next sum."""
    return (x.view(jnp.int64) + zero.astype(jnp.int64)).view(jnp.float64)


def _log_factorial(jnp, k, moderate):
    """The logarithm of k!; where ``moderate``, infinite beyond the table, which leaves a test in doubt."""
    if moderate:
        return jnp.where(k < _TABLE, jnp.asarray(_FACTORIALS)[jnp.clip(k, 0, _TABLE - 1).astype(jnp.int32)], jnp.inf)
    y = k + 1.0
    series = (y - 0.5) * jnp.log(y) - y + 0.9189385332046727 + (1.0 - 1.0 / (30.0 * y * y)) / (12.0 * y)
    return jnp.where(k < _TABLE, jnp.asarray(_FACTORIALS)[jnp.clip(k, 0, _TABLE - 1).astype(jnp.int32)], series)


_FACTORIALS = np.array([math.lgamma(k + 1.0) for k in range(_TABLE)])


def _some(x):
    """A thousand of an array's elements, from all over it."""
    return x[:: max(x.size // 1000, 1)]


# -- poisson -------------------------------------------------------------------------------------------------------------------------


def _poisson_attempt(jnp, zero, u, v, row, moderate=False):
    _, rate, a, b, quick, inverse_alpha, log_rate = row
    u = u - 0.5
    us = 0.5 - jnp.abs(u)
    k = jnp.floor(_apart(jnp, zero, (2 * a / us + b) * u) + rate + 0.43)
    left = jnp.log(v * inverse_alpha / (a / (us * us) + b))
    likely, factorial = k * log_rate, _log_factorial(jnp, k, moderate)
    loose = jnp.abs(left) + rate + jnp.abs(likely) + jnp.abs(factorial) + 10.0
    return k, (us >= 0.07) & (v <= quick), (k < 0) | (us < 0.013) & (v > us), likely - rate - factorial - left, loose


def poisson(engine, rate, one):
    """A Poisson number for each of an array of rates, all positive and below 1e15; None if that does not pay, or the program is not there.

    ``one(uniform, rate)`` draws one by rejection.
    """
    least, most = rate.min(), rate.max()
    kind = POISSON_FEW if most < 10.0 else POISSON_ALIKE if least == most else POISSON if most < 0.7 * _TABLE else POISSON_LARGE
    run = kind.at_hand(rate.size)
    return None if run is None else _poisson_by(kind, run, engine, rate, one)


def _poisson_by(kind, run, engine, rate, one):
    least = rate.min()
    alike = least == rate.max()

    def rows(part):
        some = rate[:1] if alike else rate[part]
        if kind.rows == 2:
            yield exact.exp(-some)
        else:
            yield NO_LIMIT if least >= 10.0 else np.where(some >= 10.0, NO_LIMIT, exact.exp(-np.minimum(some, 10.0)))
        yield some
        if kind.rows > 2:
            b = 0.931 + 2.53 * np.sqrt(some)
            a = -0.059 + 0.02483 * b
            with np.errstate(all="ignore"):     # small rates have no use for these
                yield from (a, b, 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4), np.log(some))

    some = _some(rate)
    each = float(np.where(some >= 10.0, 2.4, some + 1).mean())
    return kind.drawn(engine, run, rate.size, rows, lambda uniform, i: one(uniform, float(rate[i])), each)


# -- binomial ------------------------------------------------------------------------------------------------------------------------


def _binomial_attempt(jnp, zero, u, v, row, moderate=False):
    _, _, count, a, b, c, quick, log_odds, base = row
    u = u - 0.5
    us = 0.5 - jnp.abs(u)
    k = jnp.floor(_apart(jnp, zero, (2 * a / us + b) * u) + c)
    never = (us == 0) | (k < 0) | (k > count)
    left = jnp.log(v / (a / (us * us) + b))
    first, second = base - _stirling(jnp, count - k, moderate), k * log_odds - _stirling(jnp, k, moderate)
    loose = jnp.abs(left) + jnp.abs(base) + jnp.abs(k * log_odds) + 10 * count + 10.0
    return k, (us >= 0.07) & (v <= quick) & ~never, never, first + second - left, loose


STIRLING = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287])


def stirling_tail(k, np=np):
    """What Stirling's formula misses of log k!, for each of an array."""
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, np.asarray(STIRLING)[np.clip(k, 0, 9).astype(np.int32)], series)


def _stirling(jnp, k, moderate):
    """The part of log k! that is not linear in k, by Stirling's formula as PyTorch takes it; where ``moderate``, within the table."""
    if moderate:
        return jnp.asarray(_STIRLINGS)[jnp.clip(k, 0, _TABLE - 1).astype(jnp.int32)]
    return (k + 0.5) * jnp.log(k + 1) + stirling_tail(k, jnp)


_STIRLINGS = _stirling(np, np.arange(float(_TABLE)), False)


def binomial(engine, count, p, fit, one):
    """The successes of ``count`` trials of probability 0 < ``p`` <= 0.5 each, for arrays of them; None as for `poisson`.

    ``fit`` rounds an array to the tensor's dtype; ``one(uniform, count, p)`` draws one by rejection.
    """
    if count.min() == count.max() and p.min() == p.max():
        kind = BINOMIAL_ALIKE if fit(count[:1] * p[:1]) >= 10.0 else BINOMIAL_FEW
    else:
        moderate = count.max() < _TABLE and (count == np.floor(count)).all()
        kind = BINOMIAL_FEW if not (fit(count * p) >= 10.0).any() else BINOMIAL if moderate else BINOMIAL_LARGE
    run = kind.at_hand(count.size)
    return None if run is None else _binomial_by(kind, run, engine, count, p, fit, one)


def _binomial_by(kind, run, engine, count, p, fit, one):
    alike = count.min() == count.max() and p.min() == p.max()

    def rows(part):
        part = slice(1) if alike else part
        n, q = count[part], p[part]
        yield n if kind.rows == 2 else np.where(fit(n * q) >= 10.0, NO_LIMIT, n)
        with np.errstate(all="ignore"):     # what makes no attempts has no use for most of these
            yield fit(exact.log1p(-q))
            if kind.rows > 2:
                yield from _binomial_rows(n, q, fit, kind.moderate)

    whole = bool((count == np.floor(count)).all())      # else the test's own sums round to the dtype, which the program's do not
    expected = fit(_some(count) * _some(p))
    return kind.drawn(engine, run, count.size, rows, lambda uniform, i: one(uniform, float(count[i]), float(p[i])),
                      float(np.where(expected >= 10.0, 2.6, expected + 1).mean()), 1.0 if whole else 1e7)


def _binomial_rows(n, p, fit, moderate):
    expected, q = fit(n * p), fit(1.0 - p)
    spread = fit(np.sqrt(fit(expected * q)))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    log_odds, mode = np.log(fit(p / q)), np.floor(fit(fit(n + 1) * p))
    # How likely k successes are, beside the mode: where PyTorch adds up logarithms of quotients, nearly all of them cancel.
    base = _stirling(np, mode, moderate) + _stirling(np, n - mode, moderate) - mode * log_odds - np.log((2.83 + 5.1 / b) * spread)
    return n, a, b, expected + 0.5, 0.92 - 4.2 / b, log_odds, base


# -- the programs --------------------------------------------------------------------------------------------------------------------


class _Kind:
    """A program, the number of its parameters' rows, and what an element has reached at first.

    ``attempt``: None where no element makes any; ``moderate``: its logarithms are looked up; ``logs``: the program is shown the numbers'
    logarithms, too.
    """

    def __init__(self, name, rows, proof, reach, is_done, start, attempt=None, moderate=False, logs=False):
        self.rows, self.start, self.moderate = rows, start, moderate
        inputs = [(5,), (4,), (rows, ELEMENTS), *[(ROOM,)] * (1 + logs)]
        program = walks.walk(reach, is_done, start, attempt and functools.partial(attempt, moderate=moderate))
        self.program = HostProgram(name, program, [(shape, np.float64) for shape in inputs], _PAYS_AFTER, lambda run: proof(self, run))

    def at_hand(self, total):
        """What is to draw so many elements; None: Python."""
        return self.program.after(total) if total >= FEW else None

    def drawn(self, engine, run, total, rows, *how):
        """What `walks` draws with the program."""
        return walks.drawn(engine, self, run, total, rows, *how)


class _Alike:
    """Elements of one kind, which make attempts: in NumPy, which is as quick at it as a program."""

    moderate = False

    def __init__(self, attempt, rows):
        self.rows, self.judge = rows, walks.judge(attempt)

    def at_hand(self, total):
        """What is to draw so many elements; None: Python."""
        return self.judge if total >= FEW_ALIKE else None

    def drawn(self, engine, judge, total, rows, *how):
        """What `walks` draws of it."""
        return walks.alike(engine, judge, total, [np.ravel(row)[0] for row in rows(slice(0, 1))], *how)


def _same_as_python(kind, run, made, sample):
    """Whether the program draws the sample as Python does, and leaves the stream where Python leaves it."""
    one, other = MT19937(9), MT19937(9)
    return np.array_equal(made(kind, run, one), sample(other)) and one.state_bytes() == other.state_bytes()


def _poisson_proof(kind, run):
    from . import rejection  # late, for it stands on this room

    rates = np.random.RandomState(3).rand(FEW - 1) * (10.0 if kind is POISSON_FEW else 100.0)
    return _same_as_python(kind, run, lambda *how: _poisson_by(*how, rates, rejection.poisson_by_rejection),
                           lambda engine: rejection.poisson(engine, rates))


def _binomial_proof(kind, run):
    from . import rejection

    random = np.random.RandomState(3)
    p = random.rand(FEW - 1) * 0.5
    count = np.floor(random.rand(p.size) * (9.0 / p if kind is BINOMIAL_FEW else 1000.0)) + 1.0
    return _same_as_python(kind, run, lambda *how: _binomial_by(*how, count, p, lambda x: x, rejection.binomial_by_rejection),
                           lambda engine: rejection.binomial(engine, count, p))


def _poisson_kind(name, *attempt):
    return _Kind(name, 7 if attempt else 2, _poisson_proof, walks.product, walks.below, 1.0, *attempt)


def _binomial_kind(name, *attempt):
    return _Kind(name, 9 if attempt else 2, _binomial_proof, walks.steps, walks.above, 0.0, *attempt, logs=True)


POISSON_FEW = _poisson_kind("poisson_few")
POISSON = _poisson_kind("poisson", _poisson_attempt, True)
POISSON_LARGE = _poisson_kind("poisson_large", _poisson_attempt)
POISSON_ALIKE = _Alike(_poisson_attempt, 7)
BINOMIAL_FEW = _binomial_kind("binomial_few")
BINOMIAL = _binomial_kind("binomial", _binomial_attempt, True)
BINOMIAL_LARGE = _binomial_kind("binomial_large", _binomial_attempt)
BINOMIAL_ALIKE = _Alike(_binomial_attempt, 9)
KINDS = POISSON_FEW, POISSON, POISSON_LARGE, BINOMIAL_FEW, BINOMIAL, BINOMIAL_LARGE
