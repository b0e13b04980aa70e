"""Classes that programs use: named tuples, enumerations, and classes that are compiled with their methods.

Owns: what each is as a type. May not know: how methods are compiled, which the compiler does.
"""
import enum
import inspect
import typing

import jtensor

from ..making import qualified
from . import kinds

_KNOWN = {}                          # {class of Python: Kind}


class ClassType:
    """``sort``: "named tuple", "enum", "class" or "interface"; ``names`` and ``kinds`` of fields; ``python``: the class;
    ``compiled``: its methods."""

    hooks = pre_hooks = ()                                        # which modules alone have

    def __init__(self, python, sort, name):
        self.python, self.sort, self.name, self.names, self.kinds = python, sort, name, [], []
        self.attributes, self.defaults, self.methods, self.compiled = {}, [], {}, {}


def kind_of_class(python):
    """The `Kind` of objects of a class, whose methods are still to be compiled; None where TorchScript has no such."""
    found = _KNOWN.get(python)
    if found is not None:
        return found
    if getattr(python, "_torchscript_modifier", None) == "interface":
        from . import interfaces
        made = _KNOWN[python] = interfaces.Interface(python).kind
        return made
    if issubclass(python, tuple) and hasattr(python, "_fields"):
        return _named_tuple(python)
    if issubclass(python, enum.Enum):
        return _enumeration(python)
    if can_compile(python):
        made = _KNOWN[python] = kinds.Kind(qualified(python), what=ClassType(python, "class", qualified(python)))
        return made
    return None


def written(python):
    """The class that is compiled for one of jtensor's own; None for others."""
    from .library import contexts
    return contexts.no_grad if python is jtensor.no_grad else None


def can_compile(python):
    """Whether a class may be one of TorchScript: all its functions have sources."""
    if written(python) is not None:
        return True
    if python.__module__.partition(".")[0] in ("torch", "jtensor", "builtins") or issubclass(python, (tuple, list, BaseException)):
        return False
    if issubclass(python, (jtensor.nn.Module, jtensor.Tensor)) or getattr(python, "_torchscript_modifier", None) == "ignore":
        return False
    found = [getattr(python, name) for name in vars(python)]
    return all(hasattr(one, "__code__") for one in found if inspect.isroutine(one))


def _named_tuple(python):
    from . import annotations
    made = ClassType(python, "named tuple", qualified(python))
    kind = _KNOWN[python] = kinds.Kind("named tuple", what=made)
    written = getattr(python, "__annotations__", {})
    made.names = list(python._fields)
    try:
        hints = typing.get_type_hints(python)
    except Exception:
        hints = written
    made.kinds = [annotations.kind_of(hints[name]) if name in hints else kinds.INFERRED for name in made.names]
    made.defaults = python._field_defaults
    return kind


def _enumeration(python):
    from . import annotations
    made = ClassType(python, "enum", qualified(python))
    kind = _KNOWN[python] = kinds.Kind(made.name, what=made)
    members = list(python)
    made.names, made.kinds = [one.name for one in members], [annotations.of_value(one.value) for one in members]
    return kind
