"""Waiting for an array that a device still computes.

A thread that sleeps until the runtime wakes it is woken tens of microseconds late, which is longer than most small programs run. So whoever
is about to look at an array stays awake for a while first, and gives way to others meanwhile. May not know: values, the tape.
"""
import os
from time import perf_counter

AWAKE = 0.0003                                              # seconds; what takes longer does not feel a late awakening
_give_way = getattr(os, "sched_yield", lambda: None)


def awaited(array):
    """The array, which is there now, or will be after the usual wait of whoever looks at it.

    >>> import jax.numpy as jnp
    >>> awaited(jnp.arange(3)).is_ready()
    True
    """
    if not array.is_ready():
        until = perf_counter() + AWAKE
        while perf_counter() < until:
            _give_way()
            if array.is_ready():
                break
    return array
