"""Normalisations over features of one sample: LayerNorm, GroupNorm, RMSNorm, local response."""
import numbers

from ...base.size import Size
from .. import functional as F
from .. import init
from .module import Module
from .utils import add_parameter, settings

__all__ = ["LocalResponseNorm", "CrossMapLRN2d", "LayerNorm", "GroupNorm", "RMSNorm"]
_shape_t = int | list[int] | Size


class LocalResponseNorm(Module):
    """Divides by a power of the mean square over ``size`` neighbouring channels.

    >>> import jtensor as torch
    >>> torch.nn.LocalResponseNorm(2)(torch.ones(1, 3, 1, 1)).shape
    torch.Size([1, 3, 1, 1])
    """

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, " + settings(self, "alpha", "beta", "k")


class CrossMapLRN2d(Module):
    """Local response normalisation of ``(N, C, H, W)`` over a window of channels that is cut off at the edges."""

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        before = int((self.size - 1) / 2 + 1) - 1
        squares = input.pow(2)
        padded = F.pad(squares, (0, 0, 0, 0, before, before))
        window = 2 * before + 1
        total = padded.narrow(1, 0, input.size(1))
        for i in range(1, window):
            total = total + padded.narrow(1, i, input.size(1))
        return input * (total * (self.alpha / self.size) + self.k).pow(-self.beta)

    def extra_repr(self):
        return f"{self.size}, " + settings(self, "alpha", "beta", "k")


def _add_scale_and_shift(module, shape, affine, bias, device, dtype):
    for name, wanted in (("weight", affine), ("bias", affine and bias)):
        add_parameter(module, name, wanted, shape, device=device, dtype=dtype)


def _reset_scale_and_shift(module):
    if module.weight is not None:
        init.ones_(module.weight)
    if getattr(module, "bias", None) is not None:
        init.zeros_(module.bias)


def _as_shape(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LayerNorm(Module):
    """Normalises over the last dimensions, which have to be of ``normalized_shape``; scale and shift are elementwise.

    >>> import jtensor as torch
    >>> torch.nn.LayerNorm(4)
    LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _add_scale_and_shift(self, self.normalized_shape, elementwise_affine, bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Scale 1, shift 0."""
        _reset_scale_and_shift(self)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, " + settings(self, "eps", "elementwise_affine") + f", bias={self.bias is not None}"


class GroupNorm(Module):
    """Normalises groups of channels of each sample: ``(N, C, *)``.

    >>> import jtensor as torch
    >>> torch.nn.GroupNorm(2, 4)(torch.zeros(2, 4, 3)).shape
    torch.Size([2, 4, 3])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _add_scale_and_shift(self, num_channels, affine, bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Scale 1, shift 0."""
        _reset_scale_and_shift(self)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, " + settings(self, "eps", "affine") + f", bias={self.bias is not None}"


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions; ``eps`` absent means the dtype's own.

    >>> import jtensor as torch
    >>> torch.nn.RMSNorm(4)(torch.zeros(2, 4)).shape
    torch.Size([2, 4])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        add_parameter(self, "weight", elementwise_affine, self.normalized_shape, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Scale 1."""
        _reset_scale_and_shift(self)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, " + settings(self, "eps", "elementwise_affine")
