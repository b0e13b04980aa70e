"""What changes in the engine while tensors of classes that are asked below autograd may be about: backward passes, what reads numbers, what
only sparse tensors have.

Owns: a kind of `Entry` for each. May not know: which functions these are (`doors`), the formulas of gradients (`formulas`).
"""
from ..autograd import engine
from ..base.below import STATE
from ..base.errors import missing
from ..tensor import backward
from ..trace.tape import LOCAL
from . import entries, formulas
from .asking import ALIVE, CLASSES, HOLDERS


class Backward(entries.Entry):
    """A backward pass, whose operators have no names as yet. The short way from a loss is none where its class is asked for ones."""

    def __call__(self, *args, **kwargs):
        if STATE.kernel or not STATE.modes:
            return self._long_way(*args, **kwargs) if self.name and type(args[0]) in CLASSES else self.original(*args, **kwargs)
        raise missing("a backward pass inside of a TorchDispatchMode", "the mode around what is computed forwards, backward() after it")

    @staticmethod
    def _long_way(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        backward.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


class Replayed(entries.Entry):
    """`replay.apply(node, grads)`: the gradient of a recorded operator, by operators where a class is asked."""

    def __call__(self, node, grads):
        if not CLASSES or not formulas.concerns(node, grads):
            return self.original(node, grads)
        return formulas.gradients(node, grads)


class Walked(entries.Entry):
    """`retrace.backward(edge, grad, keep_graph)`: what nodes keep may have no numbers, and is not looked at."""

    def __call__(self, edge, grad, keep_graph):
        if not ALIVE and not HOLDERS:
            return self.original(edge, grad, keep_graph)
        return engine.run([edge], [grad], bool(keep_graph), False)


class Same(entries.Entry):
    """``function(tensor)`` of the engine that answers the same again: a view or a copy without its history, by an operator of the class."""

    def __call__(self, tensor):
        if type(tensor) not in CLASSES:
            return self.original(tensor)
        return tensor.detach() if self.name == "detach" else tensor.view_as(tensor)


class Unseen(entries.Entry):
    """What reads numbers, which PyTorch refuses of such classes."""

    def answer(self, args, kwargs):
        kind = type(args[0])
        if kind not in CLASSES:
            return self.original(*args, **kwargs)
        which = "." if self.name == "numpy" else f", got {kind.__name__}"
        raise RuntimeError(f".{self.name}() is not supported for tensor subclasses{which}")


class OfLayout(entries.Entry):
    """Other layouts of a tensor, and what only sparse ones have: of a class whose tensors may be sparse inside, below autograd."""

    def __call__(self, *args, **kwargs):
        if STATE.kernel or not args or type(args[0]) not in CLASSES:
            return self.original(*args, **kwargs)
        return self.answer(args, kwargs)

    def finish(self, made, args, kwargs):
        if LOCAL.grad_enabled and args[0].requires_grad:
            raise missing(f"the gradient of {self.name} for __torch_dispatch__", "__torch_function__, which is asked above autograd")
        return made


class Finite(entries.Entry):
    """`isfinite`, which PyTorch makes of other operators."""

    def answer(self, args, kwargs):
        return formulas.finite(args[0])
