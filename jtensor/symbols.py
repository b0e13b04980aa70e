"""Numbers that are not symbols: `torch.SymInt` and what is done to such a number, which is an ordinary one here.

Owns: these classes and functions. May not know: shapes, which are known whenever a program is made. The only symbols are the lengths of
nested tensors (`jtensor.nested.lengths`).
"""
import math

from .base.errors import missing


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


__all__ = ["SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"]
