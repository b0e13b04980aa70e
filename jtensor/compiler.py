"""`torch.compile` and `torch.compiler`. There is nothing left for them to do: every program is recorded, fused and compiled anyway.

Owns: the functions of that name, which answer honestly. May not know: how programs are compiled.
"""
import functools
import sys

from .base.errors import missing


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """Answers a function that calls the given one, of a module another around it (`torch._dynamo.OptimizedModule`), as PyTorch does:
    jtensor compiles what it records, with or without this call.

    Names of backends, modes and options are looked at, and there is one way to compile all the same. A ``backend`` that is a function
    would never be called, so it raises ``NotImplementedError``; a name or mode that PyTorch does not have raises its error.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.compile.html

    >>> @torch.compile
    ... def double(x):
    ...     return 2 * x
    >>> double(torch.ones(2))
    tensor([2., 2.])
    >>> torch.compile(torch.nn.ReLU())
    OptimizedModule(
      (_orig_mod): ReLU()
    )
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return lambda model: compile(
            model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if callable(backend):
        raise missing("backends of torch.compile that are functions: its programs are compiled by XLA", "torch.compile without `backend`")
    if backend == "inductor" and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES[1:])}")
    if backend not in _BACKENDS:
        raise sys.modules[__package__]._dynamo.exc.InvalidBackend(name=backend)
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    modules = sys.modules.get(f"{__package__}.nn.modules.module")               # without it there are no modules
    if modules is not None and isinstance(model, modules.Module):
        around = sys.modules[__package__]._dynamo.eval_frame.OptimizedModule    # by these names: `alias` sees who asks for them
        return model if isinstance(model, around) else around(model)
    return model if isinstance(model, type) else _compiled(model)


def _compiled(function):
    @functools.wraps(function)
    def compiled(*args, **kwargs):
        return function(*args, **kwargs)
    compiled._torchdynamo_orig_callable = function
    return compiled


_MODES = None, "default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"
_BACKENDS = frozenset("""inductor cudagraphs openxla tvm onnxrt eager eager_noexcept eager_debug pre_dispatch_eager aot_eager
                         aot_eager_decomp_partition aot_eager_default_partitioner aot_ts torchxla_trace_once ts""".split())


def is_compiling():
    """Whether the code is being looked at by a compiler instead of running: as in PyTorch, while `torch.export` records it."""
    return is_exporting()


def is_dynamo_compiling():
    """Whether Python's code is being compiled: never."""
    return False


def disable(fn=None, recursive=True, *, reason=None):
    """Answers the function as it is: there is no compiler of Python code to keep away from it."""
    return fn if fn is not None else (lambda fn: fn)


def _disable_dynamo(fn=None, recursive=True):
    """`disable` by the name that libraries take it by."""
    return disable(fn, recursive)


def is_exporting():
    """Whether the code is being recorded by `torch.export`, in this thread."""
    recording = sys.modules.get("jtensor.export.recording")
    return recording is not None and recording.is_active()


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
    """Names of backends that `compile` takes; XLA compiles everything, whichever it is."""
    return ["cudagraphs", "inductor", "openxla", "tvm"]


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
