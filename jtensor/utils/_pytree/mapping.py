"""Functions of every leaf of a nest. Owns: the maps, tests and paths over leaves. May not know: tensors."""
import types

from .nodes import SUPPORTED_NODES, kind_of
from .treespec import tree_flatten, tree_is_leaf, tree_structure


def tree_iter(tree, is_leaf=None):
    """The leaves, one after the other."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
    else:
        for part in SUPPORTED_NODES[kind_of(tree)].flatten_fn(tree)[0]:
            yield from tree_iter(part, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """The leaves as a list.

    >>> torch.utils._pytree.tree_leaves([1, {"a": (2, None)}])
    [1, 2, None]
    """
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args, **kwargs):
    """The leaves of all arguments."""
    return tree_leaves(args) + tree_leaves(kwargs)


def _columns(tree, rests, is_leaf):
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec, [leaves, *[spec.flatten_up_to(rest) for rest in rests]]


def tree_map(func, tree, *rests, is_leaf=None):
    """The nest with ``func`` of every leaf, and of what stands at its place in the other nests.

    >>> torch.utils._pytree.tree_map(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
    {'a': [11, 22]}
    """
    spec, columns = _columns(tree, rests, is_leaf)
    return spec.unflatten(map(func, *columns))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls ``func`` with every leaf, and answers with the nest itself."""
    _, columns = _columns(tree, rests, is_leaf)
    for row in zip(*columns, strict=True):
        func(*row)
    return tree


def _predicate(wanted):
    if isinstance(wanted, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, wanted)
    if not callable(wanted):
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")
    return wanted


def map_only(type_or_types_or_pred, /):
    """A decorator: the function for objects of the type (or for which the predicate holds), the identity for others.

    >>> torch.utils._pytree.map_only(int)(lambda x: x + 1)("a")
    'a'
    """
    wanted = _predicate(type_or_types_or_pred)
    return lambda function: lambda x: function(x) if wanted(x) else x


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """The nest with ``func`` of the leaves of a type, the others as they are.

    >>> torch.utils._pytree.tree_map_only(torch.Tensor, torch.sum, [torch.ones(2), "a"])
    [tensor(2.), 'a']
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """Calls ``func`` with the leaves of a type, and answers with the nest itself."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether the predicate holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether the predicate holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether the predicate holds for all leaves of a type."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether the predicate holds for a leaf of a type."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """What a nest says of each leaf of another, which is given by its spec: a leaf of it stands for all below its place.
    None where they are not nested alike."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    kind = kind_of(tree)
    if kind is not treespec.type:
        return None
    parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(parts) != treespec.num_children or context != treespec.context:
        return None
    found = []
    for part, child in zip(parts, treespec.children(), strict=True):
        inner = _broadcast_to_and_flatten(part, child, is_leaf)
        if inner is None:
            return None
        found += inner
    return found


# -- paths ------------------------------------------------------------------------------------------------------------


def _with_path(path, tree, is_leaf):
    kind = kind_of(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        yield path, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
                         "register_pytree_node.")
    for key, part in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_path((*path, key), part, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """Pairs of a leaf's path, a tuple of keys, and the leaf.

    >>> torch.utils._pytree.tree_leaves_with_path({"a": [5]})
    [((MappingKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    return list(_with_path((), tree, is_leaf))


def tree_flatten_with_path(tree, is_leaf=None):
    """(pairs of path and leaf, spec) of a nest."""
    spec = tree_structure(tree, is_leaf)
    return tree_leaves_with_path(tree, is_leaf), spec


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """`tree_map` of a function that gets the leaf's path first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [*zip(*pairs, strict=True)] if pairs else [(), ()]
    return spec.unflatten(map(func, *columns, *[spec.flatten_up_to(rest) for rest in rests]))


def keystr(kp):
    """A path as one writes it.

    >>> torch.utils._pytree.keystr(torch.utils._pytree.tree_leaves_with_path({"a": [5]})[0][0])
    "['a'][0]"
    """
    return "".join(map(str, kp))


def key_get(obj, kp):
    """What stands at a path in a nest."""
    for key in kp:
        obj = key.get(obj)
    return obj
