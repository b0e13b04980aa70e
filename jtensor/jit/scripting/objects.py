"""What an object of Python is in a program: a module, a class, an exception, a constant, a word of the language.

Owns: that. May not know: syntax, how functions are compiled (``state.unit``).
"""
import enum
import types as python_types

import jtensor

from ...base import devices, dtypes
from .. import calls
from . import classes, forms, kinds, matching
from .source import absent, error
from .values import Operator, Parts, Simple, Sugared


class Python(Sugared):
    """A module of Python, or another place of names."""

    sort = "python value"

    def __init__(self, space):
        self.space = space

    def attribute(self, state, name, place):
        try:
            found = getattr(self.space, name)
        except AttributeError:
            raise error(f"object has no attribute {name}", place) from None
        return sugared(state, found, place, constant=True)


class Spaces(Sugared):
    """``torch.ops`` and what is in it."""

    sort = "operators"

    def __init__(self, space=None):
        self.space = space

    def attribute(self, state, name, place):
        if self.space is None:
            return Spaces(name)
        if self.space not in ("aten", "prim") or not forms.of(f"{self.space}::{name}"):
            raise absent(f"torch.ops.{self.space}.{name}", place)
        return Operator(f"{self.space}::{name}")


class Class(Sugared):
    """A named tuple's class, an enumeration, or a compiled class."""

    sort = "class"

    def __init__(self, kind):
        self.kind = kind

    def called(self, state, args, kwargs, place, many=1):
        what = self.kind.what
        if what.sort == "named tuple":
            arguments = [forms.Argument(name, kind, what.defaults[name] if name in what.defaults else forms.MISSING)
                         for name, kind in zip(what.names, what.kinds, strict=True)]
            matched = matching.call_of(state, forms.Form(what.name.rpartition(".")[2], arguments, [self.kind]), args, kwargs, place)
            return Simple(state.add("prim::TupleConstruct", matched.inputs, self.kind))
        if what.sort == "class":
            return state.unit.classes.made(state, self.kind, args, kwargs, place)
        raise absent(f"a call of the class {what.name}", place)

    def as_value(self, state, place):
        raise error("Python type cannot be used as a value", place)

    def attribute(self, state, name, place):
        what = self.kind.what
        if what.sort == "enum" and name in what.names:
            return Simple(state.constant(what.python[name], self.kind))
        if what.sort == "class":
            return state.unit.classes.of_class(state, self.kind, name, place)
        raise error(f"'{what.name}' has no attribute '{name}'" if what.sort != "enum" else
                    f"type object '{what.python.__name__}' has no attribute '{name}'", place)


class Raised(Sugared):
    """An exception's class, or one with its message."""

    sort = "exception"

    def __init__(self, python, message=None):
        self.python, self.message = python, message

    def called(self, state, args, kwargs, place, many=1):
        if len(args) > 1:
            return Raised(self.python, state.add("prim::TupleConstruct", [one.value for one in args],
                                                 kinds.paired(*[one.value.type for one in args])))
        return Raised(self.python, args[0].value if args else state.constant(""))


class Special(Sugared):
    """A word of the language that looks at its arguments as they are written: ``isinstance``, ``range``, ``annotate``."""

    def __init__(self, word):
        self.word = self.sort = word


_WORDS = {id(one): word for word, one in {
    "range": range, "enumerate": enumerate, "zip": zip, "isinstance": isinstance, "hasattr": hasattr, "getattr": getattr, "list": list,
    "tuple": tuple, "dict": dict, "super": super, "len": len, "annotate": jtensor.jit.annotate, "jit.isinstance": jtensor.jit.isinstance,
    "is_scripting": jtensor.jit.is_scripting, "is_tracing": jtensor.jit.is_tracing, "unwrap": jtensor.jit._unwrap_optional,
    "fork": jtensor.jit.fork, "wait": jtensor.jit.wait, "reversed": reversed,
}.items()}
_BUILT_IN = {id(one): operator for one, operator in (
    (print, "prim::Print"), (float, "aten::Float"), (int, "aten::Int"), (bool, "aten::Bool"), (complex, "aten::Complex"),
    (str, "aten::str"), (abs, "prim::abs"), (min, "prim::min"), (max, "prim::max"), (hex, "aten::hex"),
    (oct, "aten::oct"), (bin, "aten::bin"), (round, "aten::round"), (ord, "aten::ord"), (chr, "aten::chr"), (divmod, "aten::divmod"),
    (sum, "aten::sum"), (all, "aten::all"), (any, "aten::any"), (sorted, "aten::sorted"), (hash, "aten::hash"), (id, "prim::id"),
    (pow, "aten::pow"))}


def sugared(state, found, place, constant=False):
    """What an object of Python is in a program. ``constant``: whether a number may stand for itself."""
    if id(found) in _WORDS:
        return Special(_WORDS[id(found)])
    if id(found) in _BUILT_IN:
        return Operator(_BUILT_IN[id(found)])
    if found is jtensor.ops:
        return Spaces()
    if isinstance(found, python_types.ModuleType):
        return Python(found)
    if found is None:
        return Simple(state.constant(None))
    if isinstance(found, dtypes.dtype):
        return Simple(state.constant(calls.CODES.index(found), kinds.INT))
    if isinstance(found, devices.device):
        return Simple(state.constant(found, kinds.DEVICE))
    if isinstance(found, (jtensor.memory_format, jtensor.layout)):
        text = str(found).removeprefix("torch.")
        return Simple(state.constant(calls.FORMATS.index(text) if text in calls.FORMATS else 0, kinds.INT))
    if isinstance(found, enum.Enum):
        return Simple(state.constant(found, classes.kind_of_class(type(found))))
    if constant and type(found) in (bool, int, float, complex, str):
        return Simple(state.constant(found))
    if constant and isinstance(found, (list, tuple)):
        return Parts([sugared(state, one, place, True) for one in found])
    if isinstance(found, type):
        return _of_class(state, found, place)
    made = state.unit.function(found, place)
    if made is not None:
        return made
    if isinstance(found, jtensor.nn.Module):
        raise error("python value of type '" + type(found).__name__ + "' cannot be used as a value. Perhaps it is a closed over global "
                    "variable? If so, please consider passing it in as an argument or use a local variable instead.", place)
    raise error(f"python value of type '{type(found).__name__}' cannot be used as a value. Perhaps it is a closed over global variable? If "
                "so, please consider passing it in as an argument or use a local variable instead.", place)


def _of_class(state, found, place):
    if issubclass(found, BaseException):
        return Raised(found)
    kind = classes.kind_of_class(found)
    if kind is not None:
        state.unit.classes.complete(kind, place)
        return Class(kind)
    if found is jtensor.set_grad_enabled:
        return Operator("aten::set_grad_enabled")
    if found in (jtensor.enable_grad, jtensor.inference_mode):
        return Operator(f"aten::{found.__name__}")
    if found is devices.device:
        return Operator("aten::device")
    if found is jtensor.Size:
        return Operator("aten::list")
    raise absent(f"the class {found.__name__}", place)
