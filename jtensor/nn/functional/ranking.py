"""Losses of embeddings and rankings: pairs and triplets of tensors that shall be near or far, high or low."""
import jtensor

from .. import _reduction
from .._reduction import code_of, reduced
from ._given import Tensor, refuse
from .distance import pairwise_distance

__all__ = ["margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss", "triplet_margin_loss",
           "triplet_margin_with_distance_loss"]


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""
    code = code_of(size_average, reduce, reduction)
    zeros, margin = jtensor.zeros_like(input), input.new_full((), margin)            # of the input's type: 1.5 is 1 beside integers
    negative = jtensor.where(target != 1, (margin - input).clamp_min(0), zeros)
    positive = jtensor.where(target != -1, input, zeros)
    return reduced(negative + positive, code)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    code = code_of(size_average, reduce, reduction)
    if not (isinstance(input1, Tensor) and isinstance(input2, Tensor) and isinstance(target, Tensor)):
        refuse("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    dim = target.dim()
    if dim not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != dim + 1 or input2.dim() != dim + 1:
        raise RuntimeError(f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes "
                           f"{list(input1.shape)} and {list(input2.shape)}.")
    product = (input1 * input2).sum(dim)
    length1, length2 = (input1 * input1).sum(dim) + 1e-12, (input2 * input2).sum(dim) + 1e-12
    cosine = product / (length1 * length2).sqrt()
    zeros = jtensor.zeros_like(cosine)
    positive = jtensor.where(target == 1, 1 - cosine, zeros)
    negative = jtensor.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return reduced(positive + negative, code)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """``max(0, -target (input1 - input2) + margin)``."""
    code = code_of(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.size()}, input2: {input2.size()}, target: {target.size()} ")
    return margin_ranking(input1, input2, target, margin, code)


def margin_ranking(input1, input2, target, margin, code):
    """`margin_ranking_loss` of whatever sizes go together, as ``torch`` itself has it."""
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), code)


def _check_triplet(anchor, positive, negative):
    dims = anchor.dim(), positive.dim(), negative.dim()
    if len(set(dims)) > 1:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
                           f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs")


def _triplet(anchor, positive, negative, distance, margin, swap, code):
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = jtensor.minimum(far, distance(positive, negative))
    return reduced(jtensor.clamp_min(margin + near - far, 0), code)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` for the p-norm distance."""
    code = code_of(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not (isinstance(anchor, Tensor) and isinstance(positive, Tensor) and isinstance(negative, Tensor)):
        refuse("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    _check_triplet(anchor, positive, negative)
    return _triplet(anchor, positive, negative, lambda a, b: pairwise_distance(a, b, p, eps), margin, swap, code)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """``triplet_margin_loss`` with a distance function of your own."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _check_triplet(anchor, positive, negative)
    return _triplet(anchor, positive, negative, distance_function or pairwise_distance, margin, swap,
                    _reduction.get_enum(reduction))
