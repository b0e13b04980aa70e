"""Layers that drop elements or channels while training."""
from .. import functional as F
from .module import Module
from .utils import settings

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return settings(self, "p", "inplace")


class Dropout(_DropoutNd):
    """While training, zeroes each element with probability ``p`` and scales the others by ``1 / (1 - p)``.

    >>> import jtensor as torch
    >>> torch.nn.Dropout(0.25).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """While training, zeroes whole channels of ``(N, C, L)`` or ``(C, L)``.

    >>> import jtensor as torch
    >>> torch.nn.Dropout1d(0.5).eval()(torch.ones(1, 2, 3)).shape
    torch.Size([1, 2, 3])
    """

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """While training, zeroes whole channels of ``(N, C, H, W)`` or ``(N, C, L)``.

    >>> import jtensor as torch
    >>> torch.nn.Dropout2d()(torch.zeros(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """While training, zeroes whole channels of ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance of SELU networks: dropped elements become SELU's negative saturation value.

    >>> import jtensor as torch
    >>> torch.nn.AlphaDropout(0.5).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training)
