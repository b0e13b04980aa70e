"""Convolutions: settings filled up to one number a dimension, a missing batch added, padding in words worked out."""
from ...base import sites
from ...tensor import raw
from ._given import Tensor, each, refuse
from .padding import pad as _pad

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "conv_tbc"]


def _batched(input, n, name):
    """(input with a batch, whether it had one)."""
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: "
                           f"{list(input.shape)}")
    has_batch = input.dim() == n + 2
    return (input if has_batch else input.unsqueeze(0)), has_batch


def _same(input, weight, stride, dilation, n):
    """For padding "same": (input, padding); where the two sides differ, the input is padded by the rest beforehand."""
    if input.dim() != weight.dim():
        raise RuntimeError(f"Expected {weight.dim()}-dimensional input for {weight.dim()}-dimensional weight{list(weight.shape)}, but got "
                           f"{input.dim()}-dimensional input of size {list(input.shape)} instead")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if any(total % 2 for total in totals):
        sites.warn_once("Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
                        "created")
        sides = [side for total in reversed(totals) for side in (0, total % 2)]
        input = _pad(input, sides)
    return input, tuple(total // 2 for total in totals)


def _conv(n, input, weight, bias, stride, padding, dilation, groups):
    input, has_batch = _batched(input, n, f"conv{n}d")
    stride, dilation = each(stride, n), each(dilation, n)
    if not isinstance(padding, str):
        padding = each(padding, n)
    elif padding == "same":
        input, padding = _same(input, weight, stride, dilation, n)
    elif padding == "valid":
        padding = (0,) * n
    else:
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    out = raw.convolution(input, weight, bias, stride, padding, dilation, False, (0,) * n, groups)
    return out if has_batch else out.squeeze(0)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of ``(N, C, L)`` with ``(out, C / groups, K)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.conv1d(torch.zeros(2, 3, 8), torch.zeros(4, 3, 3), padding=1).shape
    torch.Size([2, 4, 8])
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of ``(N, C, H, W)`` with ``(out, C / groups, KH, KW)``; ``padding`` may be "same" or "valid".

    >>> import jtensor as torch
    >>> torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of ``(N, C, D, H, W)`` with ``(out, C / groups, KD, KH, KW)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.conv3d(torch.zeros(1, 3, 5, 6, 7), torch.zeros(4, 3, 3, 3, 3)).shape
    torch.Size([1, 4, 3, 4, 5])
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(n, input, weight, bias, stride, padding, output_padding, groups, dilation):
    if not isinstance(input, Tensor):
        refuse(f"conv_transpose{n}d", input=input)
    input, has_batch = _batched(input, n, f"conv_transpose{n}d")
    out = raw.convolution(input, weight, bias, each(stride, n), each(padding, n), each(dilation, n), True,
                          each(output_padding, n), groups)
    return out if has_batch else out.squeeze(0)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The gradient of ``conv1d`` with respect to its input: ``(N, C, L)`` with ``(C, out / groups, K)``."""
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The gradient of ``conv2d`` with respect to its input.

    >>> import jtensor as torch
    >>> torch.nn.functional.conv_transpose2d(torch.zeros(1, 3, 5, 6), torch.zeros(3, 4, 2, 2), stride=2).shape
    torch.Size([1, 4, 10, 12])
    """
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The gradient of ``conv3d`` with respect to its input."""
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_tbc(input, weight, bias, pad=0):
    """Convolution of ``(time, batch, channels)`` with ``(K, channels, out)``."""
    for what, tensor, dims in (("Input", input, 3), ("Weight", weight, 3), ("Bias", bias, 1)):
        if tensor.dim() != dims:
            article = {"Input": "Input must have 3 dims: time, batch, in_channel", "Weight": "Weight tensor must have 3 dims: "
                       "kernel_width, in_channels, out_channels.", "Bias": "Bias must be 1-D"}[what]
            raise RuntimeError(article)
    out = raw.convolution(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, (1,), (pad,), (1,), False, (0,), 1)
    return out.permute(2, 0, 1)
