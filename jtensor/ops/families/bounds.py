"""Whether the numbers of an index tensor are within bounds, before anything is recorded that would use them.

A body is pure and cannot look; PyTorch raises on the user's line. So composites look at the index here: a concrete index costs a
minimum and a maximum, remembered as long as its value lives; a pending one is computed, which is an observation.
"""
import functools
import math
import weakref

import numpy as np

from ...base import compat, devices, dtypes
from ...trace.tape import LIFTED, there


def extremes(index, within=None):
    """(smallest, largest) number of an integer tensor, or None for an empty tensor or one without data.

    ``within`` (lowest, size): where the numbers' origin already bounds them so, that bound is answered without looking.
    """
    spec, storage = index._spec, index._storage
    if spec.numel == 0 or spec.device is devices.meta:
        return None
    if within is not None and spec.dtype.category == 1 and spec.dtype is storage.layout.dtype and storage.host is None:
        found = bounded(storage.value)
        if found is not None and found[0] >= within[0] and found[1] < within[1]:
            return found
    from ...tensor.values import read
    value = read(index)
    found = getattr(value, "bounds", None)
    if found is None:
        numbers = numbers_of(value) if spec.device is devices.cpu or spec.numel < _MANY else _extremes_there(value)
        found = value.bounds = int(numbers.min()), int(numbers.max())
    return found


_MANY = 1 << 18             # elements that are looked at where they are, on an accelerator


def _extremes_there(value):
    """The smallest and the largest number of a value, found by its device."""
    from ...trace.arrival import fetched
    from ...trace.executor import value_of
    with compat.x64():
        return fetched(_both()(value_of(value, "index bounds")))


@functools.cache
def _both():
    import jax
    return jax.jit(lambda x: jax.numpy.stack([x.min(), x.max()]))


def bounded(value):
    """What is known of a value's numbers without computing anything: of one that is there its extremes, of a pending one what its origin
    says.

    A view, a copy or a pick of bounded numbers is bounded as they are; `argmax` and its kind answer places of a dimension, pools places of
    a window's image, `arange` counts, a comparison answers 0 or 1.
    """
    found = getattr(value, "bounds", None)
    if found is not None:
        return found
    array = there(value)
    if array is not None:
        numbers = np.asarray(array)
        if numbers.size == 0 or numbers.dtype.kind not in "iub" and not np.isfinite(numbers).all():
            return None
        found = int(numbers.min()), int(numbers.max())
    elif value.segment is not None:
        found = _by_origin(value.segment, value.position, 0)
    if found is not None:
        value.bounds = found
    return found


_SAME_NUMBERS = frozenset(("index.raw", "clone", "_to_copy", "contiguous_copy", "index_select.raw", "gather.raw", "take.raw", "repeat.raw",
                           "roll.raw", "flip.raw"))
_ALL_NUMBERS = frozenset(("cat", "stack"))
_PLACES = {"argmax": 0, "argmin": 0, "sort_dim.default": 1, "sort_dim.stable": 1, "topk_dim.raw": 1, "kthvalue_dim.raw": 1, "max_dim": 1,
           "min_dim": 1}                               # which output has places along the dimension ``dim``
_DEPTH = 8


def _by_origin(segment, position, depth):
    """The bounds of the value at a position of the tape, or None."""
    if position < 0:
        return bounded(segment.inputs[~position]) if there(segment.inputs[~position]) is not None else None
    if depth > _DEPTH or (found := _made_by(segment, position)) is None:
        return None
    (plan, positions, scalars, _), at = found
    name = getattr(plan.operator, "name", None)
    if plan.outputs[position - at].dtype is dtypes.bool:
        return 0, 1
    if name is None:
        sources = positions if plan.key[0] == "read" and len(positions) == 1 else ()
    elif name in _PLACES and _PLACES[name] == position - at:
        return 0, _last_place(plan)
    elif position - at == 1 and name.endswith(("max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool2d", "max_pool3d")):
        return 0, max(0, math.prod(plan.inputs[0].shape[-2 if "2d" in name else -3:]) - 1)
    elif name == "arange_of":
        found = _counted(plan, scalars, segment)
        return None if found is None else (min(found), max(found))
    else:
        sources = positions if name in _ALL_NUMBERS else positions[:1] if name in _SAME_NUMBERS or name in _PLACES else ()
    found = [_by_origin(segment, p, depth + 1) for p in sources]
    if None in found or not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _made_by(segment, position):
    """(node, position of its first output) of what makes a position of the tape."""
    at = segment.count
    for node in reversed(segment.nodes):
        at -= len(node[0].outputs)
        if at <= position:
            return node, at
    return None


def _last_place(plan):
    """The largest place along the dimension that an operator looks along, or among all elements."""
    shape, dim = plan.inputs[0].shape, plan.notes.template[plan.operator.by_name["dim"]]
    return max(0, (math.prod(shape) if dim is None or not shape else shape[dim]) - 1)


def _counted(plan, scalars, segment):
    """The first and the last number of an `arange` of integers."""
    if len(scalars) != 2 or any(kind != "i" for kind, _ in scalars) or not plan.outputs[0].shape[0]:
        return None
    start, step = (segment.integers[at] for _, at in scalars)
    return start, start + step * (plan.outputs[0].shape[0] - 1)


def rows_of(index):
    """The numbers of an integer tensor as rows of a NumPy array, a row for each tensor of a batch; None as `extremes`.

    An `arange` is counted here, without looking.
    """
    spec = index._spec
    if spec.numel == 0 or spec.device is devices.meta:
        return None
    from ...tensor.values import read
    value = read(index)
    if value.position is not LIFTED and value.segment is not None and there(value) is None:
        plan, _, scalars, _ = _made_by(value.segment, value.position)[0]
        found = _counted(plan, scalars, value.segment) if getattr(plan.operator, "name", None) == "arange_of" else None
        if found is not None:
            return np.linspace(*found, spec.numel, dtype=np.int64)[None]
    return numbers_of(value).reshape(-1, spec.numel)


def numbers_of(value, reason="index bounds"):
    """The NumPy array of a value."""
    from ...trace.executor import on_host
    return on_host(value, reason)


def check_bounds(index, size, error, negative=False, besides=None):
    """Raises ``error(n)`` for the first number of ``index`` that is not in ``[0, size)``, or ``[-size, size)`` where negative ones wrap.

    ``besides``: one more number that may occur.
    """
    lowest = -size if negative else 0
    found = extremes(index, (lowest, size))
    if found is None:
        return
    if found[0] >= lowest and found[1] < size:
        return
    from ...tensor.values import read
    numbers = numbers_of(read(index)).reshape(-1)
    wrong = numbers[((numbers < lowest) | (numbers >= size)) & (numbers != besides)]
    if wrong.size:                             # what the origin says may be wider than what is there
        raise error(int(wrong[0]))


def out_of_bounds(dim, size, kind=IndexError, prefix=""):
    """An ``error`` for `check_bounds` in PyTorch's most frequent words."""
    return lambda n: kind(f"{prefix}index {n} is out of bounds for dimension {dim} with size {size}")


# -- probabilities ----------------------------------------------------------------------------------------------------

_probable = weakref.WeakKeyDictionary()
_PROBABILITIES = frozenset(("sigmoid", "_softmax", "zeros_of"))
_FILLS = "create.fill_", "create.zero_"


def check_probabilities(tensor, name):
    """Raises PyTorch's error where a number of the tensor lies outside [0, 1]. NaN passes: what a sigmoid makes is not looked at."""
    if tensor._spec.numel == 0 or tensor._spec.device is devices.meta:
        return
    from ...tensor.values import read
    storage = tensor._storage
    if storage.host is None and tensor._spec.dtype is storage.layout.dtype and _are_probabilities(storage.value):
        return
    value = read(tensor)
    if value.position is LIFTED:
        numbers = numbers_of(value, "value bounds")
        fits = not ((numbers < 0) | (numbers > 1)).any()
    else:
        if _are_probabilities(value) is None:
            numbers_of(value, "value bounds")
        fits = _are_probabilities(value)
    if fits is False:
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def _are_probabilities(value):
    """Whether a value's numbers lie in [0, 1] or are NaN; None where only computing it would tell."""
    found, array = _probable.get(value), there(value)
    if found is None and array is not None:
        numbers = np.asarray(array)
        found = not ((numbers < 0) | (numbers > 1)).any()
    elif found is None and value.segment is not None:
        found = _probable_by_origin(value.segment, value.position, 0)
    if found is not None:
        _probable[value] = found
    return found


def _probable_by_origin(segment, position, depth):
    """True for what a sigmoid, a softmax, a comparison or a fill within [0, 1] makes, and for views and copies of that; else None."""
    if position < 0:
        return _are_probabilities(segment.inputs[~position]) or None
    if depth > _DEPTH or (found := _made_by(segment, position)) is None:
        return None
    (plan, positions, scalars, _), at = found
    name = getattr(plan.operator, "name", None)
    if name in _PROBABILITIES or plan.outputs[position - at].dtype is dtypes.bool:
        return True
    filled = name == "full_of" or name is None and plan.key[0] == "overwrite" and plan.key[1][0] in _FILLS
    if filled and scalars and scalars[0][0] in "fi" and plan.key[1][0] != "create.zero_":
        kind, number = scalars[0]
        if not 0 <= (segment.floats if kind == "f" else segment.integers)[number] <= 1:
            return None
    if filled or name is None and plan.key[0] == "read" or name in _ALL_NUMBERS:
        sources = positions
    elif name in _SAME_NUMBERS:
        sources = positions[:1]
    else:
        return None
    return all(_probable_by_origin(segment, p, depth + 1) for p in sources) or None
