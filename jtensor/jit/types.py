"""TorchScript's types as `torch` has them (`torch.TensorType`), for annotations that name them. There is no instance of one here.

Owns: these classes. May not know: anything else.
"""
from ..base.errors import missing

__all__ = """AnyType AwaitType BoolType ClassType ComplexType ConcreteModuleType DeviceObjType DictType EnumType FloatType FutureType
             InferredType IntType InterfaceType ListType NoneType NumberType OptionalType PyObjectType RRefType StreamObjType StringType
             SymBoolType SymIntType TensorType TupleType UnionType""".split()


class Type:
    """A type of TorchScript. To be named alone: there is no instance."""

    __module__ = "torch"

    def __new__(cls, *args, **kwargs):
        raise missing(f"TorchScript (torch.{cls.__name__})", "a type of Python's (torch.Tensor, list[int])")


for _name in __all__:
    globals()[_name] = type(_name, (Type,), {"__module__": "torch", "__doc__": "A type of TorchScript. To be named alone."})
__all__ = ["Type", *__all__]
