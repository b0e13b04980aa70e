"""`torch.autograd.graph`'s functions: gradient edges, hooks over several tensors, version counters, what is saved and where.

May not know: the Tensor class (it handles tensors by their fields); what it needs of upper rooms is handed to `install`.
"""
import threading
from collections import namedtuple

from ..utils.hooks import RemovableHandle
from . import saved
from .graph import Node, accumulator

UPPER = {}          # functions of the tensor room: "edge_of", "snapshot", "restore"


class GradientEdge(namedtuple("GradientEdge", ("node", "output_nr", "ownership_token"), defaults=(None,))):
    """An edge of the graph: a node and the number of its output. Stands for a tensor in `torch.autograd.grad` and ``inputs=``."""

    __slots__ = ()
    __module__ = "torch.autograd.graph"

    @property
    def edge(self):
        return self.node._engine_node, self.output_nr


def get_gradient_edge(tensor):
    """The edge that gradients of this tensor take.

    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.autograd.graph.get_gradient_edge(x * 2).node.name()
    'MulBackward0'
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    has_history = tensor.grad_fn is not None        # a view whose base was written to gets its new history here
    node, nr = tensor._edge if has_history else accumulator(tensor)
    return GradientEdge(node.face, nr, None if node.face is node else node)


def increment_version(tensor):
    """Counts a write to a tensor, or to each of several, that autograd could not see."""
    tensors = (tensor,) if hasattr(tensor, "_storage") else tensor
    if not hasattr(tensors, "__iter__"):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for one in tensors:
        if not hasattr(one, "_storage"):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        one._counter.version += 1


# -- hooks over several tensors ---------------------------------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """One handle for several."""

    __module__ = "torch.autograd.graph"

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __getstate__(self):
        return self.handles

    def __setstate__(self, state):
        self.handles = state


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls ``fn`` once in each backward: with all gradients of the tensors (None where there is none), or with the first to be there.

    As in PyTorch the tensor that ``backward`` is called on does not count among all: alone it calls nothing, beside others by itself.

    >>> a, b = torch.ones(2, requires_grad=True).unbind()
    >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), lambda grads: print(len(grads)))
    >>> (a + b).backward()
    2
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if not all(t.requires_grad for t in tensors):
        raise AssertionError("Expected gradient function to be set")
    edges = [get_gradient_edge(t).edge for t in tensors]
    lock, backwards = threading.Lock(), {}          # {task: (how many are expected, how many came, gradients)}

    def came(at, grad):
        from .engine import current_task
        task = current_task()
        if mode == "any":
            with lock:
                seen = backwards.get("last") is task
                backwards["last"] = task
            if not seen:
                fn(grad)
            return
        with lock:
            if task not in backwards:
                backwards[task] = [sum(task.announces(node) for node, _ in edges), 0, [None] * len(edges)]
            state = backwards[task]
            state[1] += 1
            state[2][at] = grad
            complete = state[1] == state[0]
            if complete:
                del backwards[task]
        if complete:
            fn(state[2])
    return _MultiHandle([t.register_hook(lambda grad, at=at: came(at, grad)) for at, t in enumerate(tensors)])


# -- what is saved, and where -----------------------------------------------------------------------------------------


class save_on_cpu(saved.saved_tensors_hooks):
    """Within it, tensors saved for backward are kept in the host's memory and sent back when they are used."""

    __module__ = "torch.autograd.graph"

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            return tensor.device, tensor.cpu()

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device)
        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Within it, `saved_tensors_hooks` raise with this message."""

    __module__ = "torch.autograd.graph"

    def __init__(self, error_message, is_tracing=False):
        self.message = error_message

    def __enter__(self):
        self.previous = saved.forbid(self.message)

    def __exit__(self, *exc):
        saved.forbid(self.previous, check=False)


class allow_mutation_on_saved_tensors:
    """Within it, tensors that were saved for backward may be changed in place: values are immutable here, so the saved one is kept.

    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.exp()
    ...     y.zero_().shape, x.exp().sum().backward()
    (torch.Size([2]), None)
    """

    __module__ = "torch.autograd.graph"
    active = threading.local()

    def __enter__(self):
        if getattr(self.active, "here", None) is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self.active.here = self
        self.hooks = saved.saved_tensors_hooks(self._pack, self._unpack)
        self.hooks.__enter__()
        return self

    def __exit__(self, *exc):
        self.hooks.__exit__(*exc)
        self.active.here = None

    def _pack(self, tensor):
        return UPPER["snapshot"](tensor)

    def _unpack(self, packed):
        if getattr(self.active, "here", None) is not self:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                                 "originally recorded.")
        return UPPER["restore"](packed)


def install(**upper):
    """What the tensor room lends: ``snapshot(tensor)`` and ``restore(snapshot)``."""
    UPPER.update(upper)


def region_activation_memory_budget(budget):
    """Refuses: PyTorch, too, has it inside of `torch.compile` alone, and there is nothing of that kind here."""
    raise RuntimeError("torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile region; it has no "
                       "effect in eager mode.")


def set_warn_on_accumulate_grad_stream_mismatch(enabled):
    """Whether to warn of a gradient that comes from another stream than its leaf: streams are one queue here, so that there is none."""


PUBLIC = {f.__name__: f for f in (GradientEdge, Node, allow_mutation_on_saved_tensors, disable_saved_tensors_hooks, get_gradient_edge,
                                  increment_version, region_activation_memory_budget, register_multi_grad_hook, save_on_cpu,
                                  saved.saved_tensors_hooks, set_warn_on_accumulate_grad_stream_mismatch)}
