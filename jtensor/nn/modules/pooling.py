"""Pooling layers: maximum, average, power average, adaptive and fractional, and the inverse of the maximum."""
from .. import functional as F
from .module import Module
from .utils import _ntuple, settings

__all__ = [
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d",
]


# ---------------------------------------------------------------------------------------------------------------- maximum

class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _function = None

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        return getattr(F, self._function)(input, self.kernel_size, self.stride, self.padding, self.dilation,
                                          ceil_mode=self.ceil_mode, return_indices=self.return_indices)

    def extra_repr(self):
        return settings(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd):
    """The largest element of every window of ``(N, C, L)`` or ``(C, L)``.

    >>> import jtensor as torch
    >>> torch.nn.MaxPool1d(2)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 4])
    """

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The largest element of every window of ``(N, C, H, W)`` or ``(C, H, W)``.

    ``return_indices``: answer with the positions too, as MaxUnpool2d takes them.

    >>> import jtensor as torch
    >>> torch.nn.MaxPool2d(2)(torch.arange(4.).reshape(1, 1, 2, 2))
    tensor([[[[3.]]]])
    """

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The largest element of every window of ``(N, C, D, H, W)`` or ``(C, D, H, W)``.

    >>> import jtensor as torch
    >>> torch.nn.MaxPool3d(2)(torch.ones(1, 4, 4, 6)).shape
    torch.Size([1, 2, 2, 3])
    """

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    _dims, _function = None, None

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        n = _ntuple(self._dims)
        self.kernel_size, self.stride, self.padding = n(kernel_size), n(kernel_size if stride is None else stride), n(padding)

    def forward(self, input, indices, output_size=None):
        return getattr(F, self._function)(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return settings(self, "kernel_size", "stride", "padding")


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts the maxima back where MaxPool1d found them; zeros elsewhere."""

    _dims, _function = 1, "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts the maxima back where MaxPool2d found them; zeros elsewhere.

    >>> import jtensor as torch
    >>> pool = torch.nn.MaxPool2d(2, return_indices=True)
    >>> torch.nn.MaxUnpool2d(2)(*pool(torch.tensor([[[[1., 2.], [3., 4.]]]])))
    tensor([[[[0., 0.],
              [0., 4.]]]])
    """

    _dims, _function = 2, "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts the maxima back where MaxPool3d found them; zeros elsewhere."""

    _dims, _function = 3, "max_unpool3d"


class _FractionalMaxPoolNd(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _dims, _function = None, None

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        n, kind = _ntuple(self._dims), type(self).__name__
        self.kernel_size = n(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else n(output_size)
        self.output_ratio = None if output_ratio is None else n(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{kind} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return getattr(F, self._function)(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                                          _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maximum pooling over windows at pseudo-random places, so that the output has any size or ratio wanted.

    >>> import jtensor as torch
    >>> torch.nn.FractionalMaxPool2d(2, output_size=(3, 4))(torch.ones(1, 1, 7, 9)).shape
    torch.Size([1, 1, 3, 4])
    """

    _dims, _function = 2, "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maximum pooling over windows at pseudo-random places, in three dimensions."""

    _dims, _function = 3, "fractional_max_pool3d"

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        sizes = (kernel_size,) if isinstance(kernel_size, int) else kernel_size
        if any(k <= 0 for k in sizes):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)


# ---------------------------------------------------------------------------------------------------------------- average

class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self):
        return settings(self, "kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    """The mean of every window of ``(N, C, L)`` or ``(C, L)``.

    >>> import jtensor as torch
    >>> torch.nn.AvgPool1d(2)(torch.zeros(2, 3, 8)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        one = _ntuple(1)
        self.kernel_size, self.stride, self.padding = one(kernel_size), one(kernel_size if stride is None else stride), one(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolWithDivisor(_AvgPoolNd):
    __constants__ = _AvgPoolNd.__constants__ + ["divisor_override"]
    _function = None

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        return getattr(F, self._function)(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                          self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPoolWithDivisor):
    """The mean of every window of ``(N, C, H, W)`` or ``(C, H, W)``; ``divisor_override`` divides by that number instead.

    >>> import jtensor as torch
    >>> torch.nn.AvgPool2d(2)(torch.arange(4.).reshape(1, 1, 2, 2))
    tensor([[[[1.5000]]]])
    """

    _function = "avg_pool2d"


class AvgPool3d(_AvgPoolWithDivisor):
    """The mean of every window of ``(N, C, D, H, W)`` or ``(C, D, H, W)``.

    >>> import jtensor as torch
    >>> torch.nn.AvgPool3d(2)(torch.ones(1, 4, 4, 6)).shape
    torch.Size([1, 2, 2, 3])
    """

    _function = "avg_pool3d"


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _function = None

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return getattr(F, self._function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return settings(self, "norm_type", "kernel_size", "stride", "ceil_mode")


class LPPool1d(_LPPoolNd):
    """The p-norm of every window of ``(N, C, L)`` or ``(C, L)``."""

    _function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """The p-norm of every window of ``(N, C, H, W)`` or ``(C, H, W)``.

    >>> import jtensor as torch
    >>> torch.nn.LPPool2d(2, (1, 2))(torch.tensor([[[[3., 4.]]]]))
    tensor([[[[5.]]]])
    """

    _function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """The p-norm of every window of ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    _function = "lp_pool3d"


# --------------------------------------------------------------------------------------------------------------- adaptive

class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]
    _function = None

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input):
        return getattr(F, self._function)(input, self.output_size, self.return_indices)

    def extra_repr(self):
        return settings(self, "output_size")


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The maxima of ``output_size`` windows that divide the length evenly.

    >>> import jtensor as torch
    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1., 3., 5., 7.]]))
    tensor([[3., 7.]])
    """

    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The maxima of as many windows as ``output_size`` says; None keeps a dimension's size.

    >>> import jtensor as torch
    >>> torch.nn.AdaptiveMaxPool2d(2)(torch.zeros(2, 3, 8, 9)).shape
    torch.Size([2, 3, 2, 2])
    """

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The maxima of as many windows as ``output_size`` says, in three dimensions."""

    _function = "adaptive_max_pool3d"


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]
    _function = None

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, self._function)(input, self.output_size)

    def extra_repr(self):
        return settings(self, "output_size")


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of ``output_size`` windows that divide the length evenly.

    >>> import jtensor as torch
    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1., 3., 5., 7.]]))
    tensor([[2., 6.]])
    """

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of as many windows as ``output_size`` says; None keeps a dimension's size.

    >>> import jtensor as torch
    >>> torch.nn.AdaptiveAvgPool2d((2, 3))(torch.zeros(2, 3, 8, 9)).shape
    torch.Size([2, 3, 2, 3])
    """

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of as many windows as ``output_size`` says, in three dimensions."""

    _function = "adaptive_avg_pool3d"
