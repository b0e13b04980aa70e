"""The history of sparse tensors: nodes whose gradients are functions of tensors, sparse or dense, and three that the others are made of.

Owns: `recorded`, which gives a result its node; `elements_of` and `assembled`, by which a gradient goes from a sparse tensor to its values
and back, so that a function of the values alone needs no formula of its own; `at_places`, which reads any tensor at the places of a
pattern. """
import jtensor

from ..autograd.graph import node_class
from ..autograd.written import Written
from ..base.errors import real_only
from ..tensor.history import edge_of
from ..trace.tape import LOCAL
from .tensors import is_sparse, sparse


class SparseNode(Written):
    """A node of a sparse operation."""

    __slots__ = ("made",)


def is_recorded(*inputs):
    """Whether an operation on these gets a node."""
    return LOCAL.grad_enabled and any(isinstance(x, jtensor.Tensor) and x.requires_grad for x in inputs)


def recorded(name, result, inputs, pull, kept=()):
    """A fresh result with its node, if an input requires a gradient.

    ``pull(gradient)`` answers one gradient for each of ``inputs``, or None; ``kept``: tensors that it reads.
    """
    if is_recorded(*inputs) and result._spec.dtype.differentiable:
        node = node_class(name, SparseNode)(tuple([edge_of(x) if wants(x) else None for x in inputs]))
        node.pull, node.kept = _fitting(pull, result, inputs), [(x, x._counter.version) for x in kept]
        result._edge, result._requires_grad = (node, 0), True
    return result


def _fitting(pull, result, inputs):
    """The same, but a real input of a complex result gets the real part of what comes."""
    if not result._spec.dtype.is_complex or all(x._spec.dtype.is_complex for x in inputs if wants(x)):
        return pull

    def fitting(grad):
        return [g.real if g is not None and wants(x) and g.is_complex() and not x.is_complex() else g
                for g, x in zip(pull(grad), inputs, strict=True)]
    return fitting


def conjugate(x):
    """The conjugate of a tensor, dense or sparse, or of a number: what a gradient is multiplied with."""
    return x.conj() if isinstance(x, jtensor.Tensor) else x.conjugate()


def wants(x):
    """Whether a gradient is wanted for an input."""
    return isinstance(x, jtensor.Tensor) and x.requires_grad


def refuse_complex_history(x, function):
    """Raises where PyTorch would need the gradient of a function that it has for real numbers alone."""
    if wants(x) and x.is_complex() and jtensor.is_grad_enabled():
        raise real_only(function)


def merged_elements(x):
    """The values of a sparse tensor at the places of its merged pattern, without history."""
    order = x._pattern.order() if not x._coalesced else None
    return x._elements if order is None or not hasattr(order, "values") else order.values(x._elements)


def elements_of(x):
    """The values of a coalesced tensor, on its memory, as part of the graph."""
    pattern, made = x._pattern, x._elements.detach()
    return recorded("ValuesBackward0", made, [x], lambda grad: (assembled(pattern, grad, True),))


def assembled(pattern, values, coalesced=False, name="SparseCooTensorWithDimsAndTensorsBackward0"):
    """The sparse tensor of values that may have a history, which the gradient follows."""
    return recorded(name, sparse(pattern, values, coalesced), [values], lambda grad: (at_places(grad, pattern),))


def coalesced(x):
    """`Tensor.coalesce`."""
    if x._coalesced:
        return x
    order = x._pattern.order()
    values = order.values(x._elements) if hasattr(order, "values") else x._elements.clone()
    return recorded("CoalesceBackward0", sparse(x._pattern.merged(), values, True), [x], lambda grad: (grad,))


def at_places(x, pattern):
    """The elements of a tensor, dense or sparse, at the places of a pattern: ``(nnz, *dense sizes)``."""
    if not is_sparse(x):
        dense = tuple(x.shape[pattern.sparse_dim:])
        if pattern.sparse_dim == 1:
            return x.index_select(0, pattern.flat())
        count = 1
        for length in pattern.size:
            count *= length
        return x.reshape((count, *dense)).index_select(0, pattern.flat())
    x = coalesced(x)
    values = elements_of(x)
    if x._pattern is pattern:
        return values
    at, hit = pattern.match(x._pattern)
    if not x._pattern.nnz:
        return values.new_zeros((pattern.nnz, *values.shape[1:]))
    values = values.index_select(0, at)
    return values if hit is None else jtensor.where(hit.reshape(-1, *[1] * (values.ndim - 1)), values, 0)
