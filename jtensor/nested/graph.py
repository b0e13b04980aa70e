"""The history of nested tensors: a function of nested tensors is one of their values, and has the node of that.

Owns: `joined` (the values, with history), `as_nested` (the other way), `followed`, by which the node of a dense result becomes that of a
nested one. May not know: operations.
"""
from ..autograd.graph import Node, node_class
from ..autograd.written import Written
from ..base.errors import missing
from ..tensor.core import Tensor, View
from ..tensor.history import edge_of
from ..trace.tape import LOCAL
from .jagged import alike, nested


class Origin:
    """The tensor on whose memory a nested one lies, with its node at that time: a write that is recorded gives it another one, and the
    nested tensor's history is then not that of its memory. ``alone``: whether nothing was recorded when it was made."""

    __slots__ = ("tensor", "node", "alone")

    def __init__(self, tensor):
        self.tensor, self.node, self.alone = tensor, tensor.grad_fn, not LOCAL.grad_enabled

    @property
    def base(self):
        info = self.tensor._info
        return self.tensor if info is None or info.base is None else info.base


def current(x):
    """Raises MissingFeature for a nested tensor on memory that was written to since, where the write was recorded."""
    origin = x._origin
    while origin is not None and LOCAL.grad_enabled:
        if origin.tensor.grad_fn is not origin.node:
            raise missing("the history of a nested tensor that lies on memory which was written to since", "writes before it is made")
        origin = origin.tensor._origin if origin.tensor.is_nested else None


def seen_through(x):
    """The values as users get them: a view, through which nothing is written that is recorded."""
    return refusing(joined(x), x, "no_grad" if x._origin is not None and x._origin.alone else "nested")


def refusing(view, x, creation):
    """A dense view of a nested tensor's memory, which refuses writes that are recorded, and to be used after one to the tensor."""
    view._info = View(x._values, creation, view._counter.version, True)
    return view


class NestedNode(Written):
    """A node of an operation of nested tensors that has ``count`` results."""

    __slots__ = ("count",)

    @property
    def outputs(self):
        return self.count


class Followed(Node):
    """The node of a dense result in a nested one's place: ``inner`` is that node, ``through`` what its gradients pass through on edges that
    led to a `Passage`, None for others, and ``fitted`` makes values of a nested gradient of the result."""

    __slots__ = ("inner", "through", "shown", "fitted")

    @property
    def outputs(self):
        return self.inner.outputs

    def places_shown(self):
        return self.shown

    def apply(self, grads):
        answers = self.inner.apply([self.fitted(grad) if grad is not None and grad.is_nested else grad for grad in grads])
        return [grad if back is None or grad is None else back(grad) for grad, back in zip(answers, self.through, strict=True)]

    def release(self):
        self.inner.release()


class Passage(NestedNode):
    """A node between a tensor and what stands for it in a dense function, such as a nested tensor's values: `Followed` looks past it.
    ``back(gradient)``: that of the tensor."""

    __slots__ = ("back",)


def wants(x):
    """Whether a gradient is recorded for something."""
    return isinstance(x, Tensor) and x.requires_grad


def recorded(name, results, inputs, pull, kept=(), base=NestedNode):
    """Fresh results (one, or a tuple) with their node, if an input requires a gradient; see `Written`."""
    several = results if isinstance(results, tuple) else (results,)
    for x in inputs:
        if isinstance(x, Tensor) and x.is_nested:
            current(x)
    if LOCAL.grad_enabled and any(map(wants, inputs)):
        node = node_class(name, base)(tuple([edge_of(x) if wants(x) else None for x in inputs]))
        node.pull, node.kept, node.count = pull, [(x, x._counter.version) for x in kept], len(several)
        for at, made in enumerate(several):
            if made._spec.dtype.differentiable:
                made._edge, made._requires_grad = (node, at), True
    return results


def joined(x):
    """The values of a nested tensor, on its memory, as part of the graph."""
    current(x)
    if not (LOCAL.grad_enabled and x.requires_grad):
        return x._values.detach()
    like, tidy = x._again(), x._in_order
    return passed("NestedGetValuesBackward0", x._values.detach(), x, lambda grad: tidy(viewed(grad, like(grad))),
                  lambda grad: tidy(again(grad, like(grad))))


def passed(name, made, x, back, within=None):
    """What stands for a tensor in a dense function, with its `Passage`. ``within``: ``back`` for gradients that it made."""
    recorded(name, made, [x], lambda grad: (back(grad),), base=Passage)
    if made._edge is not None and isinstance(made._edge[0], Passage):
        made._edge[0].back = within or back
    return made


def viewed(values, made):
    """The nested tensor ``made`` of values that may have a history, which the gradient follows."""
    made._origin = Origin(values)
    fitted = made._fitted
    return recorded(made._node_of_view, made, [values], lambda grad: (fitted(grad) if grad.is_nested else grad,))


def as_nested(values, offsets, lengths=None, ragged=1, cache=None):
    """The nested tensor of the layout jagged of values that may have a history."""
    return viewed(values, nested(values, offsets, lengths, ragged, cache))


def followed(values, x, ragged=None, known=None, name=None):
    """The nested tensor of the values that a function has made of `joined` ones: its node is theirs.

    ``x``: whose lengths it has; ``ragged``: in which dimension, if not the same; ``known``: {node: its `Followed`} of the same call;
    ``name``: PyTorch's of the node, where it is another one.
    """
    made = again(values, alike(values, x, ragged), known, name)
    if made._values._storage is x._values._storage:
        made._origin = Origin(x)
    return made


def again(values, made, known=None, name=None):
    """The nested tensor ``made`` of these values with their history; see `followed`."""
    edge = _collapsed(values, {} if known is None else known, name, made._fitted)
    if edge is not None:
        made._edge, made._requires_grad = edge, True
    elif values.requires_grad:                                              # nothing was done: the very values
        return viewed(values, made)
    return made


def collapsed(made, name=None):
    """A dense result of the values of nested tensors: its node leads to these at once."""
    edge = _collapsed(made, {}, name)
    if edge is not None:
        made._edge = edge
    return made


def _collapsed(made, known, name, fitted=None):
    """The edge to a dense result's node that leads past `Passage`; None where it has none, or is one itself."""
    if not made.requires_grad or (edge := edge_of(made)) is None or isinstance(edge[0], Passage):
        return None
    inner, at = edge
    if inner not in known:
        past = [edge is not None and isinstance(edge[0], Passage) for edge in inner.edges]
        behind = tuple([edge[0].edges[0] if passage else edge for edge, passage in zip(inner.edges, past, strict=True)])
        node = known[inner] = node_class(name or type(inner).__name__, Followed)(behind)
        node.inner, node.through = inner, [edge[0].back if passage else None for edge, passage in zip(inner.edges, past, strict=True)]
        node.fitted = fitted
        node.shown = [at for at in inner.places_shown() if name is None or at is not None and inner.edges[at] is not None]
    return known[inner], at
