"""What compiles: functions and modules of Python, each once, with all that they call.

Owns: which function of Python is compiled how, what attributes of modules are in a program. May not know: text, files, what Python gets.
"""
import contextlib
import inspect
import types as python_types

import jtensor

from ...base import sites
from ...base.errors import MissingFeature
from ..frontend import FrontendError
from ..making import qualified, unique
from . import cleanup, definitions, forms, hooks, interfaces, kinds, library, names, objects, source, ssa, values
from .described import Described
from .objects_of_classes import Classes
from .source import absent, error


class Compiled:
    """A function or method. ``name``: qualified; ``short``; ``form``: what it takes and answers; ``graph``; ``python``: the function that
    is called instead, which `torch.jit.ignore` leaves in Python; ``is_left_out``: whether a call of it is an error (`torch.jit.unused`)."""

    def __init__(self, name, form, graph=None, python=None):
        self.name, self.short, self.form, self.graph, self.python = name, name.rpartition(".")[2], form, graph, python
        self.is_left_out = modifier(python) == "unused"

    @property
    def short_name(self):
        """What its definition is called."""
        return self.short


def modifier(function):
    """"ignore", "unused", "export" or None: how a function is marked."""
    return getattr(function, "_torchscript_modifier", None)


class Written:
    """A function of a text that is not Python's. ``source``: its `Source`."""

    def __init__(self, source):
        self.source = source


class Unit:
    """Functions and modules that are compiled together."""

    def __init__(self):
        self.functions, self.modules, self.types = {}, {}, {}
        self._taken, self._open, self.classes, self._told = set(), [], Classes(self), []

    def unique(self, name):
        """A qualified name that nothing else here has."""
        return unique(name, self._taken)

    @contextlib.contextmanager
    def told(self, what, place=None):
        """Errors while something is compiled say from where it was called, if ``place`` is given."""
        self._told.append(what)
        try:
            yield
        except (RuntimeError, FrontendError) as problem:
            text = str(problem)
            if isinstance(problem, NotImplementedError) or place is None or len(self._told) < 2 or '  File "' not in text:
                raise
            made = type(problem)(f"{text}'{what}' is being compiled since it was called from '{self._told[-2]}'\n{place}")
            raise made from problem.__cause__
        finally:
            self._told.pop()

    # -- functions ------------------------------------------------------------------------------------------------------

    def function(self, found, place):
        """What a function of Python is in a program; None if it is none."""
        from .. import traced
        if isinstance(found, traced.ScriptFunction):
            origin = getattr(found, "_original", None)
            if origin is None:
                raise absent("a call of a traced function", place)
            return values.Function(self.written(origin, place) if isinstance(origin, Written) else self.compiled(origin, place))
        if isinstance(found, Written):
            return values.Function(self.written(found, place))
        marked = self.overloads(found)
        if marked:
            return values.Overloaded([self._overload(found, one, place) for one in marked])
        several = library.several(found)
        if several is not None:
            return values.Overloaded([self.compiled(one, place) for one in several])
        choice = library.chosen(found)
        if choice is not None:
            return values.Chosen(choice)
        written = library.function(found)
        if written is None:
            operator = names.operator_of(found)
            if operator in names.IN_PYTHON:
                raise absent(operator.replace("aten::", "torch."), place)
            if operator is not None:
                return values.Operator(operator)
            if not isinstance(found, (python_types.FunctionType, python_types.MethodType)):
                return self._other(found, place)
            if sites.is_own(found.__module__) and ".jit.scripting.library" not in found.__module__:
                raise absent(f"torch.{found.__module__.partition('.')[2]}.{found.__name__}".replace("..", "."), place)
        made = self.compiled(found, place)
        wide = library.WIDE.get(written.__name__) if written is not None else None
        return values.Function(made) if wide is None else values.Widened(made, wide)

    def _other(self, found, place):
        if callable(found) and not isinstance(found, (jtensor.nn.Module, jtensor.Tensor)) and sites.is_own(
                getattr(found, "__module__", None)):
            raise absent(f"{getattr(found, '__name__', found)}", place)
        if isinstance(found, python_types.BuiltinFunctionType):
            raise error(f"Python builtin {found} is currently not supported in Torchscript", place)
        return None

    def compiled(self, function, place=None):
        """The `Compiled` of a function of Python."""
        known = self.functions.get(function)
        if known is not None:
            return known
        if function in self._open:
            raise RuntimeError(f"function '{function.__name__}' is called recursively. Recursive calls are not supported")
        written = library.function(function)
        name = self.unique(library.name_of(function) if written is not None else qualified(function))
        if modifier(function) in ("ignore", "unused"):
            made = self._ignored(function, name)
        else:
            self._open.append(function)
            try:
                with self.told(getattr(function, "__name__", name), None if place is None else place.whole()):
                    made = self._compile(source.read(written or function), name)
            finally:
                self._open.pop()
        self.functions[function] = made
        return made

    def written(self, found, place):
        """The `Compiled` of a function of a text."""
        known = self.functions.get(found)
        if known is not None:
            return known
        name = found.source.name
        if found in self._open:
            raise RuntimeError(f"function '{name}' is called recursively. Recursive calls are not supported")
        self._open.append(found)
        try:
            with self.told(name, None if place is None else place.whole()):
                made = self.functions[found] = self._compile(found.source, self.unique(f"__torch__.{name}"))
        finally:
            self._open.pop()
        return made

    def _ignored(self, function, name, own=None):
        read = source.read(function)
        arguments, answer = definitions.declared(read, own)
        return Compiled(name, forms.Form(read.name, arguments, [answer or kinds.TENSOR]), python=function)

    @staticmethod
    def overloads(function):
        """The signatures that `_overload` has marked for a function, which they are kept with."""
        if not isinstance(function, python_types.FunctionType):
            return ()
        marked = jtensor.jit._overloads.pop((function.__module__, function.__qualname__), None)
        if marked is not None and function not in marked:
            function._torchscript_overloads = marked
        return getattr(function, "_torchscript_overloads", ())

    def _overload(self, function, signature, place):
        key = function, signature
        if key not in self.functions:
            if key in self._open:
                raise RuntimeError(f"function '{function.__name__}' is called recursively. Recursive calls are not supported")
            self._open.append(key)
            try:
                with self.told(function.__name__, None if place is None else place.whole()):
                    self.functions[key] = self._compile(source.read(function), self.unique(qualified(function)),
                                                        signature=source.read(signature))
            finally:
                self._open.pop()
        return self.functions[key]

    def _compile(self, read, name, own=None, value=None, signature=None):
        arguments, answer = definitions.declared(signature or read, own)
        for one in (*[one.kind for one in arguments if one.kind is not own], *([answer] if answer is not None else [])):
            self.classes.complete(one)
        graph, result = definitions.compile(self, read, arguments, answer, value)
        ssa.to_values(graph)
        cleanup.tidy(graph)
        return Compiled(name, forms.Form(read.name, arguments, [result]), graph)

    def compiled_method(self, read, name, kind):
        """The `Compiled` of a method of a class or module, of its source."""
        return self._compile(read, name, kind, values.Simple)

    # -- modules --------------------------------------------------------------------------------------------------------

    called_with_hooks = staticmethod(hooks.called)

    def kind_of(self, module):
        """The `Kind` of a module, shared by those that are alike; its methods are compiled."""
        known = self.modules.get(id(module))
        if known is not None:
            return known[1]
        if "_source" in module.__dict__:                          # compiled before, of this module of Python
            kind = self.kind_of(module.__dict__["_source"])
            self.modules[id(module)] = module, kind
            return kind
        described = Described.of(module, self)
        key = described.key()
        kind = self.types.get(key)
        if kind is None:
            described.name = self.unique(qualified(type(module)))
            kind = self.types[key] = kinds.Kind(described.name, what=described)
            self.modules[id(module)] = module, kind
            self._methods(kind)
        self.modules[id(module)] = module, kind
        return kind

    def _methods(self, kind):
        described = kind.what
        library.complete(described, self, kind)
        for name in described.entries():
            self.method(kind, name)
        for name, signatures in described.overloads.items():
            function = getattr(type(described.module), name)
            for at, signature in enumerate(signatures):
                short = f"{name}__{at}"
                if short not in described.methods:
                    self._method_for(kind, short, function, signature)
        for name, prop in described.properties():
            self._getter(kind, name, prop)
        hooks.complete(described, self, kind)

    def method(self, kind, name, place=None):
        """The `Compiled` of a module's method; None where it has none of this name."""
        described = kind.what
        made = described.methods.get(name)
        if made is not None:
            return made
        if name in described.overloads:
            return None
        read, function = library.method(described.python, name), getattr(type(described.module), name, None)
        if function is None and read is None:
            function = described.module.__dict__.get(name)
            function = getattr(function, "__func__", None)
        if read is None and (function is None or not inspect.isfunction(function)):
            return None
        if (kind, name) in self._open:
            raise RuntimeError(f"method '{described.name}.{name}' is called recursively. Recursive calls are not supported")
        if read is None and sites.is_own(function.__module__):
            raise MissingFeature(str(absent(f"{described.python.__name__}.{name}")))
        if modifier(function) in ("ignore", "unused"):
            made = self._ignored(function, f"{described.name}.{name}", kind)
        else:
            self._open.append((kind, name))
            try:
                with self.told(f"{described.python.__name__}.{name}", None if place is None else place.whole()):
                    made = self._compile(read or source.read(function), f"{described.name}.{name}", kind, values.Simple)
            finally:
                self._open.pop()
        made.short = name
        described.methods[name] = made
        return made

    def _method_for(self, kind, short, function, signature):
        described = kind.what
        with self.told(f"{described.python.__name__}.{short}"):
            made = self._compile(source.read(function), f"{described.name}.{short}", kind, values.Simple, source.read(signature))
        made.short = short
        described.methods[short] = made

    def attribute(self, state, value, name, place):
        """``value.name`` of a module, or of an object."""
        described = value.type.what
        if described.sort == "class":
            return self.classes.attribute(state, value, name, place)
        found = described.attributes.get(name)
        if found is not None:
            return values.Simple(_got(state, value, name, found))
        if name in described.constants:
            return objects.sugared(state, described.constants[name], place, constant=True)
        if name in described.modules:
            return values.Simple(_got(state, value, name, described.modules[name]))
        if name in described.functions:
            made = self.function(described.functions[name], place)
            if made is not None:
                return made
        prop = getattr(type(described.module), name, None)
        if isinstance(prop, property) and library.method(described.python, name) is None:
            return self._property(state, value, name, prop, place)
        container = self._of_container(state, value, name, place)
        if container is not None:
            return container
        if name in described.overloads:
            return self._overloaded_method(value, name)
        made = self.method(value.type, name, place)
        if made is not None:
            return values.Method(value, made)
        hint = described.failed.get(name)
        if isinstance(hint, MissingFeature):
            raise hint
        if hint is None and hasattr(described.module, name):
            hint = ("This attribute exists on the Python module, but we failed to convert Python type: "
                    f"'{type(getattr(described.module, name)).__name__}' to a TorchScript type.")
        raise error(f"Module '{described.python.__name__}' has no attribute '{name}' {f'({hint})' if hint else ''}", place)

    def _overloaded_method(self, value, name):
        described, found = value.type.what, []
        for at, signature in enumerate(described.overloads[name]):
            short = f"{name}__{at}"
            if short not in described.methods:
                self._method_for(value.type, short, getattr(type(described.module), name), signature)
            found.append(described.methods[short])
        return values.OverloadedMethod(value, found)

    def _property(self, state, value, name, prop, place):
        made = self._getter(value.type, name, prop, place)
        return values.Simple(values.Method(value, made).called(state, [], [], place).value)

    def _getter(self, kind, name, prop, place=None):
        described, short = kind.what, f"__{name}_getter"
        if short not in described.methods:
            with self.told(f"{described.python.__name__}.{short}", None if place is None else place.whole()):
                made = self._compile(source.read(prop.fget), f"{described.name}.{short}", kind, values.Simple)
            made.short = short
            described.methods[short] = made
        return described.methods[short]

    def _of_container(self, state, value, name, place):
        """``keys``, ``values`` and ``items`` of modules in a dictionary."""
        described = value.type.what
        if not issubclass(described.python, jtensor.nn.ModuleDict) or name not in ("keys", "values", "items"):
            return None
        return _Items(value, name, self)

    def set_attribute(self, state, value, name, given, place):
        """``value.name = given``."""
        from . import matching
        described = value.type.what
        if described.sort == "class":
            self.classes.set_attribute(state, value, name, given, place)
            return
        kind = described.attributes.get(name)
        if kind is None:
            if name in described.constants:
                raise error(f"Assigning to the constant '{name}'", place)
            raise error(f"Tried to set nonexistent attribute: {name}. Did you forget to initialize it in __init__()?", place)
        given = matching.convert_to(state, given, kind, True)
        if not kinds.is_part(kinds.plain(given.type), kind):
            raise error(f"Wrong type for attribute assignment. Expected {kind.shown()} but got {given.type.shown()}", place)
        state.add_node("prim::SetAttr", [value, given], data=name)

    def iterated(self, state, value, place):
        """The modules that a container holds."""
        described = value.type.what
        if issubclass(described.python, jtensor.nn.ModuleDict):
            return values.Parts([values.Simple(state.constant(name)) for name in described.modules])
        if not issubclass(described.python, (jtensor.nn.ModuleList, jtensor.nn.Sequential)):
            raise error("Only constant Sequential, ModuleList, ModuleDict, or ParameterList can be used as an iterable", place)
        return values.Parts([values.Simple(_got(state, value, name, kind)) for name, kind in described.modules.items()])

    def item(self, state, value, key, index, place):
        """One of the modules that a container holds."""
        described = value.type.what
        if index.node is None or not index.node.is_constant:
            return values.Simple(interfaces.index(state, value, state.hint, index, place))
        at = index.node.data
        if issubclass(described.python, jtensor.nn.ModuleDict):
            if at not in described.modules:
                raise error(f"Key Error, {at}", place)
            return values.Simple(_got(state, value, at, described.modules[at]))
        if not issubclass(described.python, (jtensor.nn.ModuleList, jtensor.nn.Sequential)):
            raise error("Only ModuleList, Sequential, ModuleDict, ParameterList, and ParameterDict modules are subscriptable", place)
        inside = list(described.modules)
        if not -len(inside) <= at < len(inside):
            raise error("list index out of range", place)
        return values.Simple(_got(state, value, inside[at], described.modules[inside[at]]))


class _Items(values.Sugared):
    sort = "method"

    def __init__(self, value, word, unit):
        self.value, self.word, self.unit = value, word, unit

    def called(self, state, args, kwargs, place, many=1):
        modules = self.value.type.what.modules
        parts = {"keys": lambda name, kind: values.Simple(state.constant(name)),
                 "values": lambda name, kind: values.Simple(_got(state, self.value, name, kind)),
                 "items": lambda name, kind: values.Parts([values.Simple(state.constant(name)),
                                                           values.Simple(_got(state, self.value, name, kind))])}[self.word]
        return values.Parts([parts(name, kind) for name, kind in modules.items()])


def _got(state, value, name, kind):
    made = state.add("prim::GetAttr", [value], kind, data=name)
    made.name = name
    return made
