"""MultiheadAttention."""
import jtensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module
from .utils import add_parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Scaled dot product attention in ``num_heads`` subspaces, with learnt projections of query, key, value and output.

    Query ``(L, N, embed_dim)``, key ``(S, N, kdim)``, value ``(S, N, vdim)`` (batch first if so constructed; without a batch
    one dimension less). Answers with the output ``(L, N, embed_dim)`` and the attention weights, or None for these.

    >>> import jtensor as torch
    >>> x = torch.ones(5, 2, 8)
    >>> output, weights = torch.nn.MultiheadAttention(8, 2)(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 5, 5]))
    """

    __constants__ = ["batch_first"]

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                             "instead")
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        # One matrix for the three projections where their inputs are of one size, else three.
        if self._qkv_same_embed_dim:
            shapes = {"in_proj_weight": (3 * embed_dim, embed_dim), "q_proj_weight": None, "k_proj_weight": None,
                      "v_proj_weight": None}
        else:
            shapes = {"q_proj_weight": (embed_dim, embed_dim), "k_proj_weight": (embed_dim, self.kdim),
                      "v_proj_weight": (embed_dim, self.vdim), "in_proj_weight": None}
        shapes["in_proj_bias"] = (3 * embed_dim,) if bias else None
        for name, shape in shapes.items():
            add_parameter(self, name, shape is not None, shape, **factory)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **factory)
        if add_bias_kv:
            self.bias_k = Parameter(jtensor.empty((1, 1, embed_dim), **factory))
            self.bias_v = Parameter(jtensor.empty((1, 1, embed_dim), **factory))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state):
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
                is_causal=False):
        """``attn_mask`` and ``key_padding_mask``: True means "do not look there"; of floats, they are added to the scores."""
        is_batched = query.dim() == 3
        if query.is_nested or key.is_nested or value.is_nested:
            if why := self._why_no_kernel(query, key, value, key_padding_mask, attn_mask):
                raise AssertionError("MultiheadAttention does not support NestedTensor outside of its fast path. The fast path was not hit "
                                     f"because {why}")
            return self._by_parts(query, need_weights, average_attn_weights)
        by_batches = is_batched and not self.training and self._is_one_kernel(query, key, value, key_padding_mask, attn_mask)
        if by_batches and query.shape[2] != self.embed_dim:
            raise RuntimeError(f"passed-in embed_dim {self.embed_dim} didn't match last dim of query {query.shape[2]}")
        key_padding_mask = F._canonical_mask(key_padding_mask, "key_padding_mask", F._none_or_dtype(attn_mask), "attn_mask",
                                             query.dtype)
        attn_mask = F._canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        swap = self.batch_first and is_batched
        if swap:
            query, key, value = _swapped(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal)
        if swap:
            output = output.transpose(1, 0).contiguous() if by_batches else output.transpose(1, 0)
        return output, weights

    def _why_no_kernel(self, query, key, value, *masks):
        """Why PyTorch has no kernel for these nested tensors, the first reason that it finds; None where it has one: in inference."""
        held = (self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
        differs = query is not key or key is not value
        wanted = jtensor.is_grad_enabled() and any(x is not None and x.requires_grad for x in (query, key, value, *held))
        reasons = ((not jtensor.backends.mha.get_fastpath_enabled(), "torch.backends.mha.get_fastpath_enabled() was not True"),
                   (query.dim() != 3, f"input not batched; expected query.dim() of 3 but got {query.dim()}"),
                   (differs, "non-self attention was used (query, key, and value are not the same Tensor)"),
                   (self.in_proj_weight is None, "in_proj_weight was None"),
                   (self.training, "training is enabled"),
                   (self.num_heads % 2 != 0, "self.num_heads is not even"),
                   (not self.batch_first, "batch_first was not True"),
                   (self.bias_k is not None, "self.bias_k was not None"),
                   (self.add_zero_attn, "add_zero_attn was enabled"),
                   (any(mask is not None for mask in masks), "supplying both src_key_padding_mask and src_mask at the same time is not "
                                                             "supported with NestedTensor input"),
                   (query.layout == jtensor.jagged, "some Tensor argument has_torch_function"),
                   (wanted, "grad is enabled and at least one of query or the input/output projection weights or biases requires_grad"))
        return next((why for found, why in reasons if found), None)

    def _by_parts(self, query, need_weights, average_attn_weights):
        """Self-attention within each part of a nested tensor; the weights are filled up with zeros to the longest."""
        given = [part[None] for part in query.unbind()]
        made = [self(part, part, part, need_weights=need_weights, average_attn_weights=average_attn_weights) for part in given]
        output = jtensor.nested.as_nested_tensor([out[0] for out, _ in made])
        if not need_weights:
            return output, None
        longest = max(part.shape[1] for part in given)
        rows = [F.pad(weights[0], (0, longest - weights.shape[-1]) * 2) for _, weights in made]
        return output, jtensor.stack(rows)

    def _is_one_kernel(self, query, key, value, *masks):
        """Whether PyTorch has one kernel for all of it, whose results lie as their shape says: of inference, by batches."""
        held = (self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
        return (jtensor.backends.mha.get_fastpath_enabled() and self.batch_first and query is key is value
                and all(t is not None for t in held) and self._qkv_same_embed_dim and self.num_heads % 2 == 0 and self.bias_k is None
                and not self.add_zero_attn and query.dtype is held[0].dtype
                and all(mask is None or mask.dtype is jtensor.bool for mask in masks)
                and not (jtensor.is_grad_enabled() and any(t.requires_grad for t in (query, *held))))

    def merge_masks(self, attn_mask, key_padding_mask, query):
        """One mask of both, and its kind: None, 1 for padding only, 2 with an attention mask."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2


def _swapped(query, key, value):
    """Batch and length exchanged, one and the same tensor staying one (the projection looks at that)."""
    done = {}
    for t in (query, key, value):
        if id(t) not in done:
            done[id(t)] = t.transpose(1, 0)
    return tuple(done[id(t)] for t in (query, key, value))
