"""``_standard_gamma`` for many elements at once, as a loop of a host's XLA program. `rejection` has the same number by number, in Python.

An attempt takes a normal number and a uniform one, and a normal is half of a pair whose other half waits for the next attempt; an alpha
below 1 takes a uniform first. So where an attempt's numbers lie depends on all before it, and the program walks. It tells which normals
were taken; these are made here, with the C library. Where all alphas are one number of at least 1, attempts follow each
other in fixed places whatever comes of them, and NumPy makes them all at once (`alike`). Owns the formulas, the program, its proof and its
feeding. Knows the engine, exact arithmetic, `walks` and `programs`.
"""
import functools
import math

import numpy as np

from . import exact
from .mt19937 import MT19937
from .normals import one_pair
from .programs import HostProgram
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
    stretch = Stretch(engine, np.empty(NUMBERS))
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
# Its state: the number and the element it stands at, where the pair lies whose second half waits (`_KEPT`: it was there from the
# beginning, `_NONE`: none does), that half, whether the element has taken its first uniform, which, and whether the attempt is in doubt.
# The program tries normals that are right but for last bits. Which of them was taken it tells by the place of the pair, twice, and one
# more for a second half; the numbers themselves are made of those, by the C library.

_KEPT, _NONE = -1.0, -2.0


def _walk(state, settings, rows, numbers):
    import jax.numpy as jnp
    from jax import lax

    def going(s):
        state = s[0]
        return (state[1] < settings[1]) & (state[0] + _AN_ATTEMPT <= settings[0]) & (state[6] == 0)

    def fresh(here):
        radius, angle = jnp.sqrt(-2.0 * jnp.log1p(-numbers[here + 1])), numbers[here] * (2.0 * math.pi)
        return radius * jnp.cos(angle), radius * jnp.sin(angle)

    def by_logarithms(u, v, xx, d):
        log_u, log_v = jnp.log(u), jnp.log(v)
        gap = 0.5 * xx + d * (1.0 - v + log_v) - log_u
        loose = 0.5 * xx + d * (1.0 + v + jnp.abs(log_v)) + jnp.abs(log_u)
        return gap > 0, ~(jnp.abs(gap) > settings[2] * loose)

    def attempt(s):
        state, places, scales = s
        at, element = state[0].astype(jnp.int32), state[1].astype(jnp.int32)
        d, c, small = (rows[i, element] for i in range(3))
        begins, waits = (small != 0) & (state[4] == 0), state[2] != _NONE
        first = jnp.where(begins, numbers[at], state[5])
        here = at + begins
        x, other = lax.cond(waits, lambda _: (state[3], 0.0), fresh, here)
        place = jnp.where(waits, jnp.where(state[2] == _KEPT, _KEPT, 2 * state[2] + 1), 2 * here)
        behind = here + jnp.where(waits, 0, 2)
        y = 1.0 + c * x
        v, xx, u, positive = y * y * y, x * x, 1.0 - numbers[behind], y > 0.0
        squeeze = _SQUEEZE * xx * xx
        room = 1.0 - squeeze - u
        now = room > 0.0
        # Only where it must be asked, for logarithms are half of the price.
        accepted, unsure = lax.cond(positive & ~now, by_logarithms, lambda *_: (True, False), u, v, xx, d)
        near = settings[2] * (1.0 + squeeze)
        doubt = positive & (unsure | (jnp.abs(room) <= near)) | (jnp.abs(y) <= settings[2] * (1.0 + jnp.abs(c * x)))
        done = positive & (now | accepted) & ~doubt
        after = [behind + positive, state[1] + done, jnp.where(waits, _NONE, here), other, jnp.where(done, 0.0, small), first, 0.0]
        state = jnp.stack([jnp.where(doubt, old, new) for old, new in zip([*state[:6], 1.0], after)])
        return (state, lax.dynamic_update_index_in_dim(places, place, element, 0),
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


_INPUTS = (7,), (3,), (3, ELEMENTS), (NUMBERS,)
PROGRAM = HostProgram("gamma", _walk, [(shape, np.float64) for shape in _INPUTS], _PAYS_AFTER, _proof)

# -- feeding -------------------------------------------------------------------------------------------------------------------------


class _Stretch(Stretch):
    """With the normal that waits, or None."""

    def __init__(self, engine, numbers):
        super().__init__(engine, numbers)
        self.waiting = engine.cached_normal

    def normal(self):
        x, self.waiting = self.waiting, None
        if x is None:
            x, self.waiting = one_pair(self.uniform(), self.uniform())
        return x

    def normals(self, places):
        """The normals that a program took, by what it tells of them."""
        x = np.empty(places.size)
        second, place = (places & 1).astype(bool), places >> 1
        radius = exact.log1p(-self.numbers[place + 1])
        radius *= -2.0
        np.sqrt(radius, out=radius)
        angle = self.numbers[place] * (2.0 * math.pi)
        for half, trigonometric in ((~second).nonzero()[0], exact.cos), (second.nonzero()[0], exact.sin):
            x[half] = radius[half] * trigonometric(angle[half])
        return x

    def close(self):
        super().close()
        self._engine.cached_normal = self.waiting


def standard_gamma(engine, alpha, fit):
    """A Gamma(alpha, 1) number for each of an array of alphas, all positive; None if the program is not there.

    ``fit`` rounds an array to the tensor's dtype. To be used under the engine's lock.
    """
    run = PROGRAM.after(alpha.size)
    return None if run is None else _drawn(engine, run, alpha, fit)


def _drawn(engine, run, alpha, fit):
    out = np.empty(alpha.size)
    each = 2.1 + (alpha[:: max(alpha.size // 1000, 1)] < 1.0).mean()
    with PROGRAM.desk() as desk:
        stretch = _Stretch(engine, desk.arrays[-1])
        try:
            for start in range(0, alpha.size, ELEMENTS):
                part = alpha[start : start + ELEMENTS]
                out[start : start + ELEMENTS] = _part(stretch, run, desk, part, fit, each * (alpha.size - start))
        finally:
            stretch.close()
    return out


def _part(stretch, run, desk, alpha, fit, wanted):
    """The numbers of at most `ELEMENTS` alphas; ``wanted``: about how many uniforms these and all that follow take."""
    count, done, begun, first = alpha.size, 0, 0.0, 0.0
    state, settings, rows, _ = desk.arrays
    small = alpha < 1.0
    d, c = fit(np.where(small, fit(alpha + 1.0), alpha) - _THIRD), rows[1, :count]
    rows[0, :count], rows[2, :count] = d, small
    np.divide(1.0, np.sqrt(9.0 * d), out=c)
    cubes, scales = np.empty(count), np.empty(count)
    while done < count:
        if stretch.end - stretch.at < _AN_ATTEMPT:
            stretch.refill(int(wanted * 1.02))
        kept = stretch.waiting
        state[:] = stretch.at, done, *((_NONE, 0.0) if kept is None else (_KEPT, kept)), begun, first, 0.0
        settings[:] = stretch.end, count, TOLERANCE
        state[:], *made = map(np.asarray, run(desk.given()))
        at, reached, pair, _, begun, first, doubt = state.tolist()
        stretch.at, part = int(at), slice(done, int(reached))
        places, scales[part] = (x[part] for x in made)
        if pair != _KEPT:
            stretch.waiting = None if pair == _NONE else float(stretch.normals(np.array([2 * int(pair) + 1]))[0])
        if places.size:
            x = stretch.normals(np.maximum(places, 0.0).astype(np.int64))
            x[places == _KEPT] = kept
            y = 1.0 + c[part] * x
            cubes[part] = y * y * y
        done = int(reached)
        if doubt:
            scales[done] = stretch.uniform() if small[done] and not begun else first
            cubes[done] = by_rejection(stretch.uniform, stretch.normal, float(d[done]), float(c[done]))
            done, begun = done + 1, 0.0
    scale, few = np.ones(count), small.nonzero()[0]
    scale[few] = powers(1.0 - scales[few], fit(1.0 / alpha[few]))
    return scale * d * cubes
