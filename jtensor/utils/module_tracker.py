"""Which modules a computation is in: `ModuleTracker`, for modes and hooks that ask where an operation comes from.

Owns: the modules' names, and when they are entered and left, forwards and backwards. May not know: what is computed in them.
"""
import warnings
import weakref

import jtensor

from ..autograd.engine import current_task
from ..autograd.tools import register_multi_grad_hook
from ._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """For the length of a ``with`` block, ``parents`` has the names of the modules that a computation is in, beside "Global".

    ``is_bw`` says whether it is in a backward pass; that enters a module with the gradient of its outputs, and leaves it with that of its
    inputs.

    >>> from jtensor.utils.module_tracker import ModuleTracker
    >>> model = torch.nn.Sequential(torch.nn.ReLU())
    >>> with ModuleTracker() as tracker:
    ...     handle = model[0].register_forward_pre_hook(lambda *args: print(sorted(tracker.parents)))
    ...     _ = model(torch.ones(1))
    ['Global', 'Sequential', 'Sequential.0']
    """

    def __init__(self):
        self.parents, self._task = {"Global"}, None
        self._known_modules, self._seen_modules = weakref.WeakKeyDictionary(), weakref.WeakSet()
        self._hooks = []

    @property
    def is_bw(self):
        """Whether a backward pass runs."""
        return current_task() is not None

    def __enter__(self):
        room = jtensor.nn.modules.module
        self._hooks = [room.register_module_forward_pre_hook(self._before),
                       room.register_module_forward_hook(self._after, always_call=True)]
        return self

    def __exit__(self, *exc):
        for handle in self._hooks:
            handle.remove()
        self._hooks = []

    def _name(self, module):
        name = self._known_modules.setdefault(module, type(module).__name__)
        if module not in self._seen_modules:
            self._seen_modules.add(module)
            for part, below in module.named_children():
                self._known_modules[below] = f"{name}.{part}"
                self._name(below)
        return self._known_modules[module]

    def _entered(self, name):
        if name in self.parents:
            warnings.warn("The module hierarchy tracking seems to be broken as this Module was already entered. "
                          f"{name} during {'backward' if self.is_bw else 'forward'}", stacklevel=2)
        self.parents.add(name)
        task = current_task()
        if task is not None and task is not self._task:         # what a backward pass has not left is left when it ends
            self._task = task
            task.callbacks.append(self._ended)

    def _ended(self):
        self.parents, self._task = {"Global"}, None

    def _left(self, name):
        if name in self.parents:
            self.parents.remove(name)
        elif not self.is_bw:
            raise RuntimeError("The Module hierarchy tracking is wrong. Report a bug to PyTorch")

    def _before(self, module, args):
        name = self._name(module)
        self._entered(name)
        tensors = _differentiable(args)
        if tensors and not self.is_bw:
            register_multi_grad_hook(tensors, lambda grads: self._left(name))

    def _after(self, module, args, output):
        name = self._name(module)
        self._left(name)
        tensors = _differentiable(output)
        if tensors and not self.is_bw:
            register_multi_grad_hook(tensors, lambda grads: self._entered(name))


def _differentiable(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, jtensor.Tensor) and leaf.requires_grad]
