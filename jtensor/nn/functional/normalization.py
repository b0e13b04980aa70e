"""Normalisations."""
import jtensor

from ...base.naming import type_name
from ...ops.families.numeric import not_implemented
from ...tensor import raw
from ...tensor.calling.refusals import refusal
from ._given import Tensor, refuse
from .padding import pad
from .pooling import avg_pool2d, avg_pool3d

__all__ = ["batch_norm", "instance_norm", "layer_norm", "rms_norm", "group_norm", "local_response_norm"]


def _prod(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


def _verify_batch_size(size):
    if size[0] * _prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalises each channel (dimension 1): with the batch's statistics while ``training``, which also move the running ones by
    ``momentum``, else with the running ones.

    >>> import jtensor as torch
    >>> torch.nn.functional.batch_norm(torch.zeros(2, 3), None, None, training=True).shape
    torch.Size([2, 3])
    """
    if training:
        _verify_batch_size(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if not isinstance(input, Tensor):
        refuse("batch_norm", input=input)
    return raw.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    """Normalises each channel of each sample: batch normalisation of ``(1, N C, *)``."""
    if use_input_stats and _prod(input.size()[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    n, channels = input.size(0), input.size(1)

    def repeated(t):
        return None if t is None else t.repeat(n)

    mean, var = repeated(running_mean), repeated(running_var)
    flat = input.contiguous().view(1, n * channels, *input.shape[2:])
    if weight is None is bias and mean is not None and var is not None and input.dtype.itemsize > 2:    # statistics of any type then
        mean, var = mean.to(input.dtype), var.to(input.dtype)
    out = raw.batch_norm(flat, repeated(weight), repeated(bias), mean, var, use_input_stats, momentum, eps, True)
    for running, moved in ((running_mean, mean), (running_var, var)):
        if running is not None:
            with jtensor.no_grad():
                running.copy_(moved.view(n, channels).mean(0))
    return out.view(input.size())


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalises over the last dimensions, which have to be of ``normalized_shape``.

    >>> import jtensor as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([1., 3.]), (2,)).round()
    tensor([-1.,  1.])
    """
    try:
        if not isinstance(input, Tensor) or not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(f"layer_norm of {type_name(type(input))} over {type_name(type(normalized_shape))}")
        return raw.layer_norm(input, normalized_shape, weight, bias, eps, True)
    except TypeError as error:                      # the operator speaks of itself, PyTorch of what was called
        raise refusal("layer_norm", (input, normalized_shape, weight, bias, eps, True), {}) or error from None


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """``input`` divided by the root of its mean square over the last dimensions; ``eps`` absent means the dtype's own."""
    if isinstance(normalized_shape, int):
        normalized_shape = (normalized_shape,)
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
                           f"normalized_shape = {shape}")
    if weight is not None and list(weight.shape) != shape:
        raise RuntimeError("Expected weight to be of same shape as normalized_shape, but got weight of shape "
                           f"{list(weight.shape)} and normalized_shape = {shape}")
    if input.dim() < len(shape):
        raise ValueError(f"Input tensor must have at least {len(shape)} dimensions, but got {input.dim()}")
    if list(input.shape[-len(shape):]) != shape:
        inner = ", ".join(map(str, shape))
        raise RuntimeError(f"Given normalized_shape={shape}, expected input with shape [*{inner}], but got input of size"
                           f"{list(input.shape)}")
    if input.dtype.category < 2:
        raise not_implemented("rms_norm", input.dtype)
    # Half precision is squared and averaged in float32.
    wide = input.to(jtensor.float32) if input.dtype in (jtensor.float16, jtensor.bfloat16) else input
    if eps is None:
        eps = jtensor.finfo(wide.dtype).eps
    dims = list(range(-len(shape), 0))
    inverse = jtensor.rsqrt(wide.pow(2).mean(dims, keepdim=True).add(eps))
    normed = wide.mul(inverse)
    if weight is not None:
        normed = normed.mul(weight)
    normed = normed.type_as(input)
    if normed.is_contiguous() or normed.dim() == 4 and normed.is_contiguous(memory_format=jtensor.channels_last) or (
            normed.dim() == 5 and normed.is_contiguous(memory_format=jtensor.channels_last_3d)):
        return normed
    return normed.contiguous()


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalises groups of channels (dimension 1) of each sample.

    >>> import jtensor as torch
    >>> torch.nn.functional.group_norm(torch.zeros(2, 4, 3), 2).shape
    torch.Size([2, 4, 3])
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _verify_batch_size([input.size(0) * input.size(1) // num_groups, num_groups] + list(input.size()[2:]))
    return raw.group_norm(input, num_groups, weight, bias, eps, True)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides by ``(k + alpha * mean square over size neighbouring channels) ** beta``."""
    dims = input.dim()
    if dims < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {dims} dimensions)")
    if input.numel() == 0:
        return input
    squares, before, after = input.mul(input), size // 2, (size - 1) // 2
    if dims == 3:
        mean = avg_pool2d(pad(squares.unsqueeze(1), (0, 0, before, after)), (size, 1), stride=1).squeeze(1)
    else:
        n, channels, first = input.shape[:3]
        volume = squares.view(n, 1, channels, first, -1)
        mean = avg_pool3d(pad(volume, (0, 0, 0, 0, before, after)), (size, 1, 1), stride=1).squeeze(1).view(input.size())
    return input / mean.mul(alpha).add(k).pow(beta)
