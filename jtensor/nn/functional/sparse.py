"""Looking rows of a table up: embedding, embedding_bag, one_hot."""
import warnings

import jtensor

from ...ops.families.bounds import check_bounds, extremes
from ...tensor import raw
from ...tensor.looking import host_copy
from ._given import Tensor, refuse, refuse_flag, refuse_number

__all__ = ["embedding", "embedding_bag", "one_hot"]                # embedding_renorm_ is torch's

_MODES = {"sum": 0, "mean": 1, "max": 2}


def _kind(indices):
    """A tensor's type, in the words of PyTorch's checks."""
    return "CPUBoolType" if indices.dtype is jtensor.bool else indices.type()


def _renorm_rows(weight, input, max_norm, norm_type):
    """Shortens the rows that ``input`` names to ``max_norm``, in place. The other rows are multiplied by one."""
    if input.dtype not in (jtensor.int64, jtensor.int32):
        raise RuntimeError("Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got "
                           f"{_kind(input)} instead (while checking arguments for embedding_renorm_)")
    with jtensor.no_grad():
        weight = weight.detach()
        rows = weight.size(0)
        check_bounds(input, rows, lambda n: IndexError(f"select(): index {n} out of range for tensor of size {list(weight.size())} at "
                                                       "dimension 0"), negative=True)
        norms = jtensor.norm(weight, norm_type, 1)
        used = jtensor.zeros(rows, dtype=jtensor.bool, device=weight.device).index_fill_(0, input.reshape(-1).long(), True)
        factor = jtensor.where(used & (norms > max_norm), max_norm / (norms + 1e-7), jtensor.ones_like(norms))
        weight.mul_(factor.unsqueeze(1))


def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scales the rows of ``input`` that ``indices`` name down to a norm of ``max_norm``, where theirs is larger; answers with ``input``.

    >>> torch.embedding_renorm_(torch.tensor([[3., 4.], [3., 4.]]), torch.tensor([1]), 1.0, 2.0)
    tensor([[3.0000, 4.0000],
            [0.6000, 0.8000]])
    """
    if input.dim() != 2:
        raise RuntimeError(f"Expected 2-dimensional tensor, but got {input.dim()}-dimensional tensor for argument #1 'self' (while "
                           "checking arguments for embedding_renorm_)")
    for index in indices.reshape(-1).tolist() if indices.dtype in (jtensor.int64, jtensor.int32) else ():
        if not -input.size(0) <= index < input.size(0):
            raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.size())} at dimension 0")
    _renorm_rows(input, indices, max_norm, norm_type)
    return input


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` ``(V, D)`` that the integers ``input`` ``(*)`` name: ``(*, D)``.

    ``padding_idx``: a row without a gradient. IndexError for an index out of range.

    >>> import jtensor as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    if not isinstance(weight, Tensor):
        refuse("embedding", weight=weight)
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if padding_idx != 0 and not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += rows
    if max_norm is not None:
        refuse_number("embedding_renorm_", "max_norm", 3, max_norm)
        input = input.contiguous()
        _renorm_rows(weight, input, max_norm, norm_type)
    for at, (name, given) in enumerate((("scale_grad_by_freq", scale_grad_by_freq), ("sparse", sparse)), 4):
        if given is not True and given is not False:
            refuse_flag("embedding", name, at, given)
    return raw.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _as_bags(input, offsets, per_sample_weights):
    """(indices, offsets, weights of samples) in one dimension; the rows of a matrix are bags of equal length."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                             f"sequences. However, found offsets of type {type(offsets)}")
        offsets = jtensor.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        return input.reshape(-1), offsets, None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, per_sample_weights


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """The "sum", "mean" or "max" of the rows of ``weight`` in every bag of indices.

    ``input`` ``(B, N)``: B bags; ``(N,)`` with ``offsets`` ``(B,)``: where each bag begins.

    >>> import jtensor as torch
    >>> torch.nn.functional.embedding_bag(torch.tensor([[1, 2], [4, 5]]), torch.zeros(10, 3)).shape
    torch.Size([2, 3])
    """
    if weight.dtype == jtensor.long and input.is_floating_point():
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
                      "deprecated, and should now be `embedding_bag(input, weight, ...)`.", stacklevel=2)
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
                         f"same shape as the input ({input.shape})")
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        include_last_offset = False
    input, offsets, per_sample_weights = _as_bags(input, offsets, per_sample_weights)
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
                                  f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub.")
    return raw.embedding_bag(weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights,
                             include_last_offset, padding_idx)[0]


def one_hot(input, num_classes=-1):
    """Zeros and a single one a class: integers ``(*)`` to ``(*, num_classes)``; without a number, as many as are needed.

    >>> import jtensor as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if input.dtype != jtensor.long:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if input.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return input.new_zeros((*input.shape, num_classes))
    if input.is_meta and num_classes == -1:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    known = None if num_classes == -1 else extremes(input, (0, num_classes))
    if not input.is_meta and (known is None or known[0] < 0 or known[1] >= num_classes):
        numbers = host_copy(input, "index bounds")
        if numbers.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if num_classes == -1:
            num_classes = int(numbers.max()) + 1
        elif numbers.max() >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    return input.new_zeros((*input.shape, num_classes)).scatter_(-1, input.unsqueeze(-1), 1)
