"""Whether the numbers of an index tensor are within bounds, before anything is recorded that would use them.

A body is pure and cannot look; PyTorch raises on the user's line. So composites look at the index here: a concrete index costs a
minimum and a maximum, remembered as long as its value lives; a pending one is computed, which is an observation.
"""
import weakref

import numpy as np

from ...base import devices

_known = weakref.WeakKeyDictionary()


def extremes(index):
    """(smallest, largest) number of an integer tensor, or None for an empty tensor or one without data."""
    if index._spec.numel == 0 or index._spec.device is devices.meta:
        return None
    from ...tensor.dispatch import read
    value = read(index)
    found = _known.get(value)
    if found is None:
        numbers = numbers_of(value)
        found = _known[value] = int(numbers.min()), int(numbers.max())
    return found


def numbers_of(value):
    """The NumPy array of a value."""
    from ...trace.executor import value_of
    return np.asarray(value_of(value, "index bounds"))


def check_bounds(index, size, error, negative=False):
    """Raises ``error(n)`` for the first number of ``index`` that is not in ``[0, size)``, or ``[-size, size)`` where negative ones wrap."""
    found = extremes(index)
    if found is None:
        return
    lowest = -size if negative else 0
    if found[0] >= lowest and found[1] < size:
        return
    from ...tensor.dispatch import read
    numbers = numbers_of(read(index)).reshape(-1)
    raise error(int(numbers[(numbers < lowest) | (numbers >= size)][0]))


def out_of_bounds(dim, size, kind=IndexError, prefix=""):
    """An ``error`` for `check_bounds` in PyTorch's most frequent words."""
    return lambda n: kind(f"{prefix}index {n} is out of bounds for dimension {dim} with size {size}")
