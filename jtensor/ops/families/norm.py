"""Normalisations: batch, layer and group norm, with analytic gradients.

Owns: statistics over some dimensions and the three gradients that all normalisations share. Computed in float32 for narrow floats.
May not know: tensors as objects, but in composites.
"""
import functools
import math

import jax
import jax.numpy as jnp

from ...base import dtypes
from ...base.geometry import channels_last_strides, is_channels_last, is_channels_last_3d
from ...storage.lifted import LIFTED_MEMORY
from ...trace.tape import LOCAL
from ..layout import suggested
from ..operator import RAW, Number, OptTensor, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import put_out
from .numeric import NARROW, cast, not_implemented, size_at

# -- shared -----------------------------------------------------------------------------------------------------------


def _wide(x):
    return x.astype(jnp.float32) if x is not None and x.dtype in NARROW else x


def _mean(x, axes):
    n = 1
    for a in axes:
        n *= x.shape[a]
    return jnp.sum(x, axes, keepdims=True) / jnp.asarray(n, x.dtype)


def statistics(x, axes, eps):
    """(mean, variance, 1 / sqrt(variance + eps)) with reduced dimensions kept."""
    mean = _mean(x, axes)
    away = x - mean
    variance = _mean(away * away, axes)
    return mean, variance, 1 / jnp.sqrt(variance + cast(eps, x.dtype))


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def observed(x, mean, inverse, axes):
    """(mean, inverse deviation) as they were saved, which a derivative takes for functions of ``x``."""
    return mean, inverse


@observed.defjvp
def _observed_slope(axes, primals, tangents):
    x, dx = primals[0], tangents[0]
    mean, inverse = observed(*primals, axes)
    return (mean, inverse), (_mean(dx, axes), -inverse * inverse * inverse * _mean((x - mean) * dx, axes))


def _affine(x, weight, bias):
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


def input_gradient(grad, x, mean, inverse, axes):
    """The gradient of ``(x - mean) * inverse``; ``grad`` has the weight in it already."""
    mean, inverse = observed(x, mean, inverse, axes)
    normed = (x - mean) * inverse
    return (grad - _mean(grad, axes) - normed * _mean(grad * normed, axes)) * inverse


def _check_types(kernel, input, *parameters):
    """Parameters are of the input's type, for which there is a kernel, or all of them of float32 and the input of a narrow one."""
    given = [p.dtype for p in parameters if p is not None]
    if given and given[0] is not input.dtype:
        if any(dtype is not dtypes.float32 for dtype in given):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input.dtype not in (dtypes.float16, dtypes.bfloat16):
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
        return
    if input.dtype.category != 2:
        raise not_implemented(kernel, input.dtype)
    other = next((dtype for dtype in given if dtype is not input.dtype), None)
    if other is not None:
        raise RuntimeError(f"expected scalar type {dtypes.scalar_name(input.dtype)} but found {dtypes.scalar_name(other)}")


# -- batch norm -------------------------------------------------------------------------------------------------------

def _others(x):
    return (0, *range(2, x.ndim))


def _column(v, x):
    return None if v is None else _wide(v).reshape(1, -1, *(1,) * (x.ndim - 2))


def _check_batch(input, weight, bias, running_mean, running_var, training, eps):
    if not input.numel:
        raise RuntimeError(f"input tensor must have at least one element, but got input_sizes = {list(input.size)}")
    n = input.size[1] if input.ndim > 1 else 0                     # of which PyTorch speaks first
    for name, s in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if s is not None and s.numel != n:
            raise RuntimeError(f"{name} should contain {n} elements not {s.numel}")
    if input.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if input.dtype.category != 2:
        raise not_implemented("batch_norm", input.dtype)
    _check_types("batch_norm", input, weight, bias, running_mean, running_var)


def _fixed(v, x, eps):
    """The inverse deviation of a running variance."""
    return 1 / jnp.sqrt(_column(v, x).astype(x.dtype) + cast(eps, x.dtype))


# In evaluation the running statistics themselves are saved: a training step between forward and backward moves them without counting a
# version, and PyTorch's gradient is that of what they are by then.

def _batch_input(grads, input, weight, running_var, result1, result2, training, eps):
    x, g = _wide(input), _wide(grads[0])
    if weight is not None:
        g = g * _column(weight, x)
    if not training:
        return g * _fixed(running_var, x, eps)
    return input_gradient(g, x, _column(result1, x), _column(result2, x), _others(x))


def _batch_weight(grads, input, running_mean, running_var, result1, result2, training, eps):
    x = _wide(input)
    if training:
        mean, inverse = observed(x, _column(result1, x), _column(result2, x), _others(x))
    else:
        mean, inverse = _column(running_mean, x).astype(x.dtype), _fixed(running_var, x, eps)
    return jnp.sum(_wide(grads[0]) * ((x - mean) * inverse), _others(x))


def _batch_layout(specs, outputs, _):
    """Row-major if all operands are, also where strides suggest channels last as well: one channel, or images of one pixel."""
    size, stride = specs[0].size, specs[0].stride
    if all(spec.contiguous for spec in specs):
        strides = None
    elif is_channels_last(size, stride) or is_channels_last_3d(size, stride):
        strides = channels_last_strides(size)
    else:
        strides = suggested(size, stride, outputs[0].shape)
    return [strides, *[None] * (len(outputs) - 1)]


@op(name="native_batch_norm.raw", backward="NativeBatchNormBackward0", nondiff=(1, 2, 3), check=_check_batch,
    layout=_batch_layout, grad={
        "input": _batch_input, "weight": _batch_weight,
        "bias": lambda grads: jnp.sum(_wide(grads[0]), _others(grads[0]))}, **RAW,
    quirks=Quirks(never_needed=("native_batch_norm", ("running_mean", "running_var"))))
def native_batch_norm_raw(input: Tensor, weight: OptTensor, bias: OptTensor, running_mean: OptTensor, running_var: OptTensor, training,
                          eps: Number):
    """The normalised input, the mean and the inverse deviation that were used, and the unbiased variance of the batch."""
    x = _wide(input)
    if training:
        mean, variance, inverse = statistics(x, _others(x), eps)
        n = x.size // max(x.shape[1], 1)
        unbiased = (variance * jnp.asarray(n / (n - 1) if n > 1 else float("nan"), x.dtype)).reshape(-1)
    else:
        mean, inverse = _column(running_mean, x).astype(x.dtype), _fixed(running_var, x, eps)
        unbiased = jnp.zeros((0,), x.dtype)
    out = _affine((x - mean) * inverse, _column(weight, x), _column(bias, x)).astype(input.dtype)
    return out, mean.reshape(-1), inverse.reshape(-1), unbiased


@op(name="move_average", nondiff=("self", "batch", 0), **RAW)
def move_average(self: Tensor, batch: Tensor, momentum: Number):
    """``(1 - momentum) * self + momentum * batch``."""
    m = cast(momentum, jnp.float64)
    wide = jnp.float32 if self.dtype in NARROW else self.dtype
    return ((1 - m).astype(wide) * self.astype(wide) + m.astype(wide) * batch.astype(wide)).astype(self.dtype)


def _no_batch(moved, *running):
    """Raises where the running statistics would have to be moved for each of a batch."""
    from ...tensor.lifted.batching import is_batch
    if is_batch(moved) and not all(map(is_batch, running)):
        raise RuntimeError("Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
                           "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
                           "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see the "
                           "functorch website for resources on how to patch your module to work with vmap")


def _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    made = native_batch_norm_raw(input, weight, bias, None if training else running_mean, None if training else running_var,
                                 bool(training), eps)
    if training and not running_mean is running_var is None:
        _no_batch(made[1], running_mean, running_var)
        _check_batch(input._spec, None, None, *(None if t is None else t._spec for t in (running_mean, running_var)), True, eps)
        for name, running, batch in (("running_mean", running_mean, made[1]), ("running_var", running_var, made[3])):
            if running.requires_grad and LOCAL.grad_enabled:
                raise RuntimeError(f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. "
                                   "This input cannot have requires_grad True.")
            moved = running if running._storage.host is LIFTED_MEMORY else running._share()    # PyTorch's kernel counts no version, either
            move_average.inplace_form(moved, batch, momentum)
    return made


@composite(method=False)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Each channel (dimension 1) normalised: with the batch's statistics while ``training``, which also move the running ones by
    ``momentum``, else with the running ones; then ``* weight + bias``."""
    if not input._spec.numel:                                      # nothing to count: the running statistics stay
        out = input.clone() if weight is None else input.clone() * weight.select(0, 0)
        return out if bias is None else out + bias.select(0, 0)
    if not training and (running_mean is None or running_var is None):
        if running_mean is not None:                               # looked at first, as if there were a variance like it
            _check_batch(input._spec, None, None, running_mean._spec, running_mean._spec, False, eps)
        raise RuntimeError(f"running_{'mean' if running_mean is None else 'var'} must be defined in evaluation mode")
    if training and not running_mean is running_var is None:
        _check_batch(input._spec, *(None if t is None else t._spec for t in (weight, bias, running_mean, running_var)), True, eps)
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@composite(method=False, asked=True)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    """`batch_norm` with the mean and the inverse deviation that were used: (result, mean, inverse deviation)."""
    made, mean, inverse, _ = _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        mean, inverse = input.new_empty((0,)), input.new_empty((0,))
    elif input._spec.dtype.itemsize == 2:                           # they have the type of the parameters, and without any the input's
        kind = next((t._spec.dtype for t in (weight, bias, running_mean, running_var) if t is not None), input._spec.dtype)
        mean, inverse = mean.to(kind), inverse.to(kind)
    return put_out("native_batch_norm", (made, mean, inverse), out)


@composite(method=False)
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Each channel of each sample normalised: batch normalisation of ``(1, N C, *)``."""
    n, channels = size_at(input._spec, 0), size_at(input._spec, 1)

    def repeated(t):
        return None if t is None else t.repeat(n)
    mean, var = repeated(running_mean), repeated(running_var)
    weights = repeated(weight), repeated(bias)
    flat = input.contiguous().view(1, n * channels, *input._spec.size[2:])
    out = batch_norm(flat, *weights, mean, var, use_input_stats, momentum, eps, cudnn_enabled)
    for running, moved in ((running_mean, mean), (running_var, var)):
        if running is not None and use_input_stats:
            running._detached().copy_(moved.view(n, channels).mean(0))
    return out.view(*input._spec.size)


# -- layer norm -------------------------------------------------------------------------------------------------------

def _check_layer(input, normalized_shape, weight, bias, eps):
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
                           f"normalized_shape = {shape}")
    for name, s in (("weight", weight), ("bias", bias)):
        if s is not None and list(s.size) != shape:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(s.size)} and "
                               f"normalized_shape = {shape}")
    if input.ndim < len(shape) or list(input.size[input.ndim - len(shape):]) != shape:
        raise RuntimeError(f"Given normalized_shape={shape}, expected input with shape [*, {', '.join(map(str, shape))}], but got input of "
                           f"size{list(input.size)}")
    _check_types("LayerNormKernelImpl", input, weight, bias)


def _last(x, normalized_shape):
    return tuple(range(x.ndim - len(normalized_shape), x.ndim))


def _layer_input(grads, input, weight, result1, result2, normalized_shape):
    x, g = _wide(input), _wide(grads[0])
    if weight is not None:
        g = g * _wide(weight)
    return input_gradient(g, x, _wide(result1), _wide(result2), _last(x, normalized_shape))


def _first(x, normalized_shape):
    return tuple(range(x.ndim - len(normalized_shape)))


def _layer_weight(grads, input, result1, result2, normalized_shape):
    x = _wide(input)
    mean, inverse = observed(x, _wide(result1), _wide(result2), _last(x, normalized_shape))
    normed = (x - mean) * inverse
    return jnp.sum(_wide(grads[0]) * normed, _first(input, normalized_shape))


def _kept(input, *parameters):
    """The type of the statistics: the parameters', which may be of single precision where the input is of half."""
    return next((given.dtype for given in parameters if given is not None), input.dtype)


@op(backward="NativeLayerNormBackward0", method=False, nondiff=(1, 2), check=_check_layer, grad={
    "input": _layer_input, "weight": _layer_weight,
    "bias": lambda grads, normalized_shape: jnp.sum(_wide(grads[0]), _first(grads[0], normalized_shape))})
def native_layer_norm(input: Tensor, normalized_shape, weight: OptTensor, bias: OptTensor, eps: Number):
    """`layer_norm` with the statistics that were used: (result, mean, inverse deviation). In half precision PyTorch rounds these behind
    the result, unless the parameters are of single precision, and its gradient is made of them."""
    x = _wide(input)
    mean, _, inverse = statistics(x, _last(x, normalized_shape), eps)
    out = _affine((x - mean) * inverse, _wide(weight), _wide(bias)).astype(input.dtype)
    kept = _kept(input, weight, bias)
    return out, mean.astype(kept), inverse.astype(kept)


@composite(method=False)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """Normalised over the last dimensions, which have to be of ``normalized_shape``; then ``* weight + bias``.

    >>> torch.layer_norm(torch.tensor([1., 3.]), (2,)).round()
    tensor([-1.,  1.])
    """
    return native_layer_norm(input, tuple(normalized_shape), weight, bias, eps)[0]


# -- group norm -------------------------------------------------------------------------------------------------------

def _check_group(input, num_groups, weight, bias, eps):
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input.size[1]
    if channels % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{list(input.size)} and num_groups={num_groups}")
    for name, s in (("weight", weight), ("bias", bias)):
        if s is not None and (s.ndim != 1 or s.numel != channels):
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                               f"{list(s.size)} and input of shape {list(input.size)}")
    _check_types("GroupNormKernelImpl", input, weight, bias)


def _grouped(x, groups):
    return x.reshape(x.shape[0], groups, math.prod(x.shape[1:]) // groups)


def _group_normed(input, result1, result2, num_groups):
    x = _grouped(_wide(input), num_groups)
    mean, inverse = observed(x, _wide(result1)[..., None], _wide(result2)[..., None], (2,))
    return ((x - mean) * inverse).reshape(input.shape)


def _group_input(grads, input, weight, result1, result2, num_groups, defined):
    g = _wide(grads[0])
    if weight is not None:
        g = g * _column(weight, input)
    mean, inverse = _wide(result1)[..., None], _wide(result2)[..., None]
    x = _grouped(_wide(input), num_groups)
    made = input_gradient(_grouped(g, num_groups), x, mean, inverse, (2,)) if 0 in defined else jnp.zeros_like(x)
    if 1 in defined or 2 in defined:
        mean, inverse = observed(x, mean, inverse, (2,))
        made = made + (_wide(grads[1])[..., None] - _wide(grads[2])[..., None] * inverse ** 3 * (x - mean)) / x.shape[2]
    return made.reshape(input.shape)


@op(backward="NativeGroupNormBackward0", name="native_group_norm.raw", check=_check_group, layout="suggested", grad={
    "input": _group_input,
    "weight": lambda grads, input, result1, result2, num_groups: jnp.sum(
        _wide(grads[0]) * _group_normed(input, result1, result2, num_groups), _others(input)),
    "bias": lambda grads: jnp.sum(_wide(grads[0]), _others(grads[0]))}, **RAW)
def native_group_norm_raw(input: Tensor, num_groups, weight: OptTensor, bias: OptTensor, eps: Number):
    """The normalised input and the statistics of each group of each sample."""
    x = _grouped(_wide(input), num_groups)
    mean, _, inverse = statistics(x, (2,), eps)
    out = _affine(((x - mean) * inverse).reshape(input.shape), _column(weight, input), _column(bias, input))
    kept = _kept(input, weight, bias)
    return out.astype(input.dtype), mean[..., 0].astype(kept), inverse[..., 0].astype(kept)


@composite(method=False, asked=True)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """`group_norm` with the statistics that were used: (result, mean, inverse deviation)."""
    if input._spec.numel != N * C * HxW and group > 0 and not C % group:
        raise RuntimeError("Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error message be improved?  If so, "
                           "please report an enhancement request to PyTorch.)")
    return native_group_norm_raw(input, group, weight, bias, eps)


@composite(method=False)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """Groups of channels (dimension 1) of each sample normalised; then ``* weight + bias`` by channel.

    >>> torch.group_norm(torch.tensor([[1., 3.]]), 1).round()
    tensor([[-1.,  1.]])
    """
    size_at(input._spec, 0), size_at(input._spec, 1)                    # which PyTorch multiplies before it counts the dimensions
    return native_group_norm_raw(input, num_groups, weight, bias, eps)[0]


__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]
