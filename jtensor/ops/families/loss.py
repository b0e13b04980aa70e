"""Losses that have a node of their own in PyTorch's graph; `nn.functional` composes the others.

Owns: mse, smooth l1, huber, nll, binary cross entropies, soft margin, multi margin, multilabel margin. ``reduction`` is 0 (none),
1 (mean) or 2 (sum), as in PyTorch's operators. May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ..build import broadcast_shapes
from ..operator import Number, OptTensor, Tensor, op
from ..quirks import Quirks
from .numeric import cast, not_implemented, refuses, same_scalar, wide

NONE, MEAN, SUM = 0, 1, 2
_PRIVATE = {"function": False, "method": False, "out": True}


def _reduced(x, reduction):
    if reduction == NONE:
        return x
    return x.mean() if reduction == MEAN else x.sum()


def _scale(grad, size, reduction):
    """The gradient that each of ``size`` elements gets."""
    return grad / jnp.asarray(size, grad.dtype) if reduction == MEAN else grad


def _layout(specs, outs, statics):
    from .. import layout
    if not outs[0].shape:
        return [()]
    return [layout.pointwise(outs[0].shape, [(tuple(s.size), s.stride) for s in specs])]


def _layout_in_place(specs, outs, statics):
    """PyTorch sums the losses of the elements up in the memory that holds them."""
    if outs[0].shape or statics["reduction"] == NONE:
        return _layout(specs, outs, statics)
    from .. import layout
    elements = math.prod(broadcast_shapes([tuple(s.size) for s in specs[:2]]))
    return [layout.Within((), elements)] if elements > 1 else [()]


_LOSS = {"layout": _layout, **_PRIVATE}
_LOSS_IN_PLACE = {"layout": _layout_in_place, **_PRIVATE}


# -- distances --------------------------------------------------------------------------------------------------------

def _pair(self, target):
    return jnp.broadcast_shapes(self.shape, target.shape)


def _count(self, target):
    n = 1
    for s in _pair(self, target):
        n *= s
    return n


@wide
def _mse_gradient(grad, self, target, reduction):
    return 2 * _scale(grad, _count(self, target), reduction) * (self - target)


def _check_float(name):
    def check(self, target, *others):
        d = dtypes.promote_types(self.dtype, target.dtype)
        if d.category != 2:
            raise not_implemented(name, d)
    return check


@op("numeric", check=_check_float("mse_cpu"), **_LOSS_IN_PLACE, grad={
    "self": _mse_gradient, "target": lambda grad, self, target, reduction: _mse_gradient(grad, target, self, reduction)},
    quirks=Quirks(kept=("self", "target")))
@wide
def mse_loss(self: Tensor, target: Tensor, reduction=MEAN):
    """The squared difference."""
    away = self - target
    return _reduced(away * away, reduction)


@wide
def _smooth_gradient(grad, self, target, reduction, beta):
    away = self - target
    b = cast(beta, away.dtype)
    inside = jnp.abs(away) < b
    slope = jnp.where(inside, away / jnp.where(b == 0, jnp.ones_like(b), b), jnp.sign(away))
    return _scale(grad, _count(self, target), reduction) * slope


@op("numeric", check=_check_float("smooth_l1_cpu"), **_LOSS_IN_PLACE, grad={
    "self": _smooth_gradient, "target": lambda grad, self, target, reduction, beta: _smooth_gradient(grad, target, self, reduction, beta)})
@wide
def smooth_l1_loss(self: Tensor, target: Tensor, reduction=MEAN, beta: Number = 1.0):
    """The difference, squared (and halved) where it is less than ``beta``."""
    size = jnp.abs(self - target)
    b = cast(beta, size.dtype)
    return _reduced(jnp.where(size < b, 0.5 * size * size / jnp.where(b == 0, jnp.ones_like(b), b), size - 0.5 * b), reduction)


@wide
def _huber_gradient(grad, self, target, reduction, delta):
    away = self - target
    d = cast(delta, away.dtype)
    return _scale(grad, _count(self, target), reduction) * jnp.where(away <= -d, -d, jnp.where(away >= d, d, away))


@op("numeric", check=_check_float("huber_cpu"), **_LOSS, grad={
    "self": _huber_gradient, "target": lambda grad, self, target, reduction, delta: _huber_gradient(grad, target, self, reduction, delta)})
@wide
def huber_loss(self: Tensor, target: Tensor, reduction=MEAN, delta: Number = 1.0):
    """Half the squared difference where it is at most ``delta``, ``delta`` times the difference beyond."""
    size = jnp.abs(self - target)
    d = cast(delta, size.dtype)
    return _reduced(jnp.where(size <= d, 0.5 * size * size, d * (size - 0.5 * d)), reduction)


@wide
def _soft_margin_gradient(grad, self, target, reduction):
    z = jnp.exp(-target * self)
    return -target * z / (1 + z) * _scale(grad, _count(self, target), reduction)


def _check_fits_into(size, *sizes):
    """What PyTorch says where it writes what is made of tensors into the memory of a result of ``size``."""
    shape = tuple(broadcast_shapes([tuple(one) for one in sizes]))
    if shape != tuple(size):
        raise RuntimeError(f"output with shape {list(size)} doesn't match the broadcast shape {list(shape)}")


def _check_soft_margin(self, target, reduction):
    if target.dtype.is_complex and not self.dtype.is_complex:
        raise RuntimeError(f"result type {dtypes.scalar_name(target.dtype)} can't be cast to the desired output type "
                           f"{dtypes.scalar_name(self.dtype)}")
    _check_fits_into(self.size, self.size, target.size)


@op("numeric", check=_check_soft_margin, grad={"self": _soft_margin_gradient}, **_LOSS_IN_PLACE,
    quirks=Quirks(never_needed=("soft_margin_loss", ("target",))))
@wide
def soft_margin_loss(self: Tensor, target: Tensor, reduction=MEAN):
    """``log(1 + exp(-target * input))``."""
    return _reduced(jnp.log1p(jnp.exp(-target * self)), reduction)


# -- binary cross entropy ---------------------------------------------------------------------------------------------

def _check_bce(self, target, weight, reduction):
    if self.dtype.category < 2:
        raise not_implemented("binary_cross_entropy", self.dtype)
    if weight is not None:
        _check_fits_into(self.size, self.size, weight.size)


def _check_bce_with_logits(self, target, weight, pos_weight, reduction):
    if pos_weight is not None:
        _check_fits_into(self.size, pos_weight.size, self.size)
    if weight is not None:
        _check_fits_into(self.size, self.size, weight.size)


def _weighted(x, weight):
    return x if weight is None else x * weight


_EPS = 1e-12


@wide
def _bce_gradient(grad, self, target, weight, reduction):
    slope = (self - target) / jnp.maximum((1 - self) * self, _EPS)
    return _weighted(_scale(grad, _count(self, target), reduction) * slope, weight)


@wide
def _bce_target_gradient(grad, self, weight, reduction, shapes):
    slope = jnp.log1p(-self) - jnp.log(self)
    return _weighted(_scale(grad, self.size, reduction) * slope, weight)


@op("numeric", check=_check_bce, **_LOSS_IN_PLACE, grad={"self": _bce_gradient, "target": _bce_target_gradient},
    quirks=Quirks(never_needed=("binary_cross_entropy", ("weight",))))
def binary_cross_entropy(self: Tensor, target: Tensor, weight: OptTensor = None, reduction=MEAN):
    """``-(target * log(input) + (1 - target) * log(1 - input))``, its logarithms kept at -100 or more. Half precision is rounded
    at each step, as PyTorch's kernel does."""
    log, log1m = jnp.maximum(jnp.log(self), -100), jnp.maximum(jnp.log1p(-self), -100)
    return _reduced(_weighted((target - 1) * log1m - target * log, weight), reduction)


@wide
def _logits_gradient(grad, self, target, weight, pos_weight, reduction):
    s = lax.logistic(self)
    if pos_weight is None:
        slope = s - target
    else:
        t = pos_weight * target
        slope = (t + 1 - target) * s - t
    return _weighted(_scale(grad, _count(self, target), reduction) * slope, weight)


@wide
def _logits_target_gradient(grad, self, weight, pos_weight, reduction):
    slope = -self if pos_weight is None else _log_sigmoid(-self) - pos_weight * _log_sigmoid(self)
    return _weighted(_scale(grad, self.size, reduction) * slope, weight)


@wide
def _log_sigmoid(x):                          # unlike that of `activations`, rounded at each step in half precision
    return jnp.where(x < 0, x, jnp.zeros_like(x)) - jnp.log1p(jnp.exp(-jnp.abs(x)))                # its slope at 0 is a half


@op("numeric", check=_check_bce_with_logits, double="DivBackward1", **_LOSS,
    grad={"self": _logits_gradient, "target": _logits_target_gradient},
    quirks=Quirks(never_needed=("binary_cross_entropy_with_logits", ("weight", "pos_weight")),
                  computed=("self", "target", "weight", "pos_weight")))
def binary_cross_entropy_with_logits(self: Tensor, target: Tensor, weight: OptTensor = None, pos_weight: OptTensor = None, reduction=MEAN):
    """`binary_cross_entropy` of ``sigmoid(input)``, without overflow on the way. Half precision is rounded at each step, as in PyTorch."""
    ls = _log_sigmoid(self)
    if pos_weight is None:
        value = (1 - target) * self - ls
    else:
        value = (1 - target) * self - ((pos_weight - 1) * target + 1) * ls
    return _reduced(_weighted(value, weight), reduction)


# -- negative log likelihood ------------------------------------------------------------------------------------------

def _check_classes(target):
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {dtypes.scalar_name(target.dtype)}")


def _check_nll(self, target, weight, reduction, ignore_index):
    if self.ndim not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    _check_classes(target)
    if self.ndim == 1 and target.ndim == 1 and target.size[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.size[0]}")
    if self.ndim == 2 and (target.ndim != 1 or self.size[0] != target.size[0]):
        raise RuntimeError(f"size mismatch (got input: {list(self.size)}, target: {list(target.size)})")
    if weight is not None and (weight.ndim != 1 or weight.numel != self.size[-1]):
        raise RuntimeError(f"weight tensor should be defined either for all {self.size[-1]} classes or no classes "
                           f"but got weight tensor of shape: {list(weight.size)}")
    _check_nll_types("nll_loss_out_frame", self, weight)


def _check_nll_types(kernel, self, weight):
    refuses(kernel, *_NO_FLOATS)(self)
    same_scalar(self.dtype, weight)


def _check_nll2d(self, target, weight, reduction, ignore_index):
    if target.ndim != 3:
        raise RuntimeError("only batches of spatial targets supported (3D tensors) but got targets of dimension: " + str(target.ndim))
    if self.ndim != 4:
        raise RuntimeError(f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {self.ndim}")
    _check_classes(target)
    if weight is not None and weight.numel != self.size[1]:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if (self.size[0], *self.size[2:]) != tuple(target.size):
        raise RuntimeError(f"size mismatch (got input: {list(self.size)} , target: {list(target.size)}")
    _check_nll_types("nll_loss2d_forward_out_frame", self, weight)


def _class_axis(self):
    return 0 if self.ndim == 1 else 1


def _weights(self, target, weight, ignore_index):
    """(mask of the counted targets, their weights); targets shaped like the input without its classes."""
    kept = target != jnp.asarray(ignore_index, target.dtype)
    if weight is None:
        return kept, kept.astype(self.dtype)
    safe = jnp.where(kept, target, jnp.zeros_like(target))
    return kept, jnp.where(kept, weight.astype(self.dtype)[safe], jnp.zeros((), self.dtype))


def _nll(self, target, weight, reduction, ignore_index):
    axis = _class_axis(self)
    target = target.astype(jnp.int64)
    if self.ndim == 1:
        target = target.reshape(())
    kept, weights = _weights(self, target, weight, ignore_index)
    safe = jnp.where(kept, target, jnp.zeros_like(target))
    picked = jnp.squeeze(jnp.take_along_axis(self, jnp.expand_dims(safe, axis), axis), axis)
    each = jnp.where(kept, -picked * weights, jnp.zeros_like(picked))
    if reduction == NONE:
        return each
    return each.sum() / weights.sum() if reduction == MEAN else each.sum()


def _nll_gradient(grad, self, target, weight, reduction, ignore_index):
    shape = self.shape
    axis = 0 if len(shape) == 1 else 1
    target = target.astype(jnp.int64)
    if len(shape) == 1:
        target, grad = target.reshape(()), grad.reshape(())
    kept, weights = _weights(grad, target, weight, ignore_index)
    part = weights * grad
    if reduction == MEAN:
        part = weights * (grad / weights.sum())
    classes = lax.broadcasted_iota(jnp.int64, shape, axis)
    hit = (classes == jnp.expand_dims(target, axis)) & jnp.expand_dims(kept, axis)
    return jnp.where(hit, -jnp.expand_dims(part, axis), jnp.zeros((), grad.dtype))


_NLL = {"nondiff": ("target",), "grad": {"self": wide(_nll_gradient)}, **_PRIVATE}


@op(None, name="nll_loss", check=_check_nll, **_NLL, quirks=Quirks(never_needed=("nll_loss_forward", ("weight",))))
@wide
def nll_loss(self: Tensor, target: Tensor, weight: OptTensor = None, reduction=MEAN, ignore_index=-100):
    """Minus the element of each row that the target names."""
    return _nll(self, target, weight, reduction, ignore_index)


@op(None, name="nll_loss2d", backward="NllLoss2DBackward0", check=_check_nll2d, **_NLL,
    quirks=Quirks(never_needed=("nll_loss2d_forward", ("weight",))))
@wide
def nll_loss2d(self: Tensor, target: Tensor, weight: OptTensor = None, reduction=MEAN, ignore_index=-100):
    """`nll_loss` of pictures: classes in dimension 1 of four."""
    return _nll(self, target, weight, reduction, ignore_index)


# -- margins ----------------------------------------------------------------------------------------------------------

def _check_multi_margin(self, target, p, margin, weight, reduction):
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    if not (self.ndim < 2 and self.numel or self.ndim == 2 and self.size[1]):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self.size)}")
    rows = self.size[0] if self.ndim == 2 else 1
    if target.ndim > 1 or target.numel != rows:
        raise RuntimeError("multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
                           f"Expected target size [{rows}], but got {list(target.size)}. Input has shape {list(self.size)}.")
    if weight is not None and (weight.ndim > 1 or weight.numel != (self.size[-1] if self.ndim else 1)):
        raise RuntimeError(f"inconsistent weight size, expected {self.size[-1]} but got {list(weight.size)}")
    same_scalar(dtypes.int64, target)
    refuses("multi_margin_loss_cpu_kernel", *_NO_FLOATS, "narrow")(self)
    same_scalar(self.dtype, weight)


_NO_FLOATS = ("bool", "integral", "complex")


@op(None, name="multi_margin_loss", nondiff=("target",), saves=("self", "target", "weight"), check=_check_multi_margin, **_PRIVATE,
    quirks=Quirks(never_needed=("multi_margin_loss", ("weight",)), no_derivative="aten::multi_margin_loss_backward"))
@wide
def multi_margin_loss(self: Tensor, target: Tensor, p=1, margin: Number = 1.0, weight: OptTensor = None, reduction=MEAN):
    """How far each class comes within the margin of the target's, to the power ``p``, averaged over the classes."""
    x = self.reshape(-1, self.shape[-1] if self.ndim else 1)
    t = target.reshape(-1).astype(jnp.int64)
    own = jnp.take_along_axis(x, t[:, None], 1)
    gap = cast(margin, x.dtype) - own + x
    z = jnp.where(gap > 0, gap, jnp.zeros_like(gap))
    z = z * z if p == 2 else z
    if weight is not None:
        z = z * weight[t][:, None]
    hit = lax.broadcasted_iota(jnp.int64, x.shape, 1) == t[:, None]
    each = jnp.where(hit, jnp.zeros_like(z), z).sum(1) / jnp.asarray(x.shape[1], x.dtype)
    return _reduced(each if target.ndim or reduction != NONE else each.reshape(()), reduction)


def _check_multilabel(self, target, reduction):
    if not (self.ndim < 2 and self.numel or self.ndim == 2 and self.size[1]):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self.size)}")
    if tuple(self.size) != tuple(target.size) and not (self.ndim < 2 and target.ndim < 2 and self.numel == target.numel):
        raise RuntimeError(f"inconsistent target size: {list(target.size)} for input of size: {list(self.size)}")
    if target.dtype.is_complex:
        raise not_implemented("min_all", target.dtype)
    same_scalar(dtypes.int64, target)
    refuses("multilabel_margin_loss_forward_out_frame", *_NO_FLOATS, "narrow")(self)


@op(None, name="multilabel_margin_loss", nondiff=("target",), saves=("self", "target"), check=_check_multilabel, **_PRIVATE,
    quirks=Quirks(no_derivative="aten::multilabel_margin_loss_backward"))
@wide
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction=MEAN):
    """How far each class that is not a target comes within 1 of each that is; targets end at the first -1."""
    n = self.shape[-1] if self.ndim else 1
    x, t = self.reshape(-1, n), target.reshape(-1, n).astype(jnp.int64)
    valid = jnp.cumsum((t < 0).astype(jnp.int64), axis=1) == 0
    safe = jnp.where(valid, t, jnp.zeros_like(t))
    classes = lax.broadcasted_iota(jnp.int64, (1, 1, n), 2)
    is_target = ((safe[:, :, None] == classes) & valid[:, :, None]).any(1)
    own = jnp.take_along_axis(x, safe, 1)
    gap = 1 - own[:, :, None] + x[:, None, :]
    counted = valid[:, :, None] & ~is_target[:, None, :] & (gap > 0)
    each = jnp.where(counted, gap, jnp.zeros_like(gap)).sum((1, 2)) / jnp.asarray(n, x.dtype)
    return _reduced(each if self.ndim == 2 or reduction != NONE else each.reshape(()), reduction)
