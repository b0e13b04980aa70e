"""Specs as JSON, in PyTorch's format. Owns: that format. May not know: tensors."""
import enum
import importlib
import json
import warnings

from .mapping import tree_map
from .nodes import SERIALIZED, SUPPORTED_NODES
from .treespec import TreeSpec, treespec_leaf

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


class EnumEncoder(json.JSONEncoder):
    """JSON for contexts with members of enumerations."""

    def default(self, obj):
        if isinstance(obj, enum.Enum):
            kind = type(obj)
            return {"__enum__": True, "fqn": f"{kind.__module__}:{kind.__qualname__}", "name": obj.name}
        return super().default(obj)


def enum_object_hook(obj):
    """A member of an enumeration from its JSON; other objects as they are."""
    if "__enum__" not in obj:
        return obj
    module, _, name = obj["fqn"].partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found[obj["name"]]


def _known(protocol):
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL}]")


def treespec_dumps(treespec, protocol=None):
    """A spec as JSON text; ``NotImplementedError`` for a class that was registered without a ``serialized_type_name``.

    >>> torch.utils._pytree.treespec_loads(torch.utils._pytree.treespec_dumps(torch.utils._pytree.tree_structure([1, {"a": 2}])))
    TreeSpec(list, None, [*,
      TreeSpec(dict, ['a'], [*])])
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _known(protocol)
    return json.dumps((protocol, _dumped(treespec)))


def _dumped(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    how = SERIALIZED[spec.type]
    if how.name is None:
        raise NotImplementedError(f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call "
                                  "with a `serialized_type_name` kwarg.")
    if how.dump is not None:
        context = how.dump(spec.context)
    else:
        try:
            context = json.dumps(spec.context, cls=EnumEncoder)
        except TypeError as error:
            raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom serializer using "
                            "_register_pytree_node.") from error
    return {"type": how.name, "context": context, "children_spec": [_dumped(child) for child in spec.children()]}


def treespec_loads(serialized):
    """The spec that a text of `treespec_dumps` tells."""
    protocol, dumped = json.loads(serialized)
    _known(protocol)
    return _loaded(dumped)


def _loaded(dumped):
    if dumped["type"] is None and dumped["context"] is None and not dumped["children_spec"]:
        return treespec_leaf()
    kind = next((kind for kind, how in SERIALIZED.items() if how.name == dumped["type"] and kind in SUPPORTED_NODES), None)
    if kind is None:
        raise NotImplementedError(f"Deserializing {dumped['type']} in pytree is not registered.")
    load = SERIALIZED[kind].load
    context = json.loads(dumped["context"], object_hook=enum_object_hook) if load is None else load(dumped["context"])
    return TreeSpec(kind, context, [_loaded(child) for child in dumped["children_spec"]])


class _Star:
    def __repr__(self):
        return "*"


def treespec_pprint(treespec):
    """The spec as a nest of stars.

    >>> torch.utils._pytree.treespec_pprint(torch.utils._pytree.tree_structure([1, {"a": (2, 3)}]))
    "[*, {'a': (*, *)}]"
    """
    return repr(tree_map(lambda _: _Star(), treespec.unflatten([None] * treespec.num_leaves)))


def pytree_to_str(treespec):
    """`treespec_dumps` by its older name."""
    warnings.warn("`pytree_to_str` is deprecated. Please use `treespec_dumps` instead.", FutureWarning, stacklevel=2)
    return treespec_dumps(treespec)


def str_to_pytree(json):
    """`treespec_loads` by its older name."""
    warnings.warn("`str_to_pytree` is deprecated. Please use `treespec_loads` instead.", FutureWarning, stacklevel=2)
    return treespec_loads(json)
