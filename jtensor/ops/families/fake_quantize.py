"""Numbers rounded to those that a quantised tensor could hold, and kept as floats: what training for quantisation computes with.

Owns: both forms and their gradient, which is handed on where the number was within range. Quantised tensors themselves are not here. May
not know: tensors as objects.
"""
import jax.numpy as jnp

from ...base import dtypes
from ..operator import RAW, Number, Tensor, op
from ..registry import composite
from .bounds import extremes
from .numeric import refuses, wide


@wide
def _faked(x, scale, zero_point, low, high):
    """(the numbers, which of them are within range). A NaN becomes the lowest number."""
    scale = scale.astype(jnp.float32)
    q, zero = x * (1 / scale).astype(x.dtype), zero_point.astype(x.dtype)
    q = jnp.round(q + zero) if jnp.issubdtype(zero_point.dtype, jnp.floating) else zero + jnp.round(q)
    kept = (q >= low) & (q <= high)
    q = jnp.where(q >= low, jnp.minimum(q, jnp.asarray(high, x.dtype)), jnp.asarray(low, x.dtype))
    return ((q - zero).astype(jnp.float32) * scale).astype(x.dtype), kept


def _check(kernel):
    refused = refuses(kernel, "bool", "integral", "complex")

    def check(self, scale, zero_point, axis=None, quant_min=0, quant_max=0):
        refused(self)
    return check


_FAKE = {"nondiff": ("scale", "zero_point", 1), "outputs": ("output", "mask"), "layout": lambda specs, *_: [specs[0].stride] * 2,
         "grad": {"self": lambda grads, result1: grads[0] * result1}, **RAW}
_TENSOR_WISE = _check("fake_quantize_tensor_cachemask_kernel_type_handling")


@op(None, name="fake_quantize_tensor", backward="FakeQuantizePerTensorAffineCachemaskBackward0", **_FAKE,
    check=lambda self, scale, zero_point, quant_min, quant_max: _TENSOR_WISE(self, scale, zero_point))
def fake_quantize_tensor(self: Tensor, scale: Number, zero_point: Number, quant_min, quant_max):
    """(rounded to multiples of a number, which were within range)."""
    return _faked(self, jnp.asarray(scale), jnp.asarray(zero_point), quant_min, quant_max)


@op(None, name="fake_quantize_tensor.qparams", backward="FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0", **_FAKE,
    check=lambda self, scale, zero_point, quant_min, quant_max: _TENSOR_WISE(self, scale, zero_point))
def fake_quantize_qparams(self: Tensor, scale: Tensor, zero_point: Tensor, quant_min, quant_max):
    """`fake_quantize_tensor` with tensors of one number."""
    return _faked(self, scale.reshape(()), zero_point.reshape(()).astype(jnp.int32), quant_min, quant_max)


@op(None, name="fake_quantize_channel", backward="FakeQuantizePerChannelAffineCachemaskBackward0", **_FAKE,
    check=_check("fake_quantize_channel_cachemask_cpu_type_handling"))
def fake_quantize_channel(self: Tensor, scale: Tensor, zero_point: Tensor, axis, quant_min, quant_max):
    """(each channel rounded to multiples of its own number, which were within range)."""
    shape = [1] * self.ndim
    shape[axis] = -1
    return _faked(self, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


def _fixed(function, name, t):
    if t.requires_grad:
        raise RuntimeError(f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot have "
                           "requires_grad True.")


def _in_order(quant_min, quant_max):
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


@composite(method=False, asked=True)
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """``input`` rounded to the nearest ``(q - zero_point) * scale`` for an integer ``q`` from ``quant_min`` to ``quant_max``.

    The gradient is handed on where the number is within that range. ``scale`` and ``zero_point`` are numbers or tensors of one.

    >>> torch.fake_quantize_per_tensor_affine(torch.tensor([0.04, 0.26, 99.]), 0.1, 0, 0, 255)
    tensor([ 0.0000,  0.3000, 25.5000])
    """
    _in_order(quant_min, quant_max)
    if not hasattr(scale, "_spec"):
        if not quant_min <= zero_point <= quant_max:
            raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
        return fake_quantize_tensor(input, scale, zero_point, quant_min, quant_max)[0]
    for name, t in (("scale", scale), ("zero_point", zero_point)):
        if t._spec.numel != 1:
            raise RuntimeError(f"a Tensor with {t._spec.numel} elements cannot be converted to Scalar")
        _fixed("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", name, t)
    return fake_quantize_qparams(input, scale, zero_point, quant_min, quant_max)[0]


@composite(method=False, asked=True)
def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """`fake_quantize_per_tensor_affine` with a scale and a zero point for each index of dimension ``axis``. Looks at the zero points.

    >>> torch.fake_quantize_per_channel_affine(torch.ones(2, 2) * 0.26, torch.tensor([0.1, 0.2]), torch.tensor([0, 0]).int(), 0, 0, 255)
    tensor([[0.3000, 0.3000],
            [0.2000, 0.2000]])
    """
    if scale._spec.dtype not in (dtypes.float32, dtypes.bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {dtypes.scalar_name(scale._spec.dtype)}")
    if zero_point._spec.dtype not in (dtypes.int32, dtypes.float32, dtypes.float16):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {dtypes.scalar_name(zero_point._spec.dtype)}")
    _fixed("fake_quantize_per_channel_affine_cachemask", "scale", scale)
    _fixed("fake_quantize_per_channel_affine_cachemask", "zero_point", zero_point)
    for name, t in (("scale", scale), ("zero point", zero_point)):
        if t._spec.ndim != 1:
            raise RuntimeError(f"{name} should be a 1-D tensor")
    if scale._spec.numel != zero_point._spec.numel:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale._spec.numel != input.size(axis):
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    _in_order(quant_min, quant_max)
    found = extremes(zero_point) if zero_point._spec.dtype is dtypes.int32 else None
    if found is not None and not (quant_min <= found[0] and found[1] <= quant_max):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    return fake_quantize_channel(input, scale, zero_point, axis, quant_min, quant_max)[0]
