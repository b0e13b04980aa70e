"""Whether the numbers of an index tensor are within bounds, before anything is recorded that would use them.

A body is pure and cannot look; PyTorch raises on the user's line. So composites look at the index here: a concrete index costs a
minimum and a maximum, remembered as long as its value lives; a pending one is computed, which is an observation.
"""
import weakref

import numpy as np

from ...base import devices

_known = weakref.WeakKeyDictionary()


def extremes(index, within=None):
    """(smallest, largest) number of an integer tensor, or None for an empty tensor or one without data.

    ``within`` (lowest, size): where the numbers' origin already bounds them so, that bound is answered without looking.
    """
    if index._spec.numel == 0 or index._spec.device is devices.meta:
        return None
    from ...tensor.dispatch import read
    storage = index._storage
    if within is not None and index._spec.dtype.category == 1 and index._spec.dtype is storage.layout.dtype and storage.host is None:
        found = bounded(storage.value)
        if found is not None and found[0] >= within[0] and found[1] < within[1]:
            return found
    value = read(index)
    found = _known.get(value)
    if found is None:
        numbers = numbers_of(value)
        found = _known[value] = int(numbers.min()), int(numbers.max())
    return found


def bounded(value, depth=0):
    """What is known of a value's numbers without computing anything: of one that is there its extremes, of a pending one what its origin
    says.

    A view, a copy or a pick of bounded numbers is bounded as they are; `argmax` and its kind answer places of a dimension.
    """
    found = _known.get(value)
    if found is not None:
        return found
    if value.array is not None:
        numbers = np.asarray(value.array)
        if numbers.size == 0:
            return None
        found = int(numbers.min()), int(numbers.max())
    elif depth < 8 and value.segment is not None:
        found = _by_origin(value, depth)
    if found is not None:
        _known[value] = found
    return found


_SAME_NUMBERS = frozenset(("index.raw", "clone", "_to_copy", "contiguous_copy", "index_select.raw", "gather.raw", "take.raw", "repeat.raw", "roll.raw",
                           "flip.raw", "cat", "stack"))
_PLACES = frozenset(("argmax", "argmin", "argsort"))
_SECOND_IS_PLACES = frozenset(("sort_dim.default", "sort_dim.stable", "topk_dim.raw", "kthvalue_dim.raw", "max_dim", "min_dim"))


def _by_origin(value, depth):
    segment, position = value.segment, 0
    for plan, positions, scalars, refs in segment.nodes:  # noqa: B007  read after the loop
        count = len(refs) if type(refs) is list else 1
        if position + count > value.position:
            break
        position += count
    else:
        return None
    if plan.operator is None:
        if plan.key[0] != "read" or len(positions) != 1:
            return None
        sources = positions
    elif plan.operator.name in _SAME_NUMBERS:
        sources = positions if plan.operator.name in ("cat", "stack") else positions[:1]
    elif plan.operator.name in _PLACES:
        return 0, max(max(plan.inputs[0].shape, default=1), plan.inputs[0].shape and int(np.prod(plan.inputs[0].shape)) or 1) - 1
    elif plan.operator.name in _SECOND_IS_PLACES:
        if value.position - position == 1:
            return 0, max(plan.inputs[0].shape, default=1) - 1
        sources = positions
    elif plan.operator.name == "arange_of":
        return _counted(plan, scalars, segment)
    else:
        return None
    found = [_source(segment, p, depth + 1) for p in sources]
    if None in found or not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _counted(plan, scalars, segment):
    """The first and the last number of an `arange` of integers."""
    if len(scalars) != 2 or any(kind != "i" for kind, _ in scalars) or not plan.outputs[0].shape[0]:
        return None
    start, step = (segment.integers[at] for _, at in scalars)
    ends = start, start + step * (plan.outputs[0].shape[0] - 1)
    return min(ends), max(ends)


def _source(segment, position, depth):
    if position < 0:
        return bounded(segment.inputs[~position], depth)
    at = 0
    for node in segment.nodes:
        refs = node[3] if type(node[3]) is list else [node[3]]
        if at + len(refs) > position:
            value = refs[position - at]()
            return None if value is None else bounded(value, depth)
        at += len(refs)
    return None


def numbers_of(value):
    """The NumPy array of a value."""
    from ...trace.executor import value_of
    return np.asarray(value_of(value, "index bounds"))


def check_bounds(index, size, error, negative=False):
    """Raises ``error(n)`` for the first number of ``index`` that is not in ``[0, size)``, or ``[-size, size)`` where negative ones wrap."""
    lowest = -size if negative else 0
    found = extremes(index, (lowest, size))
    if found is None:
        return
    if found[0] >= lowest and found[1] < size:
        return
    from ...tensor.dispatch import read
    numbers = numbers_of(read(index)).reshape(-1)
    wrong = numbers[(numbers < lowest) | (numbers >= size)]
    if wrong.size:                             # what the origin says may be wider than what is there
        raise error(int(wrong[0]))


def out_of_bounds(dim, size, kind=IndexError, prefix=""):
    """An ``error`` for `check_bounds` in PyTorch's most frequent words."""
    return lambda n: kind(f"{prefix}index {n} is out of bounds for dimension {dim} with size {size}")
