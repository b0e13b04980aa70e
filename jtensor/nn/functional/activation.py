"""Activation functions: argument handling around operators, and those that are made of other functions."""


import jtensor

from ...base import sites
from ...base.naming import type_name
from ...ops.fitting import number_fits
from ...tensor import raw
from ._given import Tensor, is_int, refuse

__all__ = [
    "threshold", "relu", "glu", "hardtanh", "hardtanh_", "relu6", "elu", "elu_", "selu", "celu",
    "leaky_relu", "leaky_relu_", "rrelu", "logsigmoid", "gelu", "tanhshrink",
    "softsign", "softplus", "softmin", "softmax", "gumbel_softmax", "log_softmax", "softshrink", "tanh", "sigmoid",
    "hardsigmoid", "silu", "mish", "hardswish",
]


# --------------------------------------------------------------------------------------------------- possibly in place

def threshold(input, threshold, value, inplace=False):
    """``input`` where it is above ``threshold``, else ``value``."""
    return (raw.threshold_ if inplace else raw.threshold)(input, threshold, value)


def relu(input, inplace=False):
    """``max(input, 0)``, elementwise.

    >>> import jtensor as torch
    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return raw.relu_(input) if inplace else raw.relu(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """``clamp(input, min_val, max_val)``; the gradient at both ends is 0.

    >>> import jtensor as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-2., 0., 3.]))
    tensor([-1.,  0.,  1.])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (raw.hardtanh_ if inplace else raw.hardtanh)(input, *_bounds(input, min_val, max_val))


def _bounds(input, *bounds):
    """The bounds of `hardtanh`; those of integers are whole numbers."""
    if not isinstance(input, Tensor) or input.dtype.category != 1:
        return bounds
    bounds = [int(number_fits(bound, jtensor.int64)) for bound in bounds]
    if not input.dtype.is_signed and min(bounds) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return bounds


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """``hardtanh`` in place."""
    return raw.hardtanh_(input, *_bounds(input, min_val, max_val))


def relu6(input, inplace=False):
    """``clamp(input, 0, 6)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.relu6(torch.tensor([-2., 0., 3.]))
    tensor([0., 0., 3.])
    """
    if not isinstance(input, Tensor):
        refuse("relu6", input=input)
    return (raw.hardtanh_ if inplace else raw.hardtanh)(input, 0, 6)


def elu(input, alpha=1.0, inplace=False):
    """``input`` where positive, else ``alpha (exp(input) - 1)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.elu(torch.tensor([-2., 0., 3.]))
    tensor([-0.8647,  0.0000,  3.0000])
    """
    return (raw.elu_ if inplace else raw.elu)(input, alpha)


def elu_(input, alpha=1, scale=1, input_scale=1):
    """``elu`` in place, the result times ``scale``, the input of the exponential times ``input_scale``."""
    return raw.elu_(input, alpha, scale, input_scale)


_SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)  # alpha and scale of Klambauer et al.


def selu(input, inplace=False):
    """The self-normalising exponential linear unit.

    >>> import jtensor as torch
    >>> torch.nn.functional.selu(torch.tensor([-2., 0., 3.]))
    tensor([-1.5202,  0.0000,  3.1521])
    """
    if not isinstance(input, Tensor):
        refuse("selu", input=input)
    return (raw.elu_ if inplace else raw.elu)(input, *_SELU)


def celu(input, alpha=1.0, inplace=False):
    """``input`` where positive, else ``alpha (exp(input / alpha) - 1)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.celu(torch.tensor([-2., 0., 3.]))
    tensor([-0.8647,  0.0000,  3.0000])
    """
    return (raw.celu_ if inplace else raw.celu)(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """``input`` where positive, else ``negative_slope * input``.

    >>> import jtensor as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-2., 0., 3.]))
    tensor([-0.0200,  0.0000,  3.0000])
    """
    return (raw.leaky_relu_ if inplace else raw.leaky_relu)(input, negative_slope)


def leaky_relu_(input, negative_slope=0.01):
    """``leaky_relu`` in place."""
    return raw.leaky_relu_(input, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """A leaky ReLU whose slope is drawn from [lower, upper] for each element while training, else their mean."""
    return (raw.rrelu_ if inplace else raw.rrelu)(input, lower, upper, training)


def hardsigmoid(input, inplace=False):
    """``clamp(input / 6 + 1 / 2, 0, 1)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-2., 0., 3.]))
    tensor([0.1667, 0.5000, 1.0000])
    """
    return raw.hardsigmoid_(input) if inplace else raw.hardsigmoid(input)


def silu(input, inplace=False):
    """``input * sigmoid(input)``; PyTorch has no gradient of it for complex numbers.

    >>> import jtensor as torch
    >>> torch.nn.functional.silu(torch.tensor([-2., 0., 3.]))
    tensor([-0.2384,  0.0000,  2.8577])
    """
    return raw.silu_(input) if inplace else raw.silu(input)


def mish(input, inplace=False):
    """``input * tanh(softplus(input))``.

    >>> import jtensor as torch
    >>> torch.nn.functional.mish(torch.tensor([-2., 0., 3.]))
    tensor([-0.2525,  0.0000,  2.9865])
    """
    return raw.mish_(input) if inplace else raw.mish(input)


def hardswish(input, inplace=False):
    """``input * hardsigmoid(input)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.hardswish(torch.tensor([-2., 0., 3.]))
    tensor([-0.3333,  0.0000,  3.0000])
    """
    return raw.hardswish_(input) if inplace else raw.hardswish(input)


# ----------------------------------------------------------------------------------------------------------- elementwise

def logsigmoid(input, *, out=None):
    """``log(sigmoid(input))``.

    >>> import jtensor as torch
    >>> torch.nn.functional.logsigmoid(torch.tensor([-2., 0., 3.]))
    tensor([-2.1269, -0.6931, -0.0486])
    """
    return raw.log_sigmoid(input, out=out)


def gelu(input, *, approximate="none", out=None):
    """``input`` times the normal distribution's cumulative probability; ``approximate``: "none" or "tanh".

    >>> import jtensor as torch
    >>> torch.nn.functional.gelu(torch.tensor([-1., 0., 1.]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    return raw.gelu(input, approximate=approximate, out=out)


def softshrink(input, lambd=0.5, *, out=None):
    """``input`` moved towards 0 by ``lambd``, and 0 where that would pass it."""
    return raw.softshrink(input, lambd, out=out)


def softplus(input, beta=1, threshold=20, *, out=None):
    """``log(1 + exp(beta input)) / beta``, and ``input`` where ``beta input`` is above ``threshold``.

    >>> import jtensor as torch
    >>> torch.nn.functional.softplus(torch.tensor([-2., 0., 3.]))
    tensor([0.1269, 0.6931, 3.0486])
    """
    return raw.softplus(input, beta, threshold, out=out)


def tanhshrink(input):
    """``input - tanh(input)``."""
    return input - input.tanh()


def softsign(input):
    """``input / (1 + |input|)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.softsign(torch.tensor([-2., 0., 3.]))
    tensor([-0.6667,  0.0000,  0.7500])
    """
    return input / (input.abs() + 1)


def tanh(input):
    """The hyperbolic tangent.

    >>> import jtensor as torch
    >>> torch.nn.functional.tanh(torch.tensor([-2., 0., 3.]))
    tensor([-0.9640,  0.0000,  0.9951])
    """
    return input.tanh()


def sigmoid(input):
    """``1 / (1 + exp(-input))``.

    >>> import jtensor as torch
    >>> torch.nn.functional.sigmoid(torch.tensor([-2., 0., 3.]))
    tensor([0.1192, 0.5000, 0.9526])
    """
    return input.sigmoid()


# ---------------------------------------------------------------------------------------------------- along a dimension

def glu(input, dim=-1):
    """``a * sigmoid(b)`` of the two halves along ``dim``.

    >>> import jtensor as torch
    >>> torch.nn.functional.glu(torch.tensor([1., 2., 0., 0.]))
    tensor([0.5000, 1.0000])
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if not is_int(dim):
        raise TypeError(f"glu(): argument 'dim' (position 2) must be int, not {type_name(type(dim))}")
    return raw.glu(input, dim)


def _get_softmax_dim(name, ndim, stacklevel=3):
    """The dimension that is meant where none is told, of a tensor of ``ndim`` dimensions; warns where the program calls."""
    sites.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``exp(input)`` divided by its sum along ``dim``; computed in ``dtype`` where given.

    >>> import jtensor as torch
    >>> torch.nn.functional.softmax(torch.zeros(2), dim=0)
    tensor([0.5000, 0.5000])
    """
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim())
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """The softmax of ``-input``."""
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim())
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax, computed as a whole.

    >>> import jtensor as torch
    >>> torch.nn.functional.log_softmax(torch.tensor([1., 2., 3.]), dim=-1)
    tensor([-2.4076, -1.4076, -0.4076])
    """
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim())
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A differentiable sample of a categorical distribution; ``hard``: one-hot forward, with the soft sample's gradient."""
    if eps != 1e-10:
        sites.warn("`eps` parameter is deprecated and has no effect.")
    noise = -jtensor.empty_like(logits, memory_format=jtensor.contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = jtensor.zeros_like(logits, memory_format=jtensor.contiguous_format).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
