"""Normalization. Owns: how it is written as ONNX."""
import numpy as np

import jtensor

from ...base import dtypes
from ..table import Refused, aten, fixed, static
from ..writing import constant


def _ones(edge, count, like):
    return edge if edge is not None else constant([1] * count, like)


def _zeros(edge, count, like):
    return edge if edge is not None else constant([0] * count, like)


@aten("batch_norm")
def _batch_norm(graph, input, weight, bias, running_mean, running_var, training, momentum, eps):
    count = static(input, 1)
    weight, bias = _ones(weight, count, input.dtype), _zeros(bias, count, input.dtype)
    mean, var = _zeros(running_mean, count, input.dtype), _ones(running_var, count, input.dtype)
    if not training:
        return graph.op("BatchNormalization", input, weight, bias, mean, var, epsilon=eps)
    if graph.opset < 14:
        raise Refused("while training", 14)
    return graph.op("BatchNormalization", input, weight, bias, mean, var, outputs=3, dtype=input.dtype, epsilon=eps,
                    momentum=1 - (0.1 if momentum is None else momentum), training_mode=1)[0]


@aten("instance_norm")
def _instance_norm(graph, input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps):
    count = static(input, 1)
    weight, bias = _ones(weight, count, input.dtype), _zeros(bias, count, input.dtype)
    if use_input_stats:
        return graph.op("InstanceNormalization", input, weight, bias, epsilon=eps)
    return graph.op("BatchNormalization", input, weight, bias, running_mean, running_var, epsilon=eps)


@aten("layer_norm")
def _layer_norm(graph, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    fixed(normalized_shape)
    last = len(normalized_shape)
    if graph.opset >= 17:
        weight = weight if weight is not None else _filled(normalized_shape, input.dtype)
        return graph.op("LayerNormalization", input, weight, *([] if bias is None else [bias]), axis=-last, epsilon=eps)
    dims = [*range(-last, 0)]
    apart = graph.op("Sub", input, graph.reduce("ReduceMean", input, dims, True))
    spread = graph.reduce("ReduceMean", graph.op("Mul", apart, apart), dims, True)
    made = graph.op("Div", apart, graph.op("Sqrt", graph.op("Add", spread, constant(eps, input.dtype))))
    return _shifted(graph, made, weight, bias)


def _filled(shape, dtype):
    return constant(np.ones(shape), dtype)


def _shifted(graph, made, weight, bias):
    if weight is not None:
        made = graph.op("Mul", made, weight)
    return made if bias is None else graph.op("Add", made, bias)


@aten("group_norm")
def _group_norm(graph, input, num_groups, weight=None, bias=None, eps=1e-5):
    ones = constant([1] * num_groups, input.dtype)
    grouped = graph.op("Reshape", input, constant([0, num_groups, -1], dtypes.int64))
    made = graph.op("InstanceNormalization", grouped, ones, constant([0] * num_groups, input.dtype), epsilon=eps)
    made = graph.op("Reshape", made, graph.shape(input))
    behind = [-1, *[1] * (input.rank - 2)]
    return _shifted(graph, made, *[None if one is None else graph.reshape(one, behind) for one in (weight, bias)])


@aten("rms_norm")
def _rms_norm(graph, input, normalized_shape, weight=None, eps=None):
    fixed(normalized_shape)
    dims = [*range(-len(normalized_shape), 0)]
    eps = jtensor.finfo(input.dtype).eps if eps is None else eps
    mean = graph.reduce("ReduceMean", graph.op("Mul", input, input), dims, True)
    made = graph.op("Div", input, graph.op("Sqrt", graph.op("Add", mean, constant(eps, input.dtype))))
    return _shifted(graph, made, weight, None)
