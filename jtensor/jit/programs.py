"""Programs of TorchScript as a file has them: classes and functions in a language that is a part of Python's, made functions of Python.

A file may come from anybody, and may do no more here than in PyTorch: of Python's language it has what `_Writer` lets through, of names
those that TorchScript has (`calls`), of objects the attributes of its own classes. Owns: reading the text, what a qualified name stands
for, making functions. May not know: where the text comes from, modules.
"""
import ast
import collections
import enum
import functools
import linecache
import math

import jtensor

from ..base.errors import missing
from . import calls
from .membership import is_of

ROOT = "__torch__"


class Shared:
    """What copies of an object have in common with it."""

    def __deepcopy__(self, memo):
        return self


class Unit(Shared):
    """All the programs of a file. ``source``: {path below ``code/``: text}; ``constants``: its tensors and the like."""

    def __init__(self, source):
        self.source, self.constants = source, ()
        self._rooms, self._found = {}, {}

    def room(self, path):
        """{name: definition} of a text; None if there is none."""
        if path not in self._rooms:
            text = self.source.get(path)
            if text is None:
                self._rooms[path] = None
            else:
                name = f"code/{path}"
                linecache.cache[name] = len(text), None, text.splitlines(True), name
                self._rooms[path] = {node.name: node for node in ast.parse(text, name).body
                                     if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        return self._rooms[path]

    def find(self, name):
        """The class or function of a qualified name (``__torch__.room.Net``), or what it has under a longer one."""
        found = self._found.get(name)
        if found is not None:
            return found
        parts = name.split(".")
        for at in range(len(parts) - 1, 0, -1):
            path = "/".join(parts[:at]) + ".py"
            node = (self.room(path) or {}).get(parts[at])
            if node is None:
                continue
            full = ".".join(parts[:at + 1])
            made = self._found.get(full)
            if made is None:
                kind = Function if isinstance(node, ast.FunctionDef) else _class_of
                made = self._found[full] = kind(self, full, node, path)
            for part in parts[at + 1:]:
                made = _part(made, part)
            return made
        raise RuntimeError(f"Unknown type name '{name}'")

    def global_named(self, path):
        """What a dotted name that begins with a global one stands for."""
        root, *rest = path
        if root == ROOT:
            return self.find(".".join(path))
        if root == "torch" and len(rest) == 1:
            return calls.torch(rest[0])
        if root == "ops" and len(rest) == 2:
            return calls.ops(*rest)
        if root == "CONSTANTS" and len(rest) == 1 and rest[0][:1] == "c" and rest[0][1:].isdigit():
            return self.constants[int(rest[0][1:])]
        raise missing(f"the name {'.'.join(path)} of TorchScript", "the same in Python")


_LISTS = frozenset(f"__{name}__" for name in ("parameters", "buffers", "forward_pre_hooks", "forward_hooks"))


def _part(made, name):
    if isinstance(made, type) and issubclass(made, enum.Enum):
        return made[name]
    if isinstance(made, Class) and name == "__new__":
        return Object
    if isinstance(made, Class) and name in made.methods:
        return made.methods[name]
    raise RuntimeError(f"unknown attribute {name} of {made!r}")


# -- what a program is made of ------------------------------------------------------------------------------------------

class Function(Shared):
    """A function or method, written in Python when it is first called. ``text``: as the file has it; ``shown``: as it is told, if it was
    traced or compiled here (or what answers that); ``inferred``: the arguments whose types nobody wrote; ``counts``: how many numbers a
    list has that may be one number for all, {argument: count}."""

    shown, inferred, counts = None, (), {}

    def __init__(self, unit, name, node, path):
        self.unit, self.name, self.node, self.path, self._made = unit, name, node, path, None

    def __call__(self, *args, **kwargs):
        return self.made()(*args, **kwargs)

    def made(self):
        """The function of Python."""
        made = self._made
        if made is None:
            made = self._made = _Writer(self.unit, self.path).function(self.node)
        return made

    @property
    def text(self):
        """The lines of the file, without the indentation of methods, which the further lines of a signature have not."""
        first, body, indent = self.node.lineno, self.node.body[0].lineno, self.node.col_offset
        lines = self.unit.source[self.path].splitlines()[first - 1:self.node.end_lineno]
        return "\n".join([line[indent:] if at == first or at >= body else line for at, line in enumerate(lines, first)]) + "\n"

    @functools.cached_property
    def answers_objects(self):
        """Whether there may be objects in what it answers."""
        return self.node.returns is not None and ROOT in ast.unparse(self.node.returns)

    @functools.cached_property
    def takes(self):
        """(name, type, whether it has a default) of the arguments but ``self``."""
        arguments = self.node.args.args[1:]
        first = len(arguments) - len(self.node.args.defaults)
        return [(a.arg, ast.unparse(a.annotation) if a.annotation else "Tensor", at >= first) for at, a in enumerate(arguments)]


class Class(Shared):
    """``names``: {attribute: its type}; ``parameters`` and ``buffers``: those that are one; ``fixed``: {name: value that never changes};
    ``methods``: {name: `Function`}; ``hooks``: the same, of what ``forward_pre_hooks`` and ``forward_hooks`` name; ``python``: the class
    that was compiled, whose objects Python has for the program's."""

    forward_pre_hooks = forward_hooks = ()

    def __init__(self, unit, name, node, path):
        self.unit, self.name, self.path = unit, name, path
        self.is_module = any(isinstance(base, ast.Name) and base.id == "Module" for base in node.bases)
        self.is_interface = any(isinstance(base, ast.Name) and base.id.endswith("Interface") for base in node.bases)
        self.names, self.fixed, self.methods, self.parameters, self.buffers, self.python = {}, {}, {}, [], [], None
        literal = _Writer(unit, path).value
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                self.methods[part.name] = Function(unit, f"{name}.{part.name}", part, path)
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                self.names[part.target.id] = ast.unparse(part.annotation)
                if part.value is not None:
                    self.fixed[part.target.id] = literal(part.value)
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Subscript):           # __annotations__["0"] = ...
                self.names[part.targets[0].slice.value] = ast.unparse(part.value)
            elif isinstance(part, ast.Assign) and part.targets[0].id in _LISTS:
                setattr(self, part.targets[0].id.strip("_"), [one.value for one in part.value.elts])
        self.hooks = {one: self.methods.pop(one) for one in dict.fromkeys([*self.forward_hooks, *self.forward_pre_hooks])}

    @property
    def __name__(self):
        return self.name.rpartition(".")[2]

    def __call__(self, *args):
        made = Object(self)
        method = self.methods.get("__init__")
        if method is not None:
            method(made, *args)
        return made


def _class_of(unit, name, node, path):
    """What a class of the file is here: a named tuple, an enumeration, or a `Class`."""
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    short = name.rpartition(".")[2]
    if "NamedTuple" in bases:
        fields = [part.target.id for part in node.body if isinstance(part, ast.AnnAssign)]
        return collections.namedtuple(short, fields)
    if "Enum" in bases:
        literal = _Writer(unit, path).value
        return enum.Enum(short, {part.targets[0].id: literal(part.value) for part in node.body if isinstance(part, ast.Assign)})
    return Class(unit, name, node, path)


class Object:
    """An object of a class of the file that is no module."""

    def __init__(self, kind):
        self._kind, self._values = kind, dict(kind.fixed)

    def __getattr__(self, name):
        kind, values = self.__dict__.get("_kind"), self.__dict__.get("_values", ())
        if name in values:
            return values[name]
        if kind is not None and name in kind.methods and not name.startswith("__"):
            return method(self, name)
        raise AttributeError(f"'{kind.name if kind is not None else 'Object'}' object has no attribute '{name}'")

    def __enter__(self):
        return method(self, "__enter__")()

    def __exit__(self, *exc):
        return method(self, "__exit__")(*exc)

    def __repr__(self):
        return f"<{self._kind.name} object>"


def attribute(x, name):
    """``x.name`` of what programs may ask for attributes."""
    if x.__class__ is Object:
        found = x._values
        return found[name] if name in found else method(x, name)
    if hasattr(x.__class__, "_script_attribute"):
        return x._script_attribute(name)
    if isinstance(x, enum.Enum) and name in ("name", "value") or isinstance(x, tuple) and name in getattr(x, "_fields", ()):
        return getattr(x, name)
    raise AttributeError(f"a program of TorchScript asks a {type(x).__name__} for '{name}'")


def _part_of(x, at):
    """``x[at]`` of what may be a container of modules, in which numbers are names."""
    if not hasattr(x.__class__, "_script_attribute"):
        return x[at]
    if str(at) not in x._modules:
        raise RuntimeError(f"{x._kind.name} (of Python compilation unit at: {id(x._kind):#x}) does not have a field with name '{at}'")
    return x._modules[str(at)]


def set_attribute(x, name, value):
    """``x.name = value``."""
    if x.__class__ is Object:
        x._values[name] = value
    elif hasattr(x.__class__, "_script_attribute"):
        x._script_set(name, value)
    else:
        raise AttributeError(f"a program of TorchScript writes '{name}' of a {type(x).__name__}")


def method(x, name):
    """The method of an object, or of a module."""
    if x.__class__ is Object:
        function = x._kind.methods.get(name)
        if function is None:
            raise AttributeError(f"{x!r} has no method '{name}'")
        return lambda *args, **kwargs: function(x, *args, **kwargs)
    if hasattr(x.__class__, "_script_method"):
        return x._script_method(name)
    raise AttributeError(f"a program of TorchScript calls '{name}' of a {type(x).__name__}")


# -- writing functions --------------------------------------------------------------------------------------------------

_BUILT_IN = {"int": int, "float": float, "bool": bool, "str": calls.shown, "complex": complex, "range": range, "inf": math.inf,
             "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan), "sorted": sorted,
             "print": calls.ops("prim", "Print"), "fork": jtensor.jit.fork}
_OURS = "\u01c1"             # a letter that no name of TorchScript has: it knows those of ASCII alone
_GLOBALS = (ROOT, "torch", "ops", "CONSTANTS")
_STATEMENTS = (ast.If, ast.For, ast.While, ast.Return, ast.Expr, ast.Pass, ast.Assign, ast.With, ast.Break, ast.Continue)


def _complex(real, imaginary):
    """A constant of two parts, whose zeros keep their signs."""
    return complex(real, imaginary.imag)


class _Writer(ast.NodeTransformer):
    """Rewrites a function of a file as one of Python; what TorchScript does not have is an error."""

    def __init__(self, unit, path):
        self.unit, self.path, self.locals, self.globals, self._names = unit, path, set(), {"__builtins__": {}}, {}

    def function(self, node):
        """The function of Python that a definition stands for."""
        self.locals = {a.arg for a in node.args.args}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.locals.add(part.id)
            elif isinstance(part, ast.FunctionDef):
                self.locals.add(part.name)
        arguments = ast.arguments([], [ast.copy_location(ast.arg(a.arg), a) for a in node.args.args], defaults=[
            self.visit(default) for default in node.args.defaults], kwonlyargs=[], kw_defaults=[])
        made = ast.FunctionDef(node.name, arguments, [self.visit(part) for part in node.body], [], **_TYPE_PARAMS)
        module = ast.Module([ast.copy_location(made, node)], [])
        exec(compile(ast.fix_missing_locations(module), f"code/{self.path}", "exec"), self.globals)
        return self.globals[node.name]

    def visit_FunctionDef(self, node):
        """A function within another: what ``fork`` calls, which takes no arguments."""
        if node.args.args or node.decorator_list:
            raise self._unknown(node)
        made = ast.FunctionDef(node.name, node.args, [self.visit(part) for part in node.body], [], **_TYPE_PARAMS)
        return ast.copy_location(made, node)

    def value(self, node):
        """The value of an expression without variables."""
        made = ast.fix_missing_locations(ast.Expression(self.visit(node)))
        return eval(compile(made, f"code/{self.path}", "eval"), self.globals)

    def generic_visit(self, node):
        if not isinstance(node, _STATEMENTS + _EXPRESSIONS):
            raise self._unknown(node)
        return super().generic_visit(node)

    def _unknown(self, node):
        return missing(f"what TorchScript has in {self.path}, line {getattr(node, 'lineno', '?')} ({type(node).__name__})",
                       "the same in Python")

    def _bound(self, value):
        """A name for a value among the function's globals."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"{_OURS}{len(self.globals)}"
            self.globals[name] = value
        return ast.Name(name, ast.Load())

    def _call(self, function, *args):
        return ast.Call(self._bound(function), list(args), [])

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store) or node.id in self.locals:
            return ast.Name(node.id, node.ctx)
        if node.id in _BUILT_IN:
            return self._bound(_BUILT_IN[node.id])
        raise self._unknown(node)

    def visit_Attribute(self, node):
        path = self._path(node)
        if path is not None:
            return ast.copy_location(self._bound(self.unit.global_named(path)), node)
        return ast.copy_location(self._call(attribute, self.visit(node.value), ast.Constant(node.attr)), node)

    def _path(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in _GLOBALS and node.id not in self.locals:
            return [node.id, *parts]
        return None

    def visit_Call(self, node):
        function, args = node.func, node.args
        if isinstance(function, ast.Name) and function.id not in self.locals:
            name = function.id
            if name in ("annotate", "unchecked_cast"):
                return self.visit(args[1])
            if name == "uninitialized":
                return ast.Constant(None)
            if name == "isinstance":
                return ast.copy_location(self._call(is_of, self.visit(args[0]), ast.Constant(ast.unparse(args[1]))), node)
            if name == "getattr" and isinstance(args[1], ast.Constant):
                return ast.copy_location(self._call(attribute, self.visit(args[0]), args[1]), node)
        if isinstance(function, ast.Attribute) and self._path(function) is None:
            found = self._call(method, self.visit(function.value), ast.Constant(function.attr))
        elif isinstance(function, (ast.Name, ast.Attribute)) or getattr(getattr(function, "func", None), "id", None) == "getattr":
            found = self.visit(function)
        else:
            raise self._unknown(function)
        made = ast.Call(ast.copy_location(found, function), [self.visit(a) for a in args],
                        [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords])
        return ast.copy_location(made, node)

    def visit_BinOp(self, node):
        """``2.+1.j`` and ``2.-1.j``: the only sums there are."""
        if not isinstance(node.op, (ast.Add, ast.Sub)):
            raise self._unknown(node)
        right = node.right if isinstance(node.op, ast.Add) else ast.copy_location(ast.UnaryOp(ast.USub(), node.right), node)
        return ast.copy_location(self._call(_complex, self.visit(node.left), self.visit(right)), node)

    def visit_AnnAssign(self, node):
        made = self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        if isinstance(node.value, ast.Subscript):                 # may be one of a container's modules
            found = made.value
            made.value = ast.copy_location(self._call(_part_of, found.value, found.slice), node)
        return made

    def visit_Assign(self, node):
        target, = node.targets
        if isinstance(target, ast.Attribute):
            made = self._call(set_attribute, self.visit(target.value), ast.Constant(target.attr), self.visit(node.value))
            return ast.copy_location(ast.Expr(ast.copy_location(made, node)), node)
        return self.generic_visit(node)


_EXPRESSIONS = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.IfExp, ast.UnaryOp, ast.USub, ast.Not, ast.Load, ast.Store,
                ast.Slice, ast.keyword, ast.withitem, ast.BoolOp, ast.And, ast.Or)
_TYPE_PARAMS = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
