"""Layers that turn scores into shares along a dimension."""
from .. import functional as F
from .module import Module
from .utils import settings

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _AlongDim(Module):
    __constants__ = ["dim"]

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self):
        return settings(self, "dim")


class Softmin(_AlongDim):
    """The softmax of ``-x`` along ``dim``."""

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_AlongDim):
    """``exp(x)`` divided by its sum along ``dim``.

    >>> import jtensor as torch
    >>> torch.nn.Softmax(dim=-1)(torch.tensor([1., 2., 3.]))
    tensor([0.0900, 0.2447, 0.6652])
    """

    def forward(self, input):
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """The logarithm of the softmax along ``dim``.

    >>> import jtensor as torch
    >>> torch.nn.LogSoftmax(dim=-1)(torch.tensor([1., 2., 3.]))
    tensor([-2.4076, -1.4076, -0.4076])
    """

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """The softmax over the channels of every pixel of ``(N, C, H, W)`` or ``(C, H, W)``."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
