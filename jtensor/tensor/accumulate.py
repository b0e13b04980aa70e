"""How a leaf takes a gradient: kept, copied or added, as PyTorch's accumulation does it."""
import sys

from ..autograd.hooking import after_accumulation
from ..trace.tape import LOCAL
from .core import make_tensor


def accumulate(variable, grad):
    """Adds ``grad`` to ``variable.grad``; without create_graph an existing gradient is changed in place, so that its aliases see it."""
    if not variable._requires_grad:
        return
    auto = variable._autograd_meta()
    old = auto.grad
    if old is None:
        auto.grad = _first(variable, grad)
    elif not LOCAL.grad_enabled:
        old.add_(grad)
    else:
        auto.grad = old + grad
    if auto.post_hooks:
        after_accumulation(auto.post_hooks, variable)


def _first(variable, grad):
    """The very tensor that arrived if nobody else can see it, else a copy; strides are the variable's if it is dense."""
    if LOCAL.grad_enabled:
        return grad.clone() if grad._info is not None or grad._edge is None else grad
    spec = grad._spec
    fresh = (spec is grad._storage.spec and not spec.conj and not spec.neg and sys.getrefcount(grad._storage) <= 2
             and sys.getrefcount(grad) <= FRESH and spec.stride == variable._spec.stride)
    if fresh:
        if grad._requires_grad:
            return make_tensor(grad._storage, spec)
        return grad
    from .create import empty_strided_like
    return empty_strided_like(variable._spec, grad)


FRESH = 7
