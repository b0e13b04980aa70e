"""Nests of tensors as `func` asks for them, in the words of `torch.utils._pytree`."""
import jtensor

from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, treespec_pprint
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


def shown(tree):
    """A nest's structure in short: ``(*, [*])``."""
    return treespec_pprint(tree_structure(tree))


def only_real(tree, called, what):
    """PyTorch's error for complex numbers among the ``inputs`` or ``outputs`` of what it differentiates."""
    for at, x in enumerate(flatten(tree)[0]):
        if isinstance(x, jtensor.Tensor) and x.dtype.is_complex:
            raise RuntimeError(f"{called}: Expected all {what} to be real but received complex tensor at flattened input idx: {at}")


def apart(out, called):
    """(result, the rest) of a function that is to answer both."""
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{called}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for x in flatten(out[1])[0]:
        if not isinstance(x, jtensor.Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return out


def only_tensors(outputs, called):
    """PyTorch's errors for what a function answered, flattened, where that is nothing, or no tensors; ``called``: its name of the call."""
    if not outputs or outputs == [None]:
        raise RuntimeError(f"{called}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for x in outputs:
        if not isinstance(x, jtensor.Tensor):
            raise RuntimeError(f"{called}: expected f(*primals) to return only tensors, got unsupported type {type(x)}")
