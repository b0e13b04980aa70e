"""Hooks of a tensor: what is called when its gradient has been computed, and `retain_grad`, which keeps that.

Owns: where the hooks hang: a leaf's with its own fields, others' with the node that made the tensor. When they run: `autograd.hooking`.
"""
import weakref
from collections import OrderedDict

from ..autograd.graph import HOOKED
from ..trace.lifted import transforming
from ..trace.tape import LOCAL
from ..utils.hooks import register
from .core import Tensor


def retain_grad(self):
    """Makes a non-leaf tensor keep its gradient in ``.grad``."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if (LOCAL.levels or LOCAL.differentiated) and transforming():
        raise RuntimeError("You are attempting to call Tensor.retain_grad() inside of a function being transformed by a functorch "
                           "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
                           "jacfwd, hessian) or call retain_grad() outside of a function being transformed instead.")
    if self._edge is None:
        return
    auto = self._autograd_meta()
    if auto.retains or self.grad_fn is None:
        return
    auto.retains = True
    node, nr = self._edge
    cell = weakref.ref(self)

    def keep(grad):
        tensor = cell()
        if tensor is not None:
            old = tensor._auto.grad
            tensor._auto.grad = grad.clone(memory_format="contiguous_format") if old is None else old + grad
    HOOKED[0] = True
    if node.retained is None:
        node.retained = {}
    node.retained[nr] = keep


def register_hook(self, hook):
    """Calls ``hook(grad)`` when the gradient of this tensor is computed; a result replaces it. Answers a removable handle."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    HOOKED[0] = True
    if self.grad_fn is None:
        auto = self._autograd_meta()
        if auto.hooks is None:
            auto.hooks = OrderedDict()
            node = auto.accumulator() if auto.accumulator is not None else None
            if node is not None:
                node.tensor_hooks = {0: auto.hooks}
        hooks = auto.hooks
    else:
        node, nr = self._edge
        if node.tensor_hooks is None:
            node.tensor_hooks = {}
        hooks = node.tensor_hooks.setdefault(nr, OrderedDict())
    return register(hooks, hook)


def set_hooks(self, hooks):
    """``leaf._backward_hooks = hooks``: a dictionary takes the place of the one that there was, None takes all hooks away.

    The hooks of a result hang with its node, and stay, as in PyTorch.
    """
    if hooks is not None and not isinstance(hooks, dict):
        raise RuntimeError("_backward_hooks must be a dict or None.")
    if self.grad_fn is not None:
        return
    HOOKED[0] = True
    auto = self._autograd_meta()
    auto.hooks = hooks
    node = auto.accumulator() if auto.accumulator is not None else None
    if node is not None:
        node.tensor_hooks = None if hooks is None else {0: hooks}


def register_post_accumulate_grad_hook(self, hook):
    """Calls ``hook(tensor)`` after a gradient was added to this leaf's ``.grad``."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    auto = self._autograd_meta()
    if auto.post_hooks is None:
        auto.post_hooks = OrderedDict()
    return register(auto.post_hooks, hook)


def install():
    """Gives the Tensor these methods."""
    for method in (retain_grad, register_hook, register_post_accumulate_grad_hook):
        method.__qualname__ = "Tensor." + method.__name__
        setattr(Tensor, method.__name__, method)
