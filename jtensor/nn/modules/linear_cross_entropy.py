"""LinearCrossEntropyLoss, a last linear layer and the cross entropy in one, and its options."""
import dataclasses
import math

import jtensor

from .. import functional as F
from .linear import Linear
from .loss import _WeightedLoss
from .utils import settings

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch computes the loss in chunks of the batch, and in which precision. Checked here, and otherwise without effect."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: object = None

    def __post_init__(self):
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, colon, factor = self.chunking_method.partition(":")
            factor = factor if colon else "1"
            if not (name == "aspect_ratio" and factor.isdigit() and int(factor) > 0):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if not (size is None or isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, jtensor.float16, jtensor.bfloat16, jtensor.float32, jtensor.float64):
            raise ValueError("acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                             f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically.")

    def check_sizes(self, batch, features, classes):
        """ValueError where a chunk size and a method to choose one are given and disagree."""
        given, method = self.batch_chunk_size, self.chunking_method
        if given is None or method in (None, "auto"):
            return
        factor = int(method.partition(":")[2] or 1)
        wanted = -(-batch // -(-classes // features))
        chosen = min((1 << (wanted - 1).bit_length()) // factor, batch)
        if given != chosen:
            raise ValueError(f"batch_chunk_size (={given}) and chunking_method ('{method}') give different chunk sizes ({given} vs "
                             f"{chosen}); pass only one.")


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of ``linear(input)``: ``(N, in_features)`` and classes ``(N, *)`` in ``[0, num_classes)``.

    ``out_features``: further dimensions of the scores, ``(N, num_classes, *out_features)``.
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]

    def __init__(self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean",
                 weight=None, ignore_index=None, label_smoothing=0.0, options=None):
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if label_smoothing < 0 or label_smoothing > 1.0:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, None, None, reduction)
        self.num_classes, self.out_features, self.options = num_classes, out_features, options
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias=bias, device=device, dtype=dtype)

    def forward(self, input, target):
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape((*shape, self.linear.in_features)), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options)

    def extra_repr(self):
        return (f"in_features={self.linear.in_features}, " + settings(self, "num_classes", "out_features")
                + f", bias={self.linear.bias is not None}, "
                + settings(self, "reduction", "ignore_index", "label_smoothing", "options"))
