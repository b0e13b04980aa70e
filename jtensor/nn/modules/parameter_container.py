"""Modules that hold parameters: ParameterList and ParameterDict."""
import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import jtensor

from ..parameter import Parameter
from .module import Module
from .utils import typename

__all__ = ["ParameterList", "ParameterDict"]


def _as_parameter(value):
    """A tensor becomes a Parameter, anything else stays what it is."""
    return Parameter(value) if isinstance(value, jtensor.Tensor) and not isinstance(value, Parameter) else value


def _described(items, type_of):
    lines = []
    for key, value in items:
        if isinstance(value, jtensor.Tensor):
            kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
            where = f" ({value.device})" if value.device.type == "cuda" else ""
            text = f"{kind} containing: [{type_of(value)} of size {'x'.join(map(str, value.size()))}{where}]"
        else:
            text = f"Object of type: {type(value).__name__}"
        lines.append(f"  ({key}): {text}")
    return "\n".join(lines)


class ParameterList(Module):
    """A list whose tensors are registered as parameters; other objects are kept as they are.

    >>> import jtensor as torch
    >>> torch.nn.ParameterList([torch.ones(2), torch.ones(3, 4)])[1].shape
    torch.Size([3, 4])
    """

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _name(self, idx):
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range")
        return str(idx % len(self))

    def __getitem__(self, idx):
        if not isinstance(idx, slice):
            return getattr(self, self._name(idx))
        chosen = type(self)()
        for i in range(len(self))[idx]:
            chosen.append(self[i])
        return chosen

    def __setitem__(self, idx, param):
        setattr(self, self._name(idx), _as_parameter(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Adds a value at the end; a tensor becomes a Parameter."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Adds several values at the end. TypeError where they are no iterable, or are one tensor."""
        if not isinstance(values, Iterable) or isinstance(values, jtensor.Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return _described(enumerate(self), lambda p: p.dtype)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary whose tensors are registered as parameters; other objects are kept as they are.

    >>> import jtensor as torch
    >>> sorted(torch.nn.ParameterDict({"a": torch.ones(2), "b": torch.ones(3)}))
    ['a', 'b']
    """

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}  # in the order of insertion; the values are attributes
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys.")
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._attribute(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """A new ParameterDict of the same parameters."""
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def setdefault(self, key, default=None):
        """The value of ``key``, which is ``default`` from now on if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Removes all."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Takes the value of ``key`` out and answers with it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Takes the last pair out and answers with it."""
        key = next(reversed(self._keys)) if self._keys else self._keys.popitem()[0]
        return key, self.pop(key)

    def get(self, key, default=None):
        """The value of ``key``, or ``default``."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A new ParameterDict with that value under every key."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        """The keys."""
        return self._keys.keys()

    def items(self):
        """(key, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters):
        """Takes in the pairs of a mapping (in sorted order where it promises none) or of an iterable of pairs."""
        if not isinstance(parameters, Iterable):
            raise TypeError("ParametersDict.update should be called with an iterable of key/value pairs, but got "
                            + type(parameters).__name__)
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = parameters.items()
        elif isinstance(parameters, Mapping):
            pairs = sorted(parameters.items())
        else:
            pairs = _checked_pairs(parameters)
        for key, value in pairs:
            self[key] = value

    def extra_repr(self):
        return _described(self.items(), typename)

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other):
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other):
        self.update(other)
        return self


def _checked_pairs(given):
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"ParameterDict update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"ParameterDict update sequence element #{i} has length {len(pair)}; 2 is required")
        yield pair[0], pair[1]
