"""Attention: scaled dot products, and the whole of MultiheadAttention's forward pass."""
import math

import jtensor

from ...base import sites
from ...base.naming import type_name
from ...tensor import raw
from .. import functional as F  # public functions, which modes are told of
from ..attention import chosen
from .activation import softmax
from .dropout import dropout

__all__ = ["scaled_dot_product_attention", "multi_head_attention_forward"]

_TYPE_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long int",
               "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
               "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def _type_name(t):
    return _TYPE_NAMES.get(str(t.dtype).partition(".")[2], str(t.dtype))


def _check_attention(query, key, value, attn_mask, is_causal):
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError("Expected query, key, and value to have the same dtype, but got query.dtype: "
                           f"{_type_name(query)} key.dtype: {_type_name(key)} and value.dtype: {_type_name(value)} instead.")
    if query.device != key.device or query.device != value.device:
        raise RuntimeError("Expected query, key, and value to have the same device type, but got query.device: "
                           f"{query.device} key.device: {key.device} and value.device: {value.device} instead.")
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
                           f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead.")
    if is_causal is not False and is_causal is not True:
        raise TypeError(f"scaled_dot_product_attention(): argument 'is_causal' must be bool, not {type_name(type(is_causal))}")
    if attn_mask is None:
        return
    if attn_mask.dtype not in (jtensor.bool, jtensor.float32, query.dtype):
        raise RuntimeError("Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                           f"{_type_name(attn_mask)} and  query.dtype: {_type_name(query)} instead.")


def _heads_shared(query, key, value):
    """Keys and values, each head as often as several query heads share it."""
    heads = query.size(-3)
    if heads % key.size(-3) or heads % value.size(-3):
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return [t.repeat_interleave(heads // t.size(-3), -3) for t in (key, value)]


def _fits(mask, query, key):
    """Whether PyTorch's kernel takes a mask of that shape: of all heads in one, or of each."""
    for dim, whole in ((-2, query.size(-2)), (-1, key.size(-2))):
        if mask.size(dim) not in (1, whole):
            return False
    return mask.dim() == 2 or mask.dim() == 4 and mask.size(0) in (1, query.size(0)) and mask.size(1) in (1, query.size(1))


def _takes_one_operator(query, key, value, attn_mask, dropout_p, is_causal):
    """Whether the whole attention is one operator, as PyTorch decides it on a CPU: batches of heads of one width, whose numbers lie
    side by side, no dropout."""
    if dropout_p > 0.0 or not query.dim() == key.dim() == value.dim() == 4 or attn_mask is not None and attn_mask.requires_grad:
        return False
    if not query.size(-1) == key.size(-1) == value.size(-1) or not query.numel() or not key.numel():
        return False
    if not query.stride(-1) == key.stride(-1) == value.stride(-1) == 1 or key.size(-2) < value.size(-2):
        return False
    if not query.is_floating_point() or not tuple(query.shape[:2]) == tuple(key.shape[:2]) == tuple(value.shape[:2]):
        return False
    return attn_mask is None or _fits(attn_mask, query, key) and attn_mask.dtype in (jtensor.bool, query.dtype)


def _in_one(query, key, value, attn_mask, is_causal, scale):
    """The one operator, which goes through as many keys as there are values."""
    seen = value.size(-2)
    if key.size(-2) > seen:
        key = key[..., :seen, :]
        if attn_mask is not None:
            attn_mask = attn_mask.view(*[1] * (4 - attn_mask.dim()), *attn_mask.shape)
            attn_mask = attn_mask.expand(*attn_mask.shape[:2], query.size(-2), seen)
    return raw._scaled_dot_product_flash_attention_for_cpu(query, key, value, attn_mask, is_causal, scale)[0]


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
                                 enable_gqa=False):
    """``softmax(query @ key.T * scale + mask) @ value``: ``(*, L, E)``, ``(*, S, E)``, ``(*, S, V)`` to ``(*, L, V)``.

    ``attn_mask``: booleans (True: look there) or numbers that are added to the scores; ``is_causal``: nobody looks ahead;
    ``scale``: by default ``1 / sqrt(E)``; ``enable_gqa``: several query heads share one of key and value.
    A row that may look nowhere comes out as zeros. `nn.attention.sdpa_kernel` says how it may be computed.

    >>> import jtensor as torch
    >>> torch.nn.functional.scaled_dot_product_attention(torch.zeros(2, 4, 5, 8), torch.zeros(2, 4, 7, 8), torch.zeros(2, 4, 7, 6)).shape
    torch.Size([2, 4, 5, 6])
    """
    _check_attention(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = _heads_shared(query, key, value)
    if chosen(_takes_one_operator(query, key, value, attn_mask, dropout_p, is_causal)):
        return _in_one(query, key, value, attn_mask, bool(is_causal), scale)
    if attn_mask is not None and is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if query.dtype in (jtensor.float16, jtensor.bfloat16):
        # PyTorch works narrow floats out in float32 and rounds once.
        if attn_mask is not None and attn_mask.is_floating_point():
            attn_mask = attn_mask.float()
        wide = (t.to(jtensor.float32) for t in (query, key, value))
        return scaled_dot_product_attention(*wide, attn_mask, dropout_p, is_causal, scale=scale).to(query.dtype)
    if is_causal:
        attn_mask = jtensor.ones(query.size(-2), key.size(-2), dtype=jtensor.bool, device=query.device).tril()
    width = query.size(-1)
    factor = scale if scale is not None else 1.0 / math.sqrt(width) if width else math.inf
    # Half of the scale to either side keeps low precision products in range.
    root = math.sqrt(abs(factor))
    scores = (query * (-root if factor < 0 else root)).matmul(key.transpose(-2, -1) * root)
    if attn_mask is not None:
        if attn_mask.dtype == jtensor.bool:
            attn_mask = jtensor.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(attn_mask.logical_not(), -math.inf)
        scores.add_(attn_mask)                          # in place, as in PyTorch: a mask makes no batch larger
    weights = raw._safe_softmax(scores, -1)
    if dropout_p > 0.0:
        weights = jtensor.dropout(weights, dropout_p, True)
    return weights.matmul(value)


# ------------------------------------------------------------------------------------------------------------------- masks

def _none_or_dtype(input):
    if input is None:
        return None
    if isinstance(input, jtensor.Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers that are added to scores: True becomes minus infinity."""
    if mask is None:
        return None
    if mask.dtype != jtensor.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        sites.warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    if mask.is_floating_point():
        return mask
    return jtensor.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether there is a batch; AssertionError where the numbers of dimensions do not go together."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    kind = f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`, expected"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(f"{kind} `key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D tensors "
                             "respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(f"{kind} `key_padding_mask` to be `None` or {dims - 1}-D but found {key_padding_mask.dim()}-D tensor "
                             "instead")
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(f"{kind} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead")
        expected = (num_heads, query.shape[0], key.shape[0])
        if dims == 2 and attn_mask.dim() == 3 and attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return dims == 3


def _shaped_mask(attn_mask, targets, sources, heads):
    """An attention mask with a dimension for heads (of size one, or one for each head of each sample)."""
    if attn_mask is None:
        return None
    if attn_mask.dim() == 2:
        if attn_mask.shape != (targets, sources):
            raise RuntimeError(f"The shape of the 2D attn_mask is {attn_mask.shape}, but should be {(targets, sources)}.")
        return attn_mask.unsqueeze(0)
    if attn_mask.dim() == 3:
        if attn_mask.shape != (heads, targets, sources):
            raise RuntimeError(f"The shape of the 3D attn_mask is {attn_mask.shape}, but should be {(heads, targets, sources)}.")
        return attn_mask
    raise RuntimeError(f"attn_mask's dimension {attn_mask.dim()} is not supported")


# ------------------------------------------------------------------------------------------------------------- projections

def _in_projection_packed(q, k, v, w, b=None):
    """Three projections by one matrix; inputs that are one and the same tensor are projected together."""
    size = q.size(-1)

    def together(x, weight, bias, n):
        many = F.linear(x, weight, bias).unflatten(-1, (n, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return tuple(many[i] for i in range(n))

    if k is v and q is k:
        return together(q, w, b, 3)
    if k is v:
        weights = w.split([size, 2 * size])
        biases = (None, None) if b is None else b.split([size, 2 * size])
        return F.linear(q, weights[0], biases[0]), *together(k, weights[1], biases[1], 2)
    weights, biases = w.chunk(3), (None,) * 3 if b is None else b.chunk(3)
    return tuple(F.linear(x, weight, bias) for x, weight, bias in zip((q, k, v), weights, biases))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    """Query, key and value, each through a linear layer of its own; AssertionError for weights and biases of other shapes."""
    size, given = q.size(-1), (("query", q, w_q, b_q), ("key", k, w_k, b_k), ("value", v, w_v, b_v))
    for name, x, weight, _ in given:
        if weight.shape != (size, x.size(-1)):
            raise AssertionError(f"expecting {name} weights shape of {(size, x.size(-1))}, but got {weight.shape}")
    for name, _, _, bias in given:
        if bias is not None and bias.shape != (size,):
            raise AssertionError(f"expecting {name} bias shape of {(size,)}, but got {bias.shape}")
    return tuple([F.linear(x, weight, bias) for _, x, weight, bias in given])


def _project(query, key, value, in_weight, in_bias, separate, weights):
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
        for name, weight in zip("qkv", weights):
            if weight is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        return _in_projection(query, key, value, *weights, *(() if in_bias is None else in_bias.chunk(3)))
    if key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if in_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    return _in_projection_packed(query, key, value, in_weight, in_bias)


def _in_heads(x, static, name, heads, head_dim):
    """``(length, batch, features)`` as ``(batch * heads, length, head_dim)``, or a static tensor of that form."""
    if static is None:
        return x.view(x.shape[0], heads, head_dim).transpose(0, 1)
    for dim, wanted in ((0, heads), (2, head_dim)):
        if static.size(dim) != wanted:
            raise AssertionError(f"expecting {name}.size({dim}) of {wanted}, but got {static.size(dim)}")
    return static


def _attend_with_weights(q, k, v, mask, dropout_p):
    scaled = q * math.sqrt(1.0 / float(q.size(-1)))
    if mask is None:
        scores = jtensor.bmm(scaled, k.transpose(-2, -1))
    else:
        scores = jtensor.baddbmm(mask, scaled, k.transpose(-2, -1))
    weights = softmax(scores, dim=-1)
    if dropout_p > 0.0:
        weights = dropout(weights, p=dropout_p)
    return jtensor.bmm(weights, v), weights


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
                                 add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
                                 need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
                                 k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True,
                                 is_causal=False):
    """What ``nn.MultiheadAttention`` computes, all its parameters given: ``(L, N, E)``, ``(S, N, E)``, ``(S, N, E)``.

    Answers with the output ``(L, N, E)`` and the attention weights, or None for these.
    """
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)       # no longer one, and projected each by itself
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    targets, batch, embed_dim = query.shape
    sources = key.shape[0]
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                           "`generate_square_subsequent_mask` to create this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint alone will do
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim, heads = embed_dim // num_heads, batch * num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias, use_separate_proj_weight,
                       (q_proj_weight, k_proj_weight, v_proj_weight))
    masks = [_shaped_mask(attn_mask, targets, sources, heads), key_padding_mask]

    def longer_masks():
        masks[:] = [None if mask is None else F.pad(mask, (0, 1)) for mask in masks]

    if (bias_k is None) != (bias_v is None):
        present, absent = ("bias_v", "bias_k") if bias_k is None else ("bias_k", "bias_v")
        raise AssertionError(f"{present} is set but {absent} is None")
    if bias_k is not None:
        for name, static in (("key", static_k), ("value", static_v)):
            if static is not None:
                raise AssertionError(f"bias cannot be added to static {name}.")
        k, v = jtensor.cat([k, bias_k.repeat(1, batch, 1)]), jtensor.cat([v, bias_v.repeat(1, batch, 1)])
        longer_masks()
    q = q.view(targets, heads, head_dim).transpose(0, 1)
    k, v = _in_heads(k, static_k, "static_k", heads, head_dim), _in_heads(v, static_v, "static_v", heads, head_dim)
    if add_zero_attn:
        zeros = jtensor.zeros((heads, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = jtensor.cat([k, zeros], dim=1), jtensor.cat([v, zeros], dim=1)
        longer_masks()
    sources = k.size(1)
    mask = _merged(*masks, batch, num_heads, sources)
    dropout_p = dropout_p if training else 0.0

    if not need_weights:
        if mask is not None:
            mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.view(batch, num_heads, -1, sources)
        q, k, v = (x.view(batch, num_heads, x.size(1), head_dim) for x in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
        out = F.linear(out.permute(2, 0, 1, 3).reshape(batch * targets, embed_dim), out_proj_weight, out_proj_bias)
        out = out.view(targets, batch, out.size(1))
        return (out if is_batched else out.squeeze(1)), None

    out, weights = _attend_with_weights(q, k, v, mask, dropout_p)
    out = F.linear(out.transpose(0, 1).reshape(targets * batch, embed_dim), out_proj_weight, out_proj_bias)
    out = out.view(targets, batch, out.size(1))
    weights = weights.view(batch, num_heads, targets, sources)
    if average_attn_weights:
        weights = weights.mean(dim=1)
    return (out, weights) if is_batched else (out.squeeze(1), weights.squeeze(0))


def _merged(attn_mask, key_padding_mask, batch, num_heads, sources):
    if key_padding_mask is None:
        return attn_mask
    for dim, wanted in ((0, batch), (1, sources)):
        if key_padding_mask.shape[dim] != wanted:
            raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got {key_padding_mask.shape[dim]}")
    padding = key_padding_mask.view(batch, 1, 1, sources).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, sources)
    return padding if attn_mask is None else attn_mask + padding
