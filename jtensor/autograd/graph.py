"""Nodes of the autograd graph, with PyTorch's names: what was saved, which edges lead on, which hooks are attached.

A node knows how to turn gradients of its outputs into gradients of its inputs (`apply`); the engine decides when. An edge is
``(node, input number)`` or None. A node of an operator saves references to its inputs with their versions, as PyTorch does, so that the
version check and a later ``.data`` write have PyTorch's effect. May not know: the Tensor class (it handles tensors by their fields).
"""
import itertools
import weakref
from collections import OrderedDict

from ..utils.hooks import RemovableHandle

sequence = itertools.count().__next__
TOP = float("inf")
HOOKED = [False]         # whether any node has ever got a hook, or a tensor's gradient to keep
# Nodes that PyTorch does not generate from a table have their namespace in the name.
SHOWN = frozenset(("_input_metadata", "_sequence_nr", "metadata", "name", "next_functions", "register_hook", "register_prehook",
                   "requires_grad", "variable"))
HAND_WRITTEN = frozenset(("AccumulateGrad", "NotImplemented", "CopySlices", "CopyBackwards", "Error", "DelayedError"))


class Node:
    """A node of the graph. ``edges`` lead to the nodes of its inputs; ``sequence`` orders the walk."""

    __slots__ = ("edges", "sequence", "meta", "hooks", "pre_hooks", "tensor_hooks", "retained", "site", "__weakref__")
    outputs = 1

    def __init__(self, edges):
        self.edges, self.sequence = edges, sequence()
        self.meta = self.hooks = self.pre_hooks = self.tensor_hooks = self.retained = self.site = None

    def name(self):
        """The node's name, such as ``MulBackward0``."""
        name = type(self).__name__
        return "torch::autograd::" + name if name in HAND_WRITTEN else name

    def forward_name(self):
        """The operator as error messages call it: ``Sigmoid``, ``Pow2``."""
        head, _, number = self.name().rpartition("Backward")
        return self.name() if not head or not (number.isdigit() or not number) else head + number.lstrip("0")

    @property
    def next_functions(self):
        """The nodes this one hands gradients to: a tuple of ``(node or None, input number)``."""
        edges = self.edges
        shown = [None if at is None else edges[at] for at in self.places_shown()]
        return tuple([(None, 0) if e is None else (e[0].face, e[1]) for e in shown])

    def places_shown(self):
        """Which of ``edges`` each of PyTorch's `next_functions` is; None where it has one for an operand that is no tensor here."""
        return range(len(self.edges))

    def outputs_shown(self):
        """Which of its outputs PyTorch's node has gradients of."""
        return range(self.outputs)

    @property
    def _input_metadata(self):
        return ()

    @property
    def face(self):
        """The node as users see it: itself, but the ``ctx`` of a custom function."""
        return self

    @property
    def _engine_node(self):
        """The node that the engine walks: itself, but for the ``ctx`` of a custom function."""
        return self

    @property
    def requires_grad(self):
        return True

    @property
    def metadata(self):
        """A dict for the user's notes."""
        if self.meta is None:
            self.meta = {}
        return self.meta

    def _sequence_nr(self):
        return self.sequence if self.sequence is not TOP else (1 << 64) - 1

    def register_hook(self, fn):
        """Calls ``fn(grad_inputs, grad_outputs)`` after the node has run; a result replaces the grad_inputs."""
        HOOKED[0] = True
        if self.hooks is None:
            self.hooks = OrderedDict()
        handle = RemovableHandle(self.hooks)
        self.hooks[handle.id] = fn
        return handle

    def register_prehook(self, fn):
        """Calls ``fn(grad_outputs)`` before the node runs; a result replaces the grad_outputs."""
        HOOKED[0] = True
        if self.pre_hooks is None:
            self.pre_hooks = OrderedDict()
        handle = RemovableHandle(self.pre_hooks)
        self.pre_hooks[handle.id] = fn
        return handle

    def release(self):
        """Lets go of what was saved."""

    def apply(self, grads):
        raise NotImplementedError

    def advance(self, grads, task, heap):
        """Runs the node where nothing out of the ordinary is to be seen to: (the edges that lead on, gradients for them).

        ``heap``: the nodes that are ready. The edges may be those of nodes behind this one, which have run, too
        (`tensor.replaying.chains`).
        """
        answers = self.apply(grads)
        self.release()
        return self.edges, answers

    def __call__(self, *grads):
        """Runs the node on gradients of its outputs; answers those of its inputs, one or a tuple."""
        if len(grads) != self.outputs:
            raise TypeError(f"expected {self.outputs} arguments, got {len(grads)} instead")
        for at, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_storage"):
                raise TypeError(f"argument {at} is not a Variable")
        found = self.apply(list(grads))
        answers = tuple([None if at is None else found[at] for at in self.places_shown()]) if self.edges else ()
        return answers[0] if len(answers) == 1 else answers

    def __repr__(self):
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def __dir__(self):
        return [name for name in object.__dir__(self) if name in SHOWN or name[:2] == "__"]

    def __reduce_ex__(self, protocol):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


Node.__module__ = "torch.autograd.graph"


class AccumulateGrad(Node):
    """The node of a leaf: adds the gradient that arrives to ``variable.grad``. ``spec``: what the leaf was when this was made."""

    __slots__ = ("variable", "spec")
    outputs = 1

    def apply(self, grads):
        grad = grads[0]
        if grad is not None:
            if self.hooks is None:
                grads[0] = None                                    # the leaf takes the gradient itself if nobody else holds it
                self.variable._accumulate(grad)
            else:
                self.variable._accumulate(grad, 1)
        return ()


class OperatorNode(Node):
    """A recorded operator. ``plan`` replays it; ``needs`` are the input positions with an edge; ``saved``: see `autograd.saved`.

    ``seen_as`` is there where it has written through a view: a weak reference to the node that the view got as its history.
    """

    __slots__ = ("plan", "needs", "saved", "scalars", "seen_as")
    __init__ = object.__init__          # who makes one fills it: `cls()` costs less than `cls.__new__(cls)`

    @property
    def outputs(self):
        return len(self.plan.outputs)

    def outputs_shown(self):
        """Those that have a gradient: indices, which sorting answers too, or what a norm keeps for its own gradient, have none."""
        return [at for at, has in enumerate(self.plan.differentiable) if has]

    def release(self):
        if type(self.saved) is list:            # an empty one stands for numbers, which PyTorch keeps as tensors
            self.saved = None


_classes = {}


def node_class(name, base=OperatorNode):
    """The class of nodes with this name, made once: ``type(grad_fn).__name__`` is what PyTorch users grep for."""
    found = _classes.get((name, base))
    if found is None:
        found = _classes[name, base] = type(name, (base,), {"__slots__": (), "__module__": "builtins"})
    return found


def accumulator(variable):
    """The `AccumulateGrad` edge of a leaf; the node lives as long as a graph (or the user) holds it."""
    auto = variable._auto
    node = auto.accumulator() if auto is not None and auto.accumulator is not None else None
    if node is None:
        auto = variable._autograd_meta()
        node = _new(_ACCUMULATE)
        node.edges, node.sequence, node.variable, node.spec = (), TOP, variable, variable._spec
        node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
        if auto.hooks is not None:
            node.tensor_hooks = {0: auto.hooks}
        auto.accumulator = weakref.ref(node)
    return node, 0


_new, _ACCUMULATE = object.__new__, node_class("AccumulateGrad", AccumulateGrad)


class CopySlices(Node):
    """In-place on a view: the base's gradient passes, but its part under the view goes through the operator's node.

    ``fn`` is the in-place operator's node; ``geometry`` the view's (size, stride, offset) and ``base_spec`` the base's;
    ``replay(base)`` makes the view where it is no mere geometry.
    """

    __slots__ = ("fn", "base_spec", "geometry", "make", "replay", "shown")

    def __init__(self, base_edge, base_spec, geometry, fn, make, replay=None):
        Node.__init__(self, (base_edge, *fn.edges[1:]))
        self.fn, self.base_spec, self.geometry, self.make, self.replay = fn, base_spec, geometry, make, replay

    def places_shown(self):
        if self.fn is None:
            return self.shown
        shown = self.fn.places_shown()
        return shown if len(shown) > len(self.edges) else range(len(self.edges))

    def release(self):
        if self.fn is not None:
            self.shown = self.places_shown()
        self.fn = None                      # what that saved goes with it, unless a second backward leads to it by itself

    def apply(self, grads):
        grad = grads[0]
        if grad is None:
            return [None] * len(self.edges)
        if self.fn is None:
            raise RuntimeError(SECOND_TIME)
        result = self.make(self.base_spec, grad)
        result.copy_(grad)
        part = self._part(result)
        inner = self.fn.apply([part.clone(memory_format="contiguous_format")])
        answers = [None] * len(self.edges)
        for at, g in enumerate(inner):
            if at == 0:
                if g is None:
                    part.zero_()
                elif g._storage.host is grad._storage.host:
                    part.copy_(g)
                else:                                                # of a batch, where the gradient was none
                    result = self.make(self.base_spec, g).copy_(result)
                    self._part(result).copy_(g)
            elif self.edges[at] is not None:
                answers[at] = g
        answers[0] = result
        return answers

    def _part(self, base):
        """What is under the view."""
        size, stride, offset = self.geometry
        return self.replay(base) if self.replay is not None else base.as_strided(size, stride, offset - self.base_spec[1])


SECOND_TIME = ("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
               "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
               "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after "
               "calling backward.")
