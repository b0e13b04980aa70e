"""The leaves of nested arguments, for programs that were traced with nested ``concrete_args``."""
from collections import namedtuple

from ..utils import _pytree as pytree


def tree_flatten_spec(tree, spec, exact_structural_match=False):
    """The leaves of a nest that is like the described one. Of a proxy its elements are taken as the description has them.

    >>> import jtensor as torch
    >>> spec = torch.utils._pytree.tree_flatten(({"a": 1},))[1]
    >>> tree_flatten_spec([{"a": 5}], spec)
    [5]
    """
    if spec.is_leaf():
        return [tree]
    parts = _PARTS.get(spec.type)
    if parts is not None:
        return [leaf for part, below in zip(parts(tree, spec), spec.children(), strict=False) for leaf in tree_flatten_spec(part, below)]
    leaves, found = pytree.tree_flatten(tree)
    if found != spec:
        raise RuntimeError(f"Real spec {found} of object {tree} is different from expected spec {spec}.")
    return leaves


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """Says how an object of a class comes apart as a description has it: ``flatten_fn_spec(obj, spec)`` gives its parts."""
    _PARTS[cls] = flatten_fn_spec


def _numbered(sequence, spec):
    return [sequence[i] for i in range(spec.num_children)]


_PARTS = {dict: lambda mapping, spec: [mapping[key] for key in spec.context],
          list: _numbered, tuple: _numbered, namedtuple: _numbered}
