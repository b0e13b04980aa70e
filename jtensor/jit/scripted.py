"""`torch.jit.script`: the functions and modules that it answers.

Owns: what Python gets for what is compiled, and for what could not be: that runs as it is and says why it has no program. May not know: how
anything is compiled (`scripting`).
"""
import copy
import enum
import functools
import inspect

from ..base.errors import MissingFeature, missing
from ..nn import Module, ModuleDict, ModuleList, Sequential
from . import conversions, modules, traced
from .frontend import FrontendError
from .scripting import classes
from .scripting.program import Program
from .scripting.unit import Unit, modifier

_CONTAINERS = Sequential, ModuleList, ModuleDict
_TOLD = (RuntimeError, FrontendError, OSError, MissingFeature, RecursionError)


def script(obj):
    """What `torch.jit.script` answers, without its warning."""
    if isinstance(obj, (modules.ScriptModule, traced.ScriptFunction)):
        return obj
    if isinstance(obj, Module):
        return _module(obj)
    if isinstance(obj, type):
        if issubclass(obj, Module):
            raise RuntimeError(f"Type '{obj}' cannot be compiled since it inherits from nn.Module, consider passing an instance instead")
        return _class(obj)
    if isinstance(obj, (list, dict)):
        from . import containers
        return containers.ScriptList(obj) if isinstance(obj, list) else containers.ScriptDict(obj)
    if inspect.ismethod(obj) and isinstance(obj.__self__, Module):
        return _module(obj.__self__)
    return _function(obj)


def _compiled(compile):
    """What a call answers, or the `MissingFeature` of what is not compiled here."""
    try:
        return compile(), None
    except MissingFeature as problem:
        return None, problem
    except Exception as problem:
        if isinstance(problem, _TOLD) and not isinstance(problem, NotImplementedError):
            raise
        if isinstance(problem, TypeError) and "built-in class" in str(problem) or getattr(problem, "is_pytorchs", False):
            raise
        made = missing(f"TorchScript of this program ({type(problem).__name__}: {problem})", "torch.jit.trace")
        made.__cause__ = problem
        return None, made


def _class(python):
    """The class itself, which programs make objects of. Raises where it is none of TorchScript."""
    if len(python.__mro__) != 2 and not issubclass(python, (enum.Enum, tuple, BaseException)):
        raise RuntimeError("TorchScript classes does not support inheritance yet. Please directly inherit from 'object'.")
    kind = classes.kind_of_class(python)
    if kind is not None:
        _compiled(lambda: Unit().classes.complete(kind))
    return python


# -- functions ---------------------------------------------------------------------------------------------------------------------------


def _function(function):
    if not callable(function) or not hasattr(function, "__code__"):
        function = getattr(function, "__wrapped__", function)
        if not hasattr(function, "__code__"):
            inspect.getsource(type(function))                     # raises what PyTorch raises
            raise missing(f"torch.jit.script of a {type(function).__name__}", "a function")
    unit = Unit()
    program, problem = _compiled(lambda: Program(unit.compiled(function), unit))
    made = UncompiledFunction(function, problem) if program is None else CompiledFunction(program, function)
    functools.update_wrapper(made, function, updated=())
    return made


class CompiledFunction(traced.ScriptFunction):
    """A function that was compiled."""

    __module__ = "torch.jit"

    def __init__(self, program, function):
        super().__init__(program.root_name, program)
        self._original = function

    def save(self, filename, _extra_files=None):
        self._program.check()
        super().save(filename, _extra_files)


class UncompiledFunction(traced.ScriptFunction):
    """A function that runs as it is: what it has is not compiled here."""

    __module__ = "torch.jit"

    def __init__(self, function, problem):
        self.name, self.qualified_name = function.__name__, "__torch__." + function.__name__
        self._original, self._problem = function, problem

    def __call__(self, *args, **kwargs):
        return self._original(*args, **kwargs)

    @property
    def code(self):
        """Raises: there is no program."""
        raise self._problem

    graph = inlined_graph = code

    def save(self, filename, _extra_files=None):
        raise self._problem


for _one in (CompiledFunction, UncompiledFunction):
    _one.__name__ = _one.__qualname__ = "ScriptFunction"


# -- modules -----------------------------------------------------------------------------------------------------------------------------


def _module(module):
    for one in module.modules():
        if one._backward_hooks:
            raise ValueError(f"Modules that have backward hooks assigned can't be compiled: {one}")

    def compile():
        unit = Unit()
        return unit, Program(unit.kind_of(module), unit)
    found, problem = _compiled(compile)
    if found is None:
        return UncompiledModule(module, problem)
    unit, program = found
    return _made(module, unit, program, {})


def _made(module, unit, program, known):
    """The compiled module of a module of Python, with its parameters."""
    if id(module) in known:
        return known[id(module)]
    what = unit.modules[id(module)][1].what
    if isinstance(module, modules.RecursiveScriptModule):
        return _moved(module, module.__dict__["_source"], unit, program)
    made = known[id(module)] = modules.RecursiveScriptModule(program.kind(what.name, what.methods))
    made.__dict__.update(training=module.training, _archive=program, _source=module)
    for name in what.attributes:
        if name in what.parameters:
            made._parameters[name] = module._parameters[name]
        elif name in what.buffers:
            made._buffers[name] = module._buffers[name]
            if name in module._non_persistent_buffers_set:
                made._non_persistent_buffers_set.add(name)
        elif name != "training":
            value = _copied(getattr(module, name, None))
            value = conversions.in_program(value, str(what.attributes[name]), program.unit)
            made._values[name] = list(value) if isinstance(value, tuple) and what.attributes[name].name == "List" else value
    if isinstance(module, _CONTAINERS):
        made.__dict__["_container"] = module
    for name in what.modules:
        made._modules[name] = _made(module._modules[name], unit, program, known)
    for name in dir(type(module)):
        function = inspect.getattr_static(type(module), name, None)
        if modifier(function) in ("ignore", "unused"):
            made.__dict__[name] = functools.partial(function, made)
    return made


def _moved(made, module, unit, program):
    """A compiled module, compiled again as a part of another: it goes by that program from here on."""
    what = unit.modules[id(module)][1].what
    made.__dict__.update(_kind=program.kind(what.name, what.methods), _archive=program)
    for name in what.modules:
        _moved(made._modules[name], module._modules[name], unit, program)
    return made


def _copied(value):
    """A value as an attribute has it: programs change their own."""
    if hasattr(value, "type") and type(value).__name__ == "Attribute":
        value = value.value
    if isinstance(value, list):
        return [_copied(one) for one in value]
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return value


class UncompiledModule(modules.RecursiveScriptModule):
    """A module that runs as it is: what it has is not compiled here. It shares all it has with the original."""

    __module__ = "torch.jit._script"

    def __init__(self, module, problem):
        Module.__init__(self)
        self.__dict__.update(_original=module, _problem=problem, _kind=None, _values={}, _archive=None, training=module.training,
                             _parameters=module._parameters, _buffers=module._buffers, _modules=module._modules,
                             _non_persistent_buffers_set=module._non_persistent_buffers_set)
        if isinstance(module, _CONTAINERS):
            self.__dict__["_container"] = module

    @property
    def forward(self):
        return self._original                                     # with its hooks

    def train(self, mode=True):
        self._original.train(mode)
        self.__dict__["training"] = mode
        return self

    def __getattr__(self, name):
        return getattr(self.__dict__["_original"], name)

    def __setattr__(self, name, value):
        setattr(self._original, name, value)

    @property
    def original_name(self):
        return type(self._original).__name__

    @property
    def code(self):
        """Raises: there is no program."""
        raise self._problem

    graph = inlined_graph = code

    def save(self, f, _extra_files=None):
        raise self._problem

    def __deepcopy__(self, memo):
        return UncompiledModule(copy.deepcopy(self._original, memo), self._problem)


UncompiledModule.__name__ = UncompiledModule.__qualname__ = "RecursiveScriptModule"
