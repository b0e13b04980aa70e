"""``_standard_gamma`` for many elements at once, as a loop of a host's XLA program. `rejection` has the same number by number, in Python.

An attempt takes a normal number and a uniform one, and a normal is half of a pair whose other half waits for the next attempt; an alpha
below 1 takes a uniform first. So where an attempt's numbers lie depends on all before it, and the program walks. The normals are made
here, with the C library, for every place at which a pair may begin. Where all alphas are one number of at least 1, attempts follow each
other in fixed places whatever comes of them, and NumPy makes them all at once (`alike`). Owns the formulas, the program, its proof and its
feeding. Knows the engine, exact arithmetic, `walks` and `programs`.
"""
import functools
import math

import numpy as np

from . import exact
from .mt19937 import MT19937
from .programs import HostProgram, put
from .uniforms import u53
from .walks import ELEMENTS, NUMBERS, TOLERANCE, Stretch

FEW = 256               # elements; for fewer Python is as quick
_PAYS_AFTER = 1 << 13
_AN_ATTEMPT = 4         # numbers at most
_SQUEEZE = float(np.float32(0.0331))    # a single-precision number in every dtype
_THIRD = float(np.float32(1.0) / np.float32(3.0))

# -- formulas ------------------------------------------------------------------------------------------------------------------------


def parameters(alpha, fit):
    """(d, c, the power of a uniform that scales the number or None) of an alpha > 0; ``fit`` rounds to the tensor's dtype."""
    power = None
    if alpha < 1.0:
        power, alpha = fit(1.0 / alpha), fit(alpha + 1.0)
    d = fit(alpha - _THIRD)
    # A negative or nan alpha goes through the same motions: its y is nan, and numbers are drawn for it as for any other.
    c = 1.0 / math.sqrt(9.0 * d) if d > 0.0 else (math.inf if d == 0.0 else math.nan)
    return d, c, power


def by_rejection(uniform, normal, d, c):
    """The cube that, times d, is a gamma number of alpha = d + 1/3."""
    while True:
        y = 0.0
        while y <= 0.0:
            x = normal()
            y = 1.0 + c * x
        v = y * y * y
        if _accepted(x * x, v, 1.0 - uniform(), d):
            return v


def _accepted(xx, v, u, d):
    return u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v))


def power(base, exponent):
    """The C library's ``pow``."""
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return math.inf


def powers(base, exponent):
    """The same of arrays."""
    if base.size > 32 and _numpy_asks_the_c_library():
        with np.errstate(all="ignore"):
            return _reversed_power(base, exponent)
    return np.array(list(map(power, base.tolist(), exponent.tolist())), np.float64)


def _reversed_power(base, exponent):
    return np.power(base, exponent, out=np.empty(base.size)[::-1])      # off numpy's vector loops, as in `exact`


@functools.cache
def _numpy_asks_the_c_library():
    random = np.random.Generator(np.random.MT19937(7))
    base, exponent = random.random(4096), 1.0 / (random.random(4096) + 1e-3)
    return _reversed_power(base, exponent).tolist() == list(map(power, base.tolist(), exponent.tolist()))


# -- all alike -----------------------------------------------------------------------------------------------------------------------

FEW_ALIKE = 64
_OUTSIDE = 1e-3         # so often at most an attempt may be over before it takes its uniform number, which shifts all places behind


def alike(engine, alpha, total, fit):
    """``total`` gamma numbers of one ``alpha``; None unless that is at least 1 and the attempts keep their places nearly always.

    To be used under the engine's lock.
    """
    d, c, power = parameters(alpha, fit)
    outside = 0.5 * math.erfc(1.0 / c / math.sqrt(2.0)) if 0.0 < c < 1.0 else 1.0       # the share of normals below -1 / c
    if power is not None or outside > _OUTSIDE:
        return None
    at_once = int(min(max(1.0 / max(outside, 1e-9), 64), NUMBERS // 2))
    out, done, waiting = np.empty(total), 0, engine.cached_normal
    stretch = Stretch(engine, False)
    try:
        while done < total:
            if waiting is not None:
                x, waiting = waiting, None
                y = 1.0 + c * x
                if y > 0.0 and _accepted(x * x, y * y * y, 1.0 - stretch.uniform(), d):
                    out[done], done = y * y * y, done + 1
                continue
            pairs = int(min(at_once, (total - done) * 1.06 + 16)) // 2
            if stretch.end - stretch.at < 4 * pairs:
                stretch.refill(max(int((total - done) * 2.1), 4 * pairs))
            numbers = stretch.numbers[stretch.at : stretch.at + 4 * min(pairs, (stretch.end - stretch.at) // 4)].reshape(-1, 4)
            x, v, over = _attempts(numbers, c, d)
            taken = v.nonzero()[0][: total - done]
            out[done : done + taken.size] = v[taken]
            done += taken.size
            if done == total:
                last, uniforms = int(taken[-1]), 1
            elif over is not None:
                last, uniforms = over, 0
            else:
                last, uniforms = x.size - 1, 1
            second = last % 2
            waiting = None if second else float(x[last + 1])
            stretch.at += 4 * (last // 2) + 2 + second + uniforms
    finally:
        stretch.close()
        engine.cached_normal = waiting
    return d * out


def _attempts(numbers, c, d):
    """Two attempts of each four numbers, of which two make their normals and one each is their uniform: the normals, the cubes (0 where
    refused), and which attempt ends without its uniform, or None: from there on the places are others, and the cubes 0."""
    x = _normals(numbers[:, 0], numbers[:, 1])
    y, u = 1.0 + c * x, 1.0 - numbers[:, 2:].reshape(-1)
    outside = y <= 0.0
    over = int(outside.argmax()) if outside.any() else None
    v, xx = y * y * y, x * x
    asked = (~(u < 1.0 - _SQUEEZE * xx * xx)).nonzero()[0]
    if over is not None:
        v[over:] = 0.0
        asked = asked[asked < over]
    squares, cubes = xx[asked], v[asked]
    refused = ~(exact.log(u[asked]) < 0.5 * squares + d * (1.0 - cubes + exact.log(cubes)))
    v[asked[refused]] = 0.0
    return x, v, over


def _normals(first, second):
    """The pairs of normals that pairs of uniforms make, side by side."""
    radius = exact.log1p(-second)
    radius *= -2.0
    np.sqrt(radius, out=radius)
    angle = first * (2.0 * math.pi)
    x = np.empty((first.size, 2))
    np.multiply(radius, exact.cos(angle), out=x[:, 0])
    np.multiply(radius, exact.sin(angle), out=x[:, 1])
    return x.reshape(-1)


# -- the program ---------------------------------------------------------------------------------------------------------------------
# Its state: the number and the element it stands at, the place of the pair whose second half waits (-1: none), whether the element has
# taken its first uniform, which, and whether the attempt is in doubt.


def _walk(state, ends, settings, rows, numbers, firsts_of_pairs, seconds_of_pairs):
    import jax.numpy as jnp
    from jax import lax

    def apart(x):           # rounded, before it is added to something
        return (x.view(jnp.int64) + settings[0].astype(jnp.int64)).view(jnp.float64)

    def going(s):
        state = s[0]
        return (state[1] < ends[1]) & (state[0] + _AN_ATTEMPT <= ends[0]) & (state[5] == 0)

    def attempt(s):
        state, cubes, scales = s
        at, element, pair = state[0].astype(jnp.int32), state[1].astype(jnp.int32), state[2].astype(jnp.int32)
        d, c, small = (rows[i, element] for i in range(3))
        begins = (small != 0) & (state[3] == 0)
        first = jnp.where(begins, numbers[at], state[4])
        here = at + begins
        x = jnp.where(pair >= 0, seconds_of_pairs[jnp.maximum(pair, 0)], firsts_of_pairs[here])
        behind = here + jnp.where(pair >= 0, 0, 2)
        y = 1.0 + apart(c * x)
        v, xx, u, positive = y * y * y, x * x, 1.0 - numbers[behind], y > 0.0
        now = u < 1.0 - apart(_SQUEEZE * xx * xx)
        log_u, log_v = jnp.log(u), jnp.log(v)
        gap = 0.5 * xx + d * (1.0 - v + log_v) - log_u
        loose = 0.5 * xx + d * (1.0 + v + jnp.abs(log_v)) + jnp.abs(log_u)
        doubt = positive & ~now & ~(jnp.abs(gap) > settings[1] * loose)
        done = positive & (now | (gap > 0)) & ~doubt
        after = jnp.stack([behind + positive, state[1] + done, jnp.where(pair >= 0, -1, here), jnp.where(done, 0.0, small), first, 0.0])
        stays = jnp.stack([*state[:5], 1.0])
        return (jnp.where(doubt, stays, after), lax.dynamic_update_index_in_dim(cubes, v, element, 0),
                lax.dynamic_update_index_in_dim(scales, first, element, 0))

    return list(lax.while_loop(going, attempt, (state, jnp.zeros(ELEMENTS), jnp.zeros(ELEMENTS))))


def _proof(run):
    """Whether the program draws as Python does, and leaves the stream and the waiting normal where Python leaves them."""
    from . import rejection  # late, for it stands on this room

    alpha = np.random.RandomState(3).rand(FEW - 1) * np.resize([1.0, 3.0, 50.0], FEW - 1) + 1e-3
    one, other = MT19937(9), MT19937(9)
    one.cached_normal = other.cached_normal = 0.5
    same = np.array_equal(_drawn(one, run, alpha, lambda x: x), rejection.standard_gamma(other, alpha))
    return same and one.state_bytes() == other.state_bytes()


_INPUTS = (6,), (2,), (2,), (3, ELEMENTS), (NUMBERS,), (NUMBERS,), (NUMBERS,)
PROGRAM = HostProgram("gamma", _walk, [(shape, np.float64) for shape in _INPUTS], _PAYS_AFTER, _proof)

# -- feeding -------------------------------------------------------------------------------------------------------------------------


class _Stretch:
    """Uniforms read ahead, the normals of the pairs that begin at each, and the place of the pair whose second half waits.

    Place 0 is for a second half that was kept from before. To be used under the engine's lock.
    """

    def __init__(self, engine):
        self._engine, self._mark, self._drawn = engine, engine.mark(), 0
        self.at, self.end, self.pair = 1, 1, -1
        self.numbers, self.seconds = np.zeros(NUMBERS), np.zeros(NUMBERS)
        if engine.cached_normal is not None:
            self.pair, self.seconds[0] = 0, engine.cached_normal

    def refill(self, wanted):
        left, waiting, kept = self.end - self.at, self.numbers[self.at : self.end], self.seconds[max(self.pair, 0)]
        fresh = min(max(wanted, 64), NUMBERS - 1 - left)
        self.numbers = np.zeros(NUMBERS)        # new room: a program may still look at the old
        self.numbers[1 : 1 + left] = waiting
        self.at, self.end, self._drawn = 1, 1 + left + fresh, self._drawn + fresh
        self.numbers[1 + left : self.end] = u53(self._engine, fresh)
        self.firsts, self.seconds = np.zeros(NUMBERS), np.zeros(NUMBERS)
        pairs = slice(1, self.end - 1)
        radius = exact.log1p(-self.numbers[2 : self.end])
        radius *= -2.0
        np.sqrt(radius, out=radius)
        angle = self.numbers[pairs] * (2.0 * math.pi)
        self.firsts[pairs], self.seconds[pairs] = radius * exact.cos(angle), radius * exact.sin(angle)
        if self.pair >= 0:
            self.pair, self.seconds[0] = 0, kept

    def uniform(self):
        if self.end - self.at < 1:
            self.refill(64)
        self.at += 1
        return float(self.numbers[self.at - 1])

    def normal(self):
        if self.pair >= 0:
            waited, self.pair = self.pair, -1
            return float(self.seconds[waited])
        if self.end - self.at < 2:
            self.refill(64)
        self.pair, self.at = self.at, self.at + 2
        return float(self.firsts[self.pair])

    def close(self):
        """Set the engine to just behind the last number used."""
        self._engine.rewind(self._mark, 2 * (self._drawn - (self.end - self.at)))
        self._engine.cached_normal = float(self.seconds[self.pair]) if self.pair >= 0 else None


def standard_gamma(engine, alpha, fit):
    """A Gamma(alpha, 1) number for each of an array of alphas, all positive; None if the program is not there.

    ``fit`` rounds an array to the tensor's dtype. To be used under the engine's lock.
    """
    run = PROGRAM.after(alpha.size)
    return None if run is None else _drawn(engine, run, alpha, fit)


def _drawn(engine, run, alpha, fit):
    small = alpha < 1.0
    d = fit(np.where(small, fit(alpha + 1.0), alpha) - _THIRD)
    c = 1.0 / np.sqrt(9.0 * d)
    cubes, scales, settings = np.empty(alpha.size), np.empty(alpha.size), put(np.array([0.0, TOLERANCE]))
    stretch, begun, first = _Stretch(engine), 0.0, 0.0
    each = 2.1 + small[:: max(alpha.size // 1000, 1)].mean()
    try:
        for start in range(0, alpha.size, ELEMENTS):
            count, done = min(ELEMENTS, alpha.size - start), 0
            rows = np.zeros((3, ELEMENTS))
            rows[:, :count] = [x[start : start + count] for x in (d, c, small)]
            rows = put(rows)
            while done < count:
                if stretch.end - stretch.at < _AN_ATTEMPT:
                    stretch.refill(int(each * (alpha.size - start - done) * 1.02))
                given = np.array([stretch.at, done, stretch.pair, begun, first, 0.0]), np.array([stretch.end, count], np.float64)
                made = run([*map(put, given), settings, rows, *map(put, (stretch.numbers, stretch.firsts, stretch.seconds))])
                at, reached, pair, begun, first, doubt = np.asarray(made[0]).tolist()
                stretch.at, stretch.pair, part = int(at), int(pair), slice(start + done, start + int(reached))
                cubes[part], scales[part] = (np.asarray(x)[done : int(reached)] for x in made[1:])
                done = int(reached)
                if doubt:
                    here = start + done
                    scales[here] = stretch.uniform() if small[here] and not begun else first
                    cubes[here] = by_rejection(stretch.uniform, stretch.normal, float(d[here]), float(c[here]))
                    done, begun = done + 1, 0.0
    finally:
        stretch.close()
    scale, few = np.ones(alpha.size), small.nonzero()[0]
    scale[few] = powers(1.0 - scales[few], fit(1.0 / alpha[few]))
    return scale * d * cubes
