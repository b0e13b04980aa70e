"""Numbers that are not symbols: `torch.SymInt` and what is done to such a number, which is an ordinary one here.

Owns: these classes and functions. May not know: shapes, which are known whenever a program is made. The only symbols are the lengths of
nested tensors (`jtensor.nested.lengths`).
"""
import math

import jtensor

from .base.errors import missing
from .tensor.calling.guards import guarded


def sym_int(a):
    """An integer, towards zero."""
    return math.floor(a) if isinstance(a, float) and a >= 0 else math.ceil(a) if isinstance(a, float) else int(a)


def sym_float(a):
    """A float."""
    return float(a)


def sym_max(a, b):
    """The larger of two numbers; a float if either is."""
    return _joined(max(a, b), a, b)


def sym_min(a, b):
    """The smaller of two numbers; a float if either is."""
    return _joined(min(a, b), a, b)


def _joined(chosen, a, b):
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_not(a):
    """Not ``a``."""
    return not a


def sym_ite(b, t, f):
    """``t`` if ``b``, else ``f``."""
    return t if b else f


def sym_sum(args):
    """The sum of numbers."""
    return sum(args)


def sym_sqrt(a):
    """The square root."""
    return math.sqrt(a)


# -- sizes whose range is told ------------------------------------------------------------------------------------------


def sym_constrain_range(size, *, min=None, max=None):
    """Tells that a number lies between two bounds: ``RuntimeError`` if it does not, as this is known here at once.

    >>> torch.sym_constrain_range(3, min=2)
    """
    _constrain(size, -(1 << 63) if min is None else min, max)


def sym_constrain_range_for_size(size, *, min=None, max=None):
    """`sym_constrain_range` of a size, which is not negative unless ``min`` is; ``max`` has to be greater than 2."""
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    _constrain(size, 0 if min is None else min, max)


def _constrain(size, low, high):
    if isinstance(size, complex):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    number, high = int(size), (1 << 63) - 1 if high is None else high
    if high < low:
        raise RuntimeError(f"Max must be greater than or equal to min. Got min={low} max={high}")
    if not low <= number <= high:
        raise RuntimeError(f"Invalid value range for {number} between [{low}, {high}].")


for _name in ("sym_constrain_range", "sym_constrain_range_for_size"):
    globals()[_name] = guarded(globals()[_name], _name)


def sym_fresh_size(expr):
    """The number itself: there are no sizes that are not known."""
    return jtensor.tensor(expr).item()

# -- classes ------------------------------------------------------------------------------------------------------------


class _Symbol:
    """Scripts ask ``isinstance(n, torch.SymInt)``; nobody makes such numbers, since shapes are known whenever a program is made."""

    def __init__(self, node):
        raise missing("numbers that stand for a size", "the number itself")


class SymInt(_Symbol):
    """An integer that is not known: the length of a nested tensor's parts, where these differ."""

    __module__ = "torch"


class SymFloat(_Symbol):
    """A float that is not known yet, of which there are none here."""

    __module__ = "torch"


class SymBool(_Symbol):
    """A truth value that is not known yet, of which there are none here."""

    __module__ = "torch"


__all__ = ["SymBool", "SymFloat", "SymInt", "sym_constrain_range", "sym_constrain_range_for_size", "sym_float", "sym_fresh_size", "sym_int",
           "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"]
