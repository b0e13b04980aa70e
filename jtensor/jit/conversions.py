"""Values as programs have them, and as Python has them.

Owns: what becomes of an argument, an attribute, an answer. May not know: modules, how programs run.
"""
import enum

from ..base import devices, dtypes
from . import calls, programs


def in_program(value, kind, unit):
    """A member of an enumeration, or an object of a class, as the program's own, which has the same name."""
    if programs.ROOT not in kind or value is None:
        return value
    if kind.startswith("Optional["):
        return in_program(value, kind[len("Optional["):-1], unit)
    if kind.startswith("List[") and isinstance(value, (list, tuple)):
        return [in_program(one, kind[len("List["):-1], unit) for one in value]
    if kind.startswith("Dict[") and isinstance(value, dict):
        inner = kind.partition(", ")[2][:-1]
        return {key: in_program(one, inner, unit) for key, one in value.items()}
    if isinstance(value, enum.Enum) and kind.startswith(programs.ROOT):
        found = unit.find(kind)
        return found[value.name] if isinstance(found, type) and value.name in found.__members__ else value
    if kind.startswith(programs.ROOT):
        found = unit.find(kind)
        if isinstance(found, programs.Class) and found.python is not None and type(value) is found.python:
            return _object_of(value, found)
    return value


def _object_of(value, kind):
    """An object of Python as one of a program, with copies of its attributes."""
    made = programs.Object(kind)
    for name, written in kind.names.items():
        made._values[name] = fitting(in_program(getattr(value, name), written, kind.unit), written)
    return made


def pythons(value):
    """What a program answers, with its objects as those of Python's classes."""
    if type(value) is programs.Object and value._kind.python is not None:
        made = object.__new__(value._kind.python)
        for name, one in value._values.items():
            setattr(made, name, pythons(one))
        return made
    if type(value) in (list, tuple):
        return type(value)(map(pythons, value))
    if type(value) is dict:
        return {key: pythons(one) for key, one in value.items()}
    return value


HELD = set()                         # the classes of lists and dictionaries that are not copied (`containers`), once there are any


def fitting(value, kind):
    """The value as a program takes it: whole numbers for floats, lists for tuples, copies of lists and dictionaries."""
    if type(value) in HELD:
        return value._items                                       # which the program writes to
    if kind == "float" and type(value) is int:
        return float(value)
    if kind == "complex" and type(value) in (int, float):
        return complex(value)
    if kind == "int" and isinstance(value, dtypes.dtype):
        return calls.CODES.index(value)
    if kind == "Device" and isinstance(value, str):
        return devices.device(value)
    if kind.startswith("Optional["):
        return None if value is None else fitting(value, kind[len("Optional["):-1])
    if kind.startswith("List[") and isinstance(value, (list, tuple)):
        return [fitting(x, kind[len("List["):-1]) for x in value]
    if kind.startswith("Dict[") and isinstance(value, dict):
        return dict(value)
    return value
