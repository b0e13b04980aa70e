"""TorchScript's types as `torch` has them: classes that annotations name, and the types of the arguments in an operator's schema.

Owns: these classes, how a type is written, which is part of which. May not know: values.
"""
from typing import Any

from ..base.errors import missing, pybind_refusal

__all__ = """AnyType AwaitType BoolType ClassType ComplexType ConcreteModuleType DeviceObjType DictType EnumType FloatType FutureType
             InferredType IntType InterfaceType ListType NoneType NumberType OptionalType PyObjectType RRefType StreamObjType StringType
             SymBoolType SymIntType TensorType TupleType UnionType""".split()
_TAKEN = {"ListType": "arg0: torch._C.Type", "OptionalType": "arg0: torch._C.Type", "FutureType": "arg0: torch._C.Type",
          "AwaitType": "arg0: torch._C.Type", "RRefType": "arg0: torch._C.Type",
          "DictType": "arg0: torch._C.Type, arg1: torch._C.Type",
          "TupleType": "arg0: collections.abc.Sequence[torch._C.Type]", "UnionType": "arg0: collections.abc.Sequence[torch._C.Type]"}
_ABSENT = ("ClassType", "EnumType", "InterfaceType", "InferredType", "ConcreteModuleType")
_OF_LISTS = {"Ints": "IntType", "Floats": "FloatType", "Bools": "BoolType", "Strings": "StringType", "ComplexDoubles": "ComplexType",
             "Tensors": "TensorType"}


class Type:
    """A type of TorchScript: of an argument in an operator's schema.

    ``kind()`` is its class's name, ``annotation_str`` how annotations write it, ``str()`` how schemas do.

    >>> import jtensor
    >>> kind = jtensor.parse_schema("f(int[2]? size=None) -> ()").arguments[0].type
    >>> kind, kind.str(), kind.kind(), kind.getElementType()
    (Optional[List[int]], 'int[]?', 'OptionalType', List[int])
    """

    __module__ = "torch"
    __hash__ = None

    def __init__(self, *args: Any) -> None:
        name = type(self).__name__
        if name in _ABSENT:
            raise missing(f"TorchScript (torch.{name})", "a type of Python's (torch.Tensor, list[int])")
        if name not in _TAKEN:
            raise TypeError(f"torch._C.{name}: No constructor defined!")
        listed = name in ("TupleType", "UnionType") and len(args) == 1 and isinstance(args[0], list | tuple)
        parts = tuple(args[0]) if listed else args
        count = len(parts) if listed else -1 if name in ("TupleType", "UnionType") else 1 + (name == "DictType")
        if len(parts) != count or not all(isinstance(one, Type) for one in parts):
            raise pybind_refusal("__init__", [f"torch._C.{name}({_TAKEN[name]})"], args, kind="constructor")
        _fill(self, name, None, None, parts)

    def kind(self) -> str:
        """The name of its sort: ``"TensorType"``, ``"ListType"``."""
        return self._kind

    @property
    def annotation_str(self) -> str:
        """As an annotation: ``List[int]``."""
        parts = ", ".join(one.annotation_str for one in self._parts)
        return f"{self._word}[{parts}]" if self._parts or self._kind == "TupleType" else self._word

    def __repr__(self) -> str:
        return self.annotation_str

    def _written(self, inside=False):
        """As a schema has it; `inside` of another type's `str()`."""
        parts = [one._written(inside) for one in self._parts]
        if self._kind in ("ListType", "OptionalType"):
            return parts[0] + ("[]" if self._kind == "ListType" else "?")
        if self._kind in ("FutureType", "RRefType") and inside:
            return f"{self._word}[{parts[0]}]"
        if self._kind == "TupleType":
            return f"({', '.join(parts)})"
        return f"{self._word}({', '.join(parts)})" if parts else self._said

    def str(self):
        """As a schema has it: ``int[]``."""
        return self._written(inside=True)

    def __eq__(self, other):
        if not isinstance(other, Type):
            raise pybind_refusal("__eq__", ["(self: torch._C.Type, arg0: torch._C.Type) -> bool"], (self, other))
        return (self._kind, self._said, self._parts) == (other._kind, other._said, other._parts)

    def containedTypes(self):
        """The types that it is made of."""
        return list(self._parts)

    def is_interface_type(self) -> bool:
        """Whether it is an interface."""
        return False

    def isSubtypeOf(self, other: "Type") -> bool:
        """Whether every value of it is one of another type's."""
        if self == other or other._kind == "AnyType":
            return True
        if self._kind == "OptionalType":
            return other._kind == "OptionalType" and self._parts[0].isSubtypeOf(other._parts[0])
        if self._kind == "UnionType":
            return all(one.isSubtypeOf(other) for one in self._parts)
        if other._kind == "OptionalType":
            return self._kind == "NoneType" or self.isSubtypeOf(other._parts[0])
        if other._kind == "UnionType":
            return any(self.isSubtypeOf(one) for one in other._parts)
        if other._kind == "NumberType":
            return self._kind in ("IntType", "FloatType", "ComplexType")
        if self._kind == other._kind == "TupleType" and len(self._parts) == len(other._parts):
            return all(one.isSubtypeOf(two) for one, two in zip(self._parts, other._parts, strict=True))
        return False


def _fill(made, kind, word, said, parts=()):
    made._kind, made._parts = kind, tuple(_alternatives(parts) if kind == "UnionType" else parts)
    made._word = word or {"OptionalType": "Optional"}.get(kind, kind.removesuffix("Type"))
    made._said = said or made._word
    return made


def _alternatives(parts):
    """What a union is of: each once, in the order of their names; one that may be None is two of them."""
    single = [part for one in parts for part in ((*one._parts, get("NoneType")) if one._kind == "OptionalType" else (one,))]
    named = {part.annotation_str: part for part in single}       # types cannot be hashed, as in PyTorch
    return [named[name] for name in sorted(named, key=str.lower)]


for _name in __all__:
    globals()[_name] = type(_name, (Type,), {"__module__": "torch", "__doc__": "A type of TorchScript.", "__hash__": None})
_GeneratorType = type("_GeneratorType", (Type,), {"__module__": "torch._C", "__doc__": "The type of a generator.", "__hash__": None})
__all__ = ["Type", *__all__]

# -- types without parts: one object each -----------------------------------------------------------------------------

_PLAIN = {"Tensor": "TensorType", "Scalar": "NumberType", "int": "IntType", "float": "FloatType", "bool": "BoolType", "str": "StringType",
          "complex": "ComplexType", "Device": "DeviceObjType", "Stream": "StreamObjType", "Any": "AnyType", "NoneType": "NoneType",
          "SymInt": "SymIntType", "SymBool": "SymBoolType", "PyObject": "PyObjectType", "Generator": "GeneratorType",
          "ScalarType": "ScalarTypeType", "Layout": "LayoutType", "MemoryFormat": "MemoryFormatType", "QScheme": "QSchemeType",
          "Quantizer": "QuantizerType", "Capsule": "CapsuleType", "Storage": "StorageType", "AnyClassType": "AnyClassType",
          "AnyEnumType": "AnyEnumType"}
_SHOWN = {"Scalar": "number", "SymInt": "int", "SymBool": "bool"}
_ALIASES = {"None": "NoneType", "DeviceIndex": "int", "ConstQuantizerPtr": "int"}
_SINGLE = {}


def plain(word):
    """The type of a schema's word; None where it is none."""
    word = _ALIASES.get(word, word)
    if word in _PLAIN and word not in _SINGLE:
        kind = _PLAIN[word]
        cls = _GeneratorType if kind == "GeneratorType" else globals().get(kind, Type)
        _SINGLE[word] = _fill(cls.__new__(cls), kind, _SHOWN.get(word, word), word)
    return _SINGLE.get(word)


def variable(word):
    """A type that a call finds: ``t``."""
    return _fill(Type.__new__(Type), "VarType", word, word)


def made(kind, *parts):
    """A type of others: ``made("ListType", element)``."""
    return _fill(globals()[kind].__new__(globals()[kind]), kind, None, None, parts)


def get(kind):
    """The one type of a class without parts."""
    return plain(next(word for word, named in _PLAIN.items() if named == kind))


def _getter(kind):
    return staticmethod(lambda: get(kind))


for _word, _kind in _PLAIN.items():
    if _kind in __all__:
        globals()[_kind].get = _getter(_kind)
for _word, _kind in _OF_LISTS.items():
    setattr(globals()["ListType"], f"of{_word}", staticmethod(lambda kind=_kind: made("ListType", get(kind))))
globals()["OptionalType"].ofTensor = staticmethod(lambda: made("OptionalType", get("TensorType")))
globals()["TensorType"].getInferred = staticmethod(lambda: get("TensorType"))
for _cls in ("ListType", "OptionalType", "FutureType", "AwaitType", "RRefType"):
    globals()[_cls].getElementType = lambda self: self._parts[0]
globals()["TupleType"].elements = globals()["Type"].containedTypes
globals()["DictType"].getKeyType = lambda self: self._parts[0]
globals()["DictType"].getValueType = lambda self: self._parts[1]
