"""`torch.func` by the place where PyTorch's package `functorch` looks for it."""
import functools

from ..func import grad, grad_and_value, vmap
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """``vmap(func)`` of a batch in ``chunks`` parts, one after the other.

    >>> from jtensor._functorch.apis import chunk_vmap
    >>> chunk_vmap(torch.sum, chunks=3)(torch.ones(5, 2))
    tensor([2., 2., 2., 2., 2.])
    """
    @functools.wraps(func)
    def called(*args, **kwargs):
        leaves, nest = tree_flatten(args)
        dims = _broadcast_to_and_flatten(in_dims, nest) or ()
        sizes = [leaf.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None] if dims else []
        parts = -(-sizes[0] // chunks) if sizes and sizes[0] and chunks > 1 else None           # what is wrong about them, vmap says
        return vmap(func, in_dims, out_dims, randomness, chunk_size=parts)(*args, **kwargs)
    return called
