"""Tensors that are made: what is made of constants is a constant, so that these are those with sizes that are known when the model runs,
and random ones. Owns: how they are written as ONNX."""
import numpy as np

from ...base import dtypes
from ..table import Refused, aten
from ..writing import Edge, constant


def _filled(graph, shape, value):
    dtype = graph.outs[0].dtype
    if isinstance(value, Edge):
        return graph.op("Expand", graph.number(value, dtype), shape)
    return graph.op("ConstantOfShape", shape, dtype=dtype, value=constant([value], dtype))


def _factory(name, value):
    def write(graph, size, dtype=None):
        return _filled(graph, graph.vector(size), value)

    def like(graph, self, dtype=None):
        return _filled(graph, graph.shape(self), value)

    def new(graph, self, size, dtype=None):
        return _filled(graph, graph.vector(size), value)
    aten(name)(write)
    aten(name + "_like")(like)
    aten("new_" + name)(new)


_factory("zeros", 0)
_factory("ones", 1)
_factory("empty", 0)


@aten("full")
def _full(graph, size, fill_value, dtype=None):
    return _filled(graph, graph.vector(size), fill_value)


@aten("full_like")
def _full_like(graph, self, fill_value, dtype=None):
    return _filled(graph, graph.shape(self), fill_value)


@aten("new_full")
def _new_full(graph, self, size, fill_value, dtype=None):
    return _filled(graph, graph.vector(size), fill_value)


@aten("scalar_tensor")
def _scalar_tensor(graph, s, dtype=None):
    return graph.number(s, graph.outs[0].dtype)


@aten("arange")
def _arange(graph, first, end=None, step=1, start=None, dtype=None):
    """``first`` is the end, or the start where there is an end."""
    dtype = graph.outs[0].dtype
    start, end = (0, first) if end is None else (first, end)
    kind = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32 if dtype.is_floating_point else dtypes.int64
    return graph.op("Range", *[graph.number(one, kind) for one in (start, end, step)])


@aten("linspace")
def _linspace(graph, start, end, steps, dtype=None):
    dtype = graph.outs[0].dtype
    start, end = graph.number(start, dtype), graph.number(end, dtype)
    steps = graph.number(steps, dtypes.int64)
    places = graph.cast(graph.op("Range", constant(0, dtypes.int64), steps, constant(1, dtypes.int64)), dtype)
    last = graph.op("Max", graph.op("Sub", graph.cast(steps, dtype), constant(1, dtype)), constant(1, dtype))
    return graph.op("Add", start, graph.op("Mul", places, graph.op("Div", graph.op("Sub", end, start), last)))


@aten("eye")
def _eye(graph, n, m=None, dtype=None):
    zeros = graph.op("ConstantOfShape", graph.vector([n, n if m is None else m]), dtype=graph.outs[0].dtype,
                     value=constant([0], graph.outs[0].dtype))
    return graph.op("EyeLike", zeros)


# -- random numbers -----------------------------------------------------------------------------------------------------


def _random(name, kind):
    """What is drawn when the model runs: other numbers than here."""
    def like(graph, self, dtype=None):
        return graph.op(kind + "Like", graph.cast(self, graph.outs[0].dtype))

    def write(graph, size, dtype=None):
        return graph.op(kind + "Like", _filled(graph, graph.vector(size), 0))
    aten(name)(write)
    aten(name + "_like")(like)


_random("rand", "RandomUniform")
_random("randn", "RandomNormal")


@aten("bernoulli")
def _bernoulli(graph, self, p=None):
    drawn = graph.op("RandomUniformLike", self)                   # ONNX has a Bernoulli, which ONNX Runtime draws the wrong way round
    return graph.op("Less", drawn, self if p is None else constant(p, self.dtype), dtype=dtypes.bool)


@aten("one_hot")
def _one_hot(graph, self, num_classes=-1):
    if not isinstance(num_classes, Edge) and num_classes < 0:
        raise Refused("how many classes there are depends on the values")
    return graph.op("OneHot", self, graph.number(num_classes, dtypes.int64), constant(np.array([0, 1]), dtypes.int64))
