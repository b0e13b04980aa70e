"""Cross entropies: the losses of classes, of their probabilities, and of answers that are yes or no.

Owns: which operator serves which shape, and PyTorch's checks, in its order. The operators are in ``ops.families.loss``.
"""
import math

import jtensor

from ...base import sites
from ...base.dtypes import scalar_name
from ...base.errors import real_only
from ...ops.families.bounds import check_bounds, check_probabilities
from ...tensor import raw
from .._reduction import code_of
from ._given import Tensor, class_settings, refuse
from .linear import linear

__all__ = ["nll_loss", "cross_entropy", "linear_cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits"]


# ----------------------------------------------------------------------------------------------------------------- classes

def _nll(input, target, weight, code, ignore_index):
    """Negative log-likelihood for any number of dimensions, by the operators for vectors and for images."""
    size, goal = input.shape, target.shape
    dims = len(size)
    if dims < 1:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if dims != 1 and (not goal or size[0] != goal[0]):
        raise ValueError(f"Expected input batch_size ({size[0]}) to match target batch_size ({goal[0] if goal else 0}).")
    if not size[dims != 1]:                                        # of no classes
        check_bounds(target, 0, _no_class, besides=ignore_index)
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
    ignore_index = class_settings("nll_loss_nd", weight, ignore_index)
    return _nll(input, target, weight, code_of(size_average, reduce, reduction), ignore_index)


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
    return raw.div_Scalar(total, input.numel() / classes) if input.numel() else total.fill_(math.nan)


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
    code = code_of(size_average, reduce, reduction)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        refuse("cross_entropy_loss", input=input, target=target)
    ignore_index = class_settings("cross_entropy_loss", weight, ignore_index, label_smoothing)
    if label_smoothing > 1.0:                            # a negative one counts for none
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.size() == target.size():
        if not target.is_floating_point():
            raise RuntimeError(f"Expected floating point type for target with class probabilities, got {scalar_name(target.dtype)}")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, code, label_smoothing)
    if label_smoothing > 0.0:
        return _smoothed(input, target, weight, code, ignore_index, label_smoothing)
    return _nll(input.log_softmax(0 if input.dim() == 1 else 1), target, weight, code, ignore_index)


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
        sites.warn("linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
                   "label_smoothing == 0, target.dtype == int64, out_features == (). Got "
                   f"reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
                   f"out_features={inner[1:]}, tracing=False, "
                   f"linear_bias.shape={tuple(linear_bias.shape) if linear_bias is not None else None}.")


# --------------------------------------------------------------------------------------------------------------- yes or no

def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Cross entropy of probabilities and targets, both in [0, 1] and of one shape; logarithms are cut off at -100.

    >>> import jtensor as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.25, 0.5]), torch.tensor([0., 1.]))
    tensor(0.4904)
    """
    code = code_of(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
                         "deprecated. Please ensure they have the same size.")
    if weight is not None:
        size = jtensor.broadcast_shapes(target.size(), weight.size())
        weight = weight.expand(size).to(input.dtype)
    if target.dtype != input.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(target.dtype)} but expected {scalar_name(input.dtype)}")
    if input.is_complex():
        raise NotImplementedError(f"\"binary_cross_entropy\" not implemented for '{scalar_name(input.dtype)}'")
    loss = raw.binary_cross_entropy(input, target, weight, code)
    check_probabilities(input, "input")
    check_probabilities(target, "target")
    return loss


def check_logits(input, target):
    """What PyTorch's formula does in place refuses: it writes the terms into ``1 - target``."""
    if not input.is_floating_point():
        raise NotImplementedError(f"\"log_sigmoid_cpu\" not implemented for '{scalar_name(input.dtype)}'")
    if target.dtype == jtensor.bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
                           "instead.")
    if not jtensor.can_cast(input.dtype, target.dtype):
        raise RuntimeError(f"result type {scalar_name(input.dtype)} can't be cast to the desired output type {scalar_name(target.dtype)}")
    if target.is_complex() and input.requires_grad and jtensor.is_grad_enabled():
        raise real_only("binary_cross_entropy_with_logits")


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """Binary cross entropy of the sigmoid of scores; ``pos_weight``: the factor of positive targets.

    >>> import jtensor as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0., 2.]), torch.tensor([0., 1.]))
    tensor(0.4100)
    """
    code = code_of(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    check_logits(input, target)
    loss = raw.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)
    return loss if loss.dtype == target.dtype else loss.to(target.dtype)
