"""`torch.compile` and `torch.compiler`. There is nothing left for them to do: every program is recorded, fused and compiled anyway.

Owns: the functions of that name, which answer honestly. May not know: how programs are compiled.
"""
from .base.errors import missing


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """Answers the function or module as it is: jtensor compiles what it records, with or without this call.

    A ``backend`` that is a function would never be called, so it raises ``NotImplementedError``; names and modes are accepted, and
    there is one way to compile all the same. Unlike PyTorch's, the answer is not wrapped, so that names in a state dict stay.

    >>> @torch.compile
    ... def double(x):
    ...     return 2 * x
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    if callable(backend):
        raise missing("backends of torch.compile that are functions: its programs are compiled by XLA", "torch.compile without `backend`")
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return lambda model: compile(
            model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if not callable(model):
        raise RuntimeError(f"torch.compile takes a function or a module, not {type(model).__name__}")
    return model


def is_compiling():
    """Whether the code is being looked at by a compiler instead of running: never, here it always runs."""
    return False


def is_dynamo_compiling():
    """The same."""
    return False


def disable(fn=None, recursive=True, *, reason=None):
    """Answers the function as it is: there is no compiler of Python code to keep away from it."""
    return fn if fn is not None else (lambda fn: fn)


def list_backends(exclude_tags=("debug", "experimental")):
    """Names of backends to choose from: none, XLA compiles everything."""
    return []


__all__ = ["compile", "disable", "is_compiling", "is_dynamo_compiling", "list_backends"]
