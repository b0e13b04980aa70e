"""A loop over the slices of tensors that hands something on from each to the next: recurrent networks, running totals."""
import jtensor

from ..utils._pytree import tree_flatten, tree_map

__all__ = ["scan"]

_SHORT = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """What ``combine_fn`` handed on last, and what else it answered, stacked.

    ``combine_fn(carry, x)`` takes what was handed on (first ``init``, a nest of tensors) and a slice of ``xs`` along ``dim``, and answers a
    pair: what to hand on, a nest of the same kind, shapes and dtypes, and a nest of tensors, which are stacked along ``dim``. ``reverse``:
    from the last slice to the first.

    >>> from jtensor._higher_order_ops.scan import scan
    >>> scan(lambda total, x: (total + x, 2 * (total + x)), torch.tensor(0), torch.arange(1, 5))
    (tensor(10), tensor([ 2,  6, 12, 20]))
    """
    first, carried = tree_flatten(init)
    leaves, nest = tree_flatten(xs)
    if not leaves:
        return init, []
    rank = leaves[0].ndim
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    dim %= rank
    _refuse(combine_fn, leaves, first, dim, reverse)
    slices = list(zip(*[leaf.unbind(dim) for leaf in leaves], strict=True))
    carry, made = init, []
    for slice_ in reversed(slices) if reverse else slices:
        answer = combine_fn(carry, nest.unflatten(slice_))
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise RuntimeError(f"combine_fn of scan answers a pair, what it hands on and what is stacked, not {type(answer).__name__}")
        carry, y = answer
        handed, kind = tree_flatten(carry)
        if kind != carried or [(one.shape, one.dtype) for one in handed] != [(one.shape, one.dtype) for one in first]:
            raise RuntimeError("combine_fn of scan hands on a nest of other tensors than init: the shapes and dtypes have to be the same")
        made.append(y)
    if reverse:
        made.reverse()
    return carry, tree_map(lambda *ys: jtensor.stack(ys, dim if dim <= ys[0].ndim else 0), *made)


def _refuse(combine_fn, leaves, first, dim, reverse):
    """PyTorch's errors of arguments."""
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if not first:
        raise RuntimeError("scan() operator requires init leaves.")
    for kind, given in (("init", first), ("xs", leaves)):
        for one in given:
            if not isinstance(one, jtensor.Tensor):
                raise RuntimeError(f"All {kind} leaves must be a Tensor but got {one}")
    if any(one.ndim <= dim or not one.shape[dim] for one in leaves):
        raise RuntimeError(_SHORT)
