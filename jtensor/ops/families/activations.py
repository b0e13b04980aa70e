"""Smooth activation functions, as operators; `nn.functional` gives them their public names.

Owns: the exponential units, sigmoid and its kin, the smooth rectifiers. What is saved is PyTorch's. May not know: tensors as objects.
Those with a kink are in `rectifiers`.
"""
import math

import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from .. import layout
from ..fitting import number_fits
from ..operator import Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import cast_like, floats_only, is_complex, refuses, wide, wrap_dim
from .rectifiers import falls_nowhere
from .special import normal_area

_INTERNAL = {"inplace": True, "function": False, "method": False}


# -- exponential units ------------------------------------------------------------------------------------------------

def _elu_slope(grad, x, alpha, scale, input_scale):
    below = grad * (input_scale * alpha * scale) * jnp.exp(_negative(x) * input_scale)
    return jnp.where(x <= 0, below, grad * scale)


def _negative(x):
    """What is below zero, else zero: at zero the slope is that of the left side, but PyTorch has it not change there."""
    return jnp.where(x < 0, x, jnp.zeros_like(x))


@wide
def _elu_gradient(grad, self, alpha, scale, input_scale):
    return _elu_slope(grad, self, *[cast_like(v, self) for v in (alpha, scale, input_scale)])


@op("numeric", grad=_elu_gradient, check=floats_only("elu_cpu"), fits=dict.fromkeys(("alpha", "scale", "input_scale"), "wide"), **_INTERNAL)
@wide
def elu(self: Tensor, alpha: Number = 1.0, scale: Number = 1, input_scale: Number = 1):
    """``scale * input`` where positive, else ``scale * alpha * (exp(input_scale * input) - 1)``."""
    a, s, i = [cast_like(v, self) for v in (alpha, scale, input_scale)]
    return jnp.where(self < 0, jnp.expm1(_negative(self) * i) * (a * s), self * s)


def _elu_gradient_of_result(grad, result, alpha, scale, input_scale):
    return jnp.where(result <= 0, grad * input_scale * (_negative(result) + alpha * scale), grad * scale)


_elu_gradient_of_result.allows = falls_nowhere("elu")


@op("numeric", name="elu.result", backward="EluBackward1", double="EluBackwardBackward0", grad=wide(_elu_gradient_of_result),
    check=floats_only("elu_cpu"), **_INTERNAL)
def elu_in_place(self: Tensor, alpha=1.0, scale=1, input_scale=1):
    """``elu`` where it is written back: its gradient is made of the result."""
    return elu.body(self, alpha, scale, input_scale)


elu.by_result = elu_in_place
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@composite(method=False)
def selu(input):
    """The self-normalizing unit: `elu` with two fixed constants.

    >>> torch.selu(torch.tensor([1.]))
    tensor([1.0507])
    """
    return elu(input, SELU_ALPHA, SELU_SCALE)


@composite(method=False)
def selu_(input):
    """``selu``, written back into the tensor."""
    return elu.inplace_form(input, SELU_ALPHA, SELU_SCALE)


@wide
def _celu_gradient(grad, self, alpha):
    a = cast_like(alpha, self)
    return jnp.where(self <= 0, grad * jnp.exp(_negative(self) / a), grad)


def _check_celu(self, alpha):
    if not isinstance(alpha, (int, float, complex)):
        return
    number_fits(alpha, dtypes.float64)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    floats_only("elu_cpu")(self)
    number_fits(alpha, dtypes.float32 if self.dtype.itemsize < 4 else self.dtype)


@op("numeric", grad=_celu_gradient, check=_check_celu, inplace=True, method=False, double="EluBackwardBackward0")
@wide
def celu(self: Tensor, alpha=1.0):
    """``input`` where positive, else ``alpha * (exp(input / alpha) - 1)``.

    >>> torch.celu(torch.tensor([1., 0.]))
    tensor([1., 0.])
    """
    return elu.body(self, float(alpha), 1, 1 / float(alpha))


def _celu_gradient_of_result(grad, result, alpha):
    return _elu_gradient_of_result(grad, result, alpha, 1, 1 / alpha)


_celu_gradient_of_result.allows = falls_nowhere("elu")


@op("numeric", name="celu.result", backward="CeluBackward1", double="EluBackwardBackward0", grad=wide(_celu_gradient_of_result),
    check=_check_celu, **_INTERNAL)
def celu_in_place(self: Tensor, alpha=1.0):
    """``celu`` where it is written back: its gradient is made of the result."""
    return celu.body(self, alpha)


celu.by_result = celu_in_place


# -- sigmoids ---------------------------------------------------------------------------------------------------------

@wide
def logistic(x):
    """``1 / (1 + exp(-x))``."""
    return 1 / (1 + jnp.exp(-x)) if is_complex(x) else lax.logistic(x)


@op("float", inplace=True, out=True, grad=lambda grad, result: grad * jnp.conj((1 - result) * result))
def sigmoid(self: Tensor):
    """``1 / (1 + exp(-input))``.

    >>> torch.sigmoid(torch.tensor([0.]))
    tensor([0.5000])
    """
    return logistic(self)


@op("float", inplace=True, out=True, grad=lambda grad, result: grad * jnp.conj(1 - result * result))
@wide
def tanh(self: Tensor):
    """The hyperbolic tangent.

    >>> torch.tanh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """
    return jnp.tanh(self)


@wide
def _log_sigmoid(x):
    return jnp.where(x < 0, x, jnp.zeros_like(x)) - jnp.log1p(jnp.exp(-jnp.abs(x)))


@wide
def _log_sigmoid_gradient(grad, self):
    small = jnp.exp(-jnp.abs(self))
    return grad * jnp.where(self < 0, 1 / (1 + small), small / (1 + small))


@op("numeric", name="log_sigmoid", backward="LogSigmoidBackward0", function=False, method=False, out=True,
    grad=_log_sigmoid_gradient, check=floats_only("log_sigmoid_cpu"), quirks=Quirks(factor=True))
def log_sigmoid(self: Tensor):
    """``log(sigmoid(input))`` without underflow on the way."""
    return _log_sigmoid(self)


# -- smooth rectifiers ------------------------------------------------------------------------------------------------

@wide
def _softplus_gradient(grad, self, beta, threshold):
    b, t = cast_like(beta, self), cast_like(threshold, self)
    z = jnp.exp(jnp.minimum(self * b, t))
    return jnp.where(self * b > t, grad, grad * z / (z + 1))


@op("numeric", function=False, method=False, out=True, grad=_softplus_gradient, check=floats_only("softplus_cpu"),
    fits={"beta": "wide", "threshold": "wide"})
@wide
def softplus(self: Tensor, beta: Number = 1, threshold: Number = 20):
    """``log(1 + exp(beta * input)) / beta``; the input itself where ``beta * input`` is above ``threshold``."""
    b, t = cast_like(beta, self), cast_like(threshold, self)
    return jnp.where(self * b > t, self, jnp.log1p(jnp.exp(jnp.where(self * b > t, t, self * b))) / b)


@wide
def _silu_gradient(grad, self):
    s = logistic(self)
    return grad * jnp.conj(s * (1 + self * (1 - s)))


@op("numeric", grad=_silu_gradient, check=refuses("silu_cpu", "integral", "bool"), **_INTERNAL, double="MulBackward0",
    quirks=Quirks(real_only="silu"))
@wide
def silu(self: Tensor):
    """``input * sigmoid(input)``."""
    return self * logistic(self) if is_complex(self) else self / (1 + jnp.exp(-self))


@wide
def _mish_gradient(grad, self):
    s, t = logistic(self), jnp.tanh(_softened(self))
    return grad * (t + self * s * (1 - t * t))


def _softened(x):
    return jnp.where(x > 20, x, jnp.log1p(jnp.exp(jnp.minimum(x, 20))))


@op("numeric", grad=_mish_gradient, check=floats_only("mish_cpu"), **_INTERNAL, double="MulBackward0", quirks=Quirks(factor=True))
@wide
def mish(self: Tensor):
    """``input * tanh(softplus(input))``."""
    return self * jnp.tanh(jnp.log1p(jnp.exp(self)))


_SQRT2, _SQRT_2_PI, _CUBE = math.sqrt(2), math.sqrt(2 / math.pi), 0.044715


def _check_gelu(self, approximate):
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    floats_only("GeluKernelImpl")(self)


@wide
def _gelu_gradient(grad, self, approximate):
    if approximate == "tanh":
        inner = _SQRT_2_PI * (self + _CUBE * self * self * self)
        t = jnp.tanh(inner)
        slope = _SQRT_2_PI * (1 + 3 * _CUBE * self * self)
        return grad * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * slope)
    cdf = normal_area(self)
    return grad * (cdf + self * jnp.exp(-0.5 * self * self) * (1 / math.sqrt(2 * math.pi)))


@op("numeric", grad=_gelu_gradient, check=_check_gelu, out=True, **_INTERNAL)
@wide
def gelu(self: Tensor, *, approximate="none"):
    """``input`` times the standard normal distribution function, exact or by a tanh."""
    if approximate == "tanh":
        return 0.5 * self * (1 + jnp.tanh(_SQRT_2_PI * (self + _CUBE * self * self * self)))
    return self * normal_area(self)


def _check_glu(self, dim):
    if self.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = wrap_dim(dim, self.ndim)
    if self.size[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {self.size[dim]}")
    floats_only("glu_cpu")(self)


def _glu_layout(specs, outs, statics):
    return [layout.pointwise(outs[0].shape, [(outs[0].shape, specs[0].stride)])]


@op(None, function=False, method=False, out=True, check=_check_glu, layout=_glu_layout)
@wide
def glu(self: Tensor, dim=-1):
    """The first half along ``dim`` times the sigmoid of the second."""
    a, b = jnp.split(self, 2, axis=dim)
    return a * logistic(b)
