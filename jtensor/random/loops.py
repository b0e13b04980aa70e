"""The samplers that try and try again, as loops of the host's XLA programs: ``poisson`` and ``binomial`` at the speed of compiled code.

How many numbers an element takes is known only when it is done, so there is nothing to vectorise: element follows element through one
stream. A program walks along a stretch of numbers and a stretch of elements until one of them ends. Owns these programs, how they are fed,
and what is done in doubt: where two sides of a test lie so close that another logarithm might order them the other way, the program stops
and the element is drawn in Python, by the C library. Everything else it computes is exact, or done here beforehand with the C library.
Knows the engine, exact arithmetic and `programs`.
"""
import math

import numpy as np

from . import exact
from .mt19937 import MT19937
from .programs import HostProgram, put
from .uniforms import u53

ELEMENTS = 1 << 14      # worked on by one call
NUMBERS = 1 << 15       # looked at by one call
FEW = 512               # elements; for fewer Python is as quick
_PAYS_AFTER = 1 << 13
_TABLE = 1024           # log k! for so many k
TOLERANCE = 1e-13       # some hundred last bits: more than logarithms differ by
NO_LIMIT = -1.0         # in the first row of an element that is drawn by rejection

# -- feeding -------------------------------------------------------------------------------------------------------------------------


class Stretch:
    """Uniform numbers (and, if asked for, their logarithms) read ahead of use. To be used under the engine's lock.

    The arrays have room for `NUMBERS`; those from ``at`` to ``end`` wait.
    """

    def __init__(self, engine, logs):
        self._engine, self.at, self.end = engine, 0, 0
        self.numbers, self.logs = np.zeros(NUMBERS), np.zeros(NUMBERS) if logs else None
        self._mark, self._kept = engine.mark(), 0       # where the engine stood when it had given the first so many of the numbers

    def refill(self, wanted):
        """Keep what waits, and draw until about ``wanted`` wait or the room is full."""
        left = self.end - self.at
        fresh = min(max(wanted, 64), NUMBERS - left)
        self._mark, self._kept = self._engine.mark(), left
        waiting, self.numbers = self.numbers[self.at : self.end], np.empty(NUMBERS)   # new room: a program may still look at the old
        self.numbers[:left] = waiting
        self.numbers[left : left + fresh] = u53(self._engine, fresh)
        self.at, self.end = 0, left + fresh
        if self.logs is not None:
            self.logs = np.empty(NUMBERS)
            self.logs[: self.end] = exact.log(self.numbers[: self.end])

    def uniform(self):
        """The next number."""
        if self.at == self.end:
            self.refill(64)
        self.at += 1
        return float(self.numbers[self.at - 1])

    def close(self):
        """Set the engine to just behind the last number used."""
        # What was kept over a refill is used first, for a refill comes only when an element needs more than that.
        self._engine.rewind(self._mark, 2 * max(self.at - self._kept, 0))


def _drawn(engine, kind, run, total, rows, one, numbers_each, tolerance=1.0):
    """``total`` numbers; ``rows(part)`` gives the parameters that the program reads for a slice of them.

    ``one(uniform, i)`` draws an element whose attempt was in doubt; ``numbers_each``: about how many an element takes;
    ``tolerance``: how many times `TOLERANCE` the two sides of a test must be apart, relative to what they are made of.
    """
    out = np.empty(total)
    stretch = Stretch(engine, kind.looks != "numbers")
    settings = put(np.array([0.0, TOLERANCE * tolerance]))
    state = np.array([0.0, 0.0, kind.start, 0.0, 0.0])
    try:
        for start in range(0, total, ELEMENTS):
            count = min(ELEMENTS, total - start)
            parameters = np.empty((kind.rows, ELEMENTS))
            for row, values in zip(parameters, rows(slice(start, start + count)), strict=True):
                row[:count] = values
            parameters = put(parameters)
            done = 0
            while done < count:
                if stretch.end - stretch.at < 2:
                    stretch.refill(int(numbers_each * (total - start - done) * 1.05))
                state[:2] = stretch.at, done
                seen = {"numbers": (stretch.numbers,), "logs": (stretch.logs,), "both": (stretch.numbers, stretch.logs)}[kind.looks]
                results = run([put(state), put(np.array([stretch.end, count], np.float64)), settings, parameters, *map(put, seen)])
                state, values = np.array(results[0]), np.asarray(results[1])
                stretch.at, reached = int(state[0]), int(state[1])
                out[start + done : start + reached] = values[done:reached]
                done = reached
                if state[4]:
                    out[start + done] = one(stretch.uniform, start + done)
                    done += 1
                    state[2:] = kind.start, 0, 0
    finally:
        stretch.close()
    return out


# -- walking -------------------------------------------------------------------------------------------------------------------------
# A program's state: the number and the element it stands at, what has been reached (a product or a sum), how often, and whether in doubt.


def _one_by_one(reach, is_done, start):
    """The program whose elements use number after number: from ``start`` by ``reach(reached, number, scale)`` until ``is_done``."""
    def walk(state, ends, _, parameters, numbers):
        import jax.numpy as jnp
        from jax import lax

        def going(s):
            return (s[1] < ends[1].astype(jnp.int32)) & (s[0] + 1 < ends[0].astype(jnp.int32))

        def step(s):
            at, element, reached, times, values = s
            further = reach(reached, numbers[at], parameters[1, element])
            done = is_done(further, parameters[0, element])
            values = lax.dynamic_update_index_in_dim(values, times, element, 0)
            return at + 1, jnp.where(done, element + 1, element), jnp.where(done, start, further), jnp.where(done, 0.0, times + 1), values

        at, element, reached, times, values = lax.while_loop(
            going, step, (state[0].astype(jnp.int32), state[1].astype(jnp.int32), state[2], state[3], jnp.zeros(ELEMENTS)))
        return [jnp.stack([at.astype(jnp.float64), element.astype(jnp.float64), reached, times, 0.0]), values]
    return walk


def _product(reached, number, _):
    return reached * number


def _sum(reached, number, scale):
    import jax.numpy as jnp
    return reached + jnp.ceil(number / scale)


def _below(product, limit):
    return ~(product > limit)


def _above(total, limit):
    return total > limit


def _mixed(reach, is_done, start, attempt):
    """The program for elements of which some make attempts of two numbers each.

    ``attempt(jnp, zero, numbers, logs, at, row)``: the value that would be accepted, whether it is at once, whether it never is, by how
    much one side of the test is above the other, and the size of what the two are made of.
    """
    def walk(state, ends, settings, parameters, numbers, logs):
        import jax.numpy as jnp
        from jax import lax

        # The state is one array, so that a turn is few kernels: from nine on XLA hands them to a pool, at a microsecond each.
        def going(s, tries=None):
            state, _ = s
            more = (state[1] < ends[1]) & (state[0] + 1 < ends[0]) & (state[4] == 0)
            return more if tries is None else more & ((parameters[0, state[1].astype(jnp.int32)] == NO_LIMIT) == tries)

        def one_number(s):
            state, values = s
            at, element = state[0].astype(jnp.int32), state[1].astype(jnp.int32)
            further = reach(state[2], (numbers if start else logs)[at], parameters[1, element])
            done = is_done(further, parameters[0, element])
            values = lax.dynamic_update_index_in_dim(values, state[3], element, 0)
            reached, times = jnp.where(done, start, further), jnp.where(done, 0.0, state[3] + 1)
            return jnp.stack([state[0] + 1, state[1] + done, reached, times, 0.0]), values

        def one_attempt(s):
            state, values = s
            at, element = state[0].astype(jnp.int32), state[1].astype(jnp.int32)
            row = [parameters[i, element] for i in range(parameters.shape[0])]
            value, now, never, gap, loose = attempt(jnp, settings[0], numbers, logs, at, row)
            doubt = ~now & ~never & ~(jnp.abs(gap) > settings[1] * loose)
            done = (now | ~never & (gap >= 0)) & ~doubt
            outcome, value = lax.optimization_barrier((doubt * 2.0 + done, value))
            doubt, done = outcome >= 2.0, outcome == 1.0
            state = jnp.stack([state[0] + jnp.where(doubt, 0.0, 2.0), state[1] + done, start, 0.0, doubt * 1.0])
            return state, lax.dynamic_update_index_in_dim(values, value, element, 0)

        def turn(s):
            s = lax.while_loop(lambda s: going(s, False), one_number, s)
            return lax.while_loop(lambda s: going(s, True), one_attempt, s)

        return list(lax.while_loop(going, turn, (state, jnp.zeros(ELEMENTS))))
    return walk


def _apart(jnp, zero, x):
    """``x`` as it was rounded: a sum that only the run knows keeps the compiler from fusing the product into the next sum."""
    return (x.view(jnp.int64) + zero.astype(jnp.int64)).view(jnp.float64)


def _log_factorial(jnp, k):
    y = k + 1.0
    series = (y - 0.5) * jnp.log(y) - y + 0.9189385332046727 + (1.0 - 1.0 / (30.0 * y * y)) / (12.0 * y)
    return jnp.where(k < _TABLE, jnp.asarray(_FACTORIALS)[jnp.clip(k, 0, _TABLE - 1).astype(jnp.int32)], series)


_FACTORIALS = np.array([math.lgamma(k + 1.0) for k in range(_TABLE)])

# -- poisson -------------------------------------------------------------------------------------------------------------------------


def _poisson_attempt(jnp, zero, numbers, logs, at, row):
    _, rate, a, b, quick, log_inverse_alpha, log_rate = row
    u, v = numbers[at] - 0.5, numbers[at + 1]
    us = 0.5 - jnp.abs(u)
    k = jnp.floor(_apart(jnp, zero, (2 * a / us + b) * u) + rate + 0.43)
    left = logs[at + 1] + log_inverse_alpha - jnp.log(a / (us * us) + b)
    likely, factorial = k * log_rate, _log_factorial(jnp, k)
    loose = jnp.abs(logs[at + 1]) + log_inverse_alpha + rate + jnp.abs(likely) + jnp.abs(factorial) + 1.0
    return k, (us >= 0.07) & (v <= quick), (k < 0) | (us < 0.013) & (v > us), likely - rate - factorial - left, loose


def poisson(engine, rate, one):
    """A Poisson number for each of an array of rates, all positive and below 1e15; None if the program is not there.

    ``one(uniform, rate)`` draws one by rejection.
    """
    kind = POISSON if rate.max() >= 10.0 else POISSON_FEW
    run = kind.program.after(rate.size)
    return None if run is None else _poisson_by(kind, run, engine, rate, one)


def _poisson_by(kind, run, engine, rate, one):
    def rows(part):
        some = rate[part]
        yield exact.exp(-some) if kind is POISSON_FEW else np.where(some >= 10.0, NO_LIMIT, exact.exp(-np.minimum(some, 10.0)))
        yield some
        if kind is POISSON:
            b = 0.931 + 2.53 * np.sqrt(some)
            a = -0.059 + 0.02483 * b
            with np.errstate(all="ignore"):     # small rates have no use for these
                yield from (a, b, 0.9277 - 3.6224 / (b - 2), np.log(1.1239 + 1.1328 / (b - 3.4)), np.log(some))

    each = float(np.where(rate[:1000] >= 10.0, 2.4, rate[:1000] + 1).mean())
    return _drawn(engine, kind, run, rate.size, rows, lambda uniform, i: one(uniform, float(rate[i])), each)


# -- binomial ------------------------------------------------------------------------------------------------------------------------


def _binomial_attempt(jnp, zero, numbers, logs, at, row):
    _, _, count, a, b, c, quick, odds, log_alpha, mode, base = row
    u, v = numbers[at] - 0.5, numbers[at + 1]
    us = 0.5 - jnp.abs(u)
    k = jnp.floor(_apart(jnp, zero, (2 * a / us + b) * u) + c)
    never = (us == 0) | (k < 0) | (k > count)
    left = logs[at + 1] + log_alpha - jnp.log(a / (us * us) + b)
    rest = count - k
    first = (count + 1) * jnp.log((count - mode + 1) / (rest + 1))
    second = (k + 0.5) * jnp.log(odds * (rest + 1) / (k + 1))
    loose = jnp.abs(logs[at + 1]) + jnp.abs(log_alpha) + jnp.abs(base) + jnp.abs(first) + jnp.abs(second) + count + 1.0
    gap = base + first + second - stirling_tail(k, jnp) - stirling_tail(rest, jnp) - left
    return k, (us >= 0.07) & (v <= quick) & ~never, never, gap, loose


_STIRLING = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287])


def stirling_tail(k, np=np):
    """What Stirling's formula misses of log k!, for each of an array."""
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, np.asarray(_STIRLING)[np.clip(k, 0, 9).astype(np.int32)], series)


def binomial(engine, count, p, fit, one):
    """The successes of ``count`` trials of probability 0 < ``p`` <= 0.5 each, for arrays of them; None if the program is not there.

    ``fit`` rounds an array to the tensor's dtype; ``one(uniform, count, p)`` draws one by rejection.
    """
    kind = BINOMIAL if (fit(count * p) >= 10.0).any() else BINOMIAL_FEW
    run = kind.program.after(count.size)
    return None if run is None else _binomial_by(kind, run, engine, count, p, fit, one)


def _binomial_by(kind, run, engine, count, p, fit, one):
    def rows(part):
        n, q = count[part], p[part]
        yield n if kind is BINOMIAL_FEW else np.where(fit(n * q) >= 10.0, NO_LIMIT, n)
        with np.errstate(all="ignore"):     # what makes no attempts has no use for most of these
            yield fit(exact.log1p(-q))
            if kind is BINOMIAL:
                yield from _binomial_rows(n, q, fit)

    whole = bool((count == np.floor(count)).all())      # else the test's own sums round to the dtype, which the program's do not
    expected = fit(count[:1000] * p[:1000])
    return _drawn(engine, kind, run, count.size, rows, lambda uniform, i: one(uniform, float(count[i]), float(p[i])),
                  float(np.where(expected >= 10.0, 2.6, expected + 1).mean()), 1.0 if whole else 1e7)


def _binomial_rows(n, p, fit):
    expected, q = fit(n * p), fit(1.0 - p)
    spread = fit(np.sqrt(fit(expected * q)))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    odds, mode = fit(p / q), np.floor(fit(fit(n + 1) * p))
    base = (mode + 0.5) * np.log((mode + 1) / (odds * (n - mode + 1))) + stirling_tail(mode) + stirling_tail(n - mode)
    return n, a, b, expected + 0.5, 0.92 - 4.2 / b, odds, np.log((2.83 + 5.1 / b) * spread), mode, base


# -- the programs --------------------------------------------------------------------------------------------------------------------


class _Kind:
    """A program, and what it looks at: the ``numbers``, their ``logs`` or ``both``. ``start``: what an element has reached at first."""

    def __init__(self, name, walk, looks, start, rows, proof):
        self.looks, self.start, self.rows = looks, start, rows
        inputs = [(5,), (2,), (2,), (rows, ELEMENTS), *[(NUMBERS,)] * (2 if looks == "both" else 1)]
        self.program = HostProgram(name, walk, [(shape, np.float64) for shape in inputs], _PAYS_AFTER, lambda run: proof(self, run))


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


POISSON_FEW = _Kind("poisson_few", _one_by_one(_product, _below, 1.0), "numbers", 1.0, 2, _poisson_proof)
POISSON = _Kind("poisson", _mixed(_product, _below, 1.0, _poisson_attempt), "both", 1.0, 7, _poisson_proof)
BINOMIAL_FEW = _Kind("binomial_few", _one_by_one(_sum, _above, 0.0), "logs", 0.0, 2, _binomial_proof)
BINOMIAL = _Kind("binomial", _mixed(_sum, _above, 0.0, _binomial_attempt), "both", 0.0, 11, _binomial_proof)
