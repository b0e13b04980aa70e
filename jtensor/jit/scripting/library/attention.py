"""Attention and transformers in the language of TorchScript: functions, and layers that call them.

Owns: these programs, which compute part by part what PyTorch's have a kernel for, too. May not know: how they are compiled.
"""
# ruff: noqa: UP006, UP032, UP035, UP045 - written in the language's own words
from typing import List, Optional, Tuple

import jtensor as torch
from jtensor.nn import functional as F

from ....tensor.core import Tensor


def _none_or_dtype(input: Optional[Tensor]) -> Optional[int]:
    if input is None:
        return None
    return input.dtype


def _canonical_mask(mask: Optional[Tensor], mask_name: str, other_type: Optional[int], other_name: str, target_type: int,
                    check_other: bool = True) -> Optional[Tensor]:
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    assert is_float or mask.dtype == torch.bool, "only bool and floating types of {} are supported".format(mask_name)
    if check_other and other_type is not None and other_type != mask.dtype:
        torch.ops.aten.warn("Support for mismatched {} and {} is deprecated. Use same type for both instead.".format(mask_name, other_name))
    if is_float:
        return mask
    return torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _dims_checked(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor], attn_mask: Optional[Tensor],
                  num_heads: int) -> bool:
    dims = query.dim()
    assert dims == 2 or dims == 3, "query should be unbatched 2D or batched 3D tensor but received {}-D query tensor".format(dims)
    kind = "For {} ({}-D) `query`, expected".format("batched" if dims == 3 else "unbatched", dims)
    assert key.dim() == dims and value.dim() == dims, (
        "{} `key` and `value` to be {}-D but found {}-D and {}-D tensors respectively".format(kind, dims, key.dim(), value.dim()))
    if key_padding_mask is not None:
        assert key_padding_mask.dim() == dims - 1, (
            "{} `key_padding_mask` to be `None` or {}-D but found {}-D tensor instead".format(kind, dims - 1, key_padding_mask.dim()))
    if attn_mask is not None:
        assert attn_mask.dim() in [2, 3], (
            "{} `attn_mask` to be `None`, 2-D or 3-D but found {}-D tensor instead".format(kind, attn_mask.dim()))
        if dims == 2 and attn_mask.dim() == 3:
            expected = [num_heads, query.size(0), key.size(0)]
            assert attn_mask.size() == expected, "Expected `attn_mask` shape to be {} but got {}".format(
                (num_heads, query.size(0), key.size(0)), attn_mask.size())
    return dims == 3


def _together(x: Tensor, weight: Tensor, bias: Optional[Tensor], n: int, size: int) -> Tensor:
    return F.linear(x, weight, bias).unflatten(-1, [n, size]).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Optional[Tensor] = None) -> List[Tensor]:
    size = q.size(-1)
    if k is v and q is k:
        made = _together(q, w, b, 3, size)
        return [made[0], made[1], made[2]]
    w_q, w_k, w_v = w.chunk(3)
    b_q: Optional[Tensor] = None
    b_k: Optional[Tensor] = None
    b_v: Optional[Tensor] = None
    if b is not None:
        b_q, b_k, b_v = b.chunk(3)
    return [F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)]


def _in_projection(q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, b: Optional[Tensor]) -> List[Tensor]:
    size = q.size(-1)
    assert w_q.size() == [size, size], "expecting query weights shape of {}, but got {}".format((size, size), w_q.size())
    assert w_k.size() == [size, k.size(-1)], "expecting key weights shape of {}, but got {}".format((size, k.size(-1)), w_k.size())
    assert w_v.size() == [size, v.size(-1)], "expecting value weights shape of {}, but got {}".format((size, v.size(-1)), w_v.size())
    if b is None:
        return [F.linear(q, w_q), F.linear(k, w_k), F.linear(v, w_v)]
    b_q, b_k, b_v = b.chunk(3)
    return [F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)]


def _mask_of_heads(attn_mask: Optional[Tensor], tgt_len: int, src_len: int, heads: int) -> Optional[Tensor]:
    if attn_mask is None:
        return None
    if attn_mask.dim() == 2:
        if attn_mask.size() != [tgt_len, src_len]:
            raise RuntimeError("The shape of the 2D attn_mask is {}, but should be {}.".format(attn_mask.size(), (tgt_len, src_len)))
        return attn_mask.unsqueeze(0)
    if attn_mask.size() != [heads, tgt_len, src_len]:
        raise RuntimeError("The shape of the 3D attn_mask is {}, but should be {}.".format(attn_mask.size(), (heads, tgt_len, src_len)))
    return attn_mask


def _longer(mask: Optional[Tensor]) -> Optional[Tensor]:
    return None if mask is None else F.pad(mask, [0, 1])


def _both_masks(attn_mask: Optional[Tensor], key_padding_mask: Optional[Tensor], bsz: int, num_heads: int,
                src_len: int) -> Optional[Tensor]:
    if key_padding_mask is None:
        return attn_mask
    assert key_padding_mask.size(0) == bsz, "Expected key_padded_mask.shape[0] to be {}, but got {}".format(bsz, key_padding_mask.size(0))
    assert key_padding_mask.size(1) == src_len, "Expected key_padded_mask.shape[1] to be {}, but got {}".format(
        src_len, key_padding_mask.size(1))
    padding = key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1).reshape(bsz * num_heads, 1, src_len)
    return padding if attn_mask is None else attn_mask + padding


def _in_heads(x: Tensor, static: Optional[Tensor], name: str, heads: int, head_dim: int) -> Tensor:
    if static is None:
        return x.view(x.size(0), heads, head_dim).transpose(0, 1)
    assert static.size(0) == heads, "expecting {}.size(0) of {}, but got {}".format(name, heads, static.size(0))
    assert static.size(2) == head_dim, "expecting {}.size(2) of {}, but got {}".format(name, head_dim, static.size(2))
    return static


def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Optional[Tensor],
        in_proj_bias: Optional[Tensor], bias_k: Optional[Tensor], bias_v: Optional[Tensor], add_zero_attn: bool, dropout_p: float,
        out_proj_weight: Tensor, out_proj_bias: Optional[Tensor], training: bool = True, key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True, attn_mask: Optional[Tensor] = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Optional[Tensor] = None, k_proj_weight: Optional[Tensor] = None, v_proj_weight: Optional[Tensor] = None,
        static_k: Optional[Tensor] = None, static_v: Optional[Tensor] = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
    is_batched = _dims_checked(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.size()
    src_len = key.size(0)
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                           "`generate_square_subsequent_mask` to create this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if key_padding_mask is not None:
            is_causal = False
    assert embed_dim == embed_dim_to_check, "was expecting embedding dimension of {}, but got {}".format(embed_dim_to_check, embed_dim)
    head_dim, heads = embed_dim // num_heads, bsz * num_heads
    assert head_dim * num_heads == embed_dim, "embed_dim {} not divisible by num_heads {}".format(embed_dim, num_heads)
    if use_separate_proj_weight:
        assert key.size()[:2] == value.size()[:2], "key's sequence and batch dims {} do not match value's {}".format(
            key.size()[:2], value.size()[:2])
        assert q_proj_weight is not None, "use_separate_proj_weight is True but q_proj_weight is None"
        assert k_proj_weight is not None, "use_separate_proj_weight is True but k_proj_weight is None"
        assert v_proj_weight is not None, "use_separate_proj_weight is True but v_proj_weight is None"
        q, k, v = _in_projection(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias)
    else:
        assert key.size() == value.size(), "key shape {} does not match value shape {}".format(key.size(), value.size())
        assert in_proj_weight is not None, "use_separate_proj_weight is False but in_proj_weight is None"
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _mask_of_heads(attn_mask, tgt_len, src_len, heads)
    if bias_k is not None and bias_v is not None:
        assert static_k is None, "bias cannot be added to static key."
        assert static_v is None, "bias cannot be added to static value."
        k, v = torch.cat([k, bias_k.repeat(1, bsz, 1)]), torch.cat([v, bias_v.repeat(1, bsz, 1)])
        attn_mask, key_padding_mask = _longer(attn_mask), _longer(key_padding_mask)
    else:
        assert bias_k is None, "bias_k is set but bias_v is None"
        assert bias_v is None, "bias_v is set but bias_k is None"
    q = q.view(tgt_len, heads, head_dim).transpose(0, 1)
    k, v = _in_heads(k, static_k, "static_k", heads, head_dim), _in_heads(v, static_v, "static_v", heads, head_dim)
    if add_zero_attn:
        zeros = torch.zeros([heads, 1, head_dim], dtype=k.dtype, device=k.device)
        k, v = torch.cat([k, zeros], dim=1), torch.cat([v, zeros], dim=1)
        attn_mask, key_padding_mask = _longer(attn_mask), _longer(key_padding_mask)
    src_len = k.size(1)
    mask = _both_masks(attn_mask, key_padding_mask, bsz, num_heads, src_len)
    if not training:
        dropout_p = 0.0
    if not need_weights:
        if mask is not None:
            mask = mask.unsqueeze(0) if mask.size(0) == 1 and mask.dim() == 3 else mask.view(bsz, num_heads, -1, src_len)
        out = torch.ops.aten.scaled_dot_product_attention(
            q.view(bsz, num_heads, tgt_len, head_dim), k.view(bsz, num_heads, src_len, head_dim),
            v.view(bsz, num_heads, src_len, head_dim), mask, dropout_p, is_causal)
        out = F.linear(out.permute(2, 0, 1, 3).reshape(bsz * tgt_len, embed_dim), out_proj_weight, out_proj_bias)
        out = out.view(tgt_len, bsz, out.size(1))
        return (out if is_batched else out.squeeze(1)), None
    scaled = q * (1.0 / float(head_dim)) ** 0.5
    keys = k.transpose(-2, -1)
    assert not (is_causal and mask is None), "FIXME: is_causal not implemented for need_weights"
    scores = torch.bmm(scaled, keys) if mask is None else torch.baddbmm(mask, scaled, keys)
    weights = F.softmax(scores, dim=-1)
    if dropout_p > 0.0:
        weights = F.dropout(weights, p=dropout_p)
    out = torch.bmm(weights, v).transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
    out = F.linear(out, out_proj_weight, out_proj_bias)
    out = out.view(tgt_len, bsz, out.size(1))
    weights = weights.view(bsz, num_heads, tgt_len, src_len)
    if average_attn_weights:
        weights = weights.mean(dim=1)
    return (out, weights) if is_batched else (out.squeeze(1), weights.squeeze(0))


class NonDynamicallyQuantizableLinear:
    """A matrix and a bias."""

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)


class MultiheadAttention:
    """Attention in several subspaces."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None, need_weights: bool = True,
                attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
        is_batched = query.dim() == 3
        key_padding_mask = F._canonical_mask(key_padding_mask, "key_padding_mask", F._none_or_dtype(attn_mask), "attn_mask", query.dtype)
        attn_mask = F._canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        if self.batch_first and is_batched:
            if key is value and query is key:
                query = query.transpose(1, 0)
                key = value = query
            elif key is value:
                query, key = query.transpose(1, 0), key.transpose(1, 0)
                value = key
            else:
                query, key, value = query.transpose(1, 0), key.transpose(1, 0), value.transpose(1, 0)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight, k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal)
        if self.batch_first and is_batched:
            return output.transpose(1, 0), weights
        return output, weights
