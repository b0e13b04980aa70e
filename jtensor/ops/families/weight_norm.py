"""A weight as a direction times a length. May not know: modules."""
import jax.numpy as jnp

from ..operator import RAW, Tensor, op
from ..registry import composite
from .norms import norm
from .numeric import wrap_dim


def _kept(size, dim):
    """The dimensions that a length is taken over where it is one along ``dim``."""
    return tuple(i for i in range(len(size)) if i != dim)


@op(name="_weight_norm_interface.raw", backward="WeightNormInterfaceBackward0", nondiff=(1,), **RAW)
def weight_norm_raw(v: Tensor, g: Tensor, dim):
    """(the weight, the directions' lengths)."""
    norms = jnp.sqrt(jnp.sum(jnp.square(v), axis=_kept(v.shape, dim), keepdims=True))
    return v * (g / norms), norms


def norm_except_dim(v, dim):
    """The 2-norm over all dimensions but one, which keep size one; over all of them where ``dim`` is -1."""
    if dim == -1:
        return v.norm(2)
    others = _kept(v.size(), wrap_dim(dim, v.dim()))
    return norm(v, 2, list(others), True) if others else v.abs()


@composite(name="_weight_norm", method=False)
def weight_norm(v, g, dim=0):
    """The directions ``v`` at the lengths ``g`` along a dimension: the first and the last of a matrix are one operator, as in PyTorch.

    >>> torch._weight_norm(torch.tensor([[3., 4.]]), torch.tensor([[10.]]))
    tensor([[6., 8.]])
    """
    if dim in (0, v.dim() - 1):
        return weight_norm_raw(v, g, dim)[0]
    return v * (g / norm_except_dim(v, dim))
