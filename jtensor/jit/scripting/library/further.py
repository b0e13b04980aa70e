"""More layers in the language of TorchScript: padding in circles, bags of embeddings, folds, distances, pooling, losses.

Owns: these programs. May not know: how they are compiled.
"""
# ruff: noqa: UP006, UP032, UP035, UP045 - written in the language's own words
from typing import List, Optional, Tuple

import jtensor as torch
from jtensor.jit.annotations import BroadcastingList2, BroadcastingList3
from jtensor.nn import functional as F

from ....tensor.core import Tensor
from .losses import _reduction

# -- functions ---------------------------------------------------------------------------------------------------------------------------


def fold(input: Tensor, output_size: BroadcastingList2[int], kernel_size: BroadcastingList2[int], dilation: BroadcastingList2[int] = 1,
         padding: BroadcastingList2[int] = 0, stride: BroadcastingList2[int] = 1) -> Tensor:
    return torch.ops.aten.col2im(input, output_size, kernel_size, dilation, padding, stride)


def unfold(input: Tensor, kernel_size: BroadcastingList2[int], dilation: BroadcastingList2[int] = 1, padding: BroadcastingList2[int] = 0,
           stride: BroadcastingList2[int] = 1) -> Tensor:
    return torch.ops.aten.im2col(input, kernel_size, dilation, padding, stride)


def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    dims = input.dim()
    if dims < 3:
        raise ValueError("Expected 3D or higher dimensionality                          input (got {} dimensions)".format(dims))
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    if dims == 3:
        padded = F.pad(squares.unsqueeze(1), [0, 0, size // 2, (size - 1) // 2])
        mean = torch.ops.aten.avg_pool2d(padded, [size, 1], [1, 1]).squeeze(1)
    else:
        sizes = input.size()
        padded = F.pad(squares.view(sizes[0], 1, sizes[1], sizes[2], -1), [0, 0, 0, 0, size // 2, (size - 1) // 2])
        mean = torch.ops.aten.avg_pool3d(padded, [size, 1, 1], [1, 1, 1]).squeeze(1).view(sizes)
    return input / mean.mul(alpha).add(k).pow(beta)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Optional[int] = None, ceil_mode: bool = False) -> Tensor:
    powers = input.pow(norm_type)
    if stride is not None:
        out = torch.avg_pool1d(powers, [kernel_size], [stride], [0], ceil_mode)
    else:
        out = torch.avg_pool1d(powers, [kernel_size], [kernel_size], [0], ceil_mode)
    return (torch.sign(out) * torch.relu(torch.abs(out))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: BroadcastingList2[int], stride: Optional[BroadcastingList2[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    out = torch.ops.aten.avg_pool2d(input.pow(norm_type), kernel_size, stride, [0, 0], ceil_mode)
    return (torch.sign(out) * torch.relu(torch.abs(out))).mul(kernel_size[0] * kernel_size[1]).pow(1.0 / norm_type)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: BroadcastingList3[int], stride: Optional[BroadcastingList3[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    if stride is None:
        stride = torch.jit.annotate(List[int], [])
    out = torch.ops.aten.avg_pool3d(input.pow(norm_type), kernel_size, stride, [0, 0, 0], ceil_mode)
    return (torch.sign(out) * torch.relu(torch.abs(out))).mul(kernel_size[0] * kernel_size[1] * kernel_size[2]).pow(1.0 / norm_type)


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:
    return torch.ops.aten.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                                reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(dim=input.dim() - 1) / input.size(input.dim() - 1)
    if reduction == "none":
        ret = loss
    elif reduction == "mean":
        ret = loss.mean()
    elif reduction == "sum":
        ret = loss.sum()
    else:
        ret = input
        raise ValueError("{} is not valid".format(reduction))
    return ret


# -- layers ------------------------------------------------------------------------------------------------------------------------------


class _CircularPadNd:
    """What goes on at the other end."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd):
    """Of a line."""

    def _check_input_dim(self, input):
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError("expected 2D or 3D input (got {}D input)".format(input.dim()))


class CircularPad2d(_CircularPadNd):
    """Of a picture."""

    def _check_input_dim(self, input):
        if input.dim() != 3 and input.dim() != 4:
            raise ValueError("expected 3D or 4D input (got {}D input)".format(input.dim()))


class CircularPad3d(_CircularPadNd):
    """Of a space."""

    def _check_input_dim(self, input):
        if input.dim() != 4 and input.dim() != 5:
            raise ValueError("expected 4D or 5D input (got {}D input)".format(input.dim()))


class Fold:
    """Patches laid over each other."""

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold:
    """Patches as columns."""

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class CosineSimilarity:
    """The cosine of an angle."""

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return torch.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance:
    """The norm of a difference."""

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return torch.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class LocalResponseNorm:
    """By the channels beside."""

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class ChannelShuffle:
    """Channels in another order."""

    def forward(self, input: Tensor) -> Tensor:
        return torch.channel_shuffle(input, self.groups)


class Softmax2d:
    """Probabilities over channels."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in [3, 4]:
            raise ValueError("Softmax2d: expected input to be 3D or 4D, got {}D instead".format(input.dim()))
        return F.softmax(input, -3, _stacklevel=5)


class FeatureAlphaDropout:
    """Whole channels, with mean and variance kept."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)


class LPPool1d:
    """Norms along a line."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d:
    """Norms over a picture."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d:
    """Norms in a space."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _InstanceNorm:
    """Normal within each channel of each sample."""

    def _handle_no_batch_input(self, input):
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats, self.momentum if self.momentum is not None else 0.0, self.eps)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        feature_dim = input.dim() - self._get_no_batch_dim()
        if input.size(feature_dim) != self.num_features:
            if self.affine:
                raise ValueError("expected input's size at dim={} to match num_features ({}), but got: {}.".format(
                    feature_dim, self.num_features, input.size(feature_dim)))
            else:
                torch.ops.aten.warn("input's size at dim={} does not match num_features. You can silence this warning by not passing in "
                                    "num_features, which is not used because affine=False".format(feature_dim))
        if input.dim() == self._get_no_batch_dim():
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """Along a line."""

    def _get_no_batch_dim(self) -> int:
        return 2

    def _check_input_dim(self, input):
        if input.dim() not in [2, 3]:
            raise ValueError("expected 2D or 3D input (got {}D input)".format(input.dim()))


class InstanceNorm2d(_InstanceNorm):
    """Over a picture."""

    def _get_no_batch_dim(self) -> int:
        return 3

    def _check_input_dim(self, input):
        if input.dim() not in [3, 4]:
            raise ValueError("expected 3D or 4D input (got {}D input)".format(input.dim()))


class InstanceNorm3d(_InstanceNorm):
    """In a space."""

    def _get_no_batch_dim(self) -> int:
        return 4

    def _check_input_dim(self, input):
        if input.dim() not in [4, 5]:
            raise ValueError("expected 4D or 5D input (got {}D input)".format(input.dim()))


# -- losses ------------------------------------------------------------------------------------------------------------------------------


class CTCLoss:
    """Of alignments."""

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)


class TripletMarginLoss:
    """Of three that should be near and far."""

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap,
                                     reduction=self.reduction)


class MultiLabelSoftMarginLoss:
    """Of several labels."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class PoissonNLLLoss:
    """Of counts."""

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction)


class CosineEmbeddingLoss:
    """Of angles."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss:
    """Of classes that are not the one."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)


class MultiLabelMarginLoss:
    """Of several classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss:
    """The logistic loss."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class HingeEmbeddingLoss:
    """Of distances."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss:
    """Of an order."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


def embedding_bag(input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Optional[float] = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Optional[Tensor] = None,
                  include_last_offset: bool = False, padding_idx: Optional[int] = None) -> Tensor:
    if max_norm is not None:
        raise NotImplementedError("max_norm of an embedding in TorchScript")
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError("embedding_bag: If per_sample_weights ({}) is not None, then it must have the same shape as the input ({})".format(
            per_sample_weights.size(), input.size()))
    if not (weight.dim() == 2):
        raise ValueError("weight has to be a 2D Tensor, but got Tensor of dimension {}".format(weight.dim()))
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                             "However, found offsets of type Tensor")
        offsets = torch.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError("input has to be 1D or 2D Tensor, but got Tensor of dimension {}".format(input.dim()))
    code = 0 if mode == "sum" else 1 if mode == "mean" else 2
    if mode not in ["sum", "mean", "max"]:
        raise ValueError("mode has to be one of sum, mean or max")
    if code == 2 and (scale_grad_by_freq or sparse):
        raise ValueError("max mode does not support scaling the gradient by the frequency, or sparse weights")
    if per_sample_weights is not None and code != 0:
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                                  "(got mode='{}'). Please open a feature request on GitHub.".format(mode))
    found: Tuple[Tensor, Tensor, Tensor, Tensor] = torch.ops.aten.embedding_bag(weight, input, offsets, scale_grad_by_freq, code, sparse,
                                                                       per_sample_weights, include_last_offset, padding_idx)
    return found[0]


class EmbeddingBag:
    """Rows of a table, summed up in bags."""

    def forward(self, input: Tensor, offsets: Optional[Tensor] = None, per_sample_weights: Optional[Tensor] = None) -> Tensor:
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
                               per_sample_weights, self.include_last_offset, self.padding_idx)
