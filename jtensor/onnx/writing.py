"""A graph of ONNX as it is written: operators of ONNX that take edges and give edges.

What is computed of constants alone is computed at once, as far as sizes need it. Owns: `Edge`, `Node`, `Graph`. May not know: tensors,
operators of TorchScript, protobufs.
"""
import numpy as np

from ..base import dtypes


class Edge:
    """What an operator gives or takes. ``shape``: a number for each dimension, None for one that is known when it runs, or None where
    nothing is known of them; ``known``: a constant's value; ``name``: what it is to be called, if anything."""

    __slots__ = ("dtype", "shape", "known", "name", "node")

    def __init__(self, dtype, shape=None, known=None, name="", node=None):
        self.dtype, self.shape, self.known, self.name, self.node = dtype, shape, known, name, node

    @property
    def rank(self):
        """How many dimensions there are."""
        return len(self.shape)


class Node:
    """An operator of ONNX: its name there, edges (None for one that is left out), attributes."""

    __slots__ = ("kind", "inputs", "outputs", "attributes")

    def __init__(self, kind, inputs, outputs, attributes):
        self.kind, self.inputs, self.outputs, self.attributes = kind, inputs, outputs, attributes


class Graph:
    """Nodes in their order, for the operators of one version. ``inputs``, ``outputs``, ``initializers``: edges."""

    def __init__(self, opset):
        self.opset, self.nodes, self.inputs, self.outputs, self.initializers = opset, [], [], [], []

    def op(self, kind, *inputs, dtype=None, outputs=1, shape=None, **attributes):
        """Another operator; answers its edge, or a list of edges. ``dtype``: of what it gives, or one for each; that of its first input if
        nothing is said."""
        dtype = dtype or next((one.dtype for one in inputs if one is not None), None)
        found = _folded(kind, inputs, attributes) if outputs == 1 else None
        if found is not None:
            return constant(found, dtype)
        node = Node(kind, list(inputs), [], attributes)
        kinds = dtype if isinstance(dtype, (list, tuple)) else [dtype] * outputs
        node.outputs = [Edge(one, shape, node=node) for one in kinds]
        self.nodes.append(node)
        return node.outputs[0] if outputs == 1 else node.outputs

    def cast(self, edge, dtype):
        """An edge with another dtype."""
        if edge.dtype is dtype:
            return edge
        if edge.known is not None:
            return constant(edge.known.astype(dtype.numpy), dtype)
        return self.op("Cast", edge, dtype=dtype, shape=edge.shape, to=dtype)

    # -- numbers and sizes ----------------------------------------------------------------------------------------------

    def number(self, value, dtype):
        """A number, or an edge that stands for one, as an edge without dimensions."""
        return self.cast(value, dtype) if isinstance(value, Edge) else constant(value, dtype)

    def vector(self, values):
        """A list of numbers, some of which may be edges, as an edge of int64 with one dimension."""
        if not any(isinstance(one, Edge) and one.known is None for one in values):
            return constant([int(one.known) if isinstance(one, Edge) else one for one in values], dtypes.int64)
        parts, plain = [], []
        for one in values:
            if isinstance(one, Edge) and one.known is None:
                if plain:
                    parts.append(constant(plain, dtypes.int64))
                parts.append(self.op("Unsqueeze", self.cast(one, dtypes.int64), constant([0], dtypes.int64), shape=(1,)))
                plain = []
            else:
                plain.append(int(one.known) if isinstance(one, Edge) else one)
        parts += [constant(plain, dtypes.int64)] if plain else []
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, shape=(len(values),), axis=0)

    def size(self, edge, dim):
        """How many elements there are along a dimension: a number, or an edge without dimensions."""
        if edge.shape is not None:
            if not edge.shape and dim in (0, -1):
                return 1
            if edge.shape[dim] is not None:
                return edge.shape[dim]
        return self.op("Gather", self.op("Shape", edge, dtype=dtypes.int64), constant(dim, dtypes.int64), shape=(), axis=0)

    def sizes(self, edge):
        """The shape of an edge of known rank as a list of numbers and edges."""
        return [self.size(edge, at) for at in range(edge.rank)]

    def shape(self, edge):
        """The shape of an edge as an edge of int64."""
        if edge.shape is not None and None not in edge.shape:
            return constant(list(edge.shape), dtypes.int64)
        return self.op("Shape", edge, dtype=dtypes.int64, shape=None if edge.shape is None else (edge.rank,))

    def whole(self, kind, a, b):
        """``a`` and ``b``, numbers or edges of int64, by an operator of ONNX ("Add", "Sub", "Mul", "Div"): a number where both are."""
        if not isinstance(a, Edge) and not isinstance(b, Edge):
            return int(_FOLDED[kind](np.int64(a), np.int64(b)))
        return self.op(kind, self.number(a, dtypes.int64), self.number(b, dtypes.int64), shape=())

    # -- what many operators are made of --------------------------------------------------------------------------------

    def reshape(self, edge, sizes):
        """An edge with other sizes, numbers or edges, one of which may be -1."""
        return self.op("Reshape", edge, self.vector(sizes), allowzero=int(self.opset >= 14 and any(
            isinstance(one, Edge) or one == 0 for one in sizes)), shape=tuple([None if isinstance(one, Edge) or one < 0 else one
                                                                              for one in sizes]))

    def unsqueeze(self, edge, *dims):
        """An edge with new dimensions of one element at these places."""
        shape = None
        if edge.shape is not None:
            rest, rank = list(edge.shape), edge.rank + len(dims)
            new = {dim % rank for dim in dims}
            shape = tuple([1 if at in new else rest.pop(0) for at in range(rank)])
        return self.op("Unsqueeze", edge, constant(list(dims), dtypes.int64), shape=shape)

    def transpose(self, edge, order):
        """An edge whose dimensions are in another order."""
        if list(order) == list(range(len(order))):
            return edge
        return self.op("Transpose", edge, perm=list(order), shape=None if edge.shape is None else tuple([edge.shape[at] for at in order]))

    def slice(self, edge, dim, start, stop, step=1):
        """A part of a dimension."""
        shape = None if edge.shape is None else tuple([None if at == dim % edge.rank else one for at, one in enumerate(edge.shape)])
        return self.op("Slice", edge, self.vector([start]), self.vector([stop]), self.vector([dim]), self.vector([step]), shape=shape)

    def reduce(self, kind, edge, dims, keepdim):
        """An edge reduced over dimensions, or over all of them: ``kind`` is ONNX's name."""
        if edge.shape == ():
            dims = None
        dims = [] if dims is None else [dim if edge.shape is None else dim % edge.rank for dim in dims]
        if self.opset >= 18 or kind == "ReduceSum":
            return self.op(kind, edge, *([constant(dims, dtypes.int64)] if dims else []), keepdims=int(keepdim))
        return self.op(kind, edge, keepdims=int(keepdim), **({"axes": dims} if dims else {}))

    def where(self, condition, yes, no):
        """``yes`` where a condition holds, elsewhere ``no``."""
        return self.op("Where", condition, yes, no, dtype=yes.dtype)


def constant(value, dtype):
    """An edge whose value is known."""
    value = np.asarray(value).astype(dtype.numpy) if not isinstance(value, np.ndarray) or value.dtype != dtype.numpy else value
    return Edge(dtype, value.shape, value)


# -- constants ----------------------------------------------------------------------------------------------------------


def _divide(a, b):
    if a.dtype.kind != "i":
        return a / b
    quotient = np.abs(a) // np.abs(b)                             # of whole numbers ONNX cuts off the rest
    return np.where((a < 0) != (b < 0), -quotient, quotient)


_FOLDED = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide, "Neg": np.negative, "Floor": np.floor, "Ceil": np.ceil,
    "Min": np.minimum, "Max": np.maximum, "Unsqueeze": lambda x, dims: np.expand_dims(x, tuple(dims.tolist())),
    "Identity": lambda x: x,
}
_SMALL = 64                                                       # elements: what sizes are computed of


def _folded(kind, inputs, attributes):
    """The value of an operator of constants; None where it is to be written."""
    if any(one is None or one.known is None or one.known.size > _SMALL for one in inputs):
        return None
    if kind in _FOLDED and not attributes:
        with np.errstate(all="ignore"):
            return np.asarray(_FOLDED[kind](*[one.known for one in inputs]))
    if kind == "Concat":
        return np.concatenate([one.known for one in inputs], attributes["axis"])
    if kind == "Gather":
        return np.asarray(np.take(inputs[0].known, inputs[1].known, attributes["axis"]))
    return None
