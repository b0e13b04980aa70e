"""AdaptiveLogSoftmaxWithLoss: a softmax over very many classes, the rare ones in clusters of their own."""
from typing import NamedTuple

import jtensor

from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: object
    loss: object


def _check_cutoffs(cutoffs, n_classes):
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    if (cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)):
        raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                         "value is between 1 and n_classes-1")


class AdaptiveLogSoftmaxWithLoss(Module):
    """Classes sorted by frequency, cut into clusters at ``cutoffs``: the head scores the frequent classes and the clusters,
    each cluster's tail its own classes through a narrower projection (``div_value`` times narrower each time).

    ``(N, in_features)`` and classes ``(N,)`` to the targets' log-probabilities ``(N,)`` and their negative mean.

    >>> import jtensor as torch
    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
    >>> layer(torch.ones(3, 16), torch.tensor([0, 7, 19])).output.shape
    torch.Size([3])
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:]), 1):
            width = int(in_features // div_value ** i)
            self.tail.append(Sequential(Linear(in_features, width, bias=False, **factory),
                                        Linear(width, high - low, bias=False, **factory)))

    def reset_parameters(self):
        """Draws all parameters anew."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def _check(self, input, target):
        if target.dim() == 1:
            if input.size(0) != target.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input.dim() != 2:
                raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with size {input.size()}")
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input.size()}")
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

    def forward(self, input_, target_):
        self._check(input_, target_)
        is_batched = target_.dim() > 0
        input, target = (input_, target_) if is_batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        output = input.new_zeros(target.size(0))
        in_head = target.new_empty(target.size(0))
        used = 0
        for i, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs)):
            chosen = (target >= low) & (target < high)
            rows = chosen.nonzero().squeeze()
            if rows.numel() == 0:
                continue
            if i == 0:
                in_head.index_copy_(0, rows, target[chosen])
            else:
                within = target[chosen] - low
                scores = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
                in_head.index_fill_(0, rows, self.shortlist_size + i - 1)
                output.index_copy_(0, rows, scores.gather(1, within.unsqueeze(1)).squeeze(1))
            used += rows.numel()
        if used != target.size(0):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{target.min().item()}, {target.max().item()}] were found. ")
        head = F.log_softmax(self.head(input), dim=1)
        output += head.gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input, head_output):
        full = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        full[:, :self.shortlist_size] = head[:, :self.shortlist_size]
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            cluster = F.log_softmax(self.tail[i](input), dim=1)
            full[:, low:high] = cluster + head[:, self.shortlist_size + i].unsqueeze(1)
        return full

    def log_prob(self, input):
        """The log-probabilities of all classes: ``(N, n_classes)``."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The likeliest class of every row, without computing the clusters that cannot win."""
        head = self.head(input)
        output = jtensor.argmax(head, dim=1)
        in_tail = output >= self.shortlist_size
        if not in_tail.any():
            return output
        if in_tail.all():
            return jtensor.argmax(self._get_full_log_prob(input, head), dim=1)
        output[in_tail] = jtensor.argmax(self._get_full_log_prob(input[in_tail], head[in_tail]), dim=1)
        return output
