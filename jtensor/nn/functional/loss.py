"""Losses. Those with an operator of their own check their arguments here; the others are made of tensor functions."""
import math
import warnings

import jtensor

from ...ops.families.bounds import check_bounds, check_probabilities
from ...tensor import raw
from .. import _reduction
from ._given import Tensor, refuse
from .activation import logsigmoid
from .distance import SCALAR_TYPES
from .linear import linear

__all__ = [
    "nll_loss", "poisson_nll_loss", "gaussian_nll_loss", "kl_div", "cross_entropy", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "linear_cross_entropy", "smooth_l1_loss", "huber_loss", "l1_loss", "mse_loss",
    "multilabel_margin_loss", "soft_margin_loss", "multilabel_soft_margin_loss", "multi_margin_loss",
]


def _code(size_average, reduce, reduction):
    """The operators' number of a reduction, the deprecated flags going before the word."""
    return _reduction.get_enum(_reduction.resolved(size_average, reduce, reduction))


def _scalar_type(t):
    return SCALAR_TYPES[str(t.dtype).partition(".")[2]]


def _reduced(loss, code):
    return loss if code == 0 else loss.mean() if code == 1 else loss.sum()


def _expanded(input, target):
    """Both in a common shape, with a warning where they had not the same."""
    if target.size() == input.size():
        return input, target
    warnings.warn(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely "
                  "lead to incorrect results due to broadcasting. Please ensure they have the same size.", stacklevel=3)
    return jtensor.broadcast_tensors(input, target)


# ---------------------------------------------------------------------------------------------------- two tensors compared

def _check_weight(weight, input):
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _weighted(errors, weight, reduction, by_weight):
    """Errors times weights; their mean is taken over the weights or over the number of elements."""
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    loss = errors * weight
    if reduction == "none":
        return loss
    if reduction == "sum":
        return jtensor.sum(loss)
    return jtensor.sum(loss) / jtensor.sum(weight) if by_weight else loss.mean()


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of ``(input - target)²``; a ``weight`` of the input's shape weights the elements.

    >>> import jtensor as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    left, right = _expanded(input, target)
    reduction = _reduction.resolved(size_average, reduce, reduction)
    if weight is None:
        return raw.mse_loss(left, right, _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _weighted(jtensor.pow(left - right, 2), weight, reduction, by_weight=True)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of ``|input - target|``; a ``weight`` of the input's shape weights the elements.

    >>> import jtensor as torch
    >>> torch.nn.functional.l1_loss(torch.tensor([0., 3.]), torch.tensor([0.5, 0.]))
    tensor(1.7500)
    """
    left, right = _expanded(input, target)
    reduction = _reduction.resolved(size_average, reduce, reduction)
    if weight is None:
        return _reduced((left - right).abs(), _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _weighted(jtensor.abs(left - right), weight, reduction, by_weight=True)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Half the square over ``beta`` where the difference is below ``beta``, else linear.

    >>> import jtensor as torch
    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0., 3.]), torch.tensor([0.5, 0.]))
    tensor(1.3125)
    """
    left, right = _expanded(input, target)
    code = _code(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0.0:
        return _reduced((left - right).abs(), code)
    return raw.smooth_l1_loss(left, right, code, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the square where the difference is below ``delta``, else linear with slope ``delta``.

    >>> import jtensor as torch
    >>> torch.nn.functional.huber_loss(torch.tensor([0., 3.]), torch.tensor([0.5, 0.]))
    tensor(1.3125)
    """
    left, right = _expanded(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return raw.huber_loss(left, right, _reduction.get_enum(reduction), delta)
    _check_weight(weight, input)
    return _weighted(raw.huber_loss(left, right, 0, delta), weight, reduction, by_weight=False)


# -------------------------------------------------------------------------------------------------------- classification

def _nll(input, target, weight, code, ignore_index):
    """Negative log-likelihood for any number of dimensions, by the operators for vectors and for images."""
    size, goal = input.shape, target.shape
    dims = len(size)
    if dims < 1:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if dims != 1 and (not goal or size[0] != goal[0]):
        raise ValueError(f"Expected input batch_size ({size[0]}) to match target batch_size ({goal[0] if goal else 1}).")
    if target.dtype not in (jtensor.int64, jtensor.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {_scalar_type(target)}")
    if dims <= 2:
        loss = raw.nll_loss(input, target, weight, code, ignore_index)
    elif dims == 4:
        loss = raw.nll_loss2d(input, target, weight, code, ignore_index)
    else:
        n, classes, *inner = size
        if list(goal[1:]) != inner:
            raise RuntimeError(f"Expected target size {[n, *inner]}, got {list(goal)}")
        flat = (1, -1) if input.numel() else (0, 0)
        loss = raw.nll_loss2d(input.contiguous().view(n, classes, *flat), target.contiguous().view(n, *flat), weight, code,
                              ignore_index)
        loss = loss.view(n, *inner) if code == 0 else loss
    check_bounds(target, size[0 if dims == 1 else 1], _no_class, besides=ignore_index)        # shapes are complained of first
    return loss


def _no_class(n):
    return IndexError(f"Target {n} is out of bounds.")


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Minus the log-probability of the target class: ``(N, C, *)`` and ``(N, *)``. The mean is weighted by ``weight``.

    >>> import jtensor as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.], [-3., -4.]]), torch.tensor([0, 1]))
    tensor(2.5000)
    """
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        refuse("nll_loss_nd", input=input, target=target)
    return _nll(input, target, weight, _code(size_average, reduce, reduction), ignore_index)


def _class_weight(weight, input, class_dim):
    if weight.dim() != 1 or weight.numel() != input.size(class_dim):
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {input.size(class_dim)} classes or no "
                           f"classes but got weight tensor of shape: {list(weight.shape)}")
    return weight.view([-1 if i == class_dim else 1 for i in range(input.dim())])


def _of_probabilities(input, target, weight, code, label_smoothing):
    class_dim = 0 if input.dim() == 1 else 1
    classes = input.size(class_dim)
    log_probabilities = input.log_softmax(class_dim)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    product = log_probabilities * target
    if weight is not None:
        product = product * _class_weight(weight, input, class_dim)
    if code == 0:
        return -product.sum(class_dim)
    total = -product.sum()
    if code == 2:
        return total
    return total / (input.numel() / classes) if input.numel() else total.fill_(math.nan)


def _smoothed(input, target, weight, code, ignore_index, label_smoothing):
    """A mixture of the loss for the target and of the mean loss over all classes."""
    class_dim = 0 if input.dim() == 1 else 1
    classes = input.size(class_dim)
    log_probabilities = input.log_softmax(class_dim)
    hard = _nll(log_probabilities, target, weight, code, ignore_index)
    spread = log_probabilities if weight is None else log_probabilities * _class_weight(weight, input, class_dim)
    smooth = -spread.sum(class_dim)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if code == 2:
        smooth = smooth.sum()
    elif code == 1 and weight is None:
        smooth = smooth.sum() / (~ignored).sum()
    elif code == 1:
        counted = weight.gather(0, target.masked_fill(ignored, 0).flatten()).masked_fill(ignored.flatten(), 0)
        smooth = smooth.sum() / counted.sum()
    return (1 - label_smoothing) * hard + smooth * (label_smoothing / classes)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """``nll_loss`` of the log-softmax: scores ``(N, C, *)``, and classes ``(N, *)`` or class probabilities ``(N, C, *)``.

    >>> import jtensor as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """
    code = _code(size_average, reduce, reduction)
    if label_smoothing < 0.0 or label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        refuse("cross_entropy_loss", input=input, target=target)
    if input.size() == target.size():
        if not target.is_floating_point():
            raise RuntimeError("Expected floating point type for target with class probabilities, got "
                               f"{_scalar_type(target)}")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, code, label_smoothing)
    if label_smoothing > 0.0:
        return _smoothed(input, target, weight, code, ignore_index, label_smoothing)
    return _nll(input.log_softmax(0 if input.dim() == 1 else 1), target, weight, code, ignore_index)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Cross entropy of probabilities and targets, both in [0, 1] and of one shape; logarithms are cut off at -100.

    >>> import jtensor as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.25, 0.5]), torch.tensor([0., 1.]))
    tensor(0.4904)
    """
    code = _code(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
                         "deprecated. Please ensure they have the same size.")
    if weight is not None:
        weight = jtensor.broadcast_tensors(target, weight)[1].to(input.dtype)
    if target.dtype != input.dtype:
        raise RuntimeError(f"Found dtype {_scalar_type(target)} but expected {_scalar_type(input)}")
    if input.is_complex():
        raise NotImplementedError(f"\"binary_cross_entropy\" not implemented for '{_scalar_type(input)}'")
    loss = raw.binary_cross_entropy(input, target, weight, code)
    check_probabilities(input, "input")
    check_probabilities(target, "target")
    return loss


def _check_logits(input, target):
    """What PyTorch's formula does in place refuses: it writes the terms into ``1 - target``."""
    if not input.is_floating_point():
        raise NotImplementedError(f"\"log_sigmoid_cpu\" not implemented for '{_scalar_type(input)}'")
    if target.dtype == jtensor.bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
                           "instead.")
    if not jtensor.can_cast(input.dtype, target.dtype):
        raise RuntimeError(f"result type {_scalar_type(input)} can't be cast to the desired output type {_scalar_type(target)}")
    if target.is_complex() and input.requires_grad and jtensor.is_grad_enabled():
        raise RuntimeError("binary_cross_entropy_with_logits does not support automatic differentiation for outputs with complex dtype.")


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """Binary cross entropy of the sigmoid of scores; ``pos_weight``: the factor of positive targets.

    >>> import jtensor as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0., 2.]), torch.tensor([0., 1.]))
    tensor(0.4100)
    """
    code = _code(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    _check_logits(input, target)
    loss = raw.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)
    return loss if loss.dtype == target.dtype else loss.to(target.dtype)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing=0.0, options=None):
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``, as one call.

    ``options`` say how PyTorch cuts the computation into chunks to save memory; here XLA decides that, so they are checked and
    have no further effect: gradients may be asked for more than once whatever ``allow_retain_graph`` is.
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    features = input.shape[-1]
    if features != linear_weight.shape[-1]:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), got "
                           f"{features} and {linear_weight.shape[-1]}, respectively")
    inner = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != inner:
        raise RuntimeError(f"expected linear_bias shape {inner}, got {tuple(linear_bias.shape)}")
    if len(inner) > 1 and input.dim() == 1:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched "
                           f"input, (N, {features}), got unbatched input with shape {tuple(input.shape)}")
    shape = (*input.shape[:-1], *inner)
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if options is not None:
        _check_options(options, inner, reduction, label_smoothing, target, linear_bias)
        options.check_sizes(1 if input.dim() == 1 else input.shape[0], features, inner[0])
    flat_bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = linear(input, linear_weight.reshape(-1, features), flat_bias).reshape(shape)
    return cross_entropy(scores, target, weight=weight, reduction=reduction, label_smoothing=label_smoothing,
                         ignore_index=-100 if ignore_index is None else ignore_index)


def _check_options(options, inner, reduction, label_smoothing, target, linear_bias):
    """The warning of PyTorch where options could not be followed anyway."""
    if len(inner) > 1 or reduction not in ("mean", "sum", "none") or label_smoothing != 0.0 or target.dtype != jtensor.int64:
        warnings.warn("linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
                      "label_smoothing == 0, target.dtype == int64, out_features == (). Got "
                      f"reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
                      f"out_features={inner[1:]}, tracing=False, "
                      f"linear_bias.shape={tuple(linear_bias.shape) if linear_bias is not None else None}.", stacklevel=3)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss with several right classes, listed in the target up to the first -1."""
    loss = raw.multilabel_margin_loss(input, target, _code(size_average, reduce, reduction))
    check_bounds(target, input.size(-1) if input.dim() else 1, lambda n: RuntimeError("argument #2 'target' is out of range"), besides=-1)
    return loss


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Binary cross entropy with logits, averaged over the classes (the last dimension)."""
    reduction = _reduction.resolved(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(dim=input.dim() - 1) / input.size(input.dim() - 1)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return _reduced(loss, _reduction.get_enum(reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss between the score of the right class and all others, to the power ``p``."""
    code = _code(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    loss = raw.multi_margin_loss(input, target, p, margin, weight, code)
    check_bounds(target, input.size(-1) if input.dim() else 1, lambda n: RuntimeError("target out of range"))
    return loss


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``log(1 + exp(-target * input))`` for targets of ±1."""
    return raw.soft_margin_loss(input, target, _code(size_average, reduce, reduction))


# --------------------------------------------------------------------------------------------------------- distributions

def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """``target (log target - input)``, input (and with ``log_target`` the target) in logarithms; "batchmean" divides by the batch.

    >>> import jtensor as torch
    >>> torch.nn.functional.kl_div(torch.tensor([-1., -2.]), torch.tensor([0.5, 0.5]), reduction="sum")
    tensor(0.8069)
    """
    if size_average is not None or reduce is not None:
        code = _reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
                          "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
                          "same as 'batchmean' in the next major release.", stacklevel=2)
        code = _reduction.get_enum("sum" if reduction == "batchmean" else reduction)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        refuse("kl_div", input=input, target=target)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        loss = target.exp() * (target - input)
    else:
        cross = target * input                      # PyTorch's graph has it first
        loss = jtensor.xlogy(target, target) - cross
    loss = _reduced(loss, code)
    return loss / input.size(0) if reduction == "batchmean" and input.dim() != 0 else loss


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """Minus the log-likelihood of counts under Poisson rates, or their logarithms; ``full`` adds Stirling's term."""
    reduction = _reduction.resolved(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        refuse("poisson_nll_loss", input=input, target=target)
    if log_input:
        loss = jtensor.exp(input) - target * input
    else:
        loss = input - target * jtensor.log(input + eps)
    if full:
        stirling = target * jtensor.log(target) - target + 0.5 * jtensor.log(2 * math.pi * target)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduced(loss, _reduction.get_enum(reduction))


def _variance(var, input):
    """The variance in a shape that goes with the input's. Looks at the values: none may be negative."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * jtensor.ones_like(input)
    elif jtensor.any(var < 0):
        raise ValueError("var has negative entry/entries")
    if var.size() == input.size():
        return var
    if input.size()[:-1] == var.size():
        return var.unsqueeze(-1)
    if input.ndim == var.ndim and sum(b for a, b in zip(input.size(), var.size()) if a != b) == 1:
        return var
    raise ValueError("var is of incorrect size")


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Minus the log-likelihood of targets under normal distributions of given means and variances (at least ``eps``)."""
    var = _variance(var, input)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with jtensor.no_grad():  # the gradient is that of the variance as it is
        var.clamp_(min=eps)
    loss = 0.5 * (jtensor.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return _reduced(loss, _reduction.get_enum(reduction))
