"""Compiled functions and modules as the text of a file: what `archive.write` wants to know of one, and what runs.

Owns: which file a class or function is written to, in which order. May not know: how anything is compiled, how lines are written.
"""
import functools

from ...base.errors import MissingFeature
from .. import programs
from ..making import PLACEHOLDER
from ..text import Constants, constant
from . import kinds
from .printing import Writer

_NO_PYTHON = ("Could not export Python function call '{}'. Remove calls to Python functions before export. Did you forget to add @script "
              "or @script_method annotation? If this is a nn.ModuleList, add it to __constants__")


class Program:
    """What is written for a root: a compiled function, or a module's `Kind`. ``unit``: what compiled it."""

    def __init__(self, root, unit):
        self._sources, self._done, self._seeds = {}, set(), {}
        self._constants, self._functions, self._root, self._classes = Constants(), [], root, unit.classes.methods
        self._objects = {}                                        # {name: class of Python} of those that are compiled
        if isinstance(root, kinds.Kind):
            self.name = root.what.name
            self._class(root.what)
            for _, kind in unit.modules.values():                 # some are known by an interface alone
                self._class(kind.what)
        else:
            self.name = PLACEHOLDER
            self._add("__torch__.py", "class PlaceholderModule(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
                      + self._method(root, PLACEHOLDER, "forward", True))
        texts = {file: "".join(parts) for file, parts in self._sources.items()}
        self.python = [one.python for one in self._functions]
        self.constants = self._constants.tensors
        self.records = {f"code/{file}": text.encode() for file, text in texts.items()}
        self.unit = programs.Unit(texts)
        self.unit.constants = dict(enumerate(self.constants)) | {_FIRST + at: one for at, one in enumerate(self.python)}
        self.unit._found.update(self._seeds)
        for name, python in self._objects.items():
            self.unit.find(name).python = python

    @property
    def root_name(self):
        """What a root function is called."""
        return self._root.short_name

    def kind(self, name=(), methods=None):
        """The class of a root, or of another name, whose methods know how PyTorch shows them."""
        found = self.unit.find(name or self.name)
        for short, made in ({"forward": self._root} if methods is None else methods).items():
            if short in found.methods:
                function = found.methods[short]
                function.shown = functools.partial(shown, made, methods is not None)
                function.inferred = {one.name for one in made.form.arguments if one.kind.note == "inferred"}
                function.counts = {one.name: one.count for one in made.form.arguments if one.count}
        return found

    @property
    def shown(self):
        """The function as PyTorch shows it."""
        return shown(self._root, False)

    def check(self):
        """Refuses to be written where it calls what only Python has."""
        if self._functions:
            raise RuntimeError(f"\n{_NO_PYTHON.format(self._functions[0].short)}\n")

    def _add(self, file, text, first=False):
        self._sources.setdefault(file, []).append(text)

    # -- names in files -------------------------------------------------------------------------------------------------

    def typed(self, what):
        """What a kind or a function is called; it is written, too."""
        if isinstance(what, kinds.Kind):
            for one in what.of:
                self.typed(one)
            if what.what is not None:
                self._class(what.what)
                return what.what.name
            return str(kinds.Kind(what.name, [_Named(self.typed(one), one.name) for one in what.of])) if what.of else str(what)
        self._function(what)
        if what.python is not None:
            return f"CONSTANTS.c{_FIRST + self._functions.index(what)}"
        return what.name

    def _function(self, made):
        if made in self._done:
            return
        self._done.add(made)
        if made.python is not None:
            self._functions.append(made)
            return
        file = _file(made.name)
        at = len(self._sources.setdefault(file, []))
        text = Writer(self._constants, 0, self.typed).function(made.short_name, made)
        self._sources[file].insert(at, text)

    def _class(self, what):
        if what in self._done:
            return
        self._done.add(what)
        if what.sort == "named tuple":
            lines = [f"class {what.name.rpartition('.')[2]}(NamedTuple):"]
            lines += [f"  {name} : {self.typed(kinds.plain(kind))}" for name, kind in zip(what.names, what.kinds, strict=True)]
            self._seeds[what.name] = what.python
            self._add(_file(what.name), "\n".join(lines) + "\n")
        elif what.sort == "enum":
            lines = [f"class {what.name.rpartition('.')[2]}(Enum):"]
            lines += [f"  {name} = {constant(what.python[name].value, self._constants)}" for name in what.names]
            self._seeds[what.name] = what.python
            self._add(_file(what.name), "\n".join(lines) + "\n")
        elif what.sort == "module":
            self._module(what)
        elif what.sort == "class":
            self._compiled_class(what)
        elif what.sort == "interface":
            self._interface(what)
        else:
            raise MissingFeature(what.name)

    def _interface(self, what):
        lines = [f"class {what.name.rpartition('.')[2]}({'Module' * what.is_module}Interface):"]
        for name, one in what.declared.items():
            takes = "".join([f", {argument.name}: {self.typed(kinds.plain(argument.kind))}" for argument in one.form.arguments[1:]])
            lines += [f"  def {name}(self{takes}) -> {self.typed(one.form.returns[0])}:", "    pass"]
        self._add(_file(what.name), "\n".join(lines) + "\n")

    def _compiled_class(self, what):
        self._objects[what.name] = what.python
        lines = [f"class {what.name.rpartition('.')[2]}:"]
        lines += [f"  {name} : {self.typed(kind)}" for name, kind in what.attributes.items()]
        file = _file(what.name)
        at = len(self._sources.setdefault(file, []))
        methods = [self._method(made, what.name, name) for name, made in sorted(self._classes[what].items())]
        self._sources[file].insert(at, "\n".join(lines) + "\n" + "".join(methods))

    def _module(self, what):
        def listed(names):
            return "[" + "".join([f'"{name}", ' for name in names]) + "]"
        lines = [f"class {what.name.rpartition('.')[2]}(Module):", f"  __parameters__ = {listed(what.parameters)}",
                 f"  __buffers__ = {listed(what.buffers)}"]
        hooks = dict.fromkeys([*what.hooks, *what.pre_hooks])
        for word, found in (("pre_hooks", what.pre_hooks), ("hooks", what.hooks)):
            lines += [f"  __forward_{word}__ = {listed([one.short for one in found])}"] * bool(found)
        names = {name: self.typed(kinds.plain(kind)) for name, kind in (*what.attributes.items(), *what.modules.items())}
        lines += [f"  {name} : {kind}" if name.isidentifier() else f'  __annotations__["{name}"] = {kind}' for name, kind in names.items()]
        for name, value in what.constants.items():
            written = _fixed(value, self._constants)
            if written is not None:
                lines.append(f"  {name} : Final[{written[0]}] = {written[1]}")
        file = _file(what.name)
        at = len(self._sources.setdefault(file, []))
        methods = [self._method(made, what.name, name) for name, made in what.methods.items() if made.python is None]
        methods += [self._method(made, what.name, made.short) for made in hooks]
        self._sources[file].insert(at, "\n".join(lines) + "\n" + "".join(methods))

    def _method(self, made, own, name, bound=False):
        writer = Writer(self._constants, 1, self.typed)
        if bound:
            text = writer.function(name, made)
            return text.replace("(", f"(self: {own}" + (",\n    " if made.graph.block.inputs else ""), 1)
        return writer.function(name, made, own)


_FIRST = 1 << 20                     # the number of the first function of Python among a program's constants


def _file(name):
    return name.rpartition(".")[0].replace(".", "/") + ".py"


class _Named:
    """A name that is written already, as a kind inside of another."""

    def __init__(self, text, name):
        self.text, self.name = text, name

    def __str__(self):
        return self.text


def _fixed(value, constants):
    """(type, text) of a module's constant; None where a file has no such."""
    from . import annotations
    try:
        kind = annotations.of_value(value)
    except annotations.Unknown:
        return None
    if isinstance(value, (bool, int, float, str)) or value is None:
        return str(kind), constant(value, constants)
    if isinstance(value, (tuple, list)) and value and all(isinstance(one, (bool, int, float, str)) for one in value):
        inner = ", ".join([constant(one, constants) for one in value])
        if isinstance(value, list):
            return str(kind), f"[{inner}]"
        return str(kind), f"({inner},)" if len(value) == 1 else f"({inner})"
    return None


def shown(made, bound):
    """A function or method as PyTorch shows it."""
    return Writer(Constants(), 0, _shown_name).function(made.short_name, made, "" if bound else None)


def _shown_name(what):
    if isinstance(what, kinds.Kind):
        return str(what)
    return f"^{what.short}()" if what.python is not None else what.name

