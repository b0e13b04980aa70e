"""What has no derivative: its results require a gradient all the same, as in PyTorch, and a backward that comes to them says so.

Owns: the node of such a result, under PyTorch's names, with PyTorch's sentences. May not know: which operators these are; they say so.
"""
import functools

from ..autograd.graph import Node
from ..trace.tape import LOCAL
from .history import edge_of


class Underivable(Node):
    """The node of an operation that has no derivative; backward raises an ``error`` that says ``text``."""

    __slots__ = ("text", "error")

    def __init__(self, edges, text, error=RuntimeError):
        Node.__init__(self, edges)
        self.text, self.error = text, error

    def apply(self, grads):
        raise self.error(self.text)


Underivable.__name__ = Underivable.__qualname__ = "NotImplemented"


@functools.cache
def _called(name):
    return type(name, (Underivable,), {"__slots__": ()})


def underivable(edges, name, node=None):
    """The node of what the operator ``name`` gives. ``node``: what it is called where PyTorch differentiates the operator but for this."""
    if node is None:
        return Underivable(edges, f"derivative for aten::{name} is not implemented")
    return _called(node)(edges, f"the derivative for '{name}' is not implemented.", NotImplementedError)


def without_derivative(name, inputs, outs, node=None):
    """Where one of ``inputs`` requires a gradient ``outs`` do so, too, and have such a node (`underivable`)."""
    edges = tuple([edge_of(t) for t in inputs if t.requires_grad]) if LOCAL.grad_enabled else ()
    if edges:
        made = underivable(edges, name, node)
        for out in outs:
            if out._spec.dtype.differentiable:
                out._edge, out._requires_grad = (made, 0), True
