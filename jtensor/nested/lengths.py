"""The length of a dimension in which a nested tensor's parts differ: ``j1`` in its shape.

Owns: these numbers, which one belongs to a tensor of offsets, and the offsets as Python's integers. May not know: nested tensors.
"""
import itertools

from ..base.size import Symbol
from ..symbols import SymInt
from ..utils.weak import WeakIdKeyDictionary

_NUMBERS = itertools.count(1)             # PyTorch has given 0 away before the first nested tensor is there
_UNKNOWN = "ge: relation is indeterminate"


class NestedInt(Symbol, SymInt):
    """As many elements as each part has, times ``coefficient``. Equal to itself alone; of its size it is known that it is 2 or more, which
    PyTorch assumes of all such numbers."""

    __slots__ = "number", "coefficient"

    def __init__(self, number, coefficient=1):
        self.number, self.coefficient = number, coefficient

    def _same(self, other):
        return isinstance(other, NestedInt) and self.number == other.number and self.coefficient == other.coefficient

    def __eq__(self, other):
        return self._same(other)

    def __ne__(self, other):
        return not self._same(other)

    def __hash__(self):
        return hash((NestedInt, self.number, self.coefficient))

    def __mul__(self, other):
        return NestedInt(self.number, self.coefficient * other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __ge__(self, other):
        return _at_least(self, other)

    def __le__(self, other):
        return _at_least(other, self)

    def __gt__(self, other):
        return not _at_least(other, self)

    def __lt__(self, other):
        return not _at_least(self, other)

    def __bool__(self):
        return True

    def _lacks(name):
        def refuse(self, *other):
            raise AttributeError(f"'NestedIntNode' object has no attribute '{name}'")
        return refuse

    __int__ = __index__ = __float__ = _lacks("int_")
    __add__ = __radd__ = _lacks("add")
    __sub__ = __rsub__ = _lacks("sub")
    __floordiv__ = __rfloordiv__ = _lacks("int_floordiv")
    __neg__ = _lacks("neg")
    __mod__ = __rmod__ = _lacks("mod")
    del _lacks

    def __repr__(self):
        return f"j{self.number}" if self.coefficient == 1 else f"{self.coefficient}*j{self.number}"

    __str__ = __repr__


NestedInt.__name__ = NestedInt.__qualname__ = "SymInt"
NestedInt.__module__ = "torch"


def _at_least(a, b):
    if isinstance(a, NestedInt) and isinstance(b, NestedInt):
        if a.number == b.number:
            return a.coefficient >= b.coefficient
    elif isinstance(a, NestedInt):
        if b <= 2:
            return True
    elif a < 2:
        return False
    raise ValueError(_UNKNOWN)


_OF, _READ = WeakIdKeyDictionary(), WeakIdKeyDictionary()


def length_of(tensor):
    """The number that stands for the lengths which a tensor of offsets (or lengths) says; the same whenever it is asked for."""
    found = _OF.get(tensor)
    if found is None:
        found = _OF[tensor] = NestedInt(next(_NUMBERS))
    return found


def same_length(tensor, other):
    """Has another tensor of the same offsets stand for the same number: a copy of them, on another device."""
    _OF[tensor] = length_of(other)


def told(tensor, known):
    """A fresh tensor of offsets whose integers are known: nobody has to look at them."""
    _READ[tensor] = tensor._counter.version, tuple(known)
    return tensor


def numbers(tensor):
    """The integers of a tensor of offsets, a tuple. They are looked at once for each version of it."""
    version = tensor._counter.version
    found = _READ.get(tensor)
    if found is None or found[0] != version:
        found = _READ[tensor] = version, tuple(tensor.tolist())
    return found[1]
