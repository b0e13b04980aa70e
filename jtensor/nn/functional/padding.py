"""Padding."""
import jtensor

from ...tensor import raw
from ._given import Tensor, refuse

__all__ = ["pad"]


def _round(x, dim, start, length):
    """``length`` places along ``dim`` from ``start`` on, which go round and round."""
    size, parts = x.size(dim), []
    if length and not size:
        raise RuntimeError("Negative padding value is resulting in an empty dimension")
    while length:
        start %= size
        count = min(size - start, length)
        parts.append(x.narrow(dim, start, count))
        start, length = start + count, length - count
    return jtensor.cat(parts, dim) if len(parts) > 1 else x


def _wrapped(input, pad):
    """Circular padding, a dimension at a time: what is cut off first, then what stands at the other end put before and after."""
    dims = len(pad) // 2
    for i in range(dims):
        dim, (before, after) = input.dim() - 1 - i, pad[2 * i:2 * i + 2]
        size = input.size(dim)
        if before > size or after > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    for i in range(dims):
        dim, (before, after) = input.dim() - 1 - i, pad[2 * i:2 * i + 2]
        low = max(-before, 0)
        kept = input.narrow(dim, low, input.size(dim) - max(-after, 0) - low)
        input = _round(kept, dim, -max(before, 0), kept.size(dim) + max(before, 0) + max(after, 0))
    return input.contiguous() if max(pad) > 0 else input.clone(memory_format=jtensor.contiguous_format)


def pad(input, pad, mode="constant", value=None):
    """Adds elements at the ends of the last dimensions: ``pad`` has two numbers a dimension, the last dimension first.

    ``mode``: "constant" (with ``value``; negative numbers cut off), "reflect", "replicate" or "circular".

    >>> import jtensor as torch
    >>> torch.nn.functional.pad(torch.ones(1, 2), (1, 1))
    tensor([[0., 1., 1., 0.]])
    """
    if not isinstance(input, Tensor):
        refuse("pad", input=input)
    dims, length = input.dim(), len(pad)
    if mode not in ("constant", "reflect", "replicate", "circular") and length:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if length % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if length > 2 * dims:
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got padding length "
                           f"{length} and input of dimension {dims}")
    if mode == "constant":
        if isinstance(value, (bool, int)):
            value = float(value)                             # as which PyTorch's function takes any number
        return raw.constant_pad_nd(input, pad, 0.0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    spatial = length // 2
    if spatial not in (1, 2, 3) or dims not in (spatial + 1, spatial + 2):
        raise NotImplementedError(
            f"Padding size {length} is not supported for {dims}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)")
    if mode == "circular":
        return _wrapped(input, pad)
    kind = "reflection" if mode == "reflect" else "replication"
    return getattr(raw, f"{kind}_pad{spatial}d")(input, pad)
