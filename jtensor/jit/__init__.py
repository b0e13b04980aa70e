"""`torch.jit`, as PyTorch has it with ``PYTORCH_JIT=0``: functions and modules stay what they are, and run as Python.

Everything that runs is recorded and compiled anyway. So `script` and `trace` answer with what they are given. Files of TorchScript are read
(`load`): their programs run as Python, too, and are written again with them (`save`); what needs TorchScript to be made of Python (files of
one's own modules, frozen ones) is refused. Owns: these names. May not know: modules' insides, files (`archive`, `programs`, `modules`).
"""
import contextlib as _contextlib
import warnings
from typing import Final

from ..base.errors import missing, refusal

_INSTEAD = "the same code without torch.jit: jtensor records and compiles what runs"
_STATES = "a state dict: torch.save(model.state_dict(), path)"


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """The function, class or module itself.

    >>> @torch.jit.script
    ... def double(x: torch.Tensor):
    ...     return x * 2
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    return obj


def trace(func, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-05, strict=True,
          _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None, _store_inputs=True):
    """The function or module itself, which still decides by the values it meets; ``example_inputs`` are not run.

    >>> torch.jit.trace(torch.nn.Linear(2, 3), torch.ones(1, 2))
    Linear(in_features=2, out_features=3, bias=True)
    """
    return func


def trace_module(mod, inputs, *args, **kwargs):
    """The module itself."""
    return mod


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
    """Writes a module that was loaded from a file of TorchScript, with the values that its attributes have now.

    Modules of Python are refused: there is no TorchScript of them.
    """
    from . import archive, modules
    if not isinstance(m, modules.RecursiveScriptModule):
        raise missing("TorchScript of modules that are written in Python (torch.jit.save)", _STATES)
    warnings.warn("`torch.jit.save` is deprecated. Please switch to `torch.export`.", DeprecationWarning, stacklevel=1)
    archive.write(f, m._archive, m, _extra_files)


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """The module itself, which has to be in evaluation mode: what runs is compiled anyway. What is written to it later counts.

    >>> torch.jit.freeze(torch.nn.Linear(2, 3).eval())
    Linear(in_features=2, out_features=3, bias=True)
    """
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before "
                           "freezing.")
    return mod


def optimize_for_inference(mod, other_methods=None):
    """The module itself: what runs is compiled anyway."""
    return mod


_fusing = [False]


def enable_onednn_fusion(enabled):
    """Keeps what it is told, for `onednn_fusion_enabled`; XLA fuses in its own way."""
    _fusing[0] = bool(enabled)


def onednn_fusion_enabled():
    """What `enable_onednn_fusion` was told."""
    return _fusing[0]


def is_scripting():
    """Whether this runs as TorchScript: never."""
    return False


def is_tracing():
    """Whether this is being traced by TorchScript: never."""
    return False


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


def ignore(drop=False, **kwargs):
    """A mark for TorchScript; the function stays as it is."""
    return drop if callable(drop) else (lambda fn: fn)


def unused(fn):
    """A mark for TorchScript; the function stays as it is."""
    return fn


def export(fn):
    """A mark for TorchScript; the function stays as it is."""
    return fn


def interface(obj):
    """A mark for TorchScript; the class stays as it is."""
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


class Error(Exception):
    """An error of TorchScript's interpreter, for handlers that name it: there is none."""

    __module__ = "torch.jit"


class TracerWarning(Warning):
    """What tracing warns of: nothing is traced."""

    __module__ = "torch.jit"


class TracingCheckError(Exception):
    """What a traced function that answers otherwise raises: nothing is traced."""

    __module__ = "torch.jit"


class ScriptFunction:
    """What TorchScript makes of functions. To be named alone: there is no instance."""

    __module__ = "torch.jit"

    def __new__(cls, *args, **kwargs):
        raise missing("TorchScript (torch.jit.ScriptFunction)", _INSTEAD)


class Attribute:
    """An attribute's value with its type, as TorchScript asks for it of modules.

    >>> torch.jit.Attribute(3, int).value
    3
    """

    __module__ = "torch.jit"

    def __init__(self, value, type):
        self.value, self.type = value, type


def _overload(func):
    """Marks a signature of a function that TorchScript compiles several times; the last definition is the one that runs."""
    return func


_overload_method = _overload


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


def __getattr__(name):
    if name in ("ScriptModule", "RecursiveScriptModule", "ScriptMethod"):          # `nn` is loaded when one of them is asked for
        from . import modules
        return getattr(modules, name)
    if name == "Future":
        from ..futures import Future
        return Future
    if name == "_state":
        import importlib
        return importlib.import_module(f"{__name__}._state")
    raise AttributeError(f"module 'jtensor.jit' has no attribute '{name}'")


__all__ = ["Attribute", "Error", "Final", "ScriptFunction", "TracerWarning", "annotate", "enable_onednn_fusion", "export", "fork",
           "freeze", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load", "onednn_fusion_enabled",
           "optimize_for_inference", "optimized_execution", "save", "script", "script_if_tracing", "script_method", "trace",
           "trace_module", "unused", "wait"]
