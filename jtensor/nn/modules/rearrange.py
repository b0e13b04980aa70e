"""Layers that only move elements: pixel and channel shuffles, sliding windows (Fold, Unfold), resizing."""
from .. import functional as F
from .module import Module
from .utils import settings

__all__ = ["PixelShuffle", "PixelUnshuffle", "ChannelShuffle", "Fold", "Unfold", "Upsample", "UpsamplingNearest2d",
           "UpsamplingBilinear2d"]


class PixelShuffle(Module):
    """``(*, C r², H, W)`` to ``(*, C, H r, W r)``.

    >>> import jtensor as torch
    >>> torch.nn.PixelShuffle(2)(torch.zeros(1, 8, 3, 3)).shape
    torch.Size([1, 2, 6, 6])
    """

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        return settings(self, "upscale_factor")


class PixelUnshuffle(Module):
    """``(*, C, H r, W r)`` to ``(*, C r², H, W)``.

    >>> import jtensor as torch
    >>> torch.nn.PixelUnshuffle(2)(torch.zeros(1, 3, 4, 6)).shape
    torch.Size([1, 12, 2, 3])
    """

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        return settings(self, "downscale_factor")


class ChannelShuffle(Module):
    """Deals the channels of ``(N, C, *)`` out over ``groups`` groups.

    >>> import jtensor as torch
    >>> torch.nn.ChannelShuffle(2)(torch.arange(4.).reshape(1, 4, 1, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    __constants__ = ["groups"]

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return settings(self, "groups")


class Fold(Module):
    """Adds sliding windows ``(N, C k, L)`` up to an image ``(N, C, *output_size)``.

    >>> import jtensor as torch
    >>> torch.nn.Fold((4, 5), 2)(torch.zeros(1, 12, 12)).shape
    torch.Size([1, 3, 4, 5])
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return settings(self, *self.__constants__)


class Unfold(Module):
    """The sliding windows of an image: ``(N, C, H, W)`` to ``(N, C k, L)``.

    >>> import jtensor as torch
    >>> torch.nn.Unfold(2)(torch.zeros(1, 3, 4, 5)).shape
    torch.Size([1, 12, 12])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return settings(self, *self.__constants__)


class Upsample(Module):
    """Resizes the spatial dimensions of ``(N, C, *)`` to ``size`` or by ``scale_factor``; modes as in ``interpolate``.

    >>> import jtensor as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.zeros(1, 3, 4, 5)).shape
    torch.Size([1, 3, 8, 10])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def __setstate__(self, state):
        state.setdefault("recompute_scale_factor", True)
        super().__setstate__(state)

    def extra_repr(self):
        which = "size" if self.scale_factor is None else "scale_factor"
        return f"{which}={getattr(self, which)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample by repeating pixels.

    >>> import jtensor as torch
    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.tensor([[[[1., 2.]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample by bilinear interpolation with aligned corners.

    >>> import jtensor as torch
    >>> torch.nn.UpsamplingBilinear2d((1, 3))(torch.tensor([[[[1., 2.]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
