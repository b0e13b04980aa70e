"""``randperm``: the shuffles of PyTorch's CPU generator, without a Python loop where that pays.

Below 214,748,364 numbers: forward Fisher-Yates on single words. From there up: inside-out on 64-bit draws. Knows the engine only.
"""

from array import array

import numpy as np

from .integers import cast_integers
from .rounding import INT64

FROM_64_BIT_DRAWS = 214_748_364  # (2**32 - 1) // 20
_BY_LIST = 256


def randperm(engine, n, dtype=INT64):
    """The numbers 0..n-1 in random order. ``dtype``: int8 to int64, uint8, and the floats up to the count they can tell apart."""
    with engine.lock:
        if n < 2:
            order = np.zeros(n, np.int64)
        elif n >= FROM_64_BIT_DRAWS:
            order = inside_out(engine.draws, n)
        elif n <= _BY_LIST:
            order = _swapped(engine.word_list(n - 1), n)
        else:
            order = _swapped_at_once(engine.words(n - 1), n)
    return cast_integers(order, dtype)


def _swapped(words, n):
    order = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


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


def _swapped_at_once(words, n):
    """What ``_swapped`` does, for all steps together.

    Step i sends the value at its target j_i to out[i] and puts the value standing at i there instead. Let V(t) be the value standing at
    place t just before step t: the last earlier step with target t put it there, and put V of its own number; so V is found by
    following such steps back to one that has none, whose value is its own number. Sorting by (target, step) shows all the links.
    """
    steps = np.arange(n - 1, dtype=np.uint32)
    words %= np.uint32(n) - steps
    words += steps
    bits = np.uint64(n.bit_length())
    keys = words.astype(np.uint64)
    keys <<= bits
    keys |= steps
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
