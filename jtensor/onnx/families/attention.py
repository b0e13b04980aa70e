"""Attention. Owns: how it is written as ONNX."""
import math

from ...base import dtypes
from ..table import Refused, aten, since, static
from ..writing import constant


@aten("scaled_dot_product_attention")
def _attention(graph, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p:
        raise Refused("with dropout")
    if enable_gqa:
        times = static(query, -3) // static(key, -3)
        key, value = [_repeated(graph, one, times) for one in (key, value)]
    scale = 1 / math.sqrt(static(query, -1)) if scale is None else scale
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    scores = graph.op("MatMul", graph.op("Mul", query, graph.number(scale, query.dtype)), graph.transpose(key, order))
    low = constant(-math.inf, query.dtype)
    if is_causal:
        since(graph, 14)
        sizes = graph.vector([graph.size(query, -2), graph.size(key, -2)])
        ones = graph.op("ConstantOfShape", sizes, dtype=dtypes.bool, value=constant([True], dtypes.bool))
        attn_mask = graph.op("Trilu", ones, upper=0)
    if attn_mask is not None and attn_mask.dtype is dtypes.bool:
        scores = graph.where(attn_mask, scores, low)
    elif attn_mask is not None:
        scores = graph.op("Add", scores, attn_mask)
    weights = graph.op("Softmax", scores, axis=-1)
    if attn_mask is not None:                                     # where nothing may be attended to, nothing comes
        weights = graph.where(graph.op("IsNaN", weights, dtype=dtypes.bool), constant(0, query.dtype), weights)
    return graph.op("MatMul", weights, value)


def _repeated(graph, edge, times):
    *front, heads, length, width = graph.sizes(edge)
    made = graph.op("Tile", graph.unsqueeze(edge, -3), graph.vector([1] * (edge.rank - 2) + [times, 1, 1]))
    return graph.reshape(made, [*front, graph.whole("Mul", heads, times), length, width])
