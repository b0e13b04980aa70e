"""Embedding and EmbeddingBag: tables that are looked up by index."""
import jtensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


def _resolved_padding(padding_idx, num_embeddings, message):
    """The padding row counted from the front, or None."""
    if padding_idx is None:
        return None
    if not -num_embeddings <= padding_idx < num_embeddings and padding_idx != 0:
        raise AssertionError(message)
    return padding_idx + num_embeddings if padding_idx < 0 else padding_idx


class _Table(Module):
    """What the two tables have in common: the weight and its initialisation."""

    def _make_weight(self, given, requires_grad, device, dtype):
        shape = [self.num_embeddings, self.embedding_dim]
        if given is None:
            self.weight = Parameter(jtensor.empty(shape, device=device, dtype=dtype), requires_grad=requires_grad)
            self.reset_parameters()
        else:
            if list(given.shape) != shape:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(given, requires_grad=requires_grad)

    def reset_parameters(self):
        """Draws the table from the standard normal distribution; the padding row becomes zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            with jtensor.no_grad():
                self.weight[self.padding_idx].fill_(0)


def _check_matrix(embeddings):
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")


class Embedding(_Table):
    """A row of the table for every index: integers ``(*)`` to ``(*, embedding_dim)``.

    ``padding_idx``: a row that starts as zeros and gets no gradient. ``max_norm``: rows looked up are shortened in place to
    that ``norm_type`` norm.

    >>> import jtensor as torch
    >>> torch.nn.Embedding(10, 3, padding_idx=0)(torch.tensor([0]))
    tensor([[0., 0., 0.]], grad_fn=<EmbeddingBackward0>)
    """

    __constants__ = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"]

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _resolved_padding(padding_idx, num_embeddings, "Padding_idx must be within num_embeddings")
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(_weight, not _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self):
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        parts += [f"{name}={value}" for name, value, default in (
            ("padding_idx", self.padding_idx, None), ("max_norm", self.max_norm, None), ("norm_type", self.norm_type, 2),
            ("scale_grad_by_freq", self.scale_grad_by_freq, False)) if value != default]
        return ", ".join(parts + ["sparse=True"] * (self.sparse is not False))

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                        sparse=False):
        """An Embedding over a given matrix; ``freeze``: it is not trained."""
        _check_matrix(embeddings)
        rows, columns = embeddings.shape
        return cls(rows, columns, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx, max_norm=max_norm,
                   norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


class EmbeddingBag(_Table):
    """The ``mode`` ("sum", "mean" or "max") of the rows of every bag of indices, without the rows in between.

    >>> import jtensor as torch
    >>> torch.nn.EmbeddingBag(10, 3)(torch.tensor([[1, 2], [4, 5]])).shape
    torch.Size([2, 3])
    """

    __constants__ = ["num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
                     "include_last_offset", "padding_idx"]

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                 sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _resolved_padding(padding_idx, num_embeddings, "padding_idx must be within num_embeddings")
        self._make_weight(_weight, True, device, dtype)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
                               self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        parts = [f"{self.num_embeddings!r}, {self.embedding_dim!r}"]
        parts += [f"{name}={value!r}" for name, value, default in (
            ("max_norm", self.max_norm, None), ("norm_type", self.norm_type, 2),
            ("scale_grad_by_freq", self.scale_grad_by_freq, False), ("mode", self.mode, ...),
            ("padding_idx", self.padding_idx, None)) if value != default]
        return ", ".join(parts)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                        sparse=False, include_last_offset=False, padding_idx=None):
        """An EmbeddingBag over a given matrix; ``freeze``: it is not trained."""
        _check_matrix(embeddings)
        rows, columns = embeddings.shape
        bag = cls(rows, columns, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
                  scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse, include_last_offset=include_last_offset,
                  padding_idx=padding_idx)
        bag.weight.requires_grad = not freeze
        return bag
