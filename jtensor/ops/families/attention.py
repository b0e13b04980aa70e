"""Scaled dot product attention as one operator, as PyTorch's CPU kernel has it: the weights are not kept but worked out again backward.

Owns: the operator; which calls take it is decided in `nn.functional`. Narrow floats are computed in float32. May not know: tensors.
"""
import math

import jax.numpy as jnp

from ..operator import OptTensor, Tensor, op
from ..quirks import Quirks
from .contracting import contract
from .numeric import NARROW

_BATCH = ((0, 1), (0, 1))


def _wide(x):
    return x.astype(jnp.float32) if x.dtype in NARROW else x


def _scores(query, key, attn_mask, is_causal, scale):
    """``query @ key^T * scale`` with what may not be seen at minus infinity."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = contract(_wide(query), _wide(key), ((3,), (3,)), _BATCH) * jnp.asarray(factor).astype(_wide(query).dtype)
    if attn_mask is not None:
        scores = jnp.where(attn_mask, scores, -jnp.inf) if attn_mask.dtype == jnp.bool_ else scores + attn_mask.astype(scores.dtype)
    if is_causal:
        scores = jnp.where(jnp.arange(query.shape[2])[:, None] >= jnp.arange(key.shape[2]), scores, -jnp.inf)
    return scores


def _weights(scores, logsumexp):
    """The softmax; zeros in a row that may look nowhere."""
    return jnp.where(jnp.isneginf(logsumexp), 0, jnp.exp(scores - jnp.where(jnp.isneginf(logsumexp), 0, logsumexp)))


def _backward(grads, query, key, value, attn_mask, result0, result1, is_causal, scale):
    g, factor = _wide(grads[0]), 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    weights = _weights(_scores(query, key, attn_mask, is_causal, scale), result1[..., None].astype(g.dtype))
    inner = contract(g, _wide(value), ((3,), (3,)), _BATCH)
    away = (g * _wide(result0)).sum(-1, keepdims=True)
    return g, weights, weights * (inner - away) * jnp.asarray(factor).astype(g.dtype)


def _query(grads, query, key, value, attn_mask, result0, result1, is_causal, scale):
    slope = _backward(grads, query, key, value, attn_mask, result0, result1, is_causal, scale)[2]
    return contract(slope, _wide(key), ((3,), (2,)), _BATCH)


def _key(grads, query, key, value, attn_mask, result0, result1, is_causal, scale):
    slope = _backward(grads, query, key, value, attn_mask, result0, result1, is_causal, scale)[2]
    return contract(slope, _wide(query), ((2,), (2,)), _BATCH)


def _value(grads, query, key, value, attn_mask, result0, result1, is_causal, scale):
    g, weights, _ = _backward(grads, query, key, value, attn_mask, result0, result1, is_causal, scale)
    return contract(weights, g, ((2,), (2,)), _BATCH)


@op(name="_scaled_dot_product_flash_attention_for_cpu", backward="ScaledDotProductFlashAttentionForCpuBackward0", function=False,
    method=False, layout="like", nondiff=("attn_mask", 1), grad={"query": _query, "key": _key, "value": _value},
    quirks=Quirks(no_derivative="aten::_scaled_dot_product_flash_attention_for_cpu_backward"))
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: OptTensor, is_causal, scale):
    """(the attention's result, which lies as the query does, the logarithm of each row's sum) for ``(N, H, L, E)``, ``(N, H, S, E)``,
    ``(N, H, S, E)``."""
    scores = _scores(query, key, attn_mask, is_causal, scale)
    most = scores.max(-1, keepdims=True)
    most = jnp.where(jnp.isneginf(most), 0, most)
    grown = jnp.exp(scores - most)
    total = grown.sum(-1, keepdims=True)
    # PyTorch's kernel multiplies the unnormalised weights, rounded to the inputs' type, and divides in the end.
    out = contract(grown.astype(value.dtype), value, ((3,), (2,)), _BATCH, keep_wide=True)
    out = jnp.where(total == 0, 0, out / jnp.where(total == 0, 1, total))
    return out.astype(query.dtype), (jnp.log(total) + most)[..., 0]
