"""Programs that walk along a stream of numbers, drawing element after element, and how the host feeds them.

A sampler that tries and tries again takes as many numbers as it takes, so element follows element. A program walks along a stretch of
numbers and a stretch of elements until one of them ends: a loop that is one piece of machine code, an element's next numbers or its next
attempt in each turn. Where all elements are of one kind, whether an attempt succeeds does not depend on whose it is: then all attempts of
a stretch are made at once, and NumPy will do (`alike`).

Owns the feeding and what is done in doubt: where two sides of a test lie so close that another logarithm might order them the other way,
the element is drawn in Python, by the C library. Knows the engine, exact arithmetic and `programs`; no distribution.
"""
import numpy as np

from . import exact
from .uniforms import u53

ELEMENTS = 1 << 14      # worked on by one call
NUMBERS = 1 << 15       # looked at by one call
TOLERANCE = 1e-13       # some hundred last bits: more than logarithms differ by
AT_ONCE = 6             # numbers that an element takes in one turn of a loop, if it takes so many: a turn has its price
ROOM = NUMBERS + AT_ONCE        # a turn may look beyond the last
NO_LIMIT = -1.0         # in the first row of an element that makes attempts

# -- feeding -------------------------------------------------------------------------------------------------------------------------


class Stretch:
    """Uniform numbers (and, where there is an array for them, their logarithms) read ahead of use. To be used under the engine's lock.

    They lie in the arrays given, which have room for `NUMBERS`; those from ``at`` to ``end`` wait.
    """

    def __init__(self, engine, numbers, logs=None):
        self._engine, self.at, self.end = engine, 0, 0
        self.numbers, self.logs = numbers, logs
        # Of the last two fillings: where the engine stood, how many numbers were kept from before, how many were drawn.
        self._fills = [(engine.mark(), 0, 0)] * 2

    def refill(self, wanted):
        """Keep what waits, and draw until about ``wanted`` wait or the room is full."""
        left = self.end - self.at
        fresh = min(max(wanted, 64), NUMBERS - left)
        self._fills = [self._fills[1], (self._engine.mark(), left, fresh)]
        self.numbers[:left] = self.numbers[self.at : self.end]
        self.numbers[left : left + fresh] = u53(self._engine, fresh)
        self.at, self.end = 0, left + fresh
        if self.logs is not None:
            self.logs[: self.end] = exact.log(self.numbers[: self.end])

    def uniform(self):
        """The next number."""
        if self.at == self.end:
            self.refill(64)
        self.at += 1
        return float(self.numbers[self.at - 1])

    def close(self):
        """Set the engine to just behind the last number used."""
        (before, _, fresh), (mark, kept, _) = self._fills
        here = self.at - kept
        self._engine.rewind(*((mark, 2 * here) if here >= 0 else (before, 2 * (fresh + here))))     # a few were kept, and are left again


def drawn(engine, kind, run, total, rows, one, numbers_each, tolerance=1.0):
    """``total`` numbers; ``rows(part)`` gives the parameters that the program reads for a slice of them.

    ``one(uniform, i)`` draws an element whose attempt was in doubt; ``numbers_each``: about how many an element takes;
    ``tolerance``: how many times `TOLERANCE` the two sides of a test must be apart, relative to what they are made of.
    """
    out = np.empty(total)
    with kind.program.desk() as desk:
        state, settings, parameters, numbers, *logs = desk.arrays
        stretch = Stretch(engine, numbers, *logs)
        state[:] = 0.0, 0.0, kind.start, 0.0, 0.0
        settings[2:] = 0.0, TOLERANCE * tolerance
        try:
            for start in range(0, total, ELEMENTS):
                count = min(ELEMENTS, total - start)
                for row, values in zip(parameters, rows(slice(start, start + count)), strict=True):
                    row[:count] = values
                done, state[1] = 0, 0.0
                while done < count:
                    if stretch.end - stretch.at < 2:
                        stretch.refill(int(numbers_each * (total - start - done) * 1.05))
                    state[0], settings[:2] = stretch.at, (stretch.end, count)
                    state[:], values = map(np.asarray, run(desk.given()))
                    stretch.at, reached = int(state[0]), int(state[1])
                    out[start + done : start + reached] = values[done:reached]
                    done = reached
                    if state[4]:
                        out[start + done] = one(stretch.uniform, start + done)
                        done += 1
                        state[1:] = done, kind.start, 0.0, 0.0
        finally:
            stretch.close()
    return out


# -- walking -------------------------------------------------------------------------------------------------------------------------
# A program's state: the number and the element it stands at, what has been reached (a product or a sum), how often, and whether in doubt.
# Its settings: where numbers and elements end, a zero that only the run knows, and the tolerance.


def walk(reach, is_done, start, attempt=None):
    """The program whose elements use number after number: from ``start`` by ``reach(reached, number, scale)`` until ``is_done``; or, where
    their limit says so, make attempts of two numbers each.

    ``attempt(jnp, zero, u, v, row)``: the value that would be accepted, whether it is at once, whether it never is, by how much one side of
    the test is above the other, and the size of what the two are made of.

    The numbers are followed by their logarithms, if it is these that are used one after the other.
    """
    taken = _some(reach, is_done)

    def walked(state, settings, parameters, *seen):
        import jax.numpy as jnp
        from jax import lax

        ends = settings[:2].astype(jnp.int32)

        def going(s):
            at, element, _, _, doubt, _ = s
            return (element < ends[1]) & (at + 1 < ends[0]) & ~doubt

        def some_numbers(s):
            at, element, reached, times, doubt, values = s
            used, further, done = taken(seen[-1], at, ends[0], reached, parameters[0, element], parameters[1, element])
            values = lax.dynamic_update_index_in_dim(values, times + (used - 1), element, 0)
            return at + used, element + done, jnp.where(done, start, further), jnp.where(done, 0.0, times + used), doubt, values

        def an_attempt(s):
            at, element, reached, times, _, values = s
            value, now, never, gap, loose = attempt(jnp, settings[2], seen[0][at], seen[0][at + 1], [row[element] for row in parameters])
            doubt = ~now & ~never & ~(jnp.abs(gap) > settings[3] * loose)
            done = (now | ~never & (gap >= 0)) & ~doubt
            values = lax.dynamic_update_index_in_dim(values, value, element, 0)
            # The next turn's numbers do not depend on this one's outcome, so that the processor has them in time.
            return at + 2, element + done, reached, times, doubt, values

        def turn(s):
            return some_numbers(s) if attempt is None else lax.cond(parameters[0, s[1]] == NO_LIMIT, an_attempt, some_numbers, s)

        at, element = state[:2].astype(jnp.int32)
        at, element, reached, times, doubt, values = lax.while_loop(
            going, turn, (at, element, state[2], state[3], jnp.bool_(False), jnp.zeros(ELEMENTS)))
        at = at - jnp.where(doubt, 2, 0)
        return [jnp.stack([x.astype(jnp.float64) for x in (at, element, reached, times, doubt)]), values]
    return walked


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


# -- all alike -----------------------------------------------------------------------------------------------------------------------


def judge(attempt):
    """What makes attempts for elements of one kind, ``(settings, row, numbers)``: the values, and 1 where one succeeds, 2 in doubt."""
    def made(settings, row, numbers):
        with np.errstate(all="ignore"):
            value, now, never, gap, loose = attempt(np, settings[0], *numbers.T, list(row))
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
