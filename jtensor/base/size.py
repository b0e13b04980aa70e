"""`torch.Size`: the shape of a tensor, a tuple of integers that stays a `Size` when sliced, joined or repeated.

Owns: the class and PyTorch's texts. May not know: tensors (a tensor of one integer is welcome through its ``__index__``).
"""
import operator

import numpy as np

from .naming import TorchNamed, attribute_of, type_name

_HIGHEST = (1 << 63) - 1
_LOWEST = -1 << 63
_new = tuple.__new__


class Symbol:
    """A length that is no number: the one of a dimension in which a nested tensor's parts differ. A `Size` keeps it as it is."""

    __slots__ = ()


class Size(tuple, metaclass=TorchNamed, module="torch", found_by=(attribute_of, (__name__, "Size"))):
    """The lengths of a tensor's dimensions.

    ``Size(iterable)`` takes integers (anything with ``__index__``); ``TypeError`` names the first item that is none. An integer that does
    not fit 64 bits is refused with ``ValueError`` where it is looked at, by `repr` and `numel`.

    >>> Size([2, 3]) + (4,)
    torch.Size([2, 3, 4])
    >>> Size([2, 3, 4])[1:].numel()
    12
    """

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        self = _new(cls, *args, **kwargs)
        for item in self:
            if type(item) is not int:
                return _new(cls, map(_integer, range(len(self)), self))
        return self

    def __repr__(self):
        return f"torch.Size([{', '.join([str(_fitting(item)) for item in self])}])"

    def numel(self):
        """The number of elements of a tensor of this size, as a 64-bit integer (it wraps around where that overflows).

        >>> Size([2, 3]).numel()
        6
        """
        product = 1
        for item in self:
            product *= operator.index(_fitting(item))
        return product if _LOWEST <= product <= _HIGHEST else (product - _LOWEST) % (1 << 64) + _LOWEST

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return _new(Size, found) if type(index) is slice else found

    def __add__(self, other):
        if isinstance(other, tuple):
            return Size(tuple.__add__(self, other))
        # an array on the right adds element by element; asked here, since CPython would word the refusal otherwise
        theirs = getattr(type(other), "__radd__", None)
        answer = NotImplemented if theirs is None else theirs(other, self)
        if answer is NotImplemented:
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return answer

    def __radd__(self, other):
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        try:
            times = operator.index(other)
        except TypeError:
            theirs = None if isinstance(other, (str, bytes, list, tuple)) else getattr(type(other), "__rmul__", None)
            answer = NotImplemented if theirs is None else theirs(other, self)
            if answer is NotImplemented:
                raise TypeError(f"can't multiply sequence by non-int of type '{type_name(type(other))}'") from None
            return answer
        return _new(Size, tuple.__mul__(self, times))

    def __rmul__(self, other):
        if isinstance(other, (str, bytes, list, tuple)):
            raise TypeError("can't multiply sequence by non-int of type 'torch.Size'")
        return Size.__mul__(self, other)

    def __reduce__(self):
        return Size, (tuple(self),)


def _integer(position, item):
    """An item as `Size` keeps it: integers of Python and NumPy as they are, all else through ``__index__``."""
    if isinstance(item, (int, np.integer, Symbol)) and not isinstance(item, bool):
        return item
    try:
        return operator.index(item)
    except Exception:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{type_name(type(item))}')") from None


def _fitting(item):
    if isinstance(item, Symbol):
        return item
    if not _LOWEST <= item <= _HIGHEST:
        raise ValueError("Overflow when unpacking long long")
    return int(item)


def size_of(items):
    """A `Size` of a tuple of Python integers, unchecked: for the engine, which has them from arrays."""
    return _new(Size, items)
