"""Padding layers: circular, constant, reflection, replication and zero, in one, two and three dimensions."""
from .. import functional as F
from .batchnorm import _expect_dims
from .module import Module
from .utils import _ntuple, settings

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]


class _PadNd(Module):
    """``padding``: one number for all sides, or two a dimension, the last dimension first."""

    __constants__ = ["padding"]
    _dims, _mode = None, None

    def __init__(self, padding):
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input):
        _expect_dims(input, self._dims + 1, self._dims + 2)

    def forward(self, input):
        self._check_input_dim(input)
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Pads ``(N, C, W)`` or ``(C, W)`` with what stands at the other end."""

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """Pads ``(N, C, H, W)`` or ``(C, H, W)`` with what stands at the other end."""

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """Pads ``(N, C, D, H, W)`` or ``(C, D, H, W)`` with what stands at the other end."""

    _dims = 3


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return settings(self, "padding", "value")


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a value.

    >>> import jtensor as torch
    >>> torch.nn.ConstantPad1d((1, 2), 7.)(torch.zeros(1, 2))
    tensor([[7., 0., 0., 7., 7.]])
    """

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a value."""

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with a value."""

    _dims = 3


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension with its mirror image, the edge itself not repeated."""

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last two dimensions with their mirror image, the edges not repeated."""

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last three dimensions with their mirror image, the edges not repeated."""

    _dims = 3


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension with its edge values."""

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last two dimensions with their edge values."""

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last three dimensions with their edge values."""

    _dims = 3


class ZeroPad1d(ConstantPad1d):
    """Pads the last dimension with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pads the last two dimensions with zeros.

    >>> import jtensor as torch
    >>> torch.nn.ZeroPad2d(1)(torch.zeros(1, 3, 4, 5)).shape
    torch.Size([1, 3, 6, 7])
    """

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pads the last three dimensions with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"
