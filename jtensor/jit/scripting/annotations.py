"""Python's annotations and values as TorchScript's types.

Owns: what an annotation means, of which type a value is. May not know: how programs are compiled.
"""
import ast
import collections
import enum
import types as python_types
import typing

import jtensor

from ...base import devices, dtypes, sites
from ...base.size import Size
from ...tensor.core import Tensor
from . import classes, kinds
from .source import absent, error

_PLAIN = {Tensor: kinds.TENSOR, int: kinds.INT, float: kinds.FLOAT, bool: kinds.BOOL, str: kinds.STR, complex: kinds.COMPLEX,
          None: kinds.NONE, type(None): kinds.NONE, typing.Any: kinds.ANY, dtypes.dtype: kinds.INT, devices.device: kinds.DEVICE,
          Size: kinds.listed(kinds.INT), kinds.Number: kinds.NUMBER}


_TENSORS = frozenset(f"{name}Tensor" for name in ("Long", "Double", "Float", "Int", "Short", "Half", "Char", "Byte", "Bool"))


class Unknown(Exception):
    """What TorchScript has no type for."""


def kind_of(annotation, source=None):
    """The `Kind` that an annotation means. `Unknown` where it means none.

    >>> str(kind_of(typing.Optional[dict[str, int]]))
    'Optional[Dict[str, int]]'
    """
    if isinstance(annotation, str):
        try:
            annotation = source.evaluated(annotation) if source is not None else eval(annotation, vars(typing) | {"torch": jtensor})
        except Exception:
            raise Unknown(annotation) from None
    if annotation.__hash__ is not None and annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list or annotation in (list, typing.List):                                          # noqa: UP006
        if not inner:
            raise RuntimeError("Attempted to use List without a contained type. Please add a contained type, e.g. List[int]")
        return kinds.listed(kind_of(inner[0], source))
    if origin is dict or annotation in (dict, typing.Dict):                                          # noqa: UP006
        if not inner:
            raise RuntimeError("Attempted to use Dict without contained types. Please add contained type, e.g. Dict[int, int]")
        return kinds.mapped(*[kind_of(one, source) for one in inner])
    if origin is tuple or annotation in (tuple, typing.Tuple):                                       # noqa: UP006
        if annotation in (tuple, typing.Tuple):                                                      # noqa: UP006
            raise RuntimeError("Attempted to use Tuple without a contained type. Please add a contained type, e.g. Tuple[int]")
        if ... in inner:
            raise Unknown(annotation)
        return kinds.paired(*[kind_of(one, source) for one in inner if one != ()])
    if origin in (typing.Union, python_types.UnionType):
        return kinds.union([kind_of(one, source) for one in inner])
    if origin is jtensor.futures.Future or annotation is jtensor.futures.Future:
        return kinds.Kind("Future", (kind_of(inner[0], source) if inner else kinds.ANY,))
    if origin is typing.Final:
        return kind_of(inner[0], source)
    if isinstance(annotation, type) and (issubclass(annotation, Tensor) or annotation.__name__ in _TENSORS and sites.is_own(
            annotation.__module__.replace("torch", "jtensor", 1))):
        return kinds.TENSOR
    if isinstance(annotation, type):
        found = classes.kind_of_class(annotation)
        if found is not None:
            return found
    raise Unknown(annotation)


def of_node(node, source):
    """The `Kind` of an annotation in a source."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and one.value is Ellipsis:
            raise error("Expression of type dots cannot be used in a type expression", source.place(one))
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
    try:
        annotation = source.evaluated(text)
    except Exception:
        raise error(f"Unknown type name '{text}'", source.place(node)) from None
    try:
        return kind_of(annotation, source)
    except Unknown:
        if annotation is jtensor.nn.Module or isinstance(annotation, type) and issubclass(annotation, (collections.abc.Callable,)):
            raise absent(f"the type {text}", source.place(node)) from None
        raise error(f"Unknown type name '{text}'", source.place(node)) from None


def of_value(value, empty=False):
    """The `Kind` of a value of Python's. `Unknown` where it has none."""
    if isinstance(value, (list, dict)) and not value:
        raise Unknown(f"{type(value).__name__} is empty")
    if isinstance(value, Tensor):
        return kinds.TENSOR
    if isinstance(value, Size):
        return kinds.listed(kinds.INT)
    if type(value) in _PLAIN and type(value) is not type:
        return _PLAIN[type(value)]
    if isinstance(value, enum.Enum):
        return classes.kind_of_class(type(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return classes.kind_of_class(type(value))
    if isinstance(value, tuple):
        return kinds.paired(*map(of_value, value))
    if isinstance(value, list):
        return kinds.listed(_one([of_value(one) for one in value]))
    if isinstance(value, dict):
        return kinds.mapped(_one([of_value(one) for one in value]), _one([of_value(one) for one in value.values()]))
    if isinstance(value, dtypes.dtype):
        return kinds.INT
    found = classes.kind_of_class(type(value))
    if found is not None:
        return found
    raise Unknown(value)


def _one(found):
    made = found[0]
    for one in found[1:]:
        made = kinds.unified(made, one)
        if made is None:
            raise Unknown("items of different types")
    return made
