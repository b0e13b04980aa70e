"""`torch.jit.trace` and `trace_module`: the objects that they answer, and what they refuse.

Owns: traced modules and functions as Python sees them. May not know: how a trace is recorded (`tracing`), or checked (`checks`).
"""
import warnings

from ..nn import Module
from ..tensor.core import Tensor
from . import archive, checks, making, modules, tracing

_NO_OP = "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is."
_OF_A_METHOD = "trace doesn't support compiling individual module's functions.\nPlease use trace_module"


# -- what is answered ---------------------------------------------------------------------------------------------------


_NO_CONTAINER = {"__len__": "object of type '{}' has no len()", "__getitem__": "'{}' object is not subscriptable",
                 "__iter__": "'{}' object is not iterable", "__contains__": "argument of type '{}' is not iterable"}


class TracedModule(modules.RecursiveScriptModule):
    """A part of a traced module: its parameters are those of the original; it is called by the whole alone."""

    __module__ = "torch.jit._trace"

    def _get_name(self):
        return self.original_name

    def _by_container(self, method, *args):
        raise TypeError(_NO_CONTAINER[method].format(type(self).__name__))

    @property
    def forward(self):
        return _refuse

    def _made_of(self, module, program, path=()):
        self._parameters.update({name: one for name, one in module._parameters.items() if one is not None})
        self._buffers.update({name: one for name, one in module._buffers.items() if one is not None})
        self.__dict__.update(training=module.training, _archive=program)
        self._values["_is_full_backward_hook"] = None
        for name, child in module._modules.items():
            if child is not None:
                inner = (*path, name)
                self._modules[name] = TracedModule(program.kind(inner))._made_of(child, program, inner)
        return self


for _name in modules.REFUSED:                                     # which traced modules have
    if hasattr(Module, _name):
        setattr(TracedModule, _name, getattr(Module, _name))


def _refuse(*args, **kwargs):
    raise RuntimeError("Trace submodules cannot be called.")


class TopLevelTracedModule(TracedModule):
    """What `torch.jit.trace` makes of a module."""

    __module__ = "torch.jit._trace"
    forward = modules.RecursiveScriptModule.forward


class ScriptFunction:
    """What `torch.jit.trace` makes of a function: called as it is, with tensors where it was traced with tensors.

    ``code``: its program as text.
    """

    __module__ = "torch.jit"

    def __init__(self, name, program):
        self.name, self.qualified_name, self._program = name, "__torch__." + name, program
        kind = program.kind(())
        self._module = modules.RecursiveScriptModule(kind)
        self._module.__dict__["_archive"] = program
        self._method = _Method(self._module, kind.methods["forward"], name)

    def __call__(self, *args, **kwargs):
        return self._method(*args, **kwargs)

    @property
    def code(self):
        """The program as text."""
        return self._program.shown

    @property
    def graph(self):
        """Refuses: a program is text here."""
        raise modules.missing("graphs of TorchScript (ScriptFunction.graph)", "its program as text: function.code")

    inlined_graph = graph

    def save(self, filename, _extra_files=None):
        """Writes the function to a path, as a module whose ``forward`` it is."""
        archive.write(filename, self._program, self._module, _extra_files)

    def __repr__(self):
        return f"<torch.jit.torch.jit.ScriptFunction object at {id(self):#x}>"


class _Method(modules.ScriptMethod):
    """The program of a function: its own declaration has no module."""

    first = 0

    def __init__(self, owner, function, name):
        super().__init__(owner, function)
        self.name = name

    def _own(self, owner):
        return []


# -- tracing ------------------------------------------------------------------------------------------------------------


def trace_module(mod, inputs, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True, keywords=False):
    """What `torch.jit.trace_module` answers, without its warning."""
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    if isinstance(mod, modules.ScriptModule):
        return mod
    _refuse_hooks(mod)
    program = making.Program(mod)
    found = []
    for name, given in inputs.items():
        method = getattr(mod, name)
        function = mod if name == "forward" else method
        names = tracing.names_of(method)
        if keywords and isinstance(given, dict):
            for key in given:
                if key not in names:
                    raise NameError(f"'{key}' is not in forward() method's arguments,\n                         valid arguments name are "
                                    f"[{','.join(names)}]")
        else:
            given = _tuple(given)
        program.add(name, tracing.traced(function, given, names, strict, mod))
        found.append((name, function, given))
    made = TopLevelTracedModule(program.finish().kind(()))._made_of(mod, program)
    if check_trace:
        for name, function, given in found:
            for one in [given] if check_inputs is None else [_checked(c, name) for c in check_inputs]:
                checks.check(getattr(made, name), function, one, check_tolerance,
                             lambda again, name=name: getattr(trace_module(mod, {**inputs, name: again}, False, strict=strict,
                                                                           keywords=keywords), name))
    return made


def _checked(given, name):
    return given if isinstance(given, dict) and name not in given else _tuple(given[name] if isinstance(given, dict) else given)


def _refuse_hooks(mod):
    for one in mod.modules():
        if one._backward_hooks:
            raise ValueError(f"Modules that have backward hooks assigned can't be compiled: {one}")


def _tuple(given):
    if isinstance(given, (Tensor, dict)):
        return (given,)
    return given if isinstance(given, tuple) else tuple(given)


def trace(func, example_inputs=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True, example_kwarg_inputs=None):
    """What `torch.jit.trace` answers, without its warning."""
    if isinstance(func, modules.ScriptModule):
        warnings.warn(_NO_OP, stacklevel=4)
        return func
    owner = getattr(func, "__self__", None)
    keywords = isinstance(example_kwarg_inputs, dict)
    if isinstance(func, Module) or isinstance(owner, Module) and func.__name__ == "forward":
        if example_inputs is None:
            if not keywords:
                raise RuntimeError("example_kwarg_inputs should be a dict")
            example_inputs = example_kwarg_inputs
        if not isinstance(func, Module):
            func = owner
        wrapped = None if check_inputs is None else [{"forward": one} for one in check_inputs]
        warnings.warn("`torch.jit.trace_method` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning,
                      stacklevel=1)
        return trace_module(func, {"forward": example_inputs}, check_trace, wrapped, check_tolerance, strict, keywords)
    if not keywords:
        example_inputs = _tuple(example_inputs)
    if isinstance(owner, Module):
        raise AttributeError(_OF_A_METHOD)
    if not hasattr(func, "__name__"):
        raise RuntimeError("Could not get name of python class object")
    given = example_kwarg_inputs if keywords else example_inputs
    made = _function(func, given, strict)
    if check_trace:
        for one in [given] if check_inputs is None else check_inputs:
            one = one if isinstance(one, dict) and keywords else _tuple(one)
            checks.check(made, func, one, check_tolerance, lambda again: _function(func, again, strict))
    return made


def _function(func, given, strict):
    name = making.qualified(func).rpartition(".")[2]
    return ScriptFunction(name, making.FunctionProgram(name, tracing.traced(func, given, tracing.names_of(func), strict)))
