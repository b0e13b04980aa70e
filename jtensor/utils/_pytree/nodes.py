"""What can be taken apart: the kinds of containers, how each comes apart and is put together, and the names of its parts.

Owns: the table of kinds, the keys of paths, registration. May not know: tensors, specs of whole trees.
"""
import dataclasses
import typing
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple

from ...base.size import Size


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A part's place in a list or tuple."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, parent):
        return parent[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A part's key in a dictionary."""

    key: typing.Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, parent):
        return parent[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A part's name as an attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, parent):
        return getattr(parent, self.name)


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """What a spec keeps of an object of a class that is registered as constant: the object."""

    value: typing.Any


class NodeDef(typing.NamedTuple):
    """How one kind of container comes apart, is put together, and comes apart with the keys of its parts."""

    type: typing.Any
    flatten_fn: typing.Callable
    unflatten_fn: typing.Callable
    flatten_with_keys_fn: typing.Callable | None


class Serialized(typing.NamedTuple):
    """A kind's name in JSON, and how its context becomes JSON and comes back."""

    name: str | None
    dump: typing.Callable | None
    load: typing.Callable | None


SUPPORTED_NODES, SERIALIZED = {}, {}
CONSTANT_NODES = set()
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})


def kind_of(tree):
    """The kind of an object; it is a leaf if the kind is not in the table."""
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    if is_namedtuple_class(kind):
        return namedtuple
    if getattr(kind, "__module__", None) == "torch.return_types":            # these classes are made when an operator is declared
        _take(kind, lambda items: (list(items), None), lambda items, context: kind(items), _numbered, None)
    return kind


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None):
    """Makes a class one that can be taken apart.

    ``flatten_fn(obj)`` gives (parts, context), ``unflatten_fn(parts, context)`` an object; contexts can be compared.
    ``flatten_with_keys_fn`` gives pairs of key and part instead of parts. ``ValueError`` for a class that is registered already.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> torch.utils._pytree.register_pytree_node(Pair, lambda pair: ([pair.a, pair.b], None), lambda parts, context: Pair(*parts))
    >>> torch.utils._pytree.tree_leaves({"p": Pair(1, [2, 3])})
    [1, 2, 3]
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls!r} is already registered as pytree node.")
    _checked(to_dumpable_context, from_dumpable_context)
    _take(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn, Serialized(serialized_type_name, to_dumpable_context, from_dumpable_context))


def _register_pytree_node(cls, flatten_fn, unflatten_fn, to_str_fn=None, maybe_from_str_fn=None, **options):
    """`register_pytree_node` by its older name; a second registration takes the place of the first, with a warning."""
    warnings.warn("`torch.utils._pytree._register_pytree_node` is deprecated. Please use `torch.utils._pytree.register_pytree_node` "
                  "instead.", FutureWarning, stacklevel=2)
    _again(cls)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _again(cls):
    if SUPPORTED_NODES.pop(cls, None) is not None:
        warnings.warn(f"{cls!r} is already registered as pytree node. Overwriting the previous registration.", UserWarning, stacklevel=3)


def _checked(dump, load):
    if (dump is None) is not (load is None):
        raise ValueError("Both to_dumpable_context and from_dumpable_context for a class must be None or registered.")


def _take(cls, flatten, unflatten, keyed, serialized):
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten, unflatten, keyed)
    SERIALIZED[cls] = serialized or Serialized(None, None, None)


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Makes a dataclass one that can be taken apart into its fields; those that are None stay with the spec.

    ``field_names``: the fields; needed for a class that is no dataclass. ``drop_field_names``: fields that may be left out of these.

    >>> import dataclasses
    >>> Point = dataclasses.make_dataclass("Point", ["x", "y"])
    >>> torch.utils._pytree.register_dataclass(Point)
    >>> torch.utils._pytree.tree_map(lambda v: v * 2, Point(1, [2]))
    Point(x=2, y=[4])
    """
    dropped = set(drop_field_names or ())
    if not dataclasses.is_dataclass(cls):
        if field_names is None:
            raise ValueError(f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a dataclass.")
    elif field_names is None:
        field_names = [field.name for field in dataclasses.fields(cls) if field.init]
    else:
        there, given = {field.name for field in dataclasses.fields(cls) if field.init}, set(field_names)
        _all_named(there - given - dropped, given - there)

    def apart(obj):
        kept = [name for name in field_names if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in kept], [kept, [name for name in field_names if name not in kept]]

    def together(parts, context):
        return cls(**dict(zip(context[0], parts)), **dict.fromkeys(context[1]))

    def keyed(obj):
        parts, context = apart(obj)
        return list(zip(map(GetAttrKey, context[0]), parts)), context
    register_pytree_node(cls, apart, together, serialized_type_name=serialized_type_name, flatten_with_keys_fn=keyed)


def _all_named(missing, unknown):
    if not missing and not unknown:
        return
    text = "field_names does not include all dataclass fields.\n"
    if missing:
        text += (f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please add them to "
                 "`field_names`, otherwise please add them to `drop_field_names`.\n")
    if unknown:
        text += f"Unexpected fields in `field_names`: {unknown}. Please remove these fields, or add them to `drop_field_names`.\n"
    raise ValueError(text)


def register_constant(cls):
    """Makes a class's objects part of the spec: they have no leaves and come back as they are. They need ``==`` and ``hash``."""
    if cls.__eq__ is object.__eq__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if cls.__hash__ in (None, object.__hash__):
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.")
    _again(cls)

    def apart(obj):
        return [], ConstantNode(obj)
    _take(cls, apart, lambda parts, context: context.value, apart, None)
    CONSTANT_NODES.add(cls)


def is_constant_class(cls):
    """Whether the class is registered as constant."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


# -- what Python's own containers are ---------------------------------------------------------------------------------


def is_namedtuple_class(cls):
    """Whether the class is a named tuple."""
    return (isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)
            and all(type(field) is str for field in cls._fields)
            and callable(getattr(cls, "_make", None)) and callable(getattr(cls, "_asdict", None)))


def is_namedtuple_instance(obj):
    """Whether the object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj):
    """Whether the object, or class, is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls):
    """Whether the class is a structure sequence, as ``time.struct_time`` and the classes of `torch.return_types` are."""
    return (isinstance(cls, type) and cls.__bases__ == (tuple,)
            and all(isinstance(getattr(cls, name, None), int) for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields")))


def is_structseq_instance(obj):
    """Whether the object is a structure sequence."""
    return is_structseq_class(type(obj))


def is_structseq(obj):
    """Whether the object, or class, is a structure sequence."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def _numbered(items):
    return [(SequenceKey(at), item) for at, item in enumerate(items)], None


def _of_mapping(made):
    """The table's entry of a dictionary, in the order of its keys."""
    def keyed(mapping):
        return [(MappingKey(key), item) for key, item in mapping.items()], list(mapping)
    return (lambda mapping: (list(mapping.values()), list(mapping)), lambda items, keys: made(zip(keys, items)), keyed)


def _default_keyed(mapping):
    return _of_mapping(dict)[2](mapping)[0], [mapping.default_factory, list(mapping)]


def _default_dumped(context):
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}


def _default_loaded(dumped):
    factory = getattr(__import__(dumped["default_factory_module"], fromlist=["_"]), dumped["default_factory_name"])
    return [factory, dumped["dict_context"]]


def _register_namedtuple(cls, *, serialized_type_name):
    """Gives a named tuple a name in JSON."""
    SERIALIZED[cls] = Serialized(serialized_type_name, None, None)


def _namedtuple_dumped(cls):
    if cls not in SERIALIZED:
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a "
                                  "serializated_type_name. Please register using `_register_namedtuple`.")
    return SERIALIZED[cls].name


def _namedtuple_loaded(name):
    found = next((cls for cls, how in SERIALIZED.items() if how.name == name), None)
    if found is None:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a serializated name.")
    return found



def _as_function(kind):
    """How a kind comes apart, with keys and without, and is put together, as functions that libraries register for kinds of theirs."""
    found = SUPPORTED_NODES[kind]
    return found.flatten_fn, found.flatten_with_keys_fn, found.unflatten_fn


_take(tuple, lambda items: (list(items), None), lambda items, context: tuple(items), _numbered, Serialized("builtins.tuple", None, None))
_take(list, lambda items: (items[:], None), lambda items, context: list(items), _numbered, Serialized("builtins.list", None, None))
_take(dict, *_of_mapping(dict), Serialized("builtins.dict", None, None))
_take(namedtuple, lambda items: (list(items), type(items)), lambda items, cls: cls(*items),
      lambda items: ([(GetAttrKey(name), item) for name, item in zip(items._fields, items)], type(items)),
      Serialized("collections.namedtuple", _namedtuple_dumped, _namedtuple_loaded))
_take(OrderedDict, *_of_mapping(OrderedDict), Serialized("collections.OrderedDict", None, None))
_take(defaultdict, lambda mapping: (list(mapping.values()), [mapping.default_factory, list(mapping)]),
      lambda items, context: defaultdict(context[0], zip(context[1], items)), _default_keyed,
      Serialized("collections.defaultdict", _default_dumped, _default_loaded))
_take(deque, lambda items: (list(items), items.maxlen), lambda items, length: deque(items, maxlen=length),
      lambda items: (_numbered(items)[0], items.maxlen), Serialized("collections.deque", None, None))
_take(Size, lambda items: (list(items), None), lambda items, context: tuple(items), _numbered, Serialized("torch.Size", None, None))

_tuple_flatten, _tuple_flatten_with_keys, _tuple_unflatten = _as_function(tuple)
_list_flatten, _list_flatten_with_keys, _list_unflatten = _as_function(list)
_dict_flatten, _dict_flatten_with_keys, _dict_unflatten = _as_function(dict)
_namedtuple_flatten, _namedtuple_flatten_with_keys, _namedtuple_unflatten = _as_function(namedtuple)
