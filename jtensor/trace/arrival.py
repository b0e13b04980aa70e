"""Waiting for an array that a device still computes, and fetching one from an accelerator.

A thread that sleeps until the runtime wakes it is woken tens of microseconds late, which is longer than most small programs run. So whoever
is about to look at an array stays awake for a while first, and gives way to others meanwhile. Where that is in vain, as at the end of a
large training step, it takes a core from those who compute; so who has stayed awake in vain sleeps at once the next times, twice as often
after each failure. May not know: values, the tape.
"""
import os
from time import perf_counter

from ..base import compat
from ..base.background import Worker

AWAKE = 0.0003                                              # seconds; what takes longer does not feel a late awakening
AT_MOST = 64                                                # how often in a row one sleeps at once
_give_way = getattr(os, "sched_yield", lambda: None)
_asleep, _failures = 0, 0                                   # how often to sleep at once from here on; how often in a row it was in vain


def awaited(array):
    """The array, which is there now, or will be after the usual wait of whoever looks at it.

    >>> import jax.numpy as jnp
    >>> awaited(jnp.arange(3)).is_ready()
    True
    """
    global _asleep, _failures
    if not array.is_ready():
        if _asleep:
            _asleep -= 1
            return array
        until = perf_counter() + AWAKE
        while perf_counter() < until:
            _give_way()
            if array.is_ready():
                _failures = 0
                break
        else:
            _asleep = 1 << _failures
            _failures += _asleep < AT_MOST
    return array


def fetched(array):
    """The elements of an array on an accelerator as an ndarray that is not to be written to (`compat.fetched`). What fetches such again is
    made by a thread of its own."""
    return compat.fetched(array, _CARRIERS.submit)


_CARRIERS = Worker("carriers")
