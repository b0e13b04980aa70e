"""Lists and dictionaries of TorchScript as Python holds them: `ScriptList` and `ScriptDict`, which programs write to.

A list or dictionary of Python's is copied when a program is called with it; these are not. Owns: what Python may do with them. May not
know: programs.
"""
from ..tensor.core import Tensor
from . import Error, conversions, text
from .membership import is_of


def _told(value):
    """A value as TorchScript prints it."""
    if isinstance(value, float):
        return text.number(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_told, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_told(key)}: {_told(one)}" for key, one in value.items()]) + "}"
    return str(value)


def _kind(values, word, title):
    from .scripting import annotations, kinds
    found = None
    for value in values:
        try:
            one = annotations.of_value(value)
        except annotations.Unknown:
            more = ("Could not infer type of list element: " if word == "list" else "") + (
                "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs or outputs of traced "
                f"functions, but instead got value of type {type(value).__name__}.")
            raise Error(f"Unable to infer type of {word if word == 'list' else 'dictionary'}: {more}") from None
        made = one if found is None else kinds.unified(found, one)
        if made is None:
            more = f"{title} inputs to traced functions must have consistent {'element ' * (word == 'list')}type. Found {found} and {one}"
            raise Error(f"Unable to infer type of {word if word == 'list' else 'dictionary'}: {more}")
        found = made
    return str(found or kinds.TENSOR)


class _Held:
    def _taken(self, value, kind, problem=TypeError):
        value = conversions.fitting(value, kind)
        if not is_of(value, kind):
            raise problem()
        return value

    def __repr__(self):
        return _told(self._items)

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return bool(self._items)

    def __getattr__(self, name):
        raise AttributeError(f"'torch._C.{type(self).__name__}' object has no attribute '{name}'")


class _Iterator:
    __module__ = "torch"

    def __init__(self, values):
        self._values = iter(values)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._values)


class ScriptListIterator(_Iterator):
    """Goes through a `ScriptList`."""


class ScriptDictIterator(_Iterator):
    """Goes through the pairs of a `ScriptDict`."""


class ScriptDictKeyIterator(_Iterator):
    """Goes through the keys of a `ScriptDict`."""


for _one in (ScriptListIterator, ScriptDictIterator, ScriptDictKeyIterator):
    _one.__module__ = "torch"


class ScriptList(_Held):
    """A list whose items are all of one type, and which programs that are called with it write to: ``torch.jit.script([1, 2])``.

    ``TypeError`` for an item of another type, ``IndexError`` beyond its ends.

    >>> numbers = torch.ScriptList([1, 2])
    >>> numbers.append(3)
    >>> numbers, numbers[-1], numbers[:2]
    ([1, 2, 3], 3, [1, 2])
    """

    __module__ = "torch"

    def __init__(self, values=()):
        values = list(values)
        self._of = _kind(values, "list", "List")
        self._items = [conversions.fitting(one, self._of) for one in values]

    def _made(self, values):
        made = object.__new__(ScriptList)
        made.__dict__.update(_of=self._of, _items=values)
        return made

    def _at(self, index):
        if not isinstance(index, int):
            raise TypeError("__getitem__(): incompatible function arguments. The following argument types are supported:\n    1. (self: "
                            "torch._C.ScriptList, arg0: typing.SupportsInt | typing.SupportsIndex) -> object\n    2. (self: "
                            f"torch._C.ScriptList, arg0: slice) -> torch._C.ScriptList\n\nInvoked with: {self!r}, {index!r}")
        if not -len(self._items) <= index < len(self._items):
            raise IndexError
        return index

    def __getitem__(self, index):
        return self._made(self._items[index]) if isinstance(index, slice) else self._items[self._at(index)]

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            values = [self._taken(one, self._of) for one in value]
            if len(self._items[index]) != len(values):
                raise RuntimeError("Left and right hand size of slice assignment have different sizes")
            self._items[index] = values
        else:
            self._items[self._at(index)] = self._taken(value, self._of)

    def __delitem__(self, index):
        del self._items[self._at(index)]

    def __iter__(self):
        return ScriptListIterator(self._items)

    def _place(self, value):
        """Where an equal item is; None if there is none."""
        for at, one in enumerate(self._items):
            if isinstance(one, Tensor) and one is value or not isinstance(one, Tensor) and one == value:
                return at
        return None

    def __contains__(self, value):
        return self._place(self._taken(value, self._of)) is not None

    def append(self, value):
        """Adds an item at the end."""
        self._items.append(self._taken(value, self._of))

    def extend(self, values):
        """Adds several."""
        self._items.extend([self._taken(one, self._of) for one in values])

    def insert(self, index, value):
        """Adds an item before another."""
        self._items.insert(index, self._taken(value, self._of))

    def remove(self, value):
        """Takes the first equal item away; ``ValueError`` if there is none."""
        at = self._place(self._taken(value, self._of))
        if at is None:
            raise ValueError
        del self._items[at]

    def pop(self, index=-1):
        """Takes an item away and answers it."""
        if not -len(self._items) <= index < len(self._items):
            raise IndexError("list index out of range")
        return self._items.pop(index)

    def count(self, value):
        """How many items are equal."""
        value = self._taken(value, self._of)
        return sum(1 for one in self._items if one is value or not isinstance(one, Tensor) and one == value)

    def clear(self):
        """Takes all items away."""
        self._items.clear()


class ScriptDict(_Held):
    """A dictionary whose keys are all of one type, and its values, which programs write to: ``torch.jit.script({"a": 1})``.

    ``KeyError`` for a key that is not there, ``TypeError`` for what is of another type.

    >>> counts = torch.ScriptDict({"a": 1})
    >>> counts["b"] = 2
    >>> counts, list(counts.items())
    ({a: 1, b: 2}, [('a', 1), ('b', 2)])
    """

    __module__ = "torch"

    def __init__(self, values):
        self._keys, self._of = (_kind(found, "dict", "Dictionary") for found in (values, values.values()))
        if self._keys not in ("int", "float", "complex", "Tensor", "Device", "str", "bool"):
            from .scripting import annotations
            shown = annotations.of_value(next(iter(values))).schema()
            raise RuntimeError(f"Cannot create dict for key type '{shown}', only int, float, complex, Tensor, device and string keys are "
                               "supported")
        self._items = {key: conversions.fitting(one, self._of) for key, one in values.items()}

    def __getitem__(self, key):
        self._taken(key, self._keys, _no_key)
        if key not in self._items:
            raise _no_key()
        return self._items[key]

    def __setitem__(self, key, value):
        self._items[self._taken(key, self._keys)] = self._taken(value, self._of)

    def __delitem__(self, key):
        self._taken(key, self._keys)
        if key not in self._items:
            raise _no_key()
        del self._items[key]

    def __contains__(self, key):
        return self._taken(key, self._keys, _no_key) in self._items

    def __iter__(self):
        return self.keys()

    def keys(self):
        """Goes through the keys."""
        return ScriptDictKeyIterator(self._items)

    def items(self):
        """Goes through pairs of keys and values."""
        return ScriptDictIterator(self._items.items())


def _no_key():
    return KeyError("")


conversions.HELD.update((ScriptList, ScriptDict))
