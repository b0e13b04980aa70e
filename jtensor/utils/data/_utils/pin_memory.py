"""Samples in memory that a GPU reads without a copy, as `DataLoader(pin_memory=True)` hands them on.

Owns: which parts of a batch are tensors.
"""
import collections.abc
import copy

from ....tensor.core import Tensor

__all__ = ["pin_memory"]


def pin_memory(data, device=None):
    """``data`` with each tensor in it pinned (`Tensor.pin_memory`), and whatever has a method of that name asked for it.

    >>> from jtensor.utils.data._utils.pin_memory import pin_memory
    >>> pin_memory({"a": ["text", 1]})
    {'a': ['text', 1]}
    """
    if isinstance(data, Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _like(data, {key: pin_memory(value, device) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[pin_memory(value, device) for value in data])
    if isinstance(data, tuple):
        return tuple([pin_memory(value, device) for value in data])
    if isinstance(data, collections.abc.Sequence):
        return _like(data, [pin_memory(value, device) for value in data])
    return data


def _like(data, made):
    """The parts in a container of the same kind, where it can be made so."""
    try:
        if isinstance(data, (collections.abc.MutableMapping, collections.abc.MutableSequence)) and type(data) not in (dict, list):
            other = copy.copy(data)
            if isinstance(made, dict):
                other.update(made)
            else:
                for at, value in enumerate(made):
                    other[at] = value
            return other
        return type(data)(made)
    except TypeError:                                                   # of a kind that is made otherwise
        return made
