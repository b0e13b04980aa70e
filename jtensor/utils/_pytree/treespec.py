"""The shape of a nest, `TreeSpec`: taking a nest apart into its leaves and a spec, and putting leaves into a spec.

Owns: the class, `tree_flatten` and `tree_unflatten`. May not know: tensors.
"""
import warnings
from collections import namedtuple

from .nodes import BUILTIN_TYPES, STANDARD_DICT_TYPES, SUPPORTED_NODES, kind_of


class TreeSpec:
    """How a nest is nested: a kind of container, its context (keys, class, length) and the specs of its parts.

    >>> torch.utils._pytree.tree_structure({"a": [1, 2]})
    TreeSpec(dict, ['a'], [TreeSpec(list, None, [*,
        *])])
    """

    __slots__ = ("type", "_context", "_children", "num_nodes", "num_leaves", "num_children")

    def __init__(self, type, context, children_specs):
        put = object.__setattr__
        put(self, "type", type)
        put(self, "_context", context)
        put(self, "_children", children_specs)
        if type is None:
            assert context is None, "leaf node should not have a context"
            assert not children_specs, "leaf node should not have children"
        put(self, "num_nodes", 1 + sum([child.num_nodes for child in children_specs]))
        put(self, "num_leaves", 1 if type is None else sum([child.num_leaves for child in children_specs]))
        put(self, "num_children", len(children_specs))

    def __setattr__(self, name, value):
        from dataclasses import FrozenInstanceError
        raise FrozenInstanceError(f"cannot assign to field '{name}'")

    __delattr__ = __setattr__

    def __reduce__(self):
        return (_leaf, ()) if self.type is None else (TreeSpec, (self.type, self._context, self._children))

    def __deepcopy__(self, memo):
        from copy import deepcopy
        return _leaf() if self.type is None else TreeSpec(self.type, deepcopy(self._context, memo), deepcopy(self._children, memo))

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        parts = (",\n" + " " * (indent + 2)).join([child.__repr__(indent + 2) for child in self._children])
        return f"TreeSpec({self.type.__name__}, {self._context}, [{parts}])"

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self._context, self._children) == (other.type, other._context, other._children)

    def __hash__(self):
        context = tuple(self._context) if self.type in STANDARD_DICT_TYPES and self.type.__name__ != "defaultdict" else None
        if self.type is namedtuple:
            context = self._context
        return hash((self.type, context, tuple(self._children)))

    @property
    def context(self):
        return self._context

    @property
    def children_specs(self):
        warnings.warn("`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a single child, or "
                      "`treespec.children()` to get all children.", FutureWarning, stacklevel=2)
        return self._children

    def is_leaf(self):
        """Whether this is one leaf and nothing else."""
        return self.type is None

    def children(self):
        """The specs of the parts."""
        return self._children.copy()

    def child(self, index):
        """The spec of one part."""
        return self._children[index]

    def unflatten(self, leaves):
        """The nest with these leaves; ``ValueError`` if they are too few or too many."""
        leaves = leaves if isinstance(leaves, (list, tuple)) else list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
                             f"{self.num_leaves} items ({self}).")
        return self._built(iter(leaves))

    def _built(self, leaves):
        if self.type is None:
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn([child._built(leaves) for child in self._children], self._context)

    def flatten_up_to(self, tree):
        """What stands in another nest at the places of this one's leaves; ``ValueError`` where they are not nested alike."""
        found = []
        self._up_to(tree, found)
        return found

    def _up_to(self, tree, found):
        if self.type is None:
            found.append(tree)
            return
        for child, part in zip(self._children, self._parts(tree), strict=True):
            child._up_to(part, found)

    def _parts(self, tree):
        """The parts of a container like this one, in this one's order."""
        kind = kind_of(tree)
        if self.type not in BUILTIN_TYPES:
            if kind is not self.type:
                raise ValueError(f"Type mismatch; expected {self.type!r}, but got {kind!r}.")
            parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
            parts = list(parts)
            self._counted(parts)
            if context != self._context:
                raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
            return parts
        dictionaries = self.type in STANDARD_DICT_TYPES and kind in STANDARD_DICT_TYPES
        if kind is not self.type and not dictionaries:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        self._counted(tree)
        if dictionaries:
            keys = self._context[1] if self.type.__name__ == "defaultdict" else self._context
            missing, more = set(keys) - set(tree), set(tree) - set(keys)
            if missing or more:
                text = (f"missing key(s): {missing}",) if missing else ()
                raise ValueError(f"Node keys mismatch; {'; '.join((*text, f'extra key(s): {more}') if more else text)}.")
            return [tree[key] for key in keys]
        parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if self.type is namedtuple and context != self._context:
            raise ValueError(f"Node context mismatch for node type {self.type!r}; expected {self._context!r}, but got {context!r}.")
        return parts

    def _counted(self, parts):
        if len(parts) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(parts)}.")


PyTreeSpec = TreeSpec
_LEAF = TreeSpec(None, None, [])


def _leaf():
    return _LEAF


class _LeafSpecMeta(type(TreeSpec)):
    """``LeafSpec()`` is the spec of a leaf, which by itself is of no other class."""

    def __call__(cls):
        warnings.warn("`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and treespec.is_leaf()` "
                      "instead.", FutureWarning, stacklevel=2)
        return _LEAF

    def __instancecheck__(cls, instance):
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(TreeSpec, metaclass=_LeafSpecMeta):
    """The spec of one leaf."""

    __slots__ = ()


def tree_is_leaf(tree, is_leaf=None):
    """Whether the object is no container that can be taken apart, or ``is_leaf`` says so."""
    return kind_of(tree) not in SUPPORTED_NODES or (is_leaf is not None and bool(is_leaf(tree)))


def _apart(tree, leaves, is_leaf):
    kind = kind_of(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    parts, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_apart(part, leaves, is_leaf) for part in parts])


def tree_flatten(tree, is_leaf=None):
    """(leaves, spec) of a nest of tuples, lists, dictionaries and registered classes. None is a leaf.

    ``is_leaf(part)``: whether to stop there, too.

    >>> leaves, spec = torch.utils._pytree.tree_flatten({"a": 1, "b": (2, None)})
    >>> leaves, torch.utils._pytree.tree_unflatten([x or 0 for x in leaves], spec)
    ([1, 2, None], {'a': 1, 'b': (2, 0)})
    """
    leaves = []
    spec = _apart(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The nest that has these leaves and this spec."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    return treespec.unflatten(leaves)


def tree_structure(tree, is_leaf=None):
    """The spec of a nest."""
    return tree_flatten(tree, is_leaf)[1]


def treespec_leaf():
    """The spec of one leaf."""
    return _LEAF


def treespec_tuple(iterable=(), /):
    """The spec of a tuple of nests, by theirs."""
    children = list(iterable)
    if any(not isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(mapping=(), /, **kwargs):
    """The spec of a dictionary of nests, by theirs."""
    specs = dict(mapping, **kwargs)
    if any(not isinstance(child, TreeSpec) for child in specs.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {specs!r}.")
    return TreeSpec(dict, list(specs), list(specs.values()))
