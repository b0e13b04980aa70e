"""Nests of tensors as `func` asks for them, in the words of `torch.utils._pytree`."""
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure
from ..utils._pytree import tree_map as _map


def flatten(tree):
    """(leaves, a function that puts as many leaves into the same nest)."""
    leaves, spec = tree_flatten(tree)
    return leaves, spec.unflatten


def mapped(function, tree):
    """The nest with a function applied to every leaf."""
    return _map(function, tree)


def spread_over(prefix, tree):
    """What a nest says of each leaf of another: a leaf of it stands for all below its place. None where they are not nested alike.

    >>> spread_over((0, None), ("a", ["b", "c"]))
    [0, None, None]
    """
    return _broadcast_to_and_flatten(prefix, tree_structure(tree))


def structure(tree):
    """A nest's structure as PyTorch writes it."""
    return repr(tree_structure(tree))
