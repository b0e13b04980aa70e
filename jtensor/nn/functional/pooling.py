"""Pooling. One dimension is pooled as two, of which the first has size one."""
import math

import jtensor

from ...base.determinism import alert
from ...base.geometry import channels_last_strides, looks_channels_last
from ...base.naming import type_name
from ...ops.families.bounds import check_bounds
from ...ops.families.numeric import not_implemented
from ...ops.families.windows import pooled_size
from ...tensor import raw
from ...tensor.calling.refusals import refusal
from ._given import Tensor, each, none_given, refuse, spread
from .activation import relu

__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
    "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "adaptive_avg_pool1d",
    "adaptive_avg_pool2d", "adaptive_avg_pool3d",
]


def _one(value, function, name):
    """The single number of a one-dimensional setting."""
    if isinstance(value, int):
        return value
    value = each(value, 1)
    if len(value) != 1:
        raise RuntimeError(f"{function}() argument '{name}' should contain one int (got {len(value)})")
    return value[0]


def _check_dims(input, name):
    if input.dim() not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {input.dim()}-dimensional tensor for argument #1 'self' (while "
                           f"checking arguments for {name})")


# ---------------------------------------------------------------------------------------------------------------- maximum

def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maxima and their positions, counted over the pixels of each channel."""
    kernel_size = each(kernel_size, 2)
    stride = () if stride is None else each(stride, 2)
    return raw.max_pool2d_with_indices(input, kernel_size, stride, each(padding, 2), each(dilation, 2), ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of every window of ``(N, C, H, W)``; with ``return_indices`` its position too.

    >>> import jtensor as torch
    >>> torch.nn.functional.max_pool2d(torch.arange(4.).reshape(1, 1, 2, 2), 2)
    tensor([[[[3.]]]])
    """
    if not isinstance(input, Tensor):
        refuse("max_pool2d", input=input)
    pooled = max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return pooled if return_indices else pooled[0]


def _check_max_pool1d(input, ceil_mode, **settings):
    """What PyTorch's `max_pool1d` without indices says, which has a kernel of its own."""
    size = tuple(input.shape)
    if len(size) not in (2, 3) or not all(size[-2:]):
        raise RuntimeError("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
                           f"got:{list(size)}")
    if none_given(settings["stride"]):
        settings["stride"] = settings["kernel_size"]
    for name, value in settings.items():
        if not isinstance(value, int) and len(value := each(value, 1)) != 1:
            words = {"stride": "None, an int, list of ints,", "padding": "an int, list of ints,"}.get(name, "an int, list of ints")
            raise RuntimeError(f"max_pool1d() {name} must be {words} or tuple of ints of size 1 but got size {len(value)}")
        settings[name] = value if isinstance(value, int) else value[0]
    kernel, padding = settings["kernel_size"], settings["padding"]
    for name in ("kernel_size", "stride", "dilation"):
        if settings[name] <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {settings[name]}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
                           f"kernel_size={kernel}")
    count = pooled_size(size[-1], kernel, settings["stride"], padding, settings["dilation"], ceil_mode)
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maxima and their positions."""
    _check_dims(input, "max_pool1d")
    stride = kernel_size if none_given(stride) else stride
    kernel, step, padding, dilation = (_one(value, "max_pool1d", name) for value, name in (
        (kernel_size, "kernel_size"), (stride, "stride"), (padding, "padding"), (dilation, "dilation")))
    out, indices = raw.max_pool2d_with_indices(input.unsqueeze(-2), (1, kernel), (1, step), (0, padding), (1, dilation), ceil_mode)
    return out.squeeze(-2), indices.squeeze(-2)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of every window of ``(N, C, L)``; with ``return_indices`` its position too.

    >>> import jtensor as torch
    >>> torch.nn.functional.max_pool1d(torch.zeros(2, 3, 8), 2).shape
    torch.Size([2, 3, 4])
    """
    if not isinstance(input, Tensor):
        refuse("max_pool1d", input=input)
    derivable = input.requires_grad and jtensor.is_grad_enabled()                  # then PyTorch needs the indices itself
    if not return_indices:
        _check_max_pool1d(input, ceil_mode, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation)
        if not derivable and not input.is_floating_point():
            raise not_implemented("max_pool1d_impl", input.dtype)
    pooled = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    if return_indices:
        return pooled
    return pooled[0] if pooled[0].requires_grad else pooled[0].contiguous()        # without gradient PyTorch takes another kernel


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maxima and their positions, counted over the voxels of each channel."""
    kernel_size = each(kernel_size, 3)
    stride = () if stride is None else each(stride, 3)
    return raw.max_pool3d_with_indices(input, kernel_size, stride, each(padding, 3), each(dilation, 3), ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of every window of ``(N, C, D, H, W)``; with ``return_indices`` its position too."""
    pooled = max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return pooled if return_indices else pooled[0]


def _unpool_size(input, kernel, stride, padding, output_size):
    n = len(kernel)
    usual = [(size - 1) * stride[i] + kernel[i] - 2 * padding[i] for i, size in enumerate(input.shape[-n:])]
    if output_size is None:
        output_size = usual
    else:
        if len(output_size) == n + 2:
            output_size = output_size[2:]
        if len(output_size) != n:
            raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
                             f"'{len(output_size)}'")
        for i, (size, usual_size) in enumerate(zip(output_size, usual)):
            low, high = usual_size - stride[i], usual_size + stride[i]
            if not low < size < high:
                raise ValueError(f'invalid output_size "{output_size}" (dim {i} must be between {low} and {high})')
    for i, size in enumerate(output_size):
        if size < 0:
            raise ValueError("max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                             f"output_size[{i}]={size}")
    return list(output_size)


def _unpool_settings(n, input, kernel_size, stride, padding, output_size):
    kernel = spread(kernel_size, n)
    stride, padding = kernel if stride is None else spread(stride, n), spread(padding, n)
    alert(f"max_unpooling{max(n, 2)}d_forward_out")
    return _unpool_size(input, kernel, stride, padding, output_size), stride, padding


def _placed(out, indices, size, shown):
    """``out``, once it is known that all positions lie in it."""
    check_bounds(indices, math.prod(size), lambda n: RuntimeError(
        f"Found an invalid max index: {n} (output volumes are of size {'x'.join(map(str, shown))})"))
    return out


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back to their positions; zeros elsewhere."""
    size, _, _ = _unpool_settings(1, input, kernel_size, stride, padding, output_size)
    return _placed(raw.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size + [1]).squeeze(-1), indices, size, size + [1])


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back to their positions; zeros elsewhere."""
    size, _, _ = _unpool_settings(2, input, kernel_size, stride, padding, output_size)
    return _placed(raw.max_unpool2d(input, indices, size), indices, size, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts maxima back to their positions; zeros elsewhere."""
    size, stride, padding = _unpool_settings(3, input, kernel_size, stride, padding, output_size)
    return _placed(raw.max_unpool3d(input, indices, size, stride, padding), indices, size, size)


def _whole_numbers(name, argument, at, given):
    """PyTorch's refusal of what is neither an int nor a list of ints."""
    if not isinstance(given, (tuple, list)):
        if not hasattr(given, "__index__"):
            raise TypeError(f"{name}(): argument '{argument}' (position {at}) must be tuple of ints, not {type_name(type(given))}")
        return
    for k, v in enumerate(given):
        if not hasattr(v, "__index__"):
            raise TypeError(f"{name}(): argument '{argument}' (position {at}) must be tuple of ints, but found element of type "
                            f"{type_name(type(v))} at pos {k}")


def _fractional(n, input, kernel_size, output_size, output_ratio, samples):
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        if n == 2 and not isinstance(output_ratio, (int, float)) and len(output_ratio) > 2:
            raise ValueError("fractional_max_pool2d requires output_ratio to either be a single Int or tuple of Ints.")
        ratios = (output_ratio,) * n if isinstance(output_ratio, (int, float)) else output_ratio
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-n:], ratios)]
    if samples is None:
        batch = 1 if input.dim() == n + 1 else input.size(0)
        samples = jtensor.rand(batch, input.size(-n - 1), n, dtype=input.dtype, device=input.device)
    _whole_numbers(name, "kernel_size", 2, kernel_size)
    _whole_numbers(name, "output_size", 3, output_size)
    kernel_size, output_size = (tuple(v) if isinstance(v, (tuple, list)) else (v.__index__(),) * n for v in (kernel_size, output_size))
    return getattr(raw, name)(input, kernel_size, output_size, samples)


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    """The maxima over windows at pseudo-random places, and their positions."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The maxima over windows at pseudo-random places; with ``return_indices`` their positions too."""
    pooled = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return pooled if return_indices else pooled[0]


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    """The maxima over windows at pseudo-random places, and their positions."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The maxima over windows at pseudo-random places; with ``return_indices`` their positions too."""
    pooled = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return pooled if return_indices else pooled[0]


# ---------------------------------------------------------------------------------------------------------------- average

def avg_pool1d(input, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of every window of ``(N, C, L)``."""
    _check_dims(input, "avg_pool1d")
    kernel, padding = (_one(value, "avg_pool1d", name) for value, name in ((kernel_size, "kernel_size"), (padding, "padding")))
    step = kernel if none_given(stride) else _one(stride, "avg_pool1d", "stride")
    return raw.avg_pool2d(input.unsqueeze(-2), (1, kernel), (1, step), (0, padding), ceil_mode, count_include_pad,
                          None).squeeze(-2)


def _avg_pool(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out):
    kernel = each(kernel_size, n)
    stride = () if stride is None else each(stride, n)
    return getattr(raw, f"avg_pool{n}d")(input, kernel, stride, each(padding, n), ceil_mode, count_include_pad, divisor_override, out=out)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, *, out=None):
    """The mean of every window of ``(N, C, H, W)``; ``divisor_override`` divides by that number instead.

    >>> import jtensor as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(4.).reshape(1, 1, 2, 2), 2)
    tensor([[[[1.5000]]]])
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, *, out=None):
    """The mean of every window of ``(N, C, D, H, W)``."""
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out)


def _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode, count):
    maximum, average = (max_pool1d, max_pool2d, max_pool3d)[n - 1], (avg_pool1d, avg_pool2d, avg_pool3d)[n - 1]
    if norm_type == float("inf"):
        return maximum(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -float("inf"):
        return -maximum(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if kernel_size.__class__ is not int or stride is not None and stride.__class__ is not int or ceil_mode.__class__ is not bool:
        refused = refusal(f"avg_pool{n}d", (input, kernel_size, stride), {"padding": 0, "ceil_mode": ceil_mode})
        if refused is not None:
            raise refused
    mean = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (jtensor.sign(mean) * relu(jtensor.abs(mean))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of every window of ``(N, C, L)``."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode, kernel_size)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of every window of ``(N, C, H, W)``."""
    height, width = spread(kernel_size, 2)
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode, height * width)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of every window of ``(N, C, D, H, W)``."""
    depth, height, width = spread(kernel_size, 3)
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode, depth * height * width)


# --------------------------------------------------------------------------------------------------------------- adaptive

def _output_size(output_size, input, n):
    """One number a dimension; None means the input's own."""
    if isinstance(output_size, int):
        return (output_size,) * n
    output_size = tuple(output_size)
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return tuple(own if given is None else given for given, own in zip(output_size, input.shape[-len(output_size):]))


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """The maxima of windows that divide the length evenly, and their positions."""
    _check_dims(input, "adaptive_max_pool1d")
    size = _one(output_size, "adaptive_max_pool1d", "output_size")
    for at in range(1, input.dim()):
        if not input.shape[at]:
            raise RuntimeError("adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                               f"{list(input.shape)} with dimension {at} being empty")
    out, indices = raw.adaptive_max_pool2d(input.unsqueeze(-2), (1, size))
    return out.squeeze(-2), indices.squeeze(-2)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The maxima of windows that divide the length evenly; with ``return_indices`` their positions too."""
    pooled = adaptive_max_pool1d_with_indices(input, output_size)
    return pooled if return_indices else pooled[0]


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """The maxima of windows that divide the image evenly, and their positions."""
    return raw.adaptive_max_pool2d(input, _output_size(output_size, input, 2))


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The maxima of windows that divide the image evenly; with ``return_indices`` their positions too."""
    pooled = adaptive_max_pool2d_with_indices(input, output_size)
    return pooled if return_indices else pooled[0]


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """The maxima of windows that divide the volume evenly, and their positions."""
    return raw.adaptive_max_pool3d(input, _output_size(output_size, input, 3))


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The maxima of windows that divide the volume evenly; with ``return_indices`` their positions too."""
    pooled = adaptive_max_pool3d_with_indices(input, output_size)
    return pooled if return_indices else pooled[0]


def adaptive_avg_pool1d(input, output_size):
    """The means of windows that divide the length evenly."""
    _check_dims(input, "adaptive_avg_pool1d")
    size = _one(output_size, "adaptive_avg_pool1d", "output_size")
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


def _mean_of_all(input, n):
    """The mean over the last ``n`` dimensions, which stay with size one; channels last stay so."""
    mean = input.mean(tuple(range(-1, -n - 1, -1)), keepdim=True)
    suggested = input.dim() == n + 2 and looks_channels_last(tuple(input.shape), input.stride())
    return mean.as_strided_(mean.shape, channels_last_strides(tuple(mean.shape))) if suggested else mean


def adaptive_avg_pool2d(input, output_size):
    """The means of windows that divide the image evenly; a single window is a plain mean.

    >>> import jtensor as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.zeros(1, 3, 8, 9), 1).shape
    torch.Size([1, 3, 1, 1])
    """
    size = _output_size(output_size, input, 2)
    if size == (1, 1) and input.dim() in (3, 4) and input.is_floating_point():
        return _mean_of_all(input, 2)
    return raw.adaptive_avg_pool2d(input, size)


def adaptive_avg_pool3d(input, output_size):
    """The means of windows that divide the volume evenly; a single window is a plain mean."""
    size = _output_size(output_size, input, 3)
    if size == (1, 1, 1) and input.dim() in (4, 5) and input.is_floating_point():
        return _mean_of_all(input, 3)
    return raw.adaptive_avg_pool3d(input, size)
