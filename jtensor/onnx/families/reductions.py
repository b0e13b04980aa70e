"""Reductions, and sums on the way. Owns: how they are written as ONNX."""
from ...base import dtypes
from ..table import Refused, aten
from ..writing import Edge, constant
from .pointwise import truth


def _dims(dim):
    return None if dim is None else list(dim) if isinstance(dim, (list, tuple)) else [dim]


def count(graph, edge, dims):
    """How many elements a reduction takes together: a number, or an edge of int64."""
    dims = range(edge.rank) if not dims or not edge.rank else dims
    made = 1
    for dim in dims:
        made = graph.whole("Mul", made, graph.size(edge, dim))
    return made


def _arithmetic(name, kind):
    def write(graph, self, dim=None, keepdim=False, dtype=None):
        return graph.reduce(kind, graph.cast(self, graph.outs[0].dtype), _dims(dim), keepdim)
    aten(name)(write)


_arithmetic("sum", "ReduceSum")
_arithmetic("mean", "ReduceMean")
_arithmetic("prod", "ReduceProd")


def _comparable(graph, edge):
    return graph.cast(edge, dtypes.int32) if edge.dtype in (dtypes.bool, dtypes.int16) else edge


def _extreme(name, reduction, chosen, between):
    """Of ``max`` and ``min``: of all, along a dimension with the places, of two tensors."""
    def write(graph, self, dim=None, keepdim=False, other=None):
        if isinstance(other, Edge):
            return graph.op(between, *[graph.cast(one, graph.outs[0].dtype) for one in (self, other)])
        self = _comparable(graph, self)
        if dim is None:
            return graph.reduce(reduction, self, None, False)
        if self.rank == 0:
            return [self, constant(0, dtypes.int64)]
        return [graph.reduce(reduction, self, [dim], keepdim),
                graph.op(chosen, self, dtype=dtypes.int64, axis=dim, keepdims=int(keepdim))]
    aten(name)(write)

    def alone(graph, self, dim=(), keepdim=False):
        return graph.reduce(reduction, _comparable(graph, self), _dims(dim), keepdim)
    aten("a" + name)(alone)

    def place(graph, self, dim=None, keepdim=False):
        self = _comparable(graph, self)
        if dim is None:
            if keepdim:
                raise Refused("of all elements, with the dimensions kept")
            return graph.op(chosen, graph.reshape(self, [-1]), dtype=dtypes.int64, axis=0, keepdims=0)
        if self.rank == 0:
            return constant(0, dtypes.int64)
        return graph.op(chosen, self, dtype=dtypes.int64, axis=dim, keepdims=int(keepdim))
    aten("arg" + name)(place)


_extreme("max", "ReduceMax", "ArgMax", "Max")
_extreme("min", "ReduceMin", "ArgMin", "Min")


def _quantifier(name, kind):
    def write(graph, self, dim=None, keepdim=False):
        return graph.reduce(kind, graph.cast(truth(graph, self), dtypes.int32), _dims(dim), keepdim)
    aten(name)(write)


_quantifier("any", "ReduceMax")
_quantifier("all", "ReduceMin")


@aten("count_nonzero")
def _count_nonzero(graph, self, dim=None):
    return graph.reduce("ReduceSum", graph.cast(truth(graph, self), dtypes.int64), _dims(dim), False)


@aten("logsumexp")
def _logsumexp(graph, self, dim, keepdim=False):
    return graph.reduce("ReduceLogSumExp", graph.cast(self, graph.outs[0].dtype), _dims(dim), keepdim)


# -- deviations ---------------------------------------------------------------------------------------------------------


def variance(graph, self, dim=None, correction=None, keepdim=False):
    """The variance and the mean."""
    dims = _dims(dim)
    correction = 1 if correction is None else correction
    mean = graph.reduce("ReduceMean", self, dims, True)
    mean.shape = mean.shape or None
    apart = graph.op("Sub", self, mean)
    total = graph.reduce("ReduceSum", graph.op("Mul", apart, apart), dims, keepdim)
    number = count(graph, self, dims)
    if isinstance(number, Edge):
        number = graph.op("Sub", graph.cast(number, self.dtype), constant(correction, self.dtype))
        number = graph.op("Max", number, constant(0, self.dtype))
    else:
        number = constant(max(number - correction, 0), self.dtype)
    return graph.op("Div", total, number), mean if keepdim else graph.reduce("ReduceMean", self, dims, False)


def _deviation(name, root):
    def whole(graph, self, dim, unbiased, correction, keepdim):
        spread, mean = variance(graph, self, dim, correction if not unbiased or correction is not None else 1, keepdim)
        return graph.op("Sqrt", spread) if root else spread, mean

    def write(graph, self, dim=None, unbiased=None, correction=None, keepdim=False):
        return whole(graph, self, dim, unbiased, 0 if unbiased is False else correction, keepdim)[0]

    def both(graph, self, dim=None, unbiased=None, correction=None, keepdim=False):
        return list(whole(graph, self, dim, unbiased, 0 if unbiased is False else correction, keepdim))
    aten(name)(write)
    aten(name + "_mean")(both)


_deviation("var", False)
_deviation("std", True)


# -- norms --------------------------------------------------------------------------------------------------------------


@aten("linalg_vector_norm")
def vector_norm(graph, self, ord=2, dim=None, keepdim=False, dtype=None):
    """The norm of vectors of any order."""
    self, dims = graph.cast(self, graph.outs[0].dtype), _dims(dim)
    if ord in (1, 2):
        return graph.reduce(f"ReduceL{int(ord)}", self, dims, keepdim)
    size = graph.op("Abs", self)
    if ord in (float("inf"), float("-inf")):
        return graph.reduce("ReduceMax" if ord > 0 else "ReduceMin", size, dims, keepdim)
    if ord == 0:
        return graph.reduce("ReduceSum", graph.cast(truth(graph, self), self.dtype), dims, keepdim)
    total = graph.reduce("ReduceSum", graph.op("Pow", size, constant(ord, self.dtype)), dims, keepdim)
    return graph.op("Pow", total, constant(1 / ord, self.dtype))


@aten("linalg_norm")
def _linalg_norm(graph, self, ord=None, dim=None, keepdim=False, dtype=None):
    dims = _dims(dim)
    if ord is not None and (dims is None and self.rank != 1 or dims is not None and len(dims) != 1):
        raise Refused("a norm of matrices of this order")
    return vector_norm(graph, self, 2 if ord is None else ord, dim, keepdim)


@aten("cumsum")
def _cumsum(graph, self, dim, dtype=None):
    self = graph.cast(self, graph.outs[0].dtype)
    return self if self.rank == 0 else graph.op("CumSum", self, constant(dim, dtypes.int64))
