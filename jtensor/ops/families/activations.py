"""Activation functions, as operators; `nn.functional` gives them their public names.

Owns: the rectifiers, sigmoid and its kin, the soft functions, softmax and log_softmax. What is saved and the value of a gradient at a kink
are PyTorch's. May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from .. import layout
from ..operator import Number, Tensor, op
from ..registry import composite
from .numeric import cast, is_complex, not_implemented, refuses, wide, wrap_dim
from .special import normal_area

_INTERNAL = {"inplace": True, "function": False, "method": False}


def _value(number, like):
    return cast(number, like.dtype)




def _floats(kernel):
    """Refuses a tensor of other than floating-point numbers; the numbers beside it do not matter."""
    check = refuses(kernel, "bool", "integral", "complex")
    return lambda self, *numbers: check(self)


def _where(condition, yes, no):
    return jnp.where(condition, yes, jnp.asarray(no, yes.dtype))


# -- rectifiers -------------------------------------------------------------------------------------------------------

def _above_zero(grad, result):
    return _where(result <= 0, jnp.zeros_like(grad), grad)


def _check_relu(self):
    if self.dtype is dtypes.bool:
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


@op("numeric", inplace=True, grad=_above_zero, check=_check_relu, double="ThresholdBackwardBackward0")
def relu(self: Tensor):
    """``max(input, 0)``; NaN stays NaN, and the gradient at 0 is 0.

    >>> torch.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return jnp.where(self < 0, jnp.zeros_like(self), self)          # -0.0 stays


@op("numeric", check=_floats("leaky_relu_cpu"), **_INTERNAL,
    grad=lambda grad, self, negative_slope: jnp.where(self > 0, grad, grad * _value(negative_slope, grad)))
@wide
def leaky_relu(self: Tensor, negative_slope: Number = 0.01):
    """The input where positive, ``negative_slope`` times it elsewhere."""
    return jnp.where(self > 0, self, self * _value(negative_slope, self))


def _rises(where, rest=""):
    """Refuses the gradient of an operation in place that tells by the result where the input was positive, and cannot."""
    def allows(slope, *numbers):
        if slope < 0:
            raise RuntimeError(f"In-place {where} backward calculation is triggered with a negative slope which is not supported. This is "
                               f"caused by calling in-place forward function with a negative slope, please call out-of-place version "
                               f"instead.{rest}")
    return allows


def _leaky_gradient(grad, result, negative_slope):
    return jnp.where(result > 0, grad, grad * _value(negative_slope, grad))


_leaky_gradient.allows = _rises("leakyReLu", " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
                                             "leakRelu backward calculation with negative slope")


@op("numeric", name="leaky_relu.result", backward="LeakyReluBackward1", double="LeakyReluBackwardBackward0", grad=_leaky_gradient,
    check=_floats("leaky_relu_cpu"), **_INTERNAL)
def leaky_relu_in_place(self: Tensor, negative_slope=0.01):
    """``leaky_relu`` where it is written back: its gradient is made of the result."""
    return leaky_relu.body(self, negative_slope)


leaky_relu.by_result = leaky_relu_in_place


@op("numeric", backward="PreluKernelBackward0", function=False, method=False, name="_prelu_kernel",
    grad={"self": lambda grad, self, weight: jnp.where(self > 0, grad, grad * weight),
          "weight": lambda grad, self: _where(self > 0, jnp.zeros_like(grad), grad * self)})
def _prelu_kernel(self: Tensor, weight: Tensor):
    """The input where positive, the weight times it elsewhere; the weight is broadcast."""
    return jnp.where(self > 0, self, self * weight)


def _check_prelu(input, weight):
    if weight.numel() != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim >= 2 else 1
        if channels != weight.numel():
            raise RuntimeError("Mismatch of parameter numbers and input channel size. "
                               f"Found parameter numbers = {weight.numel()} and channel size = {channels}.")
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")


@composite()
def prelu(input, weight):
    """The input where positive, ``weight`` times it elsewhere; one weight, or one for each channel (dimension 1).

    >>> torch.prelu(torch.tensor([-2., 3.]), torch.tensor([0.5]))
    tensor([-1.,  3.])
    """
    if input.dtype is not weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {_torch_name(input.dtype)} and {_torch_name(weight.dtype)}")
    _check_prelu(input, weight)
    if input.ndim != weight.ndim or weight.ndim > 1:
        if weight.numel() == 1 and input.ndim < 2:
            weight = weight.reshape(()) if input.ndim == 0 else weight.reshape((1,))
        else:
            weight = weight.reshape([1] + [-1] + [1] * (input.ndim - 2)) if input.ndim >= 2 else weight
    return _prelu_kernel(input, weight)


_CNAMES = {"float32": "float", "float64": "double"}


def _torch_name(d):
    return _CNAMES.get(d.name, d.name)


@op("numeric", grad=lambda grad, self, threshold: jnp.where(self <= _value(threshold, self), jnp.zeros_like(grad), grad), inplace=True,
    function=True, method=False)
def threshold(self: Tensor, threshold: Number, value: Number):
    """The input where it is above ``threshold``, ``value`` elsewhere.

    >>> torch.threshold(torch.tensor([0.5, 2.]), 1., 9.)
    tensor([9., 2.])
    """
    return jnp.where(self <= _value(threshold, self), _value(value, self), self)


def _hardtanh_gradient(grad, self, min_val, max_val):
    return jnp.where((self > _value(min_val, self)) & (self < _value(max_val, self)), grad, jnp.zeros_like(grad))


def _check_hardtanh(self, min_val, max_val):
    if self.dtype is dtypes.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


@op("numeric", grad=_hardtanh_gradient, **_INTERNAL,
    check=_check_hardtanh)
def hardtanh(self: Tensor, min_val: Number = -1.0, max_val: Number = 1.0):
    """The input kept between two bounds; no gradient on the bounds."""
    low, high = _value(min_val, self), _value(max_val, self)
    return jnp.where(self < low, low, jnp.where(self > high, high, self))


_SIXTH = float(np.float32(1 / 6))         # PyTorch's gradient has this constant in float32 for every type


@op("numeric", check=_floats("hardsigmoid_cpu"), **_INTERNAL,
    grad=lambda grad, self: _where((self > -3) & (self < 3), grad * _SIXTH, 0))
@wide
def hardsigmoid(self: Tensor):
    """A sigmoid of three straight lines: ``clamp(input / 6 + 1/2, 0, 1)``."""
    return jnp.minimum(jnp.maximum(self + 3, 0), 6) / 6


@wide
def _hardswish_gradient(grad, self):
    return _where(self <= -3, jnp.zeros_like(grad), jnp.where(self < 3, grad * (self / 3 + 0.5), grad))


@op("numeric", grad=_hardswish_gradient, check=_floats("hardswish_cpu"), **_INTERNAL)
@wide
def hardswish(self: Tensor):
    """``input * hardsigmoid(input)``."""
    return self * jnp.minimum(jnp.maximum(self + 3, 0), 6) / 6


def _outside(self, lambd):
    size = _value(lambd, self)
    return (self < -size) | (self > size) | (self != self)


def _shrink_gradient(grad, self, lambd):
    size = _value(lambd, self)
    return jnp.where((self < -size) | (self > size), grad, jnp.zeros_like(grad))


@op("numeric", out=True, grad=_shrink_gradient, check=_floats("hardshrink_cpu"))
def hardshrink(self: Tensor, lambd: Number = 0.5):
    """The input, but 0 between ``-lambd`` and ``lambd``.

    >>> torch.hardshrink(torch.tensor([0.3, 1.]))
    tensor([0., 1.])
    """
    return jnp.where(_outside(self, lambd), self, jnp.zeros_like(self))


def _check_softshrink(self, lambd):
    _floats("softshrink_check")(self)
    if isinstance(lambd, (int, float)) and lambd < 0:
        most = float(jnp.finfo(self.dtype.numpy).max)
        raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype {dtypes.scalar_name(self.dtype)}, but found {lambd:g}.")


@op("numeric", function=False, method=False, out=True, check=_check_softshrink, grad=_shrink_gradient)
def softshrink(self: Tensor, lambd=0.5):
    """The input drawn towards 0 by ``lambd``, and 0 where it gets there."""
    size = _value(lambd, self)
    drawn = jnp.where(self > size, self - size, jnp.where(self < -size, self + size, self * 0))
    return drawn


# -- exponential units ------------------------------------------------------------------------------------------------

def _elu_slope(grad, x, alpha, scale, input_scale):
    below = grad * (input_scale * alpha * scale) * jnp.exp(x * input_scale)
    return jnp.where(x <= 0, below, grad * scale)


@wide
def _elu_gradient(grad, self, alpha, scale, input_scale):
    return _elu_slope(grad, self, *[_value(v, self) for v in (alpha, scale, input_scale)])


@op("numeric", grad=_elu_gradient, check=_floats("elu_cpu"), **_INTERNAL)
@wide
def elu(self: Tensor, alpha: Number = 1.0, scale: Number = 1, input_scale: Number = 1):
    """``scale * input`` where positive, else ``scale * alpha * (exp(input_scale * input) - 1)``."""
    a, s, i = [_value(v, self) for v in (alpha, scale, input_scale)]
    low = jnp.where(self <= 0, self, jnp.zeros_like(self))
    return jnp.where(self <= 0, jnp.expm1(low * i) * (a * s), self * s)


def _elu_gradient_of_result(grad, result, alpha, scale, input_scale):
    return jnp.where(result <= 0, grad * input_scale * (result + alpha * scale), grad * scale)


_elu_gradient_of_result.allows = _rises("elu")


@op("numeric", name="elu.result", backward="EluBackward1", double="EluBackwardBackward0", grad=wide(_elu_gradient_of_result),
    check=_floats("elu_cpu"), **_INTERNAL)
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
    a = _value(alpha, self)
    return jnp.where(self <= 0, grad * jnp.exp(self / a), grad)


def _check_celu(self, alpha):
    if isinstance(alpha, (int, float)) and alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    _floats("elu_cpu")(self)


@op("numeric", grad=_celu_gradient, check=_check_celu, inplace=True, method=False)
@wide
def celu(self: Tensor, alpha=1.0):
    """``input`` where positive, else ``alpha * (exp(input / alpha) - 1)``.

    >>> torch.celu(torch.tensor([1., 0.]))
    tensor([1., 0.])
    """
    a = _value(alpha, self)
    low = jnp.where(self <= 0, self, jnp.zeros_like(self))
    return jnp.where(self <= 0, jnp.expm1(low / a) * a, self)


def _celu_gradient_of_result(grad, result, alpha):
    return _elu_gradient_of_result(grad, result, alpha, 1, 1 / alpha)


_celu_gradient_of_result.allows = _rises("elu")


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
    grad=_log_sigmoid_gradient, check=_floats("log_sigmoid_cpu"))
def log_sigmoid(self: Tensor):
    """``log(sigmoid(input))`` without underflow on the way."""
    return _log_sigmoid(self)


# -- smooth rectifiers ------------------------------------------------------------------------------------------------

@wide
def _softplus_gradient(grad, self, beta, threshold):
    b, t = _value(beta, self), _value(threshold, self)
    z = jnp.exp(jnp.minimum(self * b, t))
    return jnp.where(self * b > t, grad, grad * z / (z + 1))


@op("numeric", function=False, method=False, out=True, grad=_softplus_gradient, check=_floats("softplus_cpu"))
@wide
def softplus(self: Tensor, beta: Number = 1, threshold: Number = 20):
    """``log(1 + exp(beta * input)) / beta``; the input itself where ``beta * input`` is above ``threshold``."""
    b, t = _value(beta, self), _value(threshold, self)
    return jnp.where(self * b > t, self, jnp.log1p(jnp.exp(jnp.minimum(self * b, t))) / b)


@wide
def _silu_gradient(grad, self):
    s = logistic(self)
    return grad * jnp.conj(s * (1 + self * (1 - s)))


@op("numeric", grad=_silu_gradient, check=refuses("silu_cpu", "integral", "bool"), **_INTERNAL, double="MulBackward0")
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


@op("numeric", grad=_mish_gradient, check=_floats("mish_cpu"), **_INTERNAL, double="MulBackward0")
@wide
def mish(self: Tensor):
    """``input * tanh(softplus(input))``."""
    return self * jnp.tanh(jnp.log1p(jnp.exp(self)))


_SQRT2, _SQRT_2_PI, _CUBE = math.sqrt(2), math.sqrt(2 / math.pi), 0.044715


def _check_gelu(self, approximate):
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    _floats("GeluKernelImpl")(self)


@wide
def _gelu_gradient(grad, self, approximate):
    if approximate == "tanh":
        inner = _SQRT_2_PI * (self + _CUBE * self * self * self)
        t = jnp.tanh(inner)
        slope = _SQRT_2_PI * (1 + 3 * _CUBE * self * self)
        return grad * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * slope)
    cdf = normal_area(self)
    return grad * (cdf + self * jnp.exp(-0.5 * self * self) * (1 / math.sqrt(2 * math.pi)))


@op("numeric", grad=_gelu_gradient, check=_check_gelu, **_INTERNAL)
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
    _floats("glu_cpu")(self)


def _glu_layout(specs, outs, statics):
    return [layout.pointwise(outs[0].shape, [(outs[0].shape, specs[0].stride)])]


@op(None, function=False, method=False, out=True, check=_check_glu, layout=_glu_layout)
@wide
def glu(self: Tensor, dim=-1):
    """The first half along ``dim`` times the sigmoid of the second."""
    a, b = jnp.split(self, 2, axis=dim)
    return a * logistic(b)


def _noise_gradient(grad, self, noise, lower, upper, training):
    if training:
        return grad * noise.astype(grad.dtype)
    return jnp.where(self > 0, grad, grad * _value((lower + upper) / 2, grad))


@op("numeric", name="rrelu_with_noise", nondiff=("noise",), grad={"self": _noise_gradient}, promoted=("self",),
    check=_floats("rrelu_with_noise_out_cpu"), **_INTERNAL)
def rrelu_with_noise(self: Tensor, noise: Tensor, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """The input times its slope: in training ``noise`` (1 where positive), else the middle of the bounds where not positive.

    Bfloat16 takes its noise in float32, and rounds the product alone.
    """
    if training:
        return (self.astype(noise.dtype) * noise).astype(self.dtype)
    return jnp.where(self <= 0, self * _value((lower + upper) / 2, self), self)


def _noise_gradient_of_result(grad, result, noise, lower, upper, training):
    return _noise_gradient(grad, result, noise, lower, upper, training)


def _middle_rises(noise, lower, upper, training):
    if not training:
        leaky_relu_in_place.grad["self"][0].allows((lower + upper) / 2)


_noise_gradient_of_result.allows = _middle_rises


@op("numeric", name="rrelu_with_noise.result", backward="RreluWithNoiseBackward1", nondiff=("noise",), promoted=("self",),
    double="RreluWithNoiseBackwardBackward0", grad={"self": _noise_gradient_of_result},
    check=_floats("rrelu_with_noise_out_cpu"), **_INTERNAL)
def rrelu_with_noise_in_place(self: Tensor, noise: Tensor, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """``rrelu_with_noise`` where it is written back: its gradient is made of the result."""
    return rrelu_with_noise.body(self, noise, lower, upper, training)


rrelu_with_noise.by_result = rrelu_with_noise_in_place


def _slopes(input, lower, upper, training):
    """The slopes of rrelu: drawn in turn for the elements that are not positive, 1 for the others; of a half in float32."""
    noise = input.detach().new_ones(input.shape, dtype=dtypes.float32 if input.dtype in (dtypes.bfloat16, dtypes.float16) else input.dtype)
    if training:
        low = input.detach() <= 0
        count = int(low.sum())
        noise[low] = noise.new_empty(count)._rrelu_slopes_(lower, upper)
    return noise


@composite(method=False)
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """The input where positive; elsewhere times a slope drawn from [lower, upper] in training, their mean otherwise.

    >>> torch.rrelu(torch.tensor([-1., 2.]), 0.5, 0.5)
    tensor([-0.5000,  2.0000])
    """
    operator = rrelu_with_noise.inplace_form if inplace else rrelu_with_noise
    return operator(input, _slopes(input, lower, upper, training), lower, upper, training)


@composite(method=False)
def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """``rrelu``, written back into the tensor."""
    return rrelu(input, lower, upper, training, True)


# -- softmax ----------------------------------------------------------------------------------------------------------

def _check_softmax(name):
    def check(self, dim, dtype):
        last = wrap_dim(dim, self.ndim) >= self.ndim - 1
        if (dtype or self.dtype).category != 2:
            raise not_implemented(f"{name}_lastdim_kernel_impl" if last else f"{name}_kernel_impl", dtype or self.dtype)
    return check


def _as(x, dtype):
    return x if dtype is None else x.astype(dtype.numpy)


def _normal_exponents(x, dim):
    top = jnp.max(x, axis=dim, keepdims=True)
    return x - lax.stop_gradient(top)


@wide
def _softmax_gradient(grad, result, dim):
    if result.ndim == 0 or result.size == 0:
        return jnp.zeros_like(grad)
    product = grad * result
    return product - result * product.sum(axis=dim, keepdims=True)


@wide
def _log_softmax_gradient(grad, result, dim):
    if result.ndim == 0 or result.size == 0:
        return jnp.zeros_like(grad)
    return grad + jnp.exp(result) * (-grad).sum(axis=dim, keepdims=True)       # where all is -0.0 PyTorch's answer is 0.0


@op(None, name="_softmax", backward="SoftmaxBackward0", function=False, method=False, out=True,
    grad=_softmax_gradient, check=_check_softmax("softmax"), double="SoftmaxBackwardDataBackward0")
def _softmax(self: Tensor, dim, dtype=None):
    """The softmax of a tensor along a dimension, in ``dtype``."""
    return _softmax_body(_as(self, dtype), dim)


@wide
def _softmax_body(x, dim):
    if x.ndim == 0:
        return jnp.where(jnp.isnan(x), x, jnp.ones_like(x))
    if x.size == 0:
        return x
    e = jnp.exp(_normal_exponents(x, dim))
    return e / e.sum(axis=dim, keepdims=True)


@op(None, name="_log_softmax", backward="LogSoftmaxBackward0", function=False, method=False, out=True,
    grad=_log_softmax_gradient, check=_check_softmax("log_softmax"), double="LogSoftmaxBackwardDataBackward0")
def _log_softmax(self: Tensor, dim, dtype=None):
    """The logarithm of the softmax along a dimension, in ``dtype``."""
    return _log_softmax_body(_as(self, dtype), dim)


@wide
def _log_softmax_body(x, dim):
    if x.ndim == 0:
        return x - x
    if x.size == 0:
        return x
    shifted = _normal_exponents(x, dim)
    return shifted - jnp.log(jnp.exp(shifted).sum(axis=dim, keepdims=True))


@composite()
def softmax(input, dim, dtype=None, *, out=None):
    """``exp(input)`` divided by its sum along ``dim``; ``dtype`` is the type it is computed in.

    >>> torch.softmax(torch.tensor([0., 0.]), 0)
    tensor([0.5000, 0.5000])
    """
    if out is None:
        return _softmax.record(input, dim, _float_of(input, dtype))
    return _softmax(input, dim, _float_of(input, dtype), out=out)


@composite()
def log_softmax(input, dim, dtype=None, *, out=None):
    """``log(softmax(input))``, computed without overflow.

    >>> torch.log_softmax(torch.tensor([0., 0.]), 0)
    tensor([-0.6931, -0.6931])
    """
    if out is None:
        return _log_softmax.record(input, dim, _float_of(input, dtype))
    return _log_softmax(input, dim, _float_of(input, dtype), out=out)


def _float_of(input, dtype):
    return None if dtype is input.dtype else dtype


