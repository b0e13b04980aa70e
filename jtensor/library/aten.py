"""`torch.ops.aten`: PyTorch's own operators by the names of their schemas, as libraries refer to them (`torch.ops.aten.add.Tensor`).

Owns: which function stands for an operator, and the names of its forms (`overloads.txt`, made of PyTorch's schemas). Whichever form is
called, the function looks at its arguments. May not know: how a function is made.
"""
import functools
from pathlib import Path

import jtensor

from ..base.below import STATE, Layer
from ..base.errors import missing
from . import forms
from .spaces import OpOverload, OpOverloadPacket, _OpNamespace


def function_of(name):
    """The function that stands for an operator; None if there is none."""
    if name in forms.WRITTEN_OUT:
        return forms.WRITTEN_OUT[name]
    space, _, rest = name.partition("_")
    if space in _SPACES and rest:
        return getattr(getattr(jtensor, space), rest, None)
    for home in (jtensor, jtensor.nn.functional, jtensor.Tensor):
        found = getattr(home, name, None) if home is jtensor and name not in _OTHERS else vars(home).get(name)
        if found is not None and callable(found) and not isinstance(found, type):
            return found
    return None


_SPACES = ("fft", "linalg", "special")
_OTHERS = ("save", "load")              # PyTorch's functions of these names are no operators


@functools.cache
def operators():
    """{name of an operator: the names of its forms}."""
    lines = (Path(__file__).parent / "overloads.txt").read_text().splitlines()
    return {name: forms for name, *forms in map(str.split, lines)}


class _Schema:
    def __init__(self, overload_name):
        self.overload_name = overload_name


class _Builtin:
    """What an overload of PyTorch's own holds in place of a `Definition`."""

    def __init__(self, name, form, function):
        self.name, self.schema, self.function = f"aten::{name}", _Schema("" if form == "default" else form), function
        self.shown = f"aten.{name}.{form}"

    def __call__(self, args, kwargs):
        return self.function(*args, **kwargs)


class Overload(OpOverload):
    """One form of one of PyTorch's own operators."""

    def __call__(self, /, *args, **kwargs):
        return Layer.again(self, args, kwargs) if STATE.below else super().__call__(*args, **kwargs)

    @property
    def tags(self):
        raise missing(f"the tags of {self._definition.name}", "the tags of operators of one's own")


class Packet(OpOverloadPacket):
    """One of PyTorch's own operators: called as its function is."""

    def __init__(self, name, function):
        super().__init__(f"aten::{name}")
        self._function = function
        for form in operators()[name]:
            self._forms[form] = Overload(self, _Builtin(name, form, function))

    def _called(self, args, kwargs):
        return self._function(*args, **kwargs)


class Aten(_OpNamespace):
    """The library of PyTorch's own operators. What is not there raises PyTorch's AttributeError."""

    def __getattr__(self, name):
        function = function_of(name) if name in operators() else None
        if function is None:
            return super().__getattr__(name)
        made = self.__dict__[name] = Packet(name, function)
        return made
