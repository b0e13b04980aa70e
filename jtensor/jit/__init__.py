"""`torch.jit`: functions and modules that are compiled or traced as TorchScript, and its files.

`script` compiles the source of functions and modules (`scripted`), `trace` records what runs (`traced`). Files are read (`load`) and
written (`save`). Programs run as Python, recorded on the tape like everything else. Owns: these names. May not know: modules' insides,
files (`archive`, `programs`, `modules`).
"""
import contextlib as _contextlib
import sys
import warnings
from typing import Final as Final

from ..base.errors import missing, refusal
from . import _state

_STATES = "a state dict: torch.save(model.state_dict(), path)"


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """A function or module compiled from its source: types are checked, `ScriptFunction.code` is the program, `save` writes it for
    `torch.jit.load`, here and in PyTorch. A compiled module has the parameters of the original, and its own copies of other attributes.

    Source that TorchScript does not have raises PyTorch's exceptions. What it has and this compiler has not, is a `MissingFeature` when
    ``code`` or `save` ask for it; the call runs the function itself. Classes are compiled and stay what they are, as does everything with
    ``PYTORCH_JIT=0`` in the environment. Source: https://docs.pytorch.org/docs/stable/generated/torch.jit.script.html

    >>> def double(x: torch.Tensor, times: int = 1):
    ...     for _ in range(times):
    ...         x = x * 2
    ...     return x
    >>> with warnings.catch_warnings(action="ignore"):                 # TorchScript is deprecated
    ...     compiled = torch.jit.script(double)
    >>> compiled(torch.ones(2), 2)
    tensor([4., 4.])
    """
    if not _state._enabled:
        return obj
    warnings.warn("`torch.jit.script` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning, stacklevel=2)
    _warn_of_optimize(optimize)
    from . import scripted
    return scripted.script(obj)


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-05, strict=True,
          _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None, _store_inputs=True):
    """A module or function that does again what ``func`` did with ``example_inputs``: a tensor, or a tuple of arguments, each a tensor or
    a tuple, list or dictionary of tensors.

    What Python decided is decided for good, and its numbers are constants; sizes that tensors were asked for are asked for again. The
    module has the parameters of the original, each of its parts the calls that were made of it; ``code`` is its program, `save` writes it
    for `torch.jit.load`, here and in PyTorch. ``example_kwarg_inputs``: the arguments by name. ``strict``: whether a list as a result is
    warned of, and a dictionary refused. ``check_trace``: whether it is run and traced once more, on ``check_inputs`` or the same inputs,
    and compared to ``check_tolerance``.

    `TracerWarning` where a tensor becomes a number of Python's, or the results differ; ``RuntimeError`` for arguments and results of
    other types; what TorchScript has no operator for is a `MissingFeature`.

    >>> with warnings.catch_warnings(action="ignore"):                 # tracing is deprecated
    ...     traced = torch.jit.trace(lambda x, y: torch.relu(x @ y), (torch.ones(1, 2), torch.ones(2, 3)))
    ...     layer = torch.jit.trace(torch.nn.Linear(2, 3), torch.ones(1, 2))
    >>> print(traced.code)
    def _lambda(x: Tensor,
        y: Tensor) -> Tensor:
      return torch.relu(torch.matmul(x, y))
    <BLANKLINE>
    >>> layer
    Linear(original_name=Linear)
    """
    warnings.warn("`torch.jit.trace` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning, stacklevel=1)
    _warn_of_optimize(optimize)
    from . import traced
    return traced.trace(func, example_inputs, check_trace, check_inputs, check_tolerance, strict, example_kwarg_inputs)


def _warn_of_optimize(optimize):
    if optimize is not None:
        warnings.warn("`optimize` is deprecated and has no effect. Use `with torch.jit.optimized_execution()` instead", FutureWarning,
                      stacklevel=3)


def trace_module(mod, inputs, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-05, strict=True, _force_outplace=False,
                 _module_class=None, _compilation_unit=None, example_inputs_is_kwarg=False, _store_inputs=True):
    """`trace` of several methods of a module, ``inputs``: {name of a method: its arguments}.

    >>> class Net(torch.nn.Linear):
    ...     def twice(self, x):
    ...         return self(self(x))
    >>> with warnings.catch_warnings(action="ignore"):
    ...     traced = torch.jit.trace_module(Net(2, 2), {"forward": torch.ones(1, 2), "twice": torch.ones(1, 2)})
    >>> traced.twice(torch.ones(3, 2)).shape
    torch.Size([3, 2])
    """
    warnings.warn("`torch.jit.trace_method` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning,
                  stacklevel=1)
    _warn_of_optimize(optimize)
    from . import traced
    return traced.trace_module(mod, inputs, check_trace, check_inputs, check_tolerance, strict, example_inputs_is_kwarg)


def script_method(fn):
    """The method itself."""
    return fn


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """The module that a file of TorchScript holds: `torch.jit.save` of PyTorch wrote it, to a path or into an open binary file.

    Its programs run as Python's do, its parameters train. ``map_location``: the device for all of its tensors; ``_extra_files``: a
    dictionary whose keys name further records, which become its values.

    ``ValueError`` where there is no such file, ``RuntimeError`` where it is none of TorchScript; what a program calls and jtensor does not
    have is a `MissingFeature` when it is called. Source: https://docs.pytorch.org/docs/stable/generated/torch.jit.load.html
    """
    warnings.warn("`torch.jit.load` is deprecated. Please switch to `torch.export`.", DeprecationWarning, stacklevel=1)
    from . import archive, modules
    found = archive.read(f, modules.RecursiveScriptModule, map_location, _extra_files)
    for module in found.object.modules():
        module.__dict__["_archive"] = found
    return found.object


def save(m, f, _extra_files=None):
    """Writes a module that was compiled, traced, or loaded from a file of TorchScript, with the values that its attributes have now; or
    such a function.

    Modules of Python are refused: compile them first (`script`).
    """
    from . import archive, modules, traced
    if _is(m, traced.ScriptFunction):
        m.save(f, _extra_files)
        return
    if not _is(m, modules.RecursiveScriptModule):
        raise missing("TorchScript of modules that are written in Python (torch.jit.save)", f"torch.jit.script(module), or {_STATES}")
    warnings.warn("`torch.jit.save` is deprecated. Please switch to `torch.export`.", DeprecationWarning, stacklevel=1)
    if hasattr(m, "_problem"):
        raise m._problem
    for name, one in m.named_modules():
        if one.__dict__.get("_archive") is not m._archive:
            raise missing(f"files of modules whose parts come from elsewhere ({name})", "torch.jit.script of the whole, made anew")
    if hasattr(m._archive, "check"):
        m._archive.check()
    archive.write(f, m._archive, m, _extra_files)


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A copy of a compiled or traced module, which has to be in evaluation mode: what is written to the original later does not count, and
    nothing of it trains. It keeps its parameters, which PyTorch makes constants of; what runs is compiled anyway.

    >>> with warnings.catch_warnings(action="ignore"):                 # TorchScript is deprecated
    ...     torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 3).eval()))
    RecursiveScriptModule(original_name=Linear)
    """
    import copy

    from . import modules
    if not _is(mod, modules.ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your "
                           "'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before "
                           "freezing.")
    made = copy.deepcopy(mod)
    for one in made.parameters():
        one.requires_grad_(False)
    return made


def optimize_for_inference(mod, other_methods=None):
    """A frozen module (`freeze`): what runs is compiled anyway."""
    from . import modules
    if not _is(mod, modules.ScriptModule):
        raise RuntimeError("optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to "
                           "script your 'nn.Module'.")
    return freeze(mod.eval(), other_methods)


_is = isinstance                     # of Python's, which this room's own hides
_fusing = [False]


def enable_onednn_fusion(enabled):
    """Keeps what it is told, for `onednn_fusion_enabled`; XLA fuses in its own way."""
    _fusing[0] = bool(enabled)


def onednn_fusion_enabled():
    """What `enable_onednn_fusion` was told."""
    return _fusing[0]


def is_scripting():
    """Whether this runs as TorchScript: never, but in a program that `script` compiles it is true."""
    return False


def is_tracing():
    """Whether a function is being run by `trace`."""
    tracing = sys.modules.get(__name__ + ".tracing")
    return tracing is not None and tracing.is_tracing()


def annotate(the_type, the_value):
    """The value; the type is for TorchScript."""
    return the_value


def isinstance(obj, target_type):
    """Whether an object is of a type, or of one of several; of containers, ``list[int]`` for one, the contents are looked at, too.

    >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance({"a": 1}, dict[str, str])
    (True, False)
    """
    import typing
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if type(target_type) is tuple or origin is typing.Union or type(target_type).__name__ == "UnionType":
        return any(isinstance(obj, one) for one in (inner or target_type))
    if origin is None:
        return type(obj) is target_type or issubclass(type(obj), target_type)
    if not issubclass(type(obj), origin):
        return False
    if origin is dict:
        return all(isinstance(key, inner[0]) and isinstance(value, inner[1]) for key, value in obj.items())
    if origin is tuple and inner[-1:] != (...,):
        return len(obj) == len(inner) and all(map(isinstance, obj, inner))
    return all(isinstance(item, inner[0]) for item in obj)


def _mark(fn, word):
    target = getattr(fn, "fget", fn)                              # of a property: its function
    target._torchscript_modifier = word
    return fn


def ignore(drop=False, **kwargs):
    """Leaves a function in Python: programs call it, and cannot be saved then. ``drop``: it cannot be called, as with `unused`.

    >>> @torch.jit.ignore
    ... def told(x: torch.Tensor) -> None:
    ...     print(x.shape)
    """
    if callable(drop):
        return _mark(drop, "ignore")
    if not _is(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: _mark(fn, "unused" if drop else "ignore")


def unused(fn):
    """Leaves a function out of programs, which raise an exception where they call it."""
    return _mark(fn, "unused")


def export(fn):
    """Has a method compiled by `script`, though nothing calls it.

    >>> class Net(torch.nn.Module):
    ...     @torch.jit.export
    ...     def twice(self, x):
    ...         return x * 2
    >>> with warnings.catch_warnings(action="ignore"):                 # TorchScript is deprecated
    ...     torch.jit.script(Net()).twice(torch.ones(1))
    tensor([2.])
    """
    return _mark(fn, "export")


def interface(obj):
    """Marks a class that says which methods others have: what is annotated with it may be a module or object of any class with such
    methods, whose bodies here are ``pass``. The class stays as it is.

    >>> @torch.jit.interface
    ... class Layer(torch.nn.Module):
    ...     def forward(self, x: torch.Tensor) -> torch.Tensor:
    ...         pass
    """
    from .scripting import interfaces
    interfaces.check(obj)
    obj._torchscript_modifier = "interface"
    return obj


def script_if_tracing(fn):
    """A function to be compiled when it is traced, which never happens: it stays as it is."""
    return fn


_script_if_tracing = script_if_tracing


def fork(func, *args, **kwargs):
    """A `torch.futures.Future` of what a call answers, which is made at once: what it computes waits on the tape anyway.

    >>> torch.jit.wait(torch.jit.fork(lambda x: x + 1, torch.ones(2)))
    tensor([2., 2.])
    """
    from ..futures import Future
    made = Future()
    made.set_result(func(*args, **kwargs))
    return made


def wait(future):
    """What the call that `fork` was given has answered."""
    return future.wait()


_fork, _wait = fork, wait


class Error(Exception):
    """An error of TorchScript's interpreter, for handlers that name it: there is none."""

    __module__ = "torch.jit"


class TracerWarning(Warning):
    """What `trace` warns of."""

    __module__ = "torch.jit._trace"


class Attribute:
    """An attribute's value with its type, as TorchScript asks for it of modules.

    >>> torch.jit.Attribute(3, int).value
    3
    """

    __module__ = "torch.jit"

    def __init__(self, value, type):
        self.value, self.type = value, type


def _overload(func):
    """Marks a signature of a function that `script` compiles once for each; the last definition, without the mark, is the one that runs."""
    _overloads.setdefault((func.__module__, func.__qualname__), []).append(func)
    return func


_overloads = {}                      # {(module, name): signatures} of functions that were not compiled yet


def _overload_method(func):
    """Marks a signature of a method that `script` compiles once for each; the last definition, without the mark, is the one that runs."""
    return _overload(func)


def _unwrap_optional(x):
    """What is given, which may not be None."""
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x


@_contextlib.contextmanager
def optimized_execution(should_optimize):
    """A context that says whether TorchScript's interpreter optimizes programs before they run: nothing, there is no such interpreter."""
    yield


_get_trace_graph = refusal("torch.jit._get_trace_graph", "graphs of TorchScript", "torch.fx.symbolic_trace", "nothing is traced.")


# Rooms that are loaded when one of their names is asked for: `nn` comes with them.
_LATE = {**dict.fromkeys(("ScriptModule", "RecursiveScriptModule", "ScriptMethod"), ".modules"),
         **dict.fromkeys(("ScriptFunction", "TopLevelTracedModule", "TracedModule"), ".traced"),
         "CompilationUnit": ".units", "TracingCheckError": ".checks", "Future": "..futures"}


def __getattr__(name):
    import importlib
    if name == "frontend":
        return importlib.import_module(f"{__name__}.frontend")
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name], __name__), name)
    raise AttributeError(f"module 'jtensor.jit' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_LATE, "frontend"})


__all__ = ["Attribute", "CompilationUnit", "Error", "Future", "ScriptFunction", "ScriptModule", "annotate", "enable_onednn_fusion",
           "export", "fork", "freeze", "ignore", "interface", "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference",
           "save", "script", "script_if_tracing", "trace", "trace_module", "unused", "wait"]
