"""Convolutions and transposed convolutions in one, two and three dimensions."""
import math
import warnings

import jtensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module
from .utils import _ntuple, _reverse_repeat_tuple, add_parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


def _check_settings(in_channels, out_channels, groups, stride, padding, padding_mode):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups != 0:
            raise ValueError(f"{name} must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of { {'same', 'valid'} }")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'")


def _sides(padding, dilation, kernel_size):
    """The padding as ``pad`` takes it: two sides a dimension, the last dimension first."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    sides = []
    for d, k in zip(reversed(dilation), reversed(kernel_size)):
        total = d * (k - 1) if padding == "same" else 0
        sides += [total // 2, total - total // 2]
    return sides


class _ConvNd(Module):
    """What all convolutions have in common. ``_dims``: the number of spatial dimensions."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
                     "kernel_size"]
    _dims = None

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups, bias,
                 padding_mode, device=None, dtype=None):
        super().__init__()
        _check_settings(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = _sides(padding, dilation, kernel_size)
        self.weight = Parameter(jtensor.empty(self._weight_shape(), device=device, dtype=dtype))
        add_parameter(self, "bias", bias, out_channels, device=device, dtype=dtype)
        self.reset_parameters()

    def _weight_shape(self):
        outer, inner = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        return (outer, inner // self.groups, *self.kernel_size)

    def reset_parameters(self):
        """Draws the weight, then the bias, uniformly from ±1/sqrt(fan in)."""
        # The numbers go in by position in memory: a weight of another layout is drawn in the plain one and copied.
        with jtensor.no_grad():
            if self.weight.is_contiguous():
                init.kaiming_uniform_(self.weight, a=math.sqrt(5))
            else:
                drawn = jtensor.empty_like(self.weight, memory_format=jtensor.contiguous_format)
                self.weight.copy_(init.kaiming_uniform_(drawn, a=math.sqrt(5)))
            if self.bias is not None:
                fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
                bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        # A padding in words has a length too, and never equals a tuple of zeros.
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                parts.append(f"{name}={value}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        n = _ntuple(self._dims)
        super().__init__(in_channels, out_channels, n(kernel_size), n(stride), padding if isinstance(padding, str) else n(padding),
                         n(dilation), False, n(0), groups, bias, padding_mode, device=device, dtype=dtype)

    def _conv_forward(self, input, weight, bias):
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self._dims - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._dims
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Cross-correlates ``(N, C_in, L)`` or ``(C_in, L)`` with ``out_channels`` learnt kernels.

    >>> import jtensor as torch
    >>> torch.nn.Conv1d(16, 33, 3, stride=2)(torch.ones(20, 16, 50)).shape
    torch.Size([20, 33, 24])
    """

    _dims = 1


class Conv2d(_Conv):
    """Cross-correlates ``(N, C_in, H, W)`` or ``(C_in, H, W)`` with ``out_channels`` learnt kernels.

    ``padding``: a number, one a dimension, ``"same"`` or ``"valid"``; ``padding_mode``: what stands beyond the edge.

    >>> import jtensor as torch
    >>> torch.nn.Conv2d(1, 8, 3, padding=1)
    Conv2d(1, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    """

    _dims = 2


class Conv3d(_Conv):
    """Cross-correlates ``(N, C_in, D, H, W)`` or ``(C_in, D, H, W)`` with ``out_channels`` learnt kernels.

    >>> import jtensor as torch
    >>> torch.nn.Conv3d(3, 8, 3)(torch.zeros(2, 3, 5, 6, 7)).shape
    torch.Size([2, 8, 3, 4, 5])
    """

    _dims = 3


class _ConvTransposeNd(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = _ntuple(self._dims)
        super().__init__(in_channels, out_channels, n(kernel_size), n(stride), n(padding), n(dilation), True, n(output_padding),
                         groups, bias, padding_mode, device=device, dtype=dtype)

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        """What has to be added at one side so that the output gets the size asked for."""
        if output_size is None:
            return _ntuple(1)(self.output_padding)
        outer = 2 if input.dim() == num_spatial_dims + 2 else 1
        if len(output_size) == outer + num_spatial_dims:
            output_size = output_size[outer:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have "
                             f"{num_spatial_dims} or {outer + num_spatial_dims} elements (got {len(output_size)})")
        dilation = dilation or (1,) * num_spatial_dims
        smallest = [(input.size(i + outer) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel_size[i] - 1) + 1
                    for i in range(num_spatial_dims)]
        largest = [low + s - 1 for low, s in zip(smallest, stride)]
        if any(not low <= size <= high for low, size, high in zip(smallest, output_size, largest)):
            raise ValueError(f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                             f"(for an input of {input.size()[2:]})")
        return [size - low for size, low in zip(output_size, smallest)]

    def forward(self, input, output_size=None):
        extra = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, self._dims, self.dilation)
        convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self._dims - 1]
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of a Conv1d with respect to its input, as a layer: ``(N, C_in, L)`` to ``(N, C_out, L')``.

    >>> import jtensor as torch
    >>> torch.nn.ConvTranspose1d(4, 2, 3, stride=2)(torch.ones(1, 4, 5)).shape
    torch.Size([1, 2, 11])
    """

    _dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of a Conv2d with respect to its input, as a layer; ``output_size`` in the call settles ambiguous sizes.

    >>> import jtensor as torch
    >>> torch.nn.ConvTranspose2d(3, 8, 2, stride=2)(torch.zeros(2, 3, 5, 6)).shape
    torch.Size([2, 8, 10, 12])
    """

    _dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of a Conv3d with respect to its input, as a layer.

    >>> import jtensor as torch
    >>> torch.nn.ConvTranspose3d(4, 2, 3, stride=2)(torch.ones(1, 4, 2, 3, 4)).shape
    torch.Size([1, 2, 5, 7, 9])
    """

    _dims = 3


class _ConvTransposeMixin(_ConvTransposeNd):
    """The older name of what transposed convolutions have in common."""

    def __init__(self, *args, **kwargs):
        warnings.warn("`_ConvTransposeMixin` is a deprecated internal class. Please consider using public APIs.", FutureWarning,
                      stacklevel=2)
        super().__init__(*args, **kwargs)
