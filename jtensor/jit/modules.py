"""Modules that a file of TorchScript holds, run as Python: `RecursiveScriptModule` and its methods.

Owns: what such a module answers for its attributes, what its methods take and refuse, with PyTorch's messages. May not know: how a file is
read, how its programs are written.
"""
import ast
import copy
import re
import traceback

from ..base.errors import MissingFeature, missing
from ..nn import Module, Parameter
from ..tensor.core import Tensor
from . import Error, programs
from .conversions import HELD, fitting, in_program, pythons

_NO_CAST = ("Unable to cast Python instance of type {} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode "
            "for details)")


_MANGLED = re.compile(r"___torch_mangle_\d+\.")


class ScriptModule(Module):
    """What TorchScript makes of modules; here only files have such."""

    __module__ = "torch.jit._script"


class RecursiveScriptModule(ScriptModule):
    """A module of a file of TorchScript: an ordinary module whose methods are the file's programs.

    >>> torch.jit.RecursiveScriptModule.__mro__[1]
    <class 'torch.jit._script.ScriptModule'>
    """

    __module__ = "torch.jit._script"

    def __init__(self, kind):
        super().__init__()
        self.__dict__.update(_kind=kind, _values={}, _archive=None)
        for known, names in ((self._forward_pre_hooks, kind.forward_pre_hooks), (self._forward_hooks, kind.forward_hooks)):
            known.update(enumerate(Hook(kind.hooks[name]) for name in names))

    # -- what programs ask ----------------------------------------------------------------------------------------------

    def _script_attribute(self, name):
        for found in (self._parameters, self._buffers, self._modules, self._values, self._kind.fixed):
            if name in found:
                return found[name]
        return self.training if name == "training" else self._script_method(name)

    def _script_set(self, name, value):
        if name in self._values:
            self._values[name] = value
        elif name in self._buffers:
            self._buffers[name] = value
        else:
            super().__setattr__(name, value)

    def _script_method(self, name):
        method = self._kind.methods.get(name)
        if method is None:
            raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")
        made = method.made()
        return lambda *args, **kwargs: made(self, *args, **kwargs)

    def _script_state(self, values):
        if "__setstate__" in self._kind.methods:
            self._kind.methods["__setstate__"](self, values)
            return
        for name, value in values.items():
            if isinstance(value, Module):
                self._modules[name] = value
            elif name in self._kind.parameters:
                self._parameters[name] = value if value is None else Parameter(value.detach(), value.requires_grad)
            elif name in self._kind.buffers:
                self._buffers[name] = value
            elif name == "training":
                self.training = value
            else:
                self._values[name] = value

    def _script_values(self):
        """The class, and all its attributes as a file has them, in the order of their declaration."""
        if "__getstate__" in self._kind.methods:
            return self._kind, self._kind.methods["__getstate__"](self)
        values = {}
        for name in self._kind.names:
            if name not in self._kind.fixed:
                values[name] = self._script_attribute(name)
        return self._kind, values

    # -- what Python asks -----------------------------------------------------------------------------------------------

    def __getattr__(self, name):
        values = self.__dict__
        for where in ("_parameters", "_buffers", "_modules", "_values"):
            if where in values and name in values[where]:
                found = values[where][name]
                return pythons(found) if where == "_values" and programs.ROOT in self._kind.names.get(name, "") else found
        kind = values.get("_kind")
        if kind is not None:
            if name in kind.fixed:
                return kind.fixed[name]
            if name in kind.methods:
                return ScriptMethod(self, kind.methods[name])
            if f"__{name}_getter" in kind.methods:
                return ScriptMethod(self, kind.methods[f"__{name}_getter"])()
        raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if name in self.__dict__.get("_values", ()):
            kind = self._kind.names.get(name, "Any")
            given = fitting(value, kind)
            if not programs.is_of(given, kind):
                raise RuntimeError(f"Could not cast attribute '{name}' to type {kind}: {_NO_CAST.format(type(value))}")
            self._values[name] = given
        elif name in self.__dict__.get("_modules", ()) and self.__dict__.get("_kind") is not None:
            self._check_part(name, value)
            super().__setattr__(name, value)
        elif "_kind" in self.__dict__ and name in self._kind.fixed:
            raise AttributeError(f"Cannot mutate TorchScript constant value: '{name}'. Value: '{value}'")
        else:
            super().__setattr__(name, value)

    def _check_part(self, name, value):
        """Refuses what cannot take the place of a part."""
        if not isinstance(value, ScriptModule):
            raise RuntimeError("Cannot re-assign modules in a ScriptModule with non-scripted module, tried to replace existing module "
                               f"'{name}': {value}")
        wanted = self._kind.names.get(name, "")
        found = getattr(value.__dict__.get("_kind"), "name", wanted)
        if _MANGLED.sub("", wanted) != _MANGLED.sub("", found) and not getattr(self._kind.unit.find(wanted), "is_interface", False):
            wanted, found = (f"'{one} (of Python compilation unit at: {id(self._kind.unit):#x})'" for one in (wanted, found))
            raise RuntimeError(f"Expected a value of type {wanted} for field '{name}', but found {found}")

    @property
    def forward(self):
        method = self._kind.methods.get("forward")
        if method is None:
            raise AttributeError("'RecursiveScriptModule' object has no attribute 'forward'")
        return ScriptMethod(self, method)

    # -- what containers answer, which PyTorch leaves to those of Python that were compiled ------------------------------

    def _by_container(self, method, *args):
        found = getattr(self.__dict__.get("_container"), method, None)
        if found is None:
            raise NotImplementedError
        return found(*args)

    def __len__(self):
        return self._by_container("__len__")

    def __iter__(self):
        return self._by_container("__iter__")

    def __getitem__(self, at):
        return self._by_container("__getitem__", at)

    def __contains__(self, one):
        return self._by_container("__contains__", one)

    def __bool__(self):
        return True

    # -- what it says -----------------------------------------------------------------------------------------------------

    @property
    def original_name(self):
        """The name of the class that this was."""
        return self._kind.__name__

    @property
    def code(self):
        """The program of ``forward``, as the file has it; PyTorch writes it anew, with other helping variables."""
        return self.forward.code

    @property
    def graph(self):
        """Refuses: a program is text here."""
        raise missing("graphs of TorchScript (RecursiveScriptModule.graph)", "its program as text: module.code")

    inlined_graph = graph

    def extra_repr(self):
        return f"original_name={self.original_name}"

    def save(self, f, _extra_files=None):
        """Writes the module to a path, or to an open file that `torch.jit.load`, here or in PyTorch, reads."""
        from . import save
        save(self, f, _extra_files)

    def __deepcopy__(self, memo):
        made = RecursiveScriptModule(self._kind)
        memo[id(self)] = made
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()
                              if name not in ("_archive", "_container", "_source")})
        made.__dict__.update({name: self.__dict__[name] for name in ("_archive", "_source") if name in self.__dict__})
        return made

    def __copy__(self):
        made = RecursiveScriptModule(self._kind)
        made.__dict__.update(self.__dict__)
        made.__dict__.pop("_container", None)
        return made

    def __reduce_ex__(self, protocol):
        raise RuntimeError(f"Tried to serialize object {self._kind.name} which does not have a __getstate__ method defined!")


REFUSED = tuple("""_get_backward_hooks _get_backward_pre_hooks _maybe_warn_non_full_backward_hook _register_load_state_dict_pre_hook
    _register_state_dict_hook bfloat16 compile get_buffer get_parameter get_submodule ipu mtia register_backward_hook register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ set_submodule to_empty
    xpu""".split())
"""Methods of modules that those of TorchScript do not have."""


def _refusal(name):
    def fail(self, *args, **kwargs):
        raise RuntimeError(name + " is not supported on ScriptModules")
    return fail


for _name in REFUSED:
    setattr(RecursiveScriptModule, _name, _refusal(_name))


class ScriptMethod:
    """A program of a module, bound to it: called as Python's methods are, with the declared types."""

    __module__, __qualname__ = "torch", "ScriptMethod"
    first = 1                                                     # arguments before the caller's: the module

    def __init__(self, owner, function):
        self.owner, self._function, self.name = owner, function, function.name.rpartition(".")[2]

    @property
    def code(self):
        """The program as text."""
        shown = self._function.shown
        if shown is not None:
            return shown if isinstance(shown, str) else shown()
        kind = self.owner._kind.name
        return self._function.text.replace(f": {kind}", "", 1)

    @property
    def graph(self):
        """Refuses: a program is text here."""
        raise missing("graphs of TorchScript (ScriptMethod.graph)", "its program as text: method.code")

    def __call__(self, *args, **kwargs):
        given = self._bound(args, kwargs)
        try:
            found = self._function(self.owner, **given)
            if HELD and type(found) in (list, dict):
                found = found.copy()                              # which may be what was given
            return pythons(found) if self._function.answers_objects else found
        except (MissingFeature, MemoryError):
            raise
        except Exception as error:
            raise _told(error) from error

    def _bound(self, args, kwargs):
        takes = self._function.takes
        if len(args) > len(takes):
            raise RuntimeError(f"{self.name}() expected at most {len(takes) + self.first} argument(s) but received "
                               f"{len(args) + self.first} argument(s). "
                               f"Declaration: {self._declaration()}")
        given = dict(zip([name for name, _, _ in takes], args, strict=False))
        given.update({name: value for name, value in kwargs.items() if name not in given})
        for at, (name, kind, optional) in enumerate(takes):
            if name not in given:
                if not optional:
                    raise RuntimeError(f"{self.name}() is missing value for argument '{name}'. Declaration: {self._declaration()}")
                continue
            if kind == "Tensor" and isinstance(given[name], Tensor):
                continue
            value = given[name] = fitting(in_program(given[name], kind, self._function.unit), kind)
            if name in self._function.counts and type(value) in (int, float):
                value = given[name] = fitting([value] * self._function.counts[name], kind)
            if not programs.is_of(value, kind):
                inferred = name in self._function.inferred
                more = f"\nInferred '{name}' to be of type 'Tensor' because it was not annotated with an explicit type." * inferred
                raise RuntimeError(f"{self.name}() Expected a value of type '{kind}{' (inferred)' * inferred}' for argument '{name}' but "
                                   f"instead found type '{type(value).__name__}'.{more}\nPosition: {at + self.first}\nValue: {value!r}\n"
                                   f"Declaration: {self._declaration()}\n"
                                   f"Cast error details: {_not_cast(value, kind)}")
        unknown = given.keys() - {name for name, _, _ in takes} if kwargs else ()
        if unknown:
            raise RuntimeError(f"Unknown keyword argument '{min(unknown)}' for operator '{self.name}'. Schema: {self._declaration()}")
        return given

    def _own(self, owner):
        return [f"{self.owner._kind.name} {owner.arg}"]

    def _declaration(self):
        node = self._function.node
        owner, *arguments = node.args.args
        first = len(arguments) - len(node.args.defaults)
        parts = self._own(owner)
        for at, a in enumerate(arguments):
            default = f"={ast.unparse(node.args.defaults[at - first])}" if at >= first else ""
            kind, count = _schema(a.annotation), self._function.counts.get(a.arg)
            parts.append(f"{kind.replace('[]', f'[{count}]') if count else kind} {a.arg}{default}")
        answer = _schema(node.returns)
        return f"{self.name}({', '.join(parts)}) -> {f'({answer})' if answer.startswith('(') else answer}"


ScriptMethod.__qualname__ = "ScriptMethod"


class Hook(programs.Shared):
    """A hook of a module, as Python calls it."""

    __module__ = "torch.jit"

    def __init__(self, function):
        self._function, self.name = function, function.name.rpartition(".")[2]

    def __call__(self, module, *args):
        return ScriptMethod(module, self._function)(*args)

    @property
    def code(self):
        """The program as text."""
        return self._function.text

    def __repr__(self):
        return f"<torch.jit.torch.jit.ScriptFunction object at {id(self):#x}>"


Hook.__name__ = Hook.__qualname__ = "ScriptFunction"


def _not_cast(value, kind):
    return f"Unable to cast {value!r} to Tensor" if kind == "Tensor" else _NO_CAST.format(type(value))


def _schema(node):
    """A type as schemas write it: ``int?``, ``Tensor[]``, ``Dict(str, Tensor)``."""
    if node is None:
        return "Tensor"
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = node.value.id
        if name == "Optional":
            return f"{_schema(inner[0])}?"
        if name == "List":
            return f"{_schema(inner[0])}[]"
        if name == "Tuple":
            return f"({', '.join(map(_schema, inner))})"
        return f"{name}({', '.join(map(_schema, inner))})"
    return ast.unparse(node)


def _told(error):
    """An error inside of a program, as PyTorch tells it: with the lines of the file that led there."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("code/")]
    lines = [f'  File "{f.filename}", line {f.lineno}, in {f.name}\n    {f.line}' for f in frames]
    kind, text = (type(error), str(error)) if isinstance(error, Error) else (RuntimeError, f"RuntimeError: {_message(error)}")
    whole = "\n".join(["The following operation failed in the TorchScript interpreter.",
                       "Traceback of TorchScript, serialized code (most recent call last):", *lines, text])
    return kind(whole)


def _message(error):
    """What an error says in the words of PyTorch's interpreter."""
    if isinstance(error, KeyError):
        return f"KeyError: {error.args[0] if error.args else ''}"
    return "division by 0" if isinstance(error, ZeroDivisionError) else str(error)
