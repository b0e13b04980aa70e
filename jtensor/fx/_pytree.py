"""The leaves of nested arguments, for programs that were traced with nested ``concrete_args``."""
from ..utils import _pytree as pytree


def tree_flatten_spec(tree, spec, exact_structural_match=False):
    """The leaves of a nest that is like the described one.

    >>> import jtensor as torch
    >>> spec = torch.utils._pytree.tree_flatten(({"a": 1},))[1]
    >>> tree_flatten_spec([{"a": 5}], spec)
    [5]
    """
    leaves, found = pytree.tree_flatten(tuple(tree))
    if found != spec:
        raise ValueError(f"the arguments are nested as {found}, the program was traced with {spec}")
    return leaves
