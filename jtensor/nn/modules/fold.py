"""Layers for sliding windows of images: their windows as columns, and back."""
from .. import functional as F
from .module import Module
from .utils import settings

__all__ = ["Fold", "Unfold"]


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
