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


def _disable_dynamo(fn=None, recursive=True):
    """`disable` by the name that libraries take it by."""
    return disable(fn, recursive)


def is_exporting():
    """Whether the code is being looked at by `torch.export`: never."""
    return False


def allow_in_graph(fn):
    """Answers the function as it is, or each of a list: there is no graph that it could break."""
    return fn


def assume_constant_result(fn):
    """Answers the function as it is: it is called each time."""
    return fn


def reset():
    """Forgets what the compiler of Python code has compiled: nothing, it is not here."""


def cudagraph_mark_step_begin():
    """Marks the beginning of a step for recorded CUDA graphs, of which there are none."""


def list_backends(exclude_tags=("debug", "experimental")):
    """Names of backends to choose from: none, XLA compiles everything."""
    return []


class set_stance:
    """Takes what PyTorch is told of its compiler, at once, as a context manager or as a decorator; there is nothing to change here.

    >>> with torch.compiler.set_stance("force_eager"):
    ...     torch.compile(torch.neg)(torch.ones(1))
    tensor([-1.])
    """

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        self.stance = stance

    def __call__(self, function):
        return function

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
           "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance"]
