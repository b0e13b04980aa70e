"""`torch.jit`: TorchScript is not here, and says so; marks that only TorchScript reads leave functions as they are."""
from .base.errors import missing

_INSTEAD = "the same code without torch.jit: jtensor records and compiles what runs"


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Raises ``NotImplementedError``."""
    raise missing("TorchScript (torch.jit.script)", _INSTEAD)


def trace(func, *args, **kwargs):
    """Raises ``NotImplementedError``."""
    raise missing("TorchScript (torch.jit.trace)", _INSTEAD)


def load(f, *args, **kwargs):
    """Raises ``NotImplementedError``."""
    raise missing("TorchScript (torch.jit.load)", "a state dict: torch.save(model.state_dict(), path) and torch.load(path)")


def save(m, f, *args, **kwargs):
    """Raises ``NotImplementedError``."""
    raise missing("TorchScript (torch.jit.save)", "a state dict: torch.save(model.state_dict(), path)")


def is_scripting():
    """Whether this runs as TorchScript: never."""
    return False


def is_tracing():
    """Whether this is being traced by TorchScript: never."""
    return False


def ignore(drop=False, **kwargs):
    """A mark for TorchScript; the function stays as it is."""
    return drop if callable(drop) else (lambda fn: fn)


def unused(fn):
    """A mark for TorchScript; the function stays as it is."""
    return fn


def export(fn):
    """A mark for TorchScript; the function stays as it is."""
    return fn


def script_if_tracing(fn):
    """A function to be compiled when it is traced, which never happens: it stays as it is."""
    return fn


__all__ = ["export", "ignore", "is_scripting", "is_tracing", "load", "save", "script", "script_if_tracing", "trace", "unused"]
