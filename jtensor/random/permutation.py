"""``randperm``: the shuffles of PyTorch's CPU generator, without a Python loop where that pays.

Below 214,748,364 numbers: forward Fisher-Yates on single words, of some hundred to some ten thousand by a program. From there up:
inside-out on 64-bit draws. Knows the engine and `programs`.
"""

import functools
from array import array

import numpy as np

from .exact import chunks
from .integers import cast_integers
from .programs import HostProgram
from .rounding import INT64

FROM_64_BIT_DRAWS = 214_748_364  # (2**32 - 1) // 20
_BY_LIST = 256
_BY_SORTING = 1 << 16
_BLOCK = 1 << 14        # steps taken at once; of two bytes
_PAYS_AFTER = 1 << 20   # numbers shuffled without a program


def randperm(engine, n, dtype=INT64):
    """The numbers 0..n-1 in random order. ``dtype``: int8 to int64, uint8, and the floats up to the count they can tell apart."""
    with engine.lock:
        if n < 2:
            order = np.zeros(n, np.int64)
        elif n >= FROM_64_BIT_DRAWS:
            order = inside_out(engine.draws, n)
        elif n <= _BY_LIST:
            order = _swapped(engine.word_list(n - 1), n)
        elif (program := next((one for one in PROGRAMS if n <= one.most), None)) and (run := program.after(n)):
            order = _by_program(run, program, engine.words(n - 1), n)
        else:
            order = (_swapped_at_once if n <= _BY_SORTING else _swapped_by_blocks)(_targets(engine.words(n - 1), n), n)
    return cast_integers(order, dtype)


# -- by a program --------------------------------------------------------------------------------------------------------------------


def _walk(most, words, count):
    """What `_swap` does of ``range(n)``, one step in a turn: ``count`` is [n], ``words`` has room for more."""
    import jax.numpy as jnp
    from jax import lax

    n, steps = count[0], lax.iota(jnp.int32, most)
    # Remainders by way of doubles, whose division has vector code: a quotient of so few bits never rounds up to an integer.
    places, words = jnp.maximum(n - steps, 1).astype(jnp.float64), words.astype(jnp.float64)
    targets = steps + (words - jnp.floor(words / places) * places).astype(jnp.int32)

    def step(s):
        # What it reads was read by the step before: a place read and written in one turn makes XLA copy the whole array.
        i, j, here, there, standing, out = s
        standing = lax.dynamic_update_index_in_dim(standing, here, j, 0)
        out = lax.dynamic_update_index_in_dim(out, there, i, 0)
        i = i + 1
        j = targets[i]
        return i, j, standing[i], standing[j], standing, out

    state = jnp.int32(0), targets[0], jnp.int32(0), targets[0], steps, jnp.zeros(most, jnp.int32)
    return [lax.while_loop(lambda s: s[0] < n, step, state)[-1]]


def _by_program(run, program, words, n):
    with program.desk() as desk:
        room, count = desk.arrays
        room[: n - 1], count[0] = words, n
        return np.asarray(run(desk.given())[0])[:n]


def _proof(program, run):
    most = program.most
    words = np.random.RandomState(5).randint(0, 1 << 32, most - 1, np.uint32)
    words[::7] -= words[::7] % (most - np.arange(most - 1, dtype=np.uint32))[::7]      # multiples, and what is just below one
    words[1::7] -= words[1::7] % (most - np.arange(most - 1, dtype=np.uint32))[1::7] + np.uint32(1)
    return all(np.array_equal(_by_program(run, program, words[: n - 1], n), _swapped_at_once(_targets(words[: n - 1].copy(), n), n))
               for n in (2, 300, most))


def _program(most):
    program = HostProgram(f"shuffle of {most}", functools.partial(_walk, most), [((most,), np.uint32), ((1,), np.int32)], _PAYS_AFTER,
                          lambda run: _proof(program, run))
    program.most = most
    return program


PROGRAMS = [_program(most) for most in (1 << 12, 1 << 14, 1 << 16)]


# -- in NumPy and in Python ----------------------------------------------------------------------------------------------------------


def _swapped(words, n):
    return np.array(_swap([i + word % (n - i) for i, word in enumerate(words)], list(range(n))), np.int64)


def _swap(targets, order):
    for i, j in enumerate(targets):
        order[i], order[j] = order[j], order[i]
    return order


def inside_out(draws, n, at_once=1 << 20):
    """The shuffle of the very large: ``draws(k)`` gives the next k 64-bit numbers. A loop, some 0.2 s for a million."""
    order = array("q", bytes(8 * n))
    for start in range(0, n, at_once):
        count = min(at_once, n - start)
        places = draws(count) % np.arange(start + 1, start + count + 1, dtype=np.uint64)
        for i, place in enumerate(places.tolist(), start):
            order[i] = order[place]
            order[place] = i
    return np.frombuffer(order, np.int64)


def _targets(words, n):
    """The place that each step swaps its own with."""
    steps = np.arange(n - 1, dtype=np.uint32)
    for part in chunks(n - 1):
        words[part] %= np.uint32(n) - steps[part]
        words[part] += steps[part]
    return words


def _swapped_by_blocks(targets, n):
    """What `_swap` does of ``range(n)`` for an array of targets, many steps at a time.

    The steps of a block look for their targets all at once. That is what they would find one by one, save where two of them have one
    target, or where one's target is the place of another: of n - i places those are few, and they are put right afterwards.
    """
    standing = np.arange(n, dtype=np.int32)
    taker = np.zeros(n, np.int16)                       # the last step of the block that took a place; what was before does not matter
    number = np.arange(_BLOCK, dtype=np.int16)
    out = np.empty(n, np.int64)
    start = 0
    while n - start > _BY_SORTING:
        stop = start + _BLOCK
        target = targets[start:stop].astype(np.int64)
        found = standing[target]
        moved = standing[start:stop].copy()             # what each step finds at its own place
        within = (target < stop).nonzero()[0]
        if within.size:
            _move_on(moved, within, target[within] - start)
        taker[target] = number
        last = taker[target]
        again = (last != number).nonzero()[0]
        if again.size:
            _hand_on(found, moved, again, target[again], last[again])
        standing[target] = moved                        # in order: of several the last stays
        out[start:stop] = found
        start = stop
    out[start:] = standing[start:][_swapped_at_once(targets[start:] - np.uint32(start), n - start)]
    return out


def _move_on(moved, step, place):
    """For steps whose target is the place of a later step: what that one will find at its own place."""
    before = np.arange(moved.size)
    ahead = place > step
    step, place = step[ahead], place[ahead]
    before[place] = step                                # in order: the last to come to a place
    origin = before[place]
    while True:
        further = before[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    moved[place] = moved[origin]


def _hand_on(found, moved, step, target, last):
    """For steps whose target another step takes later: that one finds what they put there. ``last``: the last to take it."""
    order = np.argsort(target, kind="stable")
    step, target, successor = step[order], target[order], last[order].astype(np.int64)
    same = (target[1:] == target[:-1]).nonzero()[0]
    successor[same] = step[same + 1]
    found[successor] = moved[step]


def _swapped_at_once(target, n):
    """What `_swap` does of ``range(n)`` for an array of targets, for all steps together.

    Step i sends the value at its target j_i to out[i] and puts the value standing at i there instead. Let V(t) be the value standing at
    place t just before step t: the last earlier step with target t put it there, and put V of its own number; so V is found by
    following such steps back to one that has none, whose value is its own number. Sorting by (target, step) shows all the links.
    """
    bits = np.uint64(n.bit_length())
    keys = target.astype(np.uint64)
    keys <<= bits
    keys |= np.arange(n - 1, dtype=np.uint64)
    keys.sort()
    step = (keys & np.uint64((1 << int(bits)) - 1)).view(np.int64)
    keys >>= bits
    target = keys.view(np.int64)
    repeats = target[1:] == target[:-1]  # whether a step has the target of the step before it in this order

    source = np.arange(n)
    source[target] = step  # of several steps with one target the latest comes last and stays
    for k in (step == target).nonzero()[0].tolist():  # some log n steps that move nothing: the one before them counts
        source[target[k]] = step[k - 1] if k > 0 and repeats[k - 1] else target[k]
    _resolve(source)

    out = np.empty(n, np.int64)
    out[n - 1] = source[n - 1]
    # The first step at a target finds it untouched; a later one finds what the step before it put there.
    out[step[0]] = target[0]
    out[step[1:]] = np.where(repeats, source[step[:-1]], target[1:])
    return out


def _resolve(source):
    """Follow each link to its end: ``source[t]`` becomes the place at which the chain from t stops."""
    moving = (source != np.arange(source.size)).nonzero()[0]
    here = source[moving]
    while moving.size:
        there = source[here]
        further = (there != here).nonzero()[0]
        moving = moving[further]
        here = there[further]
        source[moving] = here
