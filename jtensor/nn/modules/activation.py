"""Activation layers. (MultiheadAttention and the softmaxes, which PyTorch counts among them, have rooms of their own: ``attention`` and
``softmax``.)"""
import warnings

import jtensor

from .. import functional as F
from .. import init as _init
from ..parameter import Parameter
from .module import Module
from .utils import settings

__all__ = [
    "Threshold", "ReLU", "RReLU", "Hardtanh", "ReLU6", "Sigmoid", "Hardsigmoid", "Tanh", "SiLU", "Mish", "Hardswish", "ELU",
    "CELU", "SELU", "GLU", "GELU", "Hardshrink", "LeakyReLU", "LogSigmoid", "Softplus", "Softshrink", "PReLU", "Softsign",
    "Tanhshrink",
]


# ----------------------------------------------------------------------------------------------------- without a setting

class Sigmoid(Module):
    """``1 / (1 + exp(-x))``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.Sigmoid()(torch.tensor([-2., 0., 3.]))
    tensor([0.1192, 0.5000, 0.9526])
    """

    def forward(self, input):
        return jtensor.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.Tanh()(torch.tensor([-2., 0., 3.]))
    tensor([-0.9640,  0.0000,  0.9951])
    """

    def forward(self, input):
        return jtensor.tanh(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))``, elementwise."""

    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """``x / (1 + |x|)``, elementwise."""

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``, elementwise."""

    def forward(self, input):
        return F.tanhshrink(input)


# --------------------------------------------------------------------------------------------------- possibly in place

class _Inplace(Module):
    """An elementwise activation that can overwrite its input; ``_shown``: the settings that repr shows before that."""

    __constants__ = ["inplace"]
    _shown = ()

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self):
        parts = [settings(self, *self._shown)] if self._shown else []
        return ", ".join(parts + ["inplace=True"] * bool(self.inplace))


class ReLU(_Inplace):
    """``max(x, 0)``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input):
        return F.relu(input, inplace=self.inplace)


class SELU(_Inplace):
    """The self-normalising exponential linear unit, elementwise."""

    def forward(self, input):
        return F.selu(input, self.inplace)


class SiLU(_Inplace):
    """``x sigmoid(x)``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.SiLU()(torch.tensor([-2., 0., 3.]))
    tensor([-0.2384,  0.0000,  2.8577])
    """

    def forward(self, input):
        return F.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """``x tanh(softplus(x))``, elementwise."""

    def forward(self, input):
        return F.mish(input, inplace=self.inplace)


class Hardsigmoid(_Inplace):
    """``clamp(x / 6 + 1 / 2, 0, 1)``, elementwise."""

    extra_repr = Module.extra_repr

    def forward(self, input):
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_Inplace):
    """``x hardsigmoid(x)``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.Hardswish()(torch.tensor([-2., 0., 3.]))
    tensor([-0.3333,  0.0000,  3.0000])
    """

    extra_repr = Module.extra_repr

    def forward(self, input):
        return F.hardswish(input, self.inplace)


class Threshold(_Inplace):
    """``x`` where it is above ``threshold``, else ``value``."""

    __constants__ = ["threshold", "value", "inplace"]
    _shown = ("threshold", "value")

    def __init__(self, threshold, value, inplace=False):
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(_Inplace):
    """A leaky ReLU whose slope is drawn from [lower, upper] for each element while training, else their mean."""

    __constants__ = ["lower", "upper", "inplace"]
    _shown = ("lower", "upper")

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__(inplace)
        self.lower, self.upper = lower, upper

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class LeakyReLU(_Inplace):
    """``x`` where positive, else ``negative_slope * x``.

    >>> import jtensor as torch
    >>> torch.nn.LeakyReLU()(torch.tensor([-2., 0., 3.]))
    tensor([-0.0200,  0.0000,  3.0000])
    """

    __constants__ = ["inplace", "negative_slope"]
    _shown = ("negative_slope",)

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Inplace):
    """``x`` where positive, else ``alpha (exp(x) - 1)``.

    >>> import jtensor as torch
    >>> torch.nn.ELU()(torch.tensor([-2., 0., 3.]))
    tensor([-0.8647,  0.0000,  3.0000])
    """

    __constants__ = ["alpha", "inplace"]
    _shown = ("alpha",)

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Inplace):
    """``x`` where positive, else ``alpha (exp(x / alpha) - 1)``."""

    __constants__ = ["alpha", "inplace"]
    _shown = ("alpha",)

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)


class Hardtanh(_Inplace):
    """``clamp(x, min_val, max_val)``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.Hardtanh()(torch.tensor([-2., 0., 3.]))
    tensor([-1.,  0.,  1.])
    """

    __constants__ = ["min_val", "max_val", "inplace"]
    _shown = ("min_val", "max_val")

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__(inplace)
        for old, new, given in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if given is not None:
                warnings.warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """``clamp(x, 0, 6)``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.ReLU6()(torch.tensor([-2., 0., 3.]))
    tensor([0., 0., 3.])
    """

    _shown = ()

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)


# -------------------------------------------------------------------------------------------------------- with a setting

class GLU(Module):
    """``a * sigmoid(b)`` of the two halves along ``dim``."""

    __constants__ = ["dim"]

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return settings(self, "dim")


class GELU(Module):
    """``x`` times the normal distribution's cumulative probability at ``x``; ``approximate``: "none" or "tanh".

    >>> import jtensor as torch
    >>> torch.nn.GELU()(torch.tensor([-1., 0., 1.]))
    tensor([-0.1587,  0.0000,  0.8413])
    """

    __constants__ = ["approximate"]

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """``x`` outside of [-lambd, lambd], else 0."""

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return str(self.lambd)


class Softshrink(Module):
    """``x`` moved towards 0 by ``lambd``, and 0 where that would pass it."""

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.softshrink(input, self.lambd)

    def extra_repr(self):
        return str(self.lambd)


class Softplus(Module):
    """``log(1 + exp(beta x)) / beta``, and ``x`` where ``beta x`` is above ``threshold``.

    >>> import jtensor as torch
    >>> torch.nn.Softplus()(torch.tensor([-2., 0., 3.]))
    tensor([0.1269, 0.6931, 3.0486])
    """

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return settings(self, "beta", "threshold")


class PReLU(Module):
    """A leaky ReLU whose slope is learnt: one for all, or one for each of ``num_parameters`` channels."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(jtensor.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Sets the slopes to their initial value."""
        _init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return settings(self, "num_parameters")
