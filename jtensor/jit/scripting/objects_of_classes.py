"""Classes that programs make objects of, each compiled once with its methods, and contexts (``with``).

Owns: what objects of such a class have, what ``__init__`` declares. May not know: syntax, files.
"""
import inspect

from . import classes, kinds, matching, source, values
from .source import absent, error


class Classes:
    """The classes of a `Unit`: {class: {name of a method: compiled}}."""

    def __init__(self, unit):
        self.unit, self.methods, self._open = unit, {}, []

    def complete(self, kind, place=None):
        """Compiles all the classes that a kind is made of."""
        for one in kind.of:
            self.complete(one, place)
        what = kind.what
        if what is None or what.sort != "class" or what in self.methods:
            return
        self.methods[what], before = {}, dict(what.attributes)
        what.compiled = self.methods[what]
        try:
            with self.unit.told(what.name, None if place is None else place.whole()):
                for name in self._names(what):
                    self.method(kind, name, place)
        except BaseException:
            del self.methods[what]
            what.attributes.clear()
            what.attributes.update(before)
            raise

    def _names(self, what):
        """``__init__``, which declares the attributes, before all else; then properties, then methods."""
        members = vars(classes.written(what.python) or what.python)
        functions = [name for name, one in members.items() if inspect.isfunction(one) and name != "__init__"
                     and getattr(one, "_torchscript_modifier", None) not in ("ignore", "unused")]
        getters = [_getter(name) for name, one in inspect.getmembers(what.python, lambda one: isinstance(one, property))]
        return ["__init__"] * ("__init__" in members) + sorted(getters) + sorted(functions)

    def method(self, kind, name, place=None):
        """The compiled method of a class; None where it has none of this name."""
        self.complete(kind)
        what, done = kind.what, self.methods[kind.what]
        if name in done:
            return done[name]
        function = self._function(what, name)
        if function is None:
            return None
        full = f"{what.name}.{name}"
        if full in self._open:
            raise RuntimeError(f"method '{full}' is called recursively. Recursive calls are not supported")
        self._open.append(full)
        try:
            with self.unit.told(f"{what.name.rpartition('.')[2]}.{name}", place):
                done[name] = self.unit.compiled_method(source.read(function), full, kind)
        finally:
            self._open.pop()
        done[name].short = name
        return done[name]

    @staticmethod
    def _function(what, name):
        members = classes.written(what.python) or what.python
        if name.startswith("__") and name.endswith("_getter"):
            found = inspect.getattr_static(members, name[2:-len("_getter")], None)
            return found.fget if isinstance(found, property) else None
        found = inspect.getattr_static(members, name, None)
        return found if inspect.isfunction(found) else None

    def attribute(self, state, value, name, place):
        """``value.name`` of an object."""
        what = value.type.what
        self.complete(value.type)
        found = what.attributes.get(name)
        if found is not None:
            made = state.add("prim::GetAttr", [value], found, data=name)
            made.name = name
            return values.Simple(made)
        static = inspect.getattr_static(what.python, name, None)
        if isinstance(static, property):
            return values.Simple(values.Method(value, self.method(value.type, _getter(name))).called(state, [], [], place).value)
        if isinstance(static, (staticmethod, classmethod)):
            raise absent(f"a static method of an object ({name})", place)
        made = self.method(value.type, name, place)
        if made is None:
            raise error(f"'{value.type.shown()}' object has no attribute or method '{name}'. Did you forget to initialize an attribute "
                        "in __init__()?", place)
        return values.Method(value, made)

    def set_attribute(self, state, value, name, given, place):
        """``value.name = given``, which ``__init__`` may declare."""
        what = value.type.what
        kind = what.attributes.get(name)
        if kind is None:
            if state.source.name != "__init__" or value is not state.graph.block.inputs[0]:
                raise error(f"Tried to set nonexistent attribute: {name}. Did you forget to initialize it in __init__()?", place)
            if state.block is not state.graph.block:
                raise error("First assignment cannot be in a control-flow block. Initialize the field at the top level first", place)
            kind = what.attributes[name] = kinds.plain(given.type)
        given = matching.convert_to(state, given, kind, True)
        if not kinds.is_part(kinds.plain(given.type), kind):
            raise error(f"Wrong type for attribute assignment. Expected {kind.shown()} but got {given.type.shown()}", place)
        state.add_node("prim::SetAttr", [value, given], data=name)

    def made(self, state, kind, args, kwargs, place):
        """A new object, whose ``__init__`` is called."""
        self.complete(kind)
        method = self.method(kind, "__init__")
        value = state.add("prim::CreateObject", [], kind)
        if method is None:
            raise error(f"Class {kind.what.name.rpartition('.')[2]} does not have an __init__ function defined", place)
        values.Method(value, method).called(state, args, kwargs, place)
        return values.Simple(value)

    def of_class(self, state, kind, name, place):
        """``Class.name``: a static method."""
        static = inspect.getattr_static(kind.what.python, name, None)
        if isinstance(static, staticmethod):
            return self.unit.function(static.__func__, place)
        raise error(f"Tried to lookup unknown attribute on class {kind.what.name}", place)


def _getter(name):
    return f"__{name}_getter"
