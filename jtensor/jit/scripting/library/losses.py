"""Losses in the language of TorchScript: functions, and modules that call them.

Owns: these programs. May not know: how they are compiled.
"""
# ruff: noqa: UP045 - written in the language's own words
from typing import Optional

import jtensor as torch
from jtensor.nn import functional as F

from ....tensor.core import Tensor


def _reduction(reduction: str) -> int:
    if reduction == "none":
        ret = 0
    elif reduction == "mean":
        ret = 1
    elif reduction == "sum":
        ret = 2
    else:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return ret


def mse_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
             reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    a, b = torch.broadcast_tensors([input, target])
    if weight is not None:
        raise NotImplementedError("weight of mse_loss in TorchScript")
    return torch.ops.aten.mse_loss(a, b, _reduction(reduction))


def l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
            reduction: str = "mean", weight: Optional[Tensor] = None) -> Tensor:
    a, b = torch.broadcast_tensors([input, target])
    if weight is not None:
        raise NotImplementedError("weight of l1_loss in TorchScript")
    return torch.ops.aten.l1_loss(a, b, _reduction(reduction))


def smooth_l1_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                   reduction: str = "mean", beta: float = 1.0) -> Tensor:
    a, b = torch.broadcast_tensors([input, target])
    if beta == 0.0:
        return torch.ops.aten.l1_loss(a, b, _reduction(reduction))
    return torch.ops.aten.smooth_l1_loss(a, b, _reduction(reduction), beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Optional[Tensor] = None) -> Tensor:
    a, b = torch.broadcast_tensors([input, target])
    if weight is not None:
        raise NotImplementedError("weight of huber_loss in TorchScript")
    return torch.ops.aten.huber_loss(a, b, _reduction(reduction), delta)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return torch.ops.aten.nll_loss_nd(input, target, weight, _reduction(reduction), ignore_index)


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    return torch.ops.aten.cross_entropy_loss(input, target, weight, _reduction(reduction), ignore_index, label_smoothing)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    if target.size() != input.size():
        raise ValueError(f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
                         "Please ensure they have the same size.")
    return torch.ops.aten.binary_cross_entropy(input, target, weight, _reduction(reduction))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                                     reduce: Optional[bool] = None, reduction: str = "mean",
                                     pos_weight: Optional[Tensor] = None) -> Tensor:
    if not (target.size() == input.size()):
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, _reduction(reduction))


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = "mean",
           log_target: bool = False) -> Tensor:
    of_batch = reduction == "batchmean"
    code = 2 if of_batch else _reduction(reduction)
    reduced = torch.ops.aten.kl_div(input, target, code, log_target=log_target)
    if of_batch and input.dim() != 0:
        reduced = reduced / input.size()[0]
    return reduced


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: Optional[bool] = None,
                         reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return torch.ops.aten.hinge_embedding_loss(input, target, margin, _reduction(reduction))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Optional[bool] = None,
                        reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return torch.ops.aten.margin_ranking_loss(input1, input2, target, margin, _reduction(reduction))


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Optional[bool] = None,
                          reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return torch.ops.aten.cosine_embedding_loss(input1, input2, target, margin, _reduction(reduction))


def soft_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                     reduction: str = "mean") -> Tensor:
    return torch.ops.aten.soft_margin_loss(input, target, _reduction(reduction))


def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                           reduction: str = "mean") -> Tensor:
    return torch.ops.aten.multilabel_margin_loss(input, target, _reduction(reduction))


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      size_average: Optional[bool] = None, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return torch.ops.aten.multi_margin_loss(input, target, p, margin, weight, _reduction(reduction))


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Optional[bool] = None,
                     eps: float = 1e-8, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return torch.ops.aten.poisson_nll_loss(input, target, log_input, full, eps, _reduction(reduction))


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
                        swap: bool = False, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                        reduction: str = "mean") -> Tensor:
    return torch.ops.aten.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, _reduction(reduction))


class MSELoss:
    """Squares of differences."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss:
    """Absolute differences."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss:
    """Squares of small differences, and great ones as they are."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss:
    """The same, in another scale."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss:
    """Of logarithms of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss:
    """Of scores of classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
                               label_smoothing=self.label_smoothing)


class BCELoss:
    """Of probabilities of two cases."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss:
    """Of scores of two cases."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction)


class KLDivLoss:
    """Between distributions."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
