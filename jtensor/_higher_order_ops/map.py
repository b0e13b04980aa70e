"""A function of the slices of tensors, one after the other."""
import jtensor

from ..utils._pytree import tree_flatten, tree_map

__all__ = ["map"]


def map(f, xs, *args):
    """``f(x, *args)`` for each slice of ``xs``, a nest of tensors, along the first dimension, stacked along the first one.

    >>> from jtensor._higher_order_ops.map import map
    >>> map(lambda x, y: x ** y, torch.arange(5), torch.tensor(2))
    tensor([ 0,  1,  4,  9, 16])
    """
    leaves, nest = tree_flatten(xs)
    if not all(isinstance(one, jtensor.Tensor) for one in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [one.shape for one in leaves]
    if not shapes[0][0]:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any(shape[0] != shapes[0][0] for shape in shapes):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    made = [f(nest.unflatten(slices), *args) for slices in zip(*leaves, strict=True)]
    return tree_map(lambda *ys: jtensor.stack(ys), *made)
