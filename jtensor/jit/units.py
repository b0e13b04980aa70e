"""`torch.jit.CompilationUnit`: functions that are compiled from a text.

Owns: which functions of a text there are, what Python gets for them. May not know: how anything is compiled (`scripting`).
"""
import ast
import sys
import typing

from ..tensor.core import Tensor
from . import traced
from .scripting.program import Program
from .scripting.source import Source
from .scripting.unit import Unit, Written

_TYPES = {name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple", "Union")} | {"Tensor": Tensor}


class _Names(dict):
    """What a text sees: its own functions, the names of types, those where it is defined."""

    def __init__(self, own, frame):
        super().__init__(frame.f_globals)
        self.update(frame.f_locals)
        self.update(_TYPES)
        self.update(own)


class UnitFunction(traced.ScriptFunction):
    """A function of a unit, which goes by its own name alone."""

    __module__ = "torch.jit"

    def __init__(self, program, written):
        super().__init__(program.root_name, program)
        self.qualified_name, self._original = self.name, written

    @property
    def code(self):
        """The program as text."""
        return self._program.shown.replace("__torch__.", "")


UnitFunction.__name__ = UnitFunction.__qualname__ = "ScriptFunction"


class CompilationUnit:
    """Functions that are compiled from ``lang``, a text, and from what `define` is given; each is an attribute.

    ``RuntimeError`` and others as `torch.jit.script` raises them.

    >>> unit = torch.jit.CompilationUnit('''
    ... def twice(x: Tensor):
    ...     return x * 2
    ... ''')
    >>> unit.twice(torch.ones(2))
    tensor([2., 2.])
    """

    __module__ = "torch.jit"

    def __init__(self, lang=None, _frames_up=0):
        self.__dict__.update(_functions={}, _written={})
        if lang is not None:
            self.define(lang, _frames_up=_frames_up + 1)

    def define(self, lang, rcb=None, _frames_up=0):
        """Compiles further functions."""
        names = _Names({}, sys._getframe(_frames_up + 1))
        made = {}
        for node in ast.parse(lang).body:
            if not isinstance(node, ast.FunctionDef):
                raise RuntimeError(f"expected a function definition, and found {ast.unparse(node)}")
            made[node.name] = Written(Source(None, node, lang.splitlines(), 1, "<string>", names))
        known = [name for name in made if name in self._written]
        if known:
            raise RuntimeError(f"method '{known[0]}' already defined.")
        names.update(self._written | made)
        unit = Unit()
        functions = {}
        for name, one in made.items():
            compiled = unit.written(one, None)
            functions[name] = UnitFunction(Program(compiled, unit), one)
        self._written.update(made)
        self._functions.update(functions)

    def find_function(self, name):
        """The function of that name; None if there is none."""
        return self._functions.get(name)

    def get_functions(self):
        """All of them."""
        return list(self._functions.values())

    def __getattr__(self, name):
        found = self._functions.get(name)
        if found is None:
            raise AttributeError(f"'CompilationUnit' has no attribute '{name}'")
        return found

