"""`torch.jit`, as PyTorch has it with ``PYTORCH_JIT=0``: functions and modules stay what they are, and run as Python.

Everything that runs is recorded and compiled anyway. So `script` and `trace` answer with what they are given; there is no TorchScript, and
what needs it (files of it, frozen modules) is refused. Owns: these names. May not know: modules' insides.
"""
from typing import Final

from ..base.errors import missing

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


def load(f, *args, **kwargs):
    """Refuses: a file of TorchScript is a program in another language."""
    raise missing("TorchScript (torch.jit.load)", "a state dict: torch.save(model.state_dict(), path) and torch.load(path)")


def save(m, f, *args, **kwargs):
    """Refuses: there is no TorchScript to be saved."""
    raise missing("TorchScript (torch.jit.save)", _STATES)


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """Refuses: there is no TorchScript to be frozen."""
    raise missing("TorchScript (torch.jit.freeze)", _INSTEAD)


def optimize_for_inference(mod, other_methods=None):
    """Refuses: there is no TorchScript to be optimized."""
    raise missing("TorchScript (torch.jit.optimize_for_inference)", _INSTEAD)


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
    """Refuses: nothing runs beside the script."""
    raise missing("tasks beside the script (torch.jit.fork)", "a call of the function, or concurrent.futures")


def wait(future):
    """Refuses, as `fork` does."""
    return fork(None)


class Error(Exception):
    """An error of TorchScript's interpreter, for handlers that name it: there is none."""

    __module__ = "torch.jit"


class TracerWarning(Warning):
    """What tracing warns of: nothing is traced."""

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


def __getattr__(name):
    if name == "ScriptModule":                                # for isinstance, and for modules of old; `nn` is loaded when it is asked for
        from ..nn import Module
        made = type("ScriptModule", (Module,), {"__module__": "torch.jit", "__doc__": "What TorchScript makes of modules: none here."})
        globals()[name] = made
        return made
    raise AttributeError(f"module 'jtensor.jit' has no attribute '{name}'")


__all__ = ["Attribute", "Error", "Final", "ScriptFunction", "TracerWarning", "annotate", "export", "fork", "freeze", "ignore", "interface",
           "is_scripting", "is_tracing", "isinstance", "load", "optimize_for_inference", "save", "script", "script_if_tracing",
           "script_method", "trace", "trace_module", "unused", "wait"]
