"""A layer that shuffles channels."""
from .. import functional as F
from .module import Module
from .utils import settings

__all__ = ["ChannelShuffle"]


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
