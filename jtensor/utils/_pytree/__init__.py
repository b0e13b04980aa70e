"""`torch.utils._pytree`: nests of tuples, lists, dictionaries and registered classes, taken apart into leaves and put together."""
from .annotations import (  # noqa: F401
    Context,
    DumpableContext,
    FlattenFn,
    FlattenFunc,
    FlattenWithKeysFn,
    FlattenWithKeysFunc,
    FromDumpableContextFn,
    K,
    KeyEntry,
    KeyPath,
    MaybeFromStrFunc,
    PyTree,
    R,
    S,
    T,
    ToDumpableContextFn,
    ToStrFunc,
    U,
    UnflattenFn,
    UnflattenFunc,
    structseq,
)
from .dumping import (
    DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL,
    EnumEncoder,
    enum_object_hook,
    pytree_to_str,
    str_to_pytree,
    treespec_dumps,
    treespec_loads,
    treespec_pprint,
)
from .mapping import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from .mapping import (
    arg_tree_leaves,
    key_get,
    keystr,
    map_only,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten_with_path,
    tree_iter,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_map_with_path,
)
from .nodes import (
    BUILTIN_TYPES,
    CONSTANT_NODES,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    ConstantNode,
    GetAttrKey,
    MappingKey,
    NodeDef,
    SequenceKey,
    is_constant_class,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    register_constant,
    register_dataclass,
    register_pytree_node,
)
from .nodes import _dict_flatten as _dict_flatten
from .nodes import _dict_flatten_with_keys as _dict_flatten_with_keys
from .nodes import _dict_unflatten as _dict_unflatten
from .nodes import _list_flatten as _list_flatten
from .nodes import _list_flatten_with_keys as _list_flatten_with_keys
from .nodes import _list_unflatten as _list_unflatten
from .nodes import _namedtuple_flatten as _namedtuple_flatten
from .nodes import _namedtuple_flatten_with_keys as _namedtuple_flatten_with_keys
from .nodes import _namedtuple_unflatten as _namedtuple_unflatten
from .nodes import _register_namedtuple as _register_namedtuple
from .nodes import _register_pytree_node as _register_pytree_node
from .nodes import _tuple_flatten as _tuple_flatten
from .nodes import _tuple_flatten_with_keys as _tuple_flatten_with_keys
from .nodes import _tuple_unflatten as _tuple_unflatten
from .nodes import kind_of as _get_node_type  # noqa: F401
from .treespec import (
    LeafSpec,
    PyTreeSpec,
    TreeSpec,
    tree_flatten,
    tree_is_leaf,
    tree_structure,
    tree_unflatten,
    treespec_dict,
    treespec_leaf,
    treespec_tuple,
)

_is_leaf = tree_is_leaf

__all__ = ["BUILTIN_TYPES", "CONSTANT_NODES", "ConstantNode", "Context", "DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL", "EnumEncoder",
           "GetAttrKey", "LeafSpec", "MappingKey", "NodeDef", "PyTree", "PyTreeSpec", "STANDARD_DICT_TYPES", "SUPPORTED_NODES",
           "SequenceKey", "TreeSpec", "arg_tree_leaves", "enum_object_hook", "is_constant_class", "is_namedtuple",
           "is_namedtuple_class", "is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance", "key_get",
           "keystr", "map_only", "pytree_to_str", "register_constant", "register_dataclass", "register_pytree_node", "str_to_pytree",
           "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf",
           "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_",
           "tree_map_with_path", "tree_structure", "tree_unflatten", "treespec_dict", "treespec_dumps", "treespec_leaf",
           "treespec_loads", "treespec_pprint", "treespec_tuple"]
