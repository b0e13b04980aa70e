"""Distances, similarities and normalisation to unit length."""
import jtensor

from ...base.dtypes import scalar_name
from ...tensor import raw
from ._given import Tensor, refuse

__all__ = ["pairwise_distance", "cosine_similarity", "normalize"]


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of ``x1 - x2 + eps`` over the last dimension.

    >>> import jtensor as torch
    >>> torch.nn.functional.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3., 4.]]), eps=0.)
    tensor([5.])
    """
    if not (isinstance(x1, Tensor) and isinstance(x2, Tensor)):
        refuse("pairwise_distance", x1=x1, x2=x2)
    return jtensor.norm(x1 - x2 + eps, p, -1, keepdim)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``; lengths below ``eps`` count as ``eps``.

    >>> import jtensor as torch
    >>> torch.nn.functional.cosine_similarity(torch.tensor([[1., 0.]]), torch.tensor([[1., 1.]]))
    tensor([0.7071])
    """
    common = jtensor.result_type(x1, x2)
    if not common.is_floating_point:
        raise RuntimeError("expected common dtype to be floating point, yet common dtype is "
                           f"{scalar_name(common)}")
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    x1, x2 = jtensor.broadcast_tensors(x1.to(common), x2.to(common))
    lengths = [raw.linalg_vector_norm(x, 2, dim, True).clone() for x in (x1, x2)]
    with jtensor.no_grad():  # the gradient is that of the lengths as they are
        for length in lengths:
            length.clamp_min_(eps)
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """``input`` divided by its p-norm along ``dim``, or by ``eps`` where that is larger.

    >>> import jtensor as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    length = input.norm(p, dim, keepdim=True)
    if out is None:
        return input / length.clamp_min(eps).expand_as(input)
    return jtensor.div(input, length.clamp_min_(eps).expand_as(input), out=out)
