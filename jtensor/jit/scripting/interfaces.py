"""Interfaces (`torch.jit.interface`): classes that say which methods a module or an object has, whatever its own class is.

Owns: what an interface declares, whether a class has it. May not know: how methods are compiled.
"""
import functools
import inspect

import jtensor

from ..making import qualified
from . import definitions, forms, kinds, source
from .classes import ClassType
from .source import error


class Declared:
    """A method of an interface: what is called is found out when it runs."""

    python, is_left_out, graph = None, False, None

    def __init__(self, name, form):
        self.name = self.short = name
        self.form = form


class Interface(ClassType):
    """``kind``: the type it is of; ``is_module``: whether it is one of modules."""

    def __init__(self, python):
        super().__init__(python, "interface", qualified(python))
        self.is_module = issubclass(python, jtensor.nn.Module)
        self.kind = kinds.Kind(self.name, what=self)

    @functools.cached_property
    def declared(self):
        """{name: `Declared`} of its methods."""
        found = {}
        for name, function in vars(self.python).items():
            if not inspect.isfunction(function):
                continue
            read = source.read(function)
            if len(read.node.body) != 1 or type(read.node.body[0]).__name__ != "Pass":
                raise error("interfaces declarations should contain 'pass' statement.", read.place(read.node))
            arguments, answer = definitions.declared(read, self.kind)
            found[name] = Declared(name, forms.Form(name, arguments, [answer or kinds.TENSOR]))
        return found

    def why_not(self, kind):
        """Why values of a kind are not of this interface, in PyTorch's words; None where they are."""
        what = kind.what
        if what.sort not in ("module", "class", "interface") or self.is_module and what.sort == "class":
            return ""
        methods = what.declared if what.sort == "interface" else what.methods if what.sort == "module" else what.compiled
        unit = f"{what.name} (of Python compilation unit at: {id(what):#x})"
        for name, one in self.declared.items():
            made = methods.get(name)
            if made is None:
                return f"Class '{unit}' does not have method '{name}' but interface '{self.name}' does."
            if not _fits(made.form, one.form):
                return (f"Method on class '{unit}' (1) is not compatible with interface '{self.name}' (2)\n"
                        f"  (1) {_schema(name, what.name, made.form)}\n  (2) {_schema(name, self.kind.schema(), one.form)}\n")
        return None


def _fits(form, wanted):
    mine, theirs = form.arguments[1:], wanted.arguments[1:]
    return (len(mine) == len(theirs) and all(one.name == other.name and kinds.is_part(kinds.plain(other.kind), one.kind)
                                             for one, other in zip(mine, theirs, strict=True))
            and kinds.is_part(form.returns[0], wanted.returns[0]))


def _schema(name, own, form):
    return str(forms.Form(name, form.arguments[1:], form.returns)).replace("(", f"({own} self{', ' if form.arguments[1:] else ''}", 1)


def check(python):
    """Refuses what is no interface."""
    if not isinstance(python, type):
        raise RuntimeError("interface must be applied to a class")
    module = issubclass(python, jtensor.nn.Module) and len(python.__mro__) == 3
    if not module and len(python.__mro__) > 2:
        raise RuntimeError("TorchScript interface does not support inheritance yet. Please directly inherit from 'object' or 'nn.Module'.")


def index(state, value, hint, index, place):
    """One of a container's modules, by a number or name that is known when it runs: they all are of the interface ``hint``."""
    described = value.type.what
    if hint is None or hint.what is None or hint.what.sort != "interface":
        word, example, kind = (("Unable to extract string literal index. ModuleDict", 'i = "a"', "string")
                               if issubclass(described.python, jtensor.nn.ModuleDict) else
                               ("Expected integer literal for index but got a variable or non-integer. ModuleList/Sequential", "i = 4",
                                "integer"))
        more = ("Enumeration of ModuleDict is supported, e.g. 'for k, v in self.items(): out = v(inp)'" if kind == "string" else
                "Enumeration is supported, e.g. 'for index, v in enumerate(self): out = v(inp)'")
        raise error(f"{word} indexing is only supported with {kind} literals. For example, '{example}; self.layers[i](x)' will fail "
                    f"because i is not a literal. {more}", place)
    for name, kind in described.modules.items():
        problem = hint.what.why_not(kind)
        if problem is not None:
            raise error(f"Attribute {name} is not of annotated type {hint.shown()}: {problem}", place)
    return state.add("prim::ModuleContainerIndex", [value, index], hint)


def part(module, name, kind, unit):
    """The kind of a module's part that is annotated with an interface, which it has to fit."""
    what = kind.what
    for one in what.declared:
        try:
            getattr(module, one)
        except AttributeError as problem:
            problem.is_pytorchs = True                            # which says no more of it, either
            raise
    made = unit.kind_of(module)
    for one in what.declared:
        unit.method(made, one)
    problem = what.why_not(made)
    if problem is not None:
        shown = f"{made.what.name} (of Python compilation unit at: {id(made):#x})"
        raise RuntimeError(f"Could not cast attribute '{name}' to type {what.name}: Object of type {shown} is not compatible with "
                           f"interface {what.name}\n{problem}")
    return kind
