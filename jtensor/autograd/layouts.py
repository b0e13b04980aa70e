"""Whether a leaf's first gradient gets the strides of the leaf: `enforce_grad_layout_policy`.

Owns: the switch, one for each thread (in `trace.tape.LOCAL`). May not know: how a leaf takes a gradient (`tensor.accumulate`), which asks.
"""
import threading

from ..trace.tape import LOCAL
from .anomaly import walk_nodes
from .mode import _Mode


def _switch(enforce):
    LOCAL.layout_enforced = enforce
    walk_nodes(("layouts", threading.get_ident()), not enforce)


class enforce_grad_layout_policy(_Mode):
    """Whether gradients get the strides of their leaves, from now on or within it (True), or stay as they came (False).

    With False, a first gradient that nobody else holds is taken as it is, whatever its strides are, and there is no warning about the
    strides of gradients that are added to. Of this thread.

    >>> p = torch.ones(3, 2).t().requires_grad_()
    >>> with torch.autograd.enforce_grad_layout_policy(False):
    ...     (p * torch.ones(2, 3)).backward(torch.ones(2, 3))
    >>> p.stride(), p.grad.stride()
    ((1, 2), (3, 1))
    """

    def __init__(self, enable=True):
        self.previous, self.mode = LOCAL.layout_enforced, enable
        _switch(enable)

    def clone(self):
        return type(self)(self.mode)

    def __call__(self, function):
        _switch(self.previous)
        return super().__call__(function)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _switch(self.previous)
