"""Losses that compare two tensors, of margins and of distributions. Those with an operator of their own check their arguments here; the
others are made of tensor functions.
"""
import math

import jtensor

from ...base import dtypes, sites
from ...base.naming import type_name
from ...ops.families.bounds import check_bounds
from ...tensor import raw
from .. import _reduction
from .._reduction import code_of, reduced
from ._given import Tensor, refuse, refuse_number
from .activation import logsigmoid

__all__ = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
           "multi_margin_loss", "soft_margin_loss", "kl_div", "poisson_nll_loss", "gaussian_nll_loss"]


def _expanded(input, target):
    """Both in a common shape, with a warning where they had not the same."""
    if target.size() == input.size():
        return input, target
    sites.warn(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely "
               "lead to incorrect results due to broadcasting. Please ensure they have the same size.")
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
        return reduced((left - right).abs(), _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _weighted(jtensor.abs(left - right), weight, reduction, by_weight=True)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Half the square over ``beta`` where the difference is below ``beta``, else linear.

    >>> import jtensor as torch
    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0., 3.]), torch.tensor([0.5, 0.]))
    tensor(1.3125)
    """
    left, right = _expanded(input, target)
    code = code_of(size_average, reduce, reduction)
    refuse_number("smooth_l1_loss", "beta", 4, beta)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0.0:
        return reduced((left - right).abs(), code)
    return raw.smooth_l1_loss(left, right, code, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the square where the difference is below ``delta``, else linear with slope ``delta``.

    >>> import jtensor as torch
    >>> torch.nn.functional.huber_loss(torch.tensor([0., 3.]), torch.tensor([0.5, 0.]))
    tensor(1.3125)
    """
    left, right = _expanded(input, target)
    refuse_number("huber_loss", "delta", 4, delta)
    code = _reduction.get_enum(reduction)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        _fits_input(dtypes.promote_types(input.dtype, target.dtype), input)
        return _typed_like(raw.huber_loss(left, right, code, delta), input)
    _check_weight(weight, input)
    return _weighted(raw.huber_loss(left, right, 0, delta), weight, reduction, by_weight=False)


# ----------------------------------------------------------------------------------------------------------------- margins

def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss with several right classes, listed in the target up to the first -1."""
    loss = raw.multilabel_margin_loss(input, target, code_of(size_average, reduce, reduction))
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
    return reduced(loss, _reduction.get_enum(reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Hinge loss between the score of the right class and all others, to the power ``p``."""
    code = code_of(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    loss = raw.multi_margin_loss(input, target, p, margin, weight, code)
    check_bounds(target, input.size(-1) if input.dim() else 1, lambda n: RuntimeError("target out of range"))
    return loss


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``log(1 + exp(-target * input))`` for targets of ±1."""
    code, kind = code_of(size_average, reduce, reduction), dtypes.promote_types(input.dtype, target.dtype)
    _fits_input(kind if kind.category > 1 else dtypes.get_default_dtype(), input)
    return _typed_like(raw.soft_margin_loss(input, target, code), input)


def _fits_input(kind, input):
    """Raises where losses of a type cannot be written to memory of the input's type, which is theirs."""
    if input.dtype.category < 2 <= kind.category:
        raise RuntimeError(f"result type {dtypes.scalar_name(kind)} can't be cast to the desired output type "
                           f"{dtypes.scalar_name(input.dtype)}")


def _typed_like(loss, input):
    """These losses are of the input's type, whatever the target's is."""
    if loss.dtype is input.dtype or input.dtype.category != 2 or loss.dtype.category != 2:
        return loss
    return loss.to(input.dtype)


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
            sites.warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
                       "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
                       "same as 'batchmean' in the next major release.")
        code = _reduction.get_enum("sum" if reduction == "batchmean" else reduction)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        refuse("kl_div", input=input, target=target)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if not isinstance(log_target, bool):
        raise TypeError(f"kl_div(): argument 'log_target' must be bool, not {type_name(type(log_target))}")
    if log_target:
        loss = target.exp() * (target - input)
    else:
        cross = target * input                      # PyTorch's graph has it first
        loss = jtensor.xlogy(target, target) - cross
    loss = reduced(loss, code)
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
    return reduced(loss, _reduction.get_enum(reduction))


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
    return reduced(loss, _reduction.get_enum(reduction))
