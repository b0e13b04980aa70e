"""Rectifiers, as operators: straight on both sides of a kink. `nn.functional` gives them their public names.

Owns: relu and its leaky, bounded and shrinking kin, prelu, rrelu. What is saved and the value of a gradient at a kink are PyTorch's.
May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
import numpy as np

from ...base import dtypes
from ..operator import Number, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .numeric import cast_like, floats_only, larger, not_implemented, smaller, wide

_INTERNAL = {"inplace": True, "function": False, "method": False}


def _where(condition, yes, no):
    return jnp.where(condition, yes, jnp.asarray(no, yes.dtype))


def _above_zero(grad, result):
    return _where(result <= 0, jnp.zeros_like(grad), grad)


def _check_relu(self):
    if self.dtype is dtypes.bool:
        raise RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


@op("numeric", inplace=True, grad=_above_zero, check=_check_relu, double="ThresholdBackwardBackward0", quirks=Quirks(saved_first=True))
def relu(self: Tensor):
    """``max(input, 0)``; NaN stays NaN, and the gradient at 0 is 0.

    >>> torch.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return jnp.where(self < 0, jnp.zeros_like(self), self)          # -0.0 stays


@op("numeric", check=floats_only("leaky_relu_cpu"), fits={"negative_slope": "wide"}, **_INTERNAL,
    grad=lambda grad, self, negative_slope: jnp.where(self > 0, grad, grad * cast_like(negative_slope, grad)),
    quirks=Quirks(kept=("self",), saved_first=True))
@wide
def leaky_relu(self: Tensor, negative_slope: Number = 0.01):
    """The input where positive, ``negative_slope`` times it elsewhere."""
    return jnp.where(self > 0, self, self * cast_like(negative_slope, self))


def falls_nowhere(where, rest=""):
    """Refuses the gradient of an operation in place that tells by the result where the input was positive, and cannot."""
    def allows(slope, *numbers):
        if slope < 0:
            raise RuntimeError(f"In-place {where} backward calculation is triggered with a negative slope which is not supported. This is "
                               f"caused by calling in-place forward function with a negative slope, please call out-of-place version "
                               f"instead.{rest}")
    return allows


def _leaky_gradient(grad, result, negative_slope):
    return jnp.where(result > 0, grad, grad * cast_like(negative_slope, grad))


_leaky_gradient.allows = falls_nowhere(
    "leakyReLu", " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward calculation "
    "with negative slope")


@op("numeric", name="leaky_relu.result", backward="LeakyReluBackward1", double="LeakyReluBackwardBackward0", grad=_leaky_gradient,
    check=floats_only("leaky_relu_cpu"), **_INTERNAL, quirks=Quirks(saved_first=True))
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
        raise RuntimeError(f"prelu: Type promoting not supported. Got {dtypes.scalar_name(input.dtype)} and "
                           f"{dtypes.scalar_name(weight.dtype)}")
    _check_prelu(input, weight)
    if input.dtype.category != 2:
        raise not_implemented("prelu_cpu", input.dtype)
    if input.ndim != weight.ndim or weight.ndim > 1:
        if weight.numel() == 1 and input.ndim < 2:
            weight = weight.reshape(()) if input.ndim == 0 else weight.reshape((1,))
        else:
            weight = weight.reshape([1, weight.numel(), *[1] * (input.ndim - 2)]) if input.ndim >= 2 else weight
    return _prelu_kernel(input, weight)


def _check_threshold(self, threshold, value):
    if self.dtype.category in (0, 3):
        raise not_implemented("threshold_cpu", self.dtype)


@op("numeric", grad=lambda grad, self, threshold: jnp.where(self <= cast_like(threshold, self), jnp.zeros_like(grad), grad), inplace=True,
    out=True, method=False, check=_check_threshold, fits={"threshold": "wide", "value": "own"},
    quirks=Quirks(kept=("self",), saved_first=True, inplace_node="ThresholdBackward1", overlap_allowed=True))
def threshold(self: Tensor, threshold: Number, value: Number):
    """The input where it is above ``threshold``, ``value`` elsewhere.

    >>> torch.threshold(torch.tensor([0.5, 2.]), 1., 9.)
    tensor([9., 2.])
    """
    return jnp.where(self <= cast_like(threshold, self), cast_like(value, self), self)


def _hardtanh_gradient(grad, self, min_val, max_val):
    return jnp.where((self <= cast_like(min_val, self)) | (self >= cast_like(max_val, self)), jnp.zeros_like(grad), grad)


def _check_hardtanh(self, min_val, max_val):
    if self.dtype is dtypes.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


@op("numeric", grad=_hardtanh_gradient, **_INTERNAL, check=_check_hardtanh, fits={"min_val": "own", "max_val": "own"},
    quirks=Quirks(kept=("self",)))
def hardtanh(self: Tensor, min_val: Number = -1.0, max_val: Number = 1.0):
    """The input kept between two bounds; no gradient on the bounds."""
    return smaller(larger(self, cast_like(min_val, self)), cast_like(max_val, self))


_SIXTH = float(np.float32(1 / 6))         # PyTorch's gradient has this constant in float32 for every type


@op("numeric", check=floats_only("hardsigmoid_cpu"), **_INTERNAL,
    grad=lambda grad, self: _where((self > -3) & (self < 3), grad * _SIXTH, 0), quirks=Quirks(no_derivative="aten::hardsigmoid_backward"))
@wide
def hardsigmoid(self: Tensor):
    """A sigmoid of three straight lines: ``clamp(input / 6 + 1/2, 0, 1)``."""
    return jnp.minimum(jnp.maximum(self + 3, 0), 6) / 6


@wide
def _hardswish_gradient(grad, self):
    return _where(self <= -3, jnp.zeros_like(grad), jnp.where(self < 3, grad * (self / 3 + 0.5), grad))


@op("numeric", grad=_hardswish_gradient, check=floats_only("hardswish_cpu"), **_INTERNAL)
@wide
def hardswish(self: Tensor):
    """``input * hardsigmoid(input)``."""
    return self * jnp.minimum(jnp.maximum(self + 3, 0), 6) / 6


def _outside(self, lambd):
    size = cast_like(lambd, self)
    return ~((self >= -size) & (self <= size))          # a NaN on either side is outside


def _shrink_gradient(grad, self, lambd):
    size = cast_like(lambd, self)
    return jnp.where((self < -size) | (self > size), grad, jnp.zeros_like(grad))


@op("numeric", out=True, grad=_shrink_gradient, check=floats_only("hardshrink_cpu"), fits={"lambd": "own"}, quirks=Quirks(kept=("self",)))
def hardshrink(self: Tensor, lambd: Number = 0.5):
    """The input, but 0 between ``-lambd`` and ``lambd``.

    >>> torch.hardshrink(torch.tensor([0.3, 1.]))
    tensor([0., 1.])
    """
    return jnp.where(_outside(self, lambd), self, jnp.zeros_like(self))


def _check_softshrink(self, lambd):
    if isinstance(lambd, complex) and lambd.imag:
        raise RuntimeError("value cannot be converted to type double without overflow")
    floats_only("softshrink_check")(self)
    most = float(jnp.finfo(self.dtype.numpy).max)
    if isinstance(lambd, (int, float)) and not 0 <= lambd <= most:
        raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype {dtypes.scalar_name(self.dtype)}, but found {lambd:g}")


@op("numeric", function=False, method=False, out=True, check=_check_softshrink, grad=_shrink_gradient, quirks=Quirks(kept=("self",)))
@wide
def softshrink(self: Tensor, lambd=0.5):
    """The input drawn towards 0 by ``lambd``, and 0 where it gets there."""
    size = cast_like(lambd, self)
    drawn = jnp.where(self > size, self - size, jnp.where(self < -size, self + size, self * 0))
    return drawn


# -- what dropout keeps -----------------------------------------------------------------------------------------------


def _kept_gradient(grad, mask, back):
    return grad * mask.astype(grad.dtype) * cast_like(back, grad)


@op("numeric", name="native_dropout", nondiff=("mask",), grad={"self": _kept_gradient}, promoted=("self",), double="MulBackward0",
    **_INTERNAL)
def native_dropout(self: Tensor, mask: Tensor, scale: Number = 1.0, back: Number = 1.0):
    """The elements that a mask keeps, times ``scale``; ``back``: the factor of their gradient."""
    return self * mask.astype(self.dtype) * cast_like(scale, self)


# -- a slope drawn for each element -----------------------------------------------------------------------------------

def _noise_gradient(grad, self, noise, lower, upper, training):
    if training:
        return grad * noise.astype(grad.dtype)
    return jnp.where(self > 0, grad, grad * cast_like((lower + upper) / 2, grad))


@op("numeric", name="rrelu_with_noise", nondiff=("noise",), grad={"self": _noise_gradient}, promoted=("self",),
    check=floats_only("rrelu_with_noise_out_cpu"), **_INTERNAL)
def rrelu_with_noise(self: Tensor, noise: Tensor, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """The input times its slope: in training ``noise`` (1 where positive), else the middle of the bounds where not positive.

    Bfloat16 takes its noise in float32, and rounds the product alone.
    """
    if training:
        return (self.astype(noise.dtype) * noise).astype(self.dtype)
    return jnp.where(self <= 0, self * cast_like((lower + upper) / 2, self), self)


def _noise_gradient_of_result(grad, result, noise, lower, upper, training):
    return _noise_gradient(grad, result, noise, lower, upper, training)


def _middle_rises(noise, lower, upper, training):
    if not training:
        leaky_relu_in_place.grad["self"][0].allows((lower + upper) / 2)


_noise_gradient_of_result.allows = _middle_rises


@op("numeric", name="rrelu_with_noise.result", backward="RreluWithNoiseBackward1", nondiff=("noise",), promoted=("self",),
    double="RreluWithNoiseBackwardBackward0", grad={"self": _noise_gradient_of_result},
    check=floats_only("rrelu_with_noise_out_cpu"), **_INTERNAL)
def rrelu_with_noise_in_place(self: Tensor, noise: Tensor, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """``rrelu_with_noise`` where it is written back: its gradient is made of the result."""
    return rrelu_with_noise.body(self, noise, lower, upper, training)


rrelu_with_noise.by_result = rrelu_with_noise_in_place


def _slopes(input, lower, upper, training, generator):
    """The slopes of rrelu: drawn in turn for the elements that are not positive, 1 for the others; of a bfloat16 in float32."""
    if type(generator).__name__ not in ("NoneType", "Generator"):
        raise TypeError("rrelu(): argument 'generator' must be torch.Generator")         # PyTorch's words: `calling.refusals`
    if not input.is_floating_point() or training and input.dtype is dtypes.float16:         # refused before anything is drawn
        kernel = "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.scalar_name(input.dtype)}'")
    if not lower <= upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    noise = input.detach().new_ones(input.shape, dtype=dtypes.float32 if input.dtype in (dtypes.bfloat16, dtypes.float16) else input.dtype)
    if training and not input.is_meta:
        low = input.detach() <= 0
        count = int(low.sum())
        noise[low] = noise.new_empty(count)._rrelu_slopes_(lower, upper, generator)
    return noise


@composite(method=False)
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, generator=None):
    """The input where positive; elsewhere times a slope drawn from [lower, upper] in training, their mean otherwise.

    >>> torch.rrelu(torch.tensor([-1., 2.]), 0.5, 0.5)
    tensor([-0.5000,  2.0000])
    """
    for name, bound in (("lower", lower), ("upper", upper)):
        if isinstance(bound, float) and not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound:g}")
    return rrelu_with_noise(input, _slopes(input, lower, upper, training, generator), lower, upper, training)


@composite(method=False)
def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False, generator=None):
    """``rrelu``, written back into the tensor."""
    return rrelu_with_noise.inplace_form(input, _slopes(input, lower, upper, training, generator), lower, upper, training)
