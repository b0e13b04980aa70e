"""Programs that walk along a stream of numbers, drawing element after element, and how the host feeds them.

A sampler that tries and tries again takes as many numbers as it takes, so element follows element. A program walks along a stretch of
numbers and a stretch of elements until one of them ends. Where all elements are of one kind, whether an attempt succeeds does not depend
on whose it is: then all attempts of a stretch are made at once, and NumPy will do (`alike`). Owns the feeding and what is done in doubt:
where two sides of a test lie so close that another logarithm might order them the other way, the element is drawn in Python, by the C
library. Knows the engine, exact arithmetic and `programs`; no distribution.
"""
import numpy as np

from . import exact
from .programs import put
from .uniforms import u53

ELEMENTS = 1 << 14      # worked on by one call
NUMBERS = 1 << 15       # looked at by one call
TOLERANCE = 1e-13       # some hundred last bits: more than logarithms differ by
AT_ONCE = 4             # numbers that an element takes in one turn of a loop, if it takes so many: a turn has its price
WIDTH = 8               # attempts that are made in one turn
ROOM = NUMBERS + 2 * WIDTH      # a turn may look beyond the last
NO_LIMIT = -1.0         # in the first row of an element that makes attempts

# -- feeding -------------------------------------------------------------------------------------------------------------------------


class Stretch:
    """Uniform numbers (and, if asked for, their logarithms) read ahead of use. To be used under the engine's lock.

    The arrays have room for `NUMBERS`; those from ``at`` to ``end`` wait.
    """

    def __init__(self, engine, logs):
        self._engine, self.at, self.end = engine, 0, 0
        self.numbers, self.logs = np.zeros(ROOM), np.zeros(ROOM) if logs else None
        self._mark, self._kept = engine.mark(), 0       # where the engine stood when it had given the first so many of the numbers

    def refill(self, wanted):
        """Keep what waits, and draw until about ``wanted`` wait or the room is full."""
        left = self.end - self.at
        fresh = min(max(wanted, 64), NUMBERS - left)
        self._mark, self._kept = self._engine.mark(), left
        waiting, self.numbers = self.numbers[self.at : self.end], np.empty(ROOM)      # new room: a program may still look at the old
        self.numbers[:left] = waiting
        self.numbers[left : left + fresh] = u53(self._engine, fresh)
        self.at, self.end = 0, left + fresh
        if self.logs is not None:
            self.logs = np.empty(ROOM)
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


def drawn(engine, kind, run, total, rows, one, numbers_each, tolerance=1.0):
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
            parameters = np.empty((kind.rows, ELEMENTS + WIDTH))
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


def one_by_one(reach, is_done, start):
    """The program whose elements use number after number: from ``start`` by ``reach(reached, number, scale)`` until ``is_done``."""
    taken = _some(reach, is_done)

    def walk(state, ends, _, parameters, numbers):
        import jax.numpy as jnp
        from jax import lax

        def going(s):
            return (s[1] < ends[1].astype(jnp.int32)) & (s[0] + 1 < ends[0].astype(jnp.int32))

        def step(s):
            at, element, reached, times, values = s
            used, further, done = taken(numbers, at, ends[0].astype(jnp.int32), reached, parameters[0, element], parameters[1, element])
            values = lax.dynamic_update_index_in_dim(values, times + (used - 1), element, 0)
            return at + used, element + done, jnp.where(done, start, further), jnp.where(done, 0.0, times + used), values

        at, element, reached, times, values = lax.while_loop(
            going, step, (state[0].astype(jnp.int32), state[1].astype(jnp.int32), state[2], state[3], jnp.zeros(ELEMENTS)))
        return [jnp.stack([at.astype(jnp.float64), element.astype(jnp.float64), reached, times, 0.0]), values]
    return walk


def _some(reach, is_done):
    """``taken(numbers, at, end, reached, limit, scale)``: how many of the next numbers an element takes, what it has then reached, whether
    it is done. At least one number waits; the element may not be done with `AT_ONCE`."""
    def taken(numbers, at, end, reached, limit, scale):
        import jax.numpy as jnp

        ways = []
        for k in range(AT_ONCE):
            reached = reach(reached, numbers[at + k], scale)
            ways.append((k + 1, reached, is_done(reached, limit)))
        used, reached, done = ways.pop()
        for k, far, there in reversed(ways):            # the first at which it is done, or the numbers are used up
            stop = there | (at + k >= end)
            used, reached, done = jnp.where(stop, k, used), jnp.where(stop, far, reached), jnp.where(stop, there, done)
        return used, reached, done
    return taken


def product(reached, number, _):
    return reached * number


def steps(reached, number, scale):
    import jax.numpy as jnp
    return reached + jnp.ceil(number / scale)


def below(reached, limit):
    return ~(reached > limit)


def above(reached, limit):
    return reached > limit


def mixed(reach, is_done, start, attempt):
    """The program for elements of which some make attempts of two numbers each.

    ``attempt(jnp, zero, u, v, log of v if known, row)``: the value that would be accepted, whether it is at once, whether it never is, by
    how much one side of the test is above the other, and the size of what the two are made of.
    """
    taken = _some(reach, is_done)

    def walk(state, ends, settings, parameters, numbers, logs=None):
        import jax.numpy as jnp
        from jax import lax

        # The state is one array, so that a turn is few kernels: from nine on XLA hands them to a pool, at a microsecond each.
        def going(s, tries=None):
            state, _ = s
            more = (state[1] < ends[1]) & (state[0] + 1 < ends[0]) & (state[4] == 0)
            return more if tries is None else more & ((parameters[0, state[1].astype(jnp.int32)] == NO_LIMIT) == tries)

        def some_numbers(s):
            """Of one element."""
            state, values = s
            at, element = state[0].astype(jnp.int32), state[1].astype(jnp.int32)
            limit, scale, looked = parameters[0, element], parameters[1, element], numbers if start else logs
            used, reached, done = taken(looked, at, ends[0].astype(jnp.int32), state[2], limit, scale)
            times = state[3] + used
            values = lax.dynamic_update_index_in_dim(values, times - 1, element, 0)
            reached, times = jnp.where(done, start, reached), jnp.where(done, 0.0, times)
            return jnp.stack([state[0] + used, state[1] + done, reached, times, 0.0]), values

        def some_attempts(s):
            """Of as many elements, as if each succeeded at once: they count up to the first that does not."""
            state, values = s
            at, element, k = state[0].astype(jnp.int32), state[1].astype(jnp.int32), jnp.arange(WIDTH)
            rows = list(lax.dynamic_slice_in_dim(parameters, element, WIDTH, 1))
            pairs = lax.dynamic_slice(numbers, (at,), (2 * WIDTH,)).reshape(WIDTH, 2)
            log_v = None if logs is None else lax.dynamic_slice(logs, (at,), (2 * WIDTH,)).reshape(WIDTH, 2)[:, 1]
            value, now, never, gap, loose = attempt(jnp, settings[0], pairs[:, 0], pairs[:, 1], log_v, rows)
            doubt = ~now & ~never & ~(jnp.abs(gap) > settings[1] * loose)
            mine = (rows[0] == NO_LIMIT) & (state[1] + k < ends[1]) & (state[0] + 2 * k + 1 < ends[0])
            done = mine & (now | ~never & (gap >= 0)) & ~doubt
            # What comes of each, and its place, in one number: the least one says all.
            first = jnp.min(4 * k + jnp.where(done, 4 * WIDTH, jnp.where(~mine, 0, jnp.where(doubt, 2, 1))), initial=4 * WIDTH)
            count, what = first // 4, first % 4
            state = jnp.stack([state[0] + 2 * (count + (what == 1)), state[1] + count, start, 0.0, (what == 2) * 1.0])
            return state, lax.dynamic_update_slice(values, value, (element,))

        def turn(s):
            s = lax.while_loop(lambda s: going(s, False), some_numbers, s)
            return lax.while_loop(lambda s: going(s, True), some_attempts, s)

        return list(lax.while_loop(going, turn, (state, jnp.zeros(ELEMENTS + WIDTH))))
    return walk


# -- all alike -----------------------------------------------------------------------------------------------------------------------


def judge(attempt):
    """What makes attempts for elements of one kind, ``(settings, row, numbers)``: the values, and 1 where one succeeds, 2 in doubt."""
    def made(settings, row, numbers):
        with np.errstate(all="ignore"):
            value, now, never, gap, loose = attempt(np, settings[0], *numbers.T, np.log(numbers[:, 1]), list(row))
            doubt = ~now & ~never & ~(np.abs(gap) > settings[1] * loose)
            return value, np.where(doubt, 2, now | ~never & (gap >= 0))
    return made


def alike(engine, judge, total, row, one, numbers_each, tolerance=1.0):
    """``total`` numbers of elements that all have the parameters ``row``; the rest as for `drawn`."""
    out = np.empty(total)
    settings, row = np.array([0.0, TOLERANCE * tolerance]), np.array(row)
    done, taken = 0, np.zeros(0, np.int64)
    while done < total:
        mark = engine.mark()
        wanted = min(int(numbers_each * (total - done) * 0.525) + 32, NUMBERS // 2)
        numbers = u53(engine, 2 * wanted).reshape(-1, 2)
        values, outcome = judge(settings, row, numbers)
        for i in (outcome == 2).nonzero()[0].tolist():
            outcome[i], values[i] = _decided(one, numbers[i].tolist())
        taken = outcome.nonzero()[0][: total - done]
        out[done : done + taken.size] = values[taken]
        done += taken.size
    if total:
        engine.rewind(mark, 4 * (int(taken[-1]) + 1))
    return out


def _decided(one, pair):
    """Whether the attempt that these two numbers make succeeds, and its value."""
    numbers = iter(pair)
    try:
        return 1, one(lambda: next(numbers), 0)
    except StopIteration:       # it asks for another attempt
        return 0, 0.0
