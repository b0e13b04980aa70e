"""Convolution whose taps are moved by offsets, and weighed by a mask. Owns: that operator."""
import jtensor

from . import sampling


def deform_conv2d(input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups,
                  use_mask):
    """``offset``: (B, 2 * offset_groups * kh * kw, oh, ow), a move down and one to the right for each tap; ``mask`` half as many channels.

    Source: Zhu et al., "Deformable ConvNets v2", https://arxiv.org/abs/1811.11168.
    """
    if input.dim() != 4:
        raise RuntimeError(f"input must have four dimensions, got {input.dim()}")
    batch, channels, height, width = input.shape
    out_channels, _, kernel_h, kernel_w = weight.shape
    out_h = (height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) // stride_h + 1
    out_w = (width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) // stride_w + 1
    taps, deep = kernel_h * kernel_w, channels // offset_groups
    _check(input, weight, offset, mask, groups, offset_groups, use_mask, (out_h, out_w))
    moves = offset.reshape(batch, offset_groups, taps, 2, out_h, out_w)

    def grid(count, step, start):
        return jtensor.arange(count, dtype=input.dtype, device=input.device) * step - start
    tap_y = grid(kernel_h, dilation_h, pad_h).repeat_interleave(kernel_w).reshape(taps, 1, 1)
    tap_x = grid(kernel_w, dilation_w, pad_w).repeat(kernel_h).reshape(taps, 1, 1)
    y = moves[:, :, :, 0] + tap_y + grid(out_h, stride_h, 0)[:, None]
    x = moves[:, :, :, 1] + tap_x + grid(out_w, stride_w, 0)
    # A frame of zeros, for a place beside the picture is between its edge and nothing.
    framed = jtensor.nn.functional.pad(input, (1, 1, 1, 1))
    wide = width + 2
    counts = (y > -1) & (y < height) & (x > -1) & (x < width)
    y, x = (sampling.neighbours(jtensor.where(counts, place + 1, 0), size + 2) for place, size in ((y, height), (x, width)))
    rows = framed.reshape(batch, offset_groups, deep, height + 2, wide).permute(0, 1, 3, 4, 2).reshape(-1, deep)
    picture = jtensor.arange(batch * offset_groups, device=input.device).reshape(batch, offset_groups, 1, 1, 1) * ((height + 2) * wide)
    found = sampling.between(rows, picture, y, x, wide)                                         # (B, OG, taps, OH, OW, C / OG)
    found = jtensor.where(counts.unsqueeze(-1), found, 0)
    if use_mask:
        found = found * mask.reshape(batch, offset_groups, taps, out_h, out_w).unsqueeze(-1)
    columns = found.permute(0, 1, 5, 2, 3, 4).reshape(batch, groups, channels // groups * taps, out_h * out_w)
    kernel = weight.reshape(groups, out_channels // groups, -1)
    return (kernel @ columns).reshape(batch, out_channels, out_h, out_w) + bias.reshape(1, -1, 1, 1)


def _check(input, weight, offset, mask, groups, offset_groups, use_mask, out):
    taps = weight.size(2) * weight.size(3)
    if weight.size(1) * groups != input.size(1):
        raise RuntimeError(f"weight.size(1) * n_weight_grps == input.size(1): {weight.size(1) * groups} and {input.size(1)}")
    if weight.size(0) % groups:
        raise RuntimeError("weight.size(0) % n_weight_grps == 0")
    if offset.size(1) != offset_groups * 2 * taps:
        raise RuntimeError("offset.shape[1] is not valid: got: "
                           f"{offset.size(1)} expected: {offset_groups * 2 * taps}")
    if input.size(1) % offset_groups:
        raise RuntimeError("input.size(1) % n_offset_grps == 0")
    if use_mask and mask.size(1) != offset_groups * taps:
        raise RuntimeError(f"mask.shape[1] is not valid: got: {mask.size(1)} expected: {offset_groups * taps}")
    if tuple(offset.shape[2:]) != out:
        raise RuntimeError(f"offset output dims: ({offset.size(2)}, {offset.size(3)}) - computed output dims: ({out[0]}, {out[1]})")


def deform_conv2d_backward(grad, input, weight, offset, mask, bias, *sizes):
    """The gradients for input, weight, offset, mask and bias."""
    with jtensor.enable_grad():
        given = [part.detach().requires_grad_() for part in (input, weight, offset, mask, bias)]
        found = jtensor.autograd.grad(deform_conv2d(*given, *sizes), given, grad, allow_unused=True)
    return tuple(jtensor.zeros_like(one) if part is None else part for part, one in zip(found, given, strict=True))
