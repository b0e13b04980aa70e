"""Layers that trade channels for pixels, and back."""
from .. import functional as F
from .module import Module
from .utils import settings

__all__ = ["PixelShuffle", "PixelUnshuffle"]


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
