"""Running results of an operation of two that may be bracketed at will: sums, products, steps of linear recurrences."""
import jtensor

from ..utils._pytree import tree_flatten

__all__ = ["associative_scan"]


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """The nest of tensors whose slices along ``dim`` are ``combine_fn`` of all slices up to there, in few rounds.

    ``combine_fn(a, b)`` takes two nests of slices and answers one of the same kind; (a, (b, c)) and ((a, b), c) have to mean the same.
    ``reverse``: of all slices from there on. ``combine_mode``: as in PyTorch, "pointwise" is for tensors on a GPU, "generic" for all.

    >>> from jtensor._higher_order_ops.associative_scan import associative_scan
    >>> associative_scan(torch.mul, torch.arange(1., 6.), 0, combine_mode="generic")
    tensor([  1.,   2.,   6.,  24., 120.])
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = tree_flatten(xs)
    if combine_mode == "pointwise" and not all(leaf.is_cuda for leaf in leaves):
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    rank = leaves[0].ndim
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    leaves = [leaf.movedim(dim % rank, 0) for leaf in leaves]
    if not len(leaves[0]):
        raise ValueError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")
    if any(len(leaf) != len(leaves[0]) for leaf in leaves):
        raise ValueError(f"The tensors of a scan have one length along its dimension, not {[len(leaf) for leaf in leaves]}")

    def sliced(*both):
        made, like = tree_flatten(combine_fn(spec.unflatten(both[:len(leaves)]), spec.unflatten(both[len(leaves):])))
        if like != spec:
            raise ValueError("combine_fn answers another nest than it is given")
        return tuple(made)

    def combined(first, second):
        return list(jtensor.vmap(sliced)(*first, *second))
    if reverse:
        leaves = [leaf.flip(0) for leaf in leaves]
    found = _scanned(combined, leaves)
    return spec.unflatten([(leaf.flip(0) if reverse else leaf).movedim(0, dim % rank) for leaf in found])


def _scanned(combined, leaves):
    """Pairs of neighbours become one slice each; what runs over these is right behind every pair, and one more step for the others."""
    length = len(leaves[0])
    if length < 2:
        return leaves
    firsts, seconds = [leaf[:length - 1:2] for leaf in leaves], [leaf[1::2] for leaf in leaves]
    behind = _scanned(combined, combined(firsts, seconds))                    # at 1, 3, 5, ...
    between = [leaf[:1] for leaf in leaves]                                   # at 0, 2, 4, ...
    if length > 2:
        step = combined([leaf[:(length - 1) // 2] for leaf in behind], [leaf[2::2] for leaf in leaves])
        between = [jtensor.cat([first, rest]) for first, rest in zip(between, step)]
    return [_woven(even, odd, length) for even, odd in zip(between, behind)]


def _woven(even, odd, length):
    """The slices of two tensors in turns."""
    pairs = jtensor.stack([even[:len(odd)], odd], 1).flatten(0, 1)
    return pairs if length % 2 == 0 else jtensor.cat([pairs, even[-1:]])
