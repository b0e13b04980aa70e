"""Tensors with a tangent, as a function that is differentiated forwards has them: how they are made, and what they are made of.

May not know: the arguments of `jvp`.
"""
from ...autograd.graph import Node
from ...ops import tangents
from ...storage.lifted import LIFTED_MEMORY
from ...trace.lifted import is_owed, levels_of
from ...trace.tape import LOCAL
from ..history import edge_of
from ..values import read, wrap
from .levels import Passage, of_value, open_again, with_passage


def made_dual(level, primal, tangent):
    """The tensor of the level that has this value and this tangent, in its type.

    ``ValueError`` where one of them can have no derivative, ``RuntimeError`` for another size.
    """
    for what, given in (("primal", primal), ("tangent", tangent)):
        if not given._spec.dtype.differentiable:
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {given.dtype}")
    if primal.shape != tangent.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                           f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
                           f"{list(tangent.shape)}.")
    if is_dual(level, primal):
        raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
                           "supported.")
    tangent = tangent.to(primal.dtype)
    out = of_value(tangents.joined(level, read(primal), read(tangent)))
    if LOCAL.grad_enabled and (primal.requires_grad or tangent.requires_grad):
        out._edge, out._requires_grad = (_Made(level, [edge_of(t) if t.requires_grad else None for t in (primal, tangent)]), 0), True
    return out


class _Made(Node):
    """Where a tensor with a tangent comes of two without. A gradient that is no one's debt goes to the first as it is, with its tangent."""

    __slots__ = ("level",)

    def __init__(self, level, edges):
        Node.__init__(self, tuple(edges))
        self.level = level

    def name(self):
        return "AliasBackward0"

    def release(self):
        """It has saved nothing."""

    def apply(self, grads):
        grad, = grads
        if not is_owed(read(grad), self.level):
            return [grad, None]
        return [_part(self.level, grad, which, _TAKEN[which]) if edge is not None else None
                for which, edge in zip((1, 0), self.edges, strict=True)]


def is_dual(level, tensor):
    """Whether a tensor has a tangent at this level."""
    return tensor._storage.host is LIFTED_MEMORY and level in levels_of(tensor._storage.value)


def has_tangent(tensor):
    """Whether it has a tangent, of whichever level."""
    return tensor._storage.host is LIFTED_MEMORY and any(not level.extra for level in levels_of(tensor._storage.value))


def primal_of(level, tensor):
    """A tensor without its tangent."""
    return _part(level, tensor, 0, _Primal) if is_dual(level, tensor) else tensor


def tangent_of(level, tensor):
    """The tangent of a tensor, or None."""
    return _part(level, tensor, 1, _Tangent) if is_dual(level, tensor) else None


def without_tangents(tensor):
    """What `detach` answers of a tensor with a tangent: a copy that has none, and no history; None for a tensor without."""
    value = read(tensor)
    found = tangents.plain(value)
    if found is value:
        return None
    spec = tensor._spec
    return wrap(found, spec) if spec.dense and not spec.conj and not spec.neg else of_value(found)


def _part(level, tensor, which, kind):
    value = read(tensor)
    found = tangents.taken(level, value, which)
    return with_passage(of_value(tangents.zeros(value.aval) if found is None else found), tensor, kind, level)


def _put(level, tensor, which):
    """The owed gradient of which one part is a tensor, and the other zeros."""
    open_again(level)
    value = read(tensor)
    parts = [value, value]
    parts[1 - which] = tangents.zeros(value.aval)
    return with_passage(of_value(tangents.joined(level, *parts, True)), tensor, _PUT[which], level)


class _Primal(Passage):
    """A value has gone out; its gradient is the tangent of the one that is owed."""

    def passed(self, grad):
        return _put(self.level, grad, 1)


class _Tangent(Passage):
    """A tangent has gone out; its gradient is the value of the one that is owed."""

    def passed(self, grad):
        return _put(self.level, grad, 0)


class _PutPrimal(Passage):
    """The history of an owed gradient that is made of its value, which is for a tangent."""

    def passed(self, grad):
        return _part(self.level, grad, 1, _Tangent)


class _PutTangent(Passage):
    """The history of one that is made of its tangent, which is for a value."""

    def passed(self, grad):
        return _part(self.level, grad, 0, _Primal)


_TAKEN, _PUT = (_Primal, _Tangent), (_PutPrimal, _PutTangent)
