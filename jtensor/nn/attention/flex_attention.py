"""`torch.nn.attention.flex_attention`: attention whose scores a function of the user's changes, and another leaves out.

Owns: the computation, as products, a softmax and the user's function over all scores, which XLA makes programs of. May not know: how masks
are made, which is in ``_blocks``.
"""
import math
import typing

import jtensor

from ...base.homes import settle as _settle
from ._blocks import SIZE as _DEFAULT_SPARSE_BLOCK_SIZE  # noqa: F401
from ._blocks import BlockMask, and_masks, create_block_mask, create_mask, noop_mask, or_masks, over_all

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask", "flex_attention",
           "noop_mask", "or_masks"]

_settle(__name__, BlockMask)


class AuxRequest(typing.NamedTuple):
    """What `flex_attention` shall answer besides: the logarithms of the sums of exponentials, the largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(typing.NamedTuple):
    """What was asked for by an `AuxRequest`, else None."""

    lse: jtensor.Tensor | None = None
    max_scores: jtensor.Tensor | None = None


class FlexKernelOptions(typing.TypedDict, total=False):
    """Settings of Triton's kernels, which are not here: they are taken, and change nothing."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BACKEND: str


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, *, return_aux=None):
    """Attention: the values by the softmax of the scores, which are products of queries and keys, changed by a function and under a mask.

    ``query``: (B, heads, L, E), ``key``: (B, heads, S, E), ``value``: (B, heads, S, V). ``score_mod(score, b, h, q, kv)`` answers another
    score, ``block_mask`` (of `create_block_mask`) says which count; both may read tensors of yours by these numbers. ``scale``: of the
    products, 1 / sqrt(E) by default. ``enable_gqa``: several heads of queries to one of keys. ``return_aux``: asks for more (`AuxRequest`),
    as ``return_lse`` does for the logarithm of each row's sum of exponentials.

    The result has the query's type and order of strides; a row of which no score counts is zeros. Sums are in float32, or float64.
    ValueError for sizes that do not go together, NotImplementedError for tensors of other than four dimensions.

    >>> from jtensor.nn.attention.flex_attention import create_block_mask, flex_attention
    >>> q = torch.ones(1, 1, 3, 2)
    >>> v = torch.arange(3.).view(1, 1, 3, 1)
    >>> causal = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 3, 3, device="cpu")
    >>> flex_attention(q, q, v, block_mask=causal).flatten()
    tensor([0.0000, 0.5000, 1.0000])
    >>> flex_attention(q, q, v, score_mod=lambda score, b, h, q, kv: score - 1000.0 * kv).flatten()
    tensor([0., 0., 0.])
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
                         "return_aux=AuxRequest(lse=True) instead.")
    working = jtensor.float64 if query.dtype == jtensor.float64 else jtensor.float32
    groups = query.shape[1] // key.shape[1] if enable_gqa else 1
    key, value = [t.to(working).repeat_interleave(groups, 1) if groups > 1 else t.to(working) for t in (key, value)]
    scores = query.to(working) @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if score_mod is not None and scores.numel():
        scores = over_all(score_mod, scores.shape, scores.device, scores)
        scores = scores if scores.is_floating_point() else scores.to(working)
    if block_mask is not None and scores.numel():
        counts = over_all(block_mask.mask_mod, scores.shape, scores.device)
        scores = scores.masked_fill(~counts.to(jtensor.bool), -math.inf)
    largest = scores.detach().max(-1, keepdim=True).values
    dead = jtensor.isneginf(largest)
    weights = jtensor.softmax(scores.masked_fill(dead, 0.0), -1).masked_fill(dead, 0.0)
    result = _laid_out(query, (weights.to(working) @ value).to(query.dtype))
    if return_lse:
        return result, scores.logsumexp(-1)
    if return_aux is not None:
        return result, AuxOutput(scores.logsumexp(-1) if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None)
    return result


def _laid_out(query, result):
    """The result with its dimensions in memory in the order of the query's."""
    order = sorted(range(4), key=lambda d: (-query.stride(d), d))
    if order == [0, 1, 2, 3]:
        return result
    return result.permute(order).contiguous().permute([order.index(d) for d in range(4)])


def _check(query, key, value, block_mask, enable_gqa):
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"Expect query and key/value to have the same embedding dimension but got E={query.shape[-1]} and "
                         f"E={key.shape[-1]}.")
    batches, kv_batches = query.shape[0], key.shape[0]
    if batches != kv_batches and (kv_batches != 1 or block_mask is None):
        raise ValueError("Expect query and key/value to have the same batch size, or non-none block_mask, but got block_mask="
                         f"{block_mask if block_mask is None else repr(block_mask)}, Bq={batches}, and Bkv={kv_batches}.")
    heads, kv_heads = query.shape[1], key.shape[1]
    if not enable_gqa and heads != kv_heads:
        raise ValueError(f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={kv_heads}. Try setting "
                         "enable_gqa=True for GQA.")
    if enable_gqa and heads % kv_heads:
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={kv_heads}.")
    if block_mask is not None:
        shape, lengths = block_mask.shape, (query.shape[2], key.shape[2])
        begun = f"block_mask was created for block_mask.shape={shape} but got q_len={lengths[0]} and kv_len={lengths[1]}. As the block mask"
        if any(n > m for n, m in zip(lengths, shape[-2:], strict=True)):
            raise ValueError(f"{begun} was created for a smaller length than you're using it for, you likely need to create a new block "
                             "mask.")
        if lengths != tuple(shape[-2:]):
            raise ValueError(f"{begun} was created for a larger length than you're using it for, you can either 1. create a new block mask "
                             "with the correct length, or 2. 'adjust' the existing block mask to the correct length by calling "
                             "block_mask._adjust(q_len, kv_len). This essentially 'crops' the block mask to the upper left corner, which "
                             "does not work for all mask_mods!")
