"""Which form of an operator of TorchScript a call in Python is, and what its arguments are there, in order.

The forms are in `schemas.txt`, made of PyTorch's (`tests/house/make_schemas.py`). Owns: finding the form, and the kinds of its arguments.
May not know: tracing, what a function does.
"""
import functools
from pathlib import Path

from ..base import devices, dtypes
from ..library.schema import NONE, Schema
from ..tensor.core import Tensor
from .calls import CODES, FORMATS

WRAPPED = frozenset("""add sub mul div floor_divide add_ sub_ mul_ div_ floor_divide_ copy_ multiply multiply_ subtract subtract_ divide
                       divide_ true_divide true_divide_""".split())
"""Whose second operand, a number, is made a tensor by PyTorch's argument parser."""
_NUMBERS = (int, float, complex)
_WHOLE = ("int", "SymInt")


class Unfit(Exception):
    """A call that is none of a form."""


@functools.cache
def _lines():
    found = {}
    for line in (Path(__file__).parent / "schemas.txt").read_text().splitlines():
        form, _, _ = line.partition("(")
        for name in {form if "." in form else form + ".default", form.partition(".")[0]}:
            found.setdefault(name, []).append(line)
    return found


@functools.cache
def forms(name):
    """The `Schema`s of an operator, or the one of a form such as ``std.correction``; none if it is not known."""
    return [Schema.read(line) for line in _lines().get(name, ())]


def bound(name, args, kwargs):
    """(form, its arguments in order, the call's arguments for Python, its keywords) of a call; None where no form fits.

    An argument is a pair (type, value) whose value is as the type has it: a list for sizes, a number for a dtype.
    """
    for schema in forms(name):
        try:
            return schema, *_bound(schema, name, args, kwargs)
        except Unfit:
            pass
    return None


def _for_python(kind, value):
    """An argument as the function here takes it: a traced size where a number is asked for is that number."""
    if kind.base == "Tensor":
        return value
    if isinstance(value, Tensor):
        return value.item()
    if isinstance(value, (list, tuple)):
        return type(value)([one.item() if isinstance(one, Tensor) else one for one in value]) if any(
            isinstance(one, Tensor) for one in value) else value
    return value


def _bound(schema, name, args, kwargs, python=_for_python):
    positional = [argument for argument in schema.arguments if not argument.kwarg_only]
    kwargs = {("self" if key == "input" and positional and positional[0].name == "self" else "dim" if key == "axis" else key): value
              for key, value in kwargs.items() if key not in ("out", "requires_grad") or value is not None and value is not False}
    args = list(args)
    for at, argument in enumerate(positional):                    # x.view(2, 3)
        if argument.type.marks == ["[]"] and argument.type.base in _WHOLE and at < len(args) and _is_whole(args[at]):
            if not all(map(_is_whole, args[at:])):
                raise Unfit
            args[at:] = [tuple(args[at:])]
    if len(args) > len(positional):
        raise Unfit
    found, plain = [], []
    for at, argument in enumerate(schema.arguments):
        if not argument.kwarg_only and at < len(args):
            if argument.name in kwargs:
                raise Unfit
            value = fitted(argument.type, args[at], name, at)
            plain.append(python(argument.type, args[at]))
        elif argument.name in kwargs:
            value = fitted(argument.type, kwargs[argument.name], name, at)
            kwargs[argument.name] = python(argument.type, kwargs[argument.name])
        elif argument.default is not NONE:
            value = list(argument.default) if isinstance(argument.default, (list, tuple)) else argument.default
        else:
            raise Unfit
        found.append((argument.type, value))
    if kwargs.keys() - {argument.name for argument in schema.arguments}:
        raise Unfit
    return found, plain, kwargs


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool) or is_number(value)


def is_number(value):
    """Whether a value is a tensor that may stand for a number, as sizes do while tracing."""
    return isinstance(value, Tensor) and value.dim() == 0


def fitted(kind, value, name="", at=0):
    """A value as a type has it. `Unfit` where it is none."""
    marks = kind.marks
    for mark in reversed(marks):
        if mark == "?":
            if value is None:
                return None
        elif isinstance(value, (list, tuple)):
            if kind.base == "Tensor":
                optional = len(marks) > 1 and marks[0] == "?"
                if not all(isinstance(one, Tensor) or optional and one is None for one in value):
                    raise Unfit
                return list(value)
            return [_one(kind.base, one) for one in value]
        elif mark != "[]":
            return [_one(kind.base, value)] * int(mark[1:-1])
        else:
            raise Unfit
    if kind.base == "Tensor":
        if isinstance(value, Tensor) or at and name.partition(".")[0] in WRAPPED and type(value) in (*_NUMBERS, bool):
            return value
        raise Unfit
    return _one(kind.base, value)


def _one(base, value):
    if base in _WHOLE:
        if not _is_whole(value):
            raise Unfit
        return value
    if base in _OTHERS:
        return _OTHERS[base](value)
    raise Unfit


def _number(value):
    if isinstance(value, _NUMBERS) or is_number(value):
        return value
    raise Unfit


def _real(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) and not is_number(value):
        raise Unfit
    return value if isinstance(value, Tensor) else float(value)


def _of(*classes):
    def check(value):
        if not isinstance(value, classes):
            raise Unfit
        return value
    return check


def _type(value):
    if not isinstance(value, dtypes.dtype):
        raise Unfit
    return code_of(value)


def code_of(dtype):
    """The number of a dtype in TorchScript."""
    if dtype not in CODES:
        raise Unfit
    return CODES.index(dtype)


def _format(value):
    text = str(value).removeprefix("torch.")
    if text not in FORMATS:
        raise Unfit
    return FORMATS.index(text)


def _device(value):
    if isinstance(value, (str, devices.device)):
        return devices.device(value)
    raise Unfit


def _none(value):
    raise Unfit


_OTHERS = {"Scalar": _number, "float": _real, "complex": _number, "bool": _of(bool), "str": _of(str), "ScalarType": _type,
           "Device": _device, "Layout": lambda value: 0, "MemoryFormat": _format, "Generator": _none}
