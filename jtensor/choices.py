"""`torch.cond` and `torch.while_loop`: choices and loops by a tensor's value, which is looked at; and numbers that are not symbols.

Owns: these functions. May not know: what their branches do.
"""
import math

from .base.errors import missing
from .tensor.core import Tensor


def cond(pred, true_fn, false_fn, operands=()):
    """``true_fn(*operands)`` or ``false_fn(*operands)``, by a truth value or a tensor of one element, which is looked at.

    >>> torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
    tensor([2., 2.])
    """
    if not isinstance(pred, (bool, int, float, Tensor)) or (isinstance(pred, Tensor) and pred.numel() != 1):
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """``body_fn`` of what it gave last, as a tuple, for as long as ``cond_fn`` of it is true.

    >>> torch.while_loop(lambda i: i < 3, lambda i: (i + 1,), (torch.tensor(0),))
    (tensor(3),)
    """
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        carried = body_fn(*carried)
        carried = tuple(carried) if isinstance(carried, (tuple, list)) else (carried,)
    return carried


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


__all__ = ["cond", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum", "while_loop"]


# -- numbers that are not symbols -------------------------------------------------------------------------------------

class _Symbol:
    """Scripts ask ``isinstance(n, torch.SymInt)``; there are no such numbers, since shapes are known whenever a program is made."""

    def __init__(self, node):
        raise missing("numbers that stand for a size", "the number itself")


class SymInt(_Symbol):
    """An integer that is not known yet, of which there are none here."""

    __module__ = "torch"


class SymFloat(_Symbol):
    """A float that is not known yet, of which there are none here."""

    __module__ = "torch"


class SymBool(_Symbol):
    """A truth value that is not known yet, of which there are none here."""

    __module__ = "torch"
