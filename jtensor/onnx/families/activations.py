"""Activations, and the softmax functions. Owns: how they are written as ONNX."""
import math

from ...base import dtypes
from ..table import Refused, aten
from ..writing import constant


def _plain(name, kind):
    def write(graph, self):
        return graph.op(kind, self)
    aten(name)(write)


for _name, _kind in {"relu": "Relu", "selu": "Selu"}.items():
    _plain(_name, _kind)


@aten("relu6")
def _relu6(graph, self):
    return _hardtanh(graph, self, 0, 6)


@aten("hardtanh")
def _hardtanh(graph, self, min_val=-1, max_val=1):
    return graph.op("Clip", self, constant(min_val, self.dtype), constant(max_val, self.dtype))


@aten("elu")
def _elu(graph, self, alpha=1):
    return graph.op("Elu", self, alpha=float(alpha))


@aten("celu")
def _celu(graph, self, alpha=1):
    scale = constant(alpha, self.dtype)
    low = graph.op("Mul", scale, graph.op("Elu", graph.op("Div", self, scale)))
    return graph.where(graph.op("Less", self, constant(0, self.dtype), dtype=dtypes.bool), low, self)


@aten("leaky_relu")
def _leaky_relu(graph, self, negative_slope=0.01):
    return graph.op("LeakyRelu", self, alpha=float(negative_slope))


@aten("rrelu")
def _rrelu(graph, self, lower=0.125, upper=1 / 3, training=False):
    if training:
        raise Refused("its slopes are random while training")
    return graph.op("LeakyRelu", self, alpha=float(lower + upper) / 2)


@aten("prelu")
def _prelu(graph, self, weight):
    if weight.shape != (1,) and weight.shape != () and self.rank > 2:
        weight = graph.reshape(weight, [-1, *[1] * (self.rank - 2)])
    return graph.op("PRelu", self, weight)


@aten("gelu")
def _gelu(graph, self, approximate="none"):
    if graph.opset >= 20:
        return graph.op("Gelu", self, approximate=approximate)

    def number(value):
        return constant(value, self.dtype)
    if approximate == "none":
        inner = graph.op("Erf", graph.op("Div", self, number(math.sqrt(2))))
    else:
        cube = graph.op("Mul", self, graph.op("Mul", self, self))
        inner = graph.op("Add", self, graph.op("Mul", cube, number(0.044715)))
        inner = graph.op("Tanh", graph.op("Mul", inner, number(math.sqrt(2 / math.pi))))
    return graph.op("Mul", graph.op("Mul", self, graph.op("Add", inner, number(1))), number(0.5))


@aten("silu")
def _silu(graph, self):
    return graph.op("Mul", self, graph.op("Sigmoid", self))


@aten("softplus")
def softplus(graph, self, beta=1, threshold=20):
    """log(1 + exp(beta x)) / beta; beyond the threshold that is x itself, but for the last digits."""
    if beta == 1:
        return graph.op("Softplus", self)
    return graph.op("Div", graph.op("Softplus", graph.op("Mul", self, constant(beta, self.dtype))), constant(beta, self.dtype))


@aten("mish")
def _mish(graph, self):
    return graph.op("Mul", self, graph.op("Tanh", softplus(graph, self)))


@aten("log_sigmoid")
def _log_sigmoid(graph, self):
    return graph.op("Neg", softplus(graph, graph.op("Neg", self)))


@aten("hardsigmoid")
def _hardsigmoid(graph, self):
    return graph.op("HardSigmoid", self, alpha=1 / 6, beta=0.5)


@aten("hardswish")
def _hardswish(graph, self):
    return graph.op("Mul", self, _hardsigmoid(graph, self))


@aten("hardshrink")
def _hardshrink(graph, self, lambd=0.5):
    return graph.op("Shrink", self, lambd=float(lambd), bias=0.0)


@aten("softshrink")
def _softshrink(graph, self, lambd=0.5):
    return graph.op("Shrink", self, lambd=float(lambd), bias=float(lambd))


@aten("threshold")
def _threshold(graph, self, threshold, value):
    above = graph.op("Greater", self, constant(threshold, self.dtype), dtype=dtypes.bool)
    return graph.where(above, self, constant(value, self.dtype))


@aten("glu")
def _glu(graph, self, dim=-1):
    half = graph.whole("Div", graph.size(self, dim), 2)
    gate = graph.op("Sigmoid", graph.slice(self, dim, half, (1 << 63) - 1))
    return graph.op("Mul", graph.slice(self, dim, 0, half), gate)


@aten("softmax")
def _softmax(graph, self, dim, dtype=None):
    return graph.op("Softmax", graph.cast(self, graph.outs[0].dtype), axis=dim)


@aten("log_softmax")
def _log_softmax(graph, self, dim, dtype=None):
    return graph.op("LogSoftmax", graph.cast(self, graph.outs[0].dtype), axis=dim)


@aten("dropout", "feature_dropout")
def _dropout(graph, input, p, train):
    if not train or p == 0:
        return input
    return graph.op("Dropout", input, constant(p, dtypes.float32), constant(True, dtypes.bool))


@aten("alpha_dropout", "feature_alpha_dropout")
def _alpha_dropout(graph, input, p, train):
    if train:
        raise Refused("it is random while training")
    return input
