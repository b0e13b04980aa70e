"""`torch.nn.attention.bias`: causal masks that are told and not made, for queries and keys of different lengths.

Owns: the class, and what attention makes of it. May not know: how attention is computed.
"""
import enum

import jtensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Where the diagonal lies of a causal mask that is not square: it begins at the upper left, or ends at the lower right."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(jtensor.Tensor):
    """A causal mask for `scaled_dot_product_attention`; see `causal_lower_right`. It is a tensor that holds no mask, and nothing to compute
    with. AssertionError for a ``variant`` that is none."""

    def __init__(self, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    def _materialize(self, device=None):
        """The mask itself."""
        behind = self.seq_len_kv - self.seq_len_q if self.variant == CausalVariant.LOWER_RIGHT else 0
        return jtensor.ones(self.seq_len_q, self.seq_len_kv, dtype=jtensor.bool, device=device).tril(diagonal=behind)

    @staticmethod
    def _dispatch(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        """Attention under such a mask. ValueError where it is asked to be causal besides."""
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        told = attn_mask.variant == CausalVariant.UPPER_LEFT or attn_mask.seq_len_q == attn_mask.seq_len_kv
        return jtensor.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=None if told else attn_mask._materialize(query.device), dropout_p=dropout_p, is_causal=told,
            scale=scale, enable_gqa=enable_gqa)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Attention looks at the mask; everything else sees a tensor."""
        if func is jtensor.nn.functional.scaled_dot_product_attention:
            return cls._dispatch(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})

    def __repr__(self):
        return repr(self._materialize())


def _of_two(name, variant, size):
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return CausalBias(variant, *size)


def causal_upper_left(*size):
    """The causal mask of ``size`` (queries, keys) whose diagonal begins at the upper left, as ``is_causal=True`` has it.

    AssertionError for other than two numbers.

    >>> import jtensor as torch
    >>> from jtensor.nn.attention.bias import causal_upper_left
    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return _of_two("causal_upper_left", CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size):
    """The causal mask of ``size`` (queries, keys) whose diagonal ends at the lower right: the last query sees all keys.

    AssertionError for other than two numbers.

    >>> import jtensor as torch
    >>> from jtensor.nn.attention.bias import causal_lower_right
    >>> q, k = torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 3, 4)
    >>> v = torch.tensor([[1.], [2.], [6.]]).view(1, 1, 3, 1)
    >>> torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(2, 3)).flatten()
    tensor([1.5000, 3.0000])
    """
    return _of_two("causal_lower_right", CausalVariant.LOWER_RIGHT, size)
