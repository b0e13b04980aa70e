"""Regions of feature maps, pooled to one size: means of samples between pixels (`roi_align`), the largest or mean pixel (`roi_pool`).

``rois`` is (K, 5): the picture's number, and a box. The "ps" forms take each bin from channels of its own. Owns: these operators.
"""
import jtensor

from . import sampling


def _check(input, rois):
    if rois.dim() != 2 or rois.size(1) != 5:
        raise RuntimeError("rois must have shape as Tensor[K, 5]")
    if input.dim() != 4:
        raise RuntimeError(f"input must have four dimensions, got {input.dim()}")
    if input.dtype != rois.dtype:
        raise RuntimeError("input should have the same type as rois")


def _channels_by_bin(input, bins):
    channels = input.size(1)
    if channels % bins:
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    return channels // bins


def _samples(start, size, bins, sampling_ratio, length):
    """Where each bin of each region is sampled along one axis.

    ``start``, ``size``: of the regions, (K,). Answers `sampling.neighbours` of the places, each (K, bins, samples), the weights that they
    have, and how many samples a bin has, (K,).
    """
    size = size / bins
    if sampling_ratio > 0:
        count = jtensor.full_like(size, sampling_ratio)
        most = sampling_ratio
    else:
        count = size.ceil()                          # as many as the region has pixels: the only thing that is looked at
        most = max(int(count.max()), 1) if count.numel() else 1
    number = jtensor.arange(most, dtype=size.dtype, device=size.device)
    bin_start = start[:, None] + jtensor.arange(bins, dtype=size.dtype, device=size.device) * size[:, None]
    place = bin_start[:, :, None] + (number + 0.5) * (size / count)[:, None, None]
    counts = (place >= -1) & (place <= length) & (number < count[:, None, None])
    place = jtensor.where(counts, place, 0)
    return sampling.neighbours(place, length), counts.to(size.dtype), count


def _means(input, rois, corners, pooled_height, pooled_width, sampling_ratio, by_bin):
    """The mean of each bin's samples: (K, C, pooled_height, pooled_width)."""
    batch, channels, height, width = input.shape
    left, top, wide, high = corners
    y, y_weight, y_count = _samples(top, high, pooled_height, sampling_ratio, height)
    x, x_weight, x_count = _samples(left, wide, pooled_width, sampling_ratio, width)
    picture = rois[:, 0].long()[:, None, None, None, None]
    if by_bin:                                       # (N, C, PH, PW, H, W): the bin's own channels are another picture
        channels = _channels_by_bin(input, pooled_height * pooled_width)
        rows = input.reshape(batch, channels, pooled_height, pooled_width, height, width).permute(0, 2, 3, 4, 5, 1)
        bins = jtensor.arange(pooled_height * pooled_width, device=input.device).reshape(1, pooled_height, 1, pooled_width, 1)
        first = (picture * (pooled_height * pooled_width) + bins) * (height * width)
    else:
        rows, first = input.permute(0, 2, 3, 1), picture * (height * width)
    y = [part[:, :, :, None, None] for part in y]
    x = [part[:, None, None, :, :] for part in x]
    found = sampling.between(rows.reshape(-1, channels), first, y, x, width)                    # (K, PH, samples, PW, samples, C)
    weight = y_weight[:, :, :, None, None] * x_weight[:, None, None, :, :]
    total = (found * weight.unsqueeze(-1)).sum((2, 4))
    return (total / (y_count * x_count).clamp(min=1)[:, None, None, None]).permute(0, 3, 1, 2).contiguous()


def roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned):
    """The mean of ``sampling_ratio`` squared samples in each bin (0 or less: about one for each pixel).

    Source: He et al., "Mask R-CNN", https://arxiv.org/abs/1703.06870.
    """
    _check(input, rois)
    box = rois[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    left, top, wide, high = box[:, 0], box[:, 1], box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]
    if not aligned:
        wide, high = wide.clamp(min=1), high.clamp(min=1)
    return _means(input, rois.detach(), [part.detach() for part in (left, top, wide, high)], pooled_height, pooled_width, sampling_ratio,
                  False)


def ps_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    """`roi_align`, each bin from channels of its own; and which channels these are.

    Source: Li et al., "Light-Head R-CNN", https://arxiv.org/abs/1711.07264.
    """
    _check(input, rois)
    box = rois[:, 1:].detach() * spatial_scale - 0.5
    corners = box[:, 0], box[:, 1], box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]
    found = _means(input, rois.detach(), corners, pooled_height, pooled_width, sampling_ratio, True)
    return found, _mapping(found)


def _mapping(found):
    number = jtensor.arange(found[0].numel() if len(found) else 0, dtype=jtensor.int32, device=found.device)
    return number.reshape(found.shape[1:]).expand(found.shape).contiguous() if len(found) else found.to(jtensor.int32)


def _rounded(place):
    """To the nearest number, halves away from zero, as C rounds."""
    return jtensor.where(place >= 0, (place + 0.5).floor(), (place - 0.5).ceil())


def _bounds(start, size, bins, length):
    """From which pixel to which a bin of a region goes along an axis: two of (K, bins)."""
    number = jtensor.arange(bins, dtype=size.dtype, device=size.device)
    step, start = (size / bins)[:, None], start[:, None]
    return ((number * step).floor() + start).clamp(0, length), (((number + 1) * step).ceil() + start).clamp(0, length)


def _windows(low, high):
    """The pixels of the bins along an axis, (K, bins, longest), and which of them belong to their bin."""
    longest = max(int((high - low).max()), 1) if low.numel() else 1
    number = low[:, :, None] + jtensor.arange(longest, dtype=low.dtype, device=low.device)
    return number.long(), number < high[:, :, None]


def _pixels(rois, y, x, height, width):
    """The bins of regions as rows of pixels: their numbers in the feature map, and which count, (K, PH, PW, pixels of a bin)."""
    (rows, row_counts), (columns, column_counts) = y, x
    k, bins_y, tall = rows.shape
    bins_x, wide = columns.shape[1:]
    number = rows[:, :, None, :, None].clamp(max=height - 1) * width + columns[:, None, :, None, :].clamp(max=width - 1)
    counts = row_counts[:, :, None, :, None] & column_counts[:, None, :, None, :]
    return [part.reshape(k, bins_y, bins_x, tall * wide) for part in (number, counts)]


def roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    """The largest pixel of each bin, 0 for a bin of none; and the number of that pixel, -1 for none.

    Source: Girshick, "Fast R-CNN", https://arxiv.org/abs/1504.08083.
    """
    _check(input, rois)
    batch, channels, height, width = input.shape
    box = _rounded(rois[:, 1:].detach() * spatial_scale)
    sides = (box[:, 2:] - box[:, :2] + 1).clamp(min=1)
    y = _windows(*_bounds(box[:, 1], sides[:, 1], pooled_height, height))
    x = _windows(*_bounds(box[:, 0], sides[:, 0], pooled_width, width))
    number, counts = _pixels(rois, y, x, height, width)
    rows = input.permute(0, 2, 3, 1).reshape(-1, channels)
    first = rois[:, 0].detach().long()[:, None, None, None] * (height * width)
    with jtensor.no_grad():
        values = jtensor.where(counts.unsqueeze(-1), rows[first + number], float("-inf"))
        best = values.argmax(3, keepdim=True)                                                   # (K, PH, PW, 1, C)
        chosen = number.unsqueeze(-1).expand(values.shape).gather(3, best).squeeze(3)
        some = counts.any(3, keepdim=True)
        argmax = jtensor.where(some, chosen, -1).permute(0, 3, 1, 2).to(jtensor.int32).contiguous()
    channel = jtensor.arange(channels, device=input.device)
    found = jtensor.where(some, rows[first + chosen, channel], 0)
    return found.permute(0, 3, 1, 2).contiguous(), argmax


def ps_roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    """The mean pixel of each bin from channels of its own, 0 for a bin of none; and which channels these are.

    Source: Dai et al., "R-FCN", https://arxiv.org/abs/1605.06409.
    """
    _check(input, rois)
    batch, channels, height, width = input.shape
    channels = _channels_by_bin(input, pooled_height * pooled_width)
    box = _rounded(rois[:, 1:].detach() * spatial_scale)
    sides = (box[:, 2:] - box[:, :2]).clamp(min=1)
    # A bin ends at the last pixel but one of the map, for so PyTorch's does.
    y = _windows(*_bounds(box[:, 1], sides[:, 1], pooled_height, height - 1))
    x = _windows(*_bounds(box[:, 0], sides[:, 0], pooled_width, width - 1))
    number, counts = _pixels(rois, y, x, height, width)
    rows = input.reshape(batch, channels, pooled_height, pooled_width, height, width).permute(0, 2, 3, 4, 5, 1).reshape(-1, channels)
    bins = jtensor.arange(pooled_height * pooled_width, device=input.device).reshape(1, pooled_height, pooled_width, 1)
    first = (rois[:, 0].detach().long()[:, None, None, None] * (pooled_height * pooled_width) + bins) * (height * width)
    values = jtensor.where(counts.unsqueeze(-1), rows[first + number], 0)
    found = (values.sum(3) / counts.sum(3, keepdim=True).clamp(min=1)).permute(0, 3, 1, 2).contiguous()
    return found, _mapping(found)


# -- gradients by themselves, as torchvision's own formulas ask for them ----------------------------------------------

def _backward(forward, grad, batch_size, channels, height, width):
    with jtensor.enable_grad():
        input = jtensor.zeros(batch_size, channels, height, width, dtype=grad.dtype, device=grad.device, requires_grad=True)
        return jtensor.autograd.grad(forward(input), input, grad)[0]


def roi_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width, sampling_ratio,
                       aligned):
    """The gradient of `roi_align`."""
    return _backward(lambda input: roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned),
                     grad, batch_size, channels, height, width)


def ps_roi_align_backward(grad, rois, channel_mapping, spatial_scale, pooled_height, pooled_width, sampling_ratio, batch_size, channels,
                          height, width):
    """The gradient of `ps_roi_align`."""
    return _backward(lambda input: ps_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio)[0],
                     grad, batch_size, channels, height, width)


def roi_pool_backward(grad, rois, argmax, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width):
    """The gradient of `roi_pool`: each bin's goes to the pixel that was the largest."""
    flat = jtensor.zeros(batch_size * channels, height * width, dtype=grad.dtype, device=grad.device)
    row = rois[:, 0].long()[:, None, None, None] * channels + jtensor.arange(channels, device=grad.device)[:, None, None]
    some = argmax >= 0
    flat.index_put_((row.expand(argmax.shape), argmax.long().clamp(min=0)), jtensor.where(some, grad, 0), accumulate=True)
    return flat.reshape(batch_size, channels, height, width)


def ps_roi_pool_backward(grad, rois, channel_mapping, spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width):
    """The gradient of `ps_roi_pool`."""
    return _backward(lambda input: ps_roi_pool(input, rois, spatial_scale, pooled_height, pooled_width)[0],
                     grad, batch_size, channels, height, width)
