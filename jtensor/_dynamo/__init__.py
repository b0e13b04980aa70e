"""`torch._dynamo`, as far as scripts touch it: a compiler of Python code, not here. Owns: its marks, and settings that nothing reads.

Everything that runs is recorded and compiled, so that there is nothing to switch on, off or back.
"""
import contextlib as _contextlib
import importlib as _importlib
import sys as _sys
import types as _types

from ..base.absent import function as _absent
from ..compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset
from ..compiler import compile as _compile


class _Config(_types.ModuleType):
    """Settings that are kept; nothing here reads them. A module, since programs import it."""

    def __init__(self, **settings):
        super().__init__(f"{__name__}.config", type(self).__doc__)
        self.__dict__.update(settings)

    @_contextlib.contextmanager
    def patch(self, changes=None, value=None, **more):
        """A context, or decorator, of other settings: ``patch(name=value)``, ``patch({"name": value})``, ``patch("name", value)``."""
        more.update(changes if isinstance(changes, dict) else {} if changes is None else {changes: value})
        before = {name: getattr(self, name) for name in more}
        self.__dict__.update(more)
        try:
            yield
        finally:
            self.__dict__.update(before)


config = _Config(
    accumulated_recompile_limit=256, automatic_dynamic_shapes=True, cache_size_limit=8, capture_dynamic_output_shape_ops=False,
    capture_scalar_outputs=False, compiled_autograd=False, force_parameter_static_shapes=True, ignore_logger_methods=set(),
    inline_inbuilt_nn_modules=True, optimize_ddp=True, recompile_limit=8, skip_fwd_side_effects_in_bwd_under_checkpoint=False,
    suppress_errors=False, verbose=False)
_sys.modules[config.__name__] = config

# `torch.compile` breaks no graph and keeps no guard, so that there is nothing of it to explain.
explain = _absent(__name__, "explain", "graphs of Python code and their breaks", "jtensor.report()")


def graph_break(msg=""):
    """Ends what is compiled as one: nothing, since that is cut where values are looked at."""


def mark_static_address(t, guard=False):
    """Says that a tensor stays where it is: nothing, XLA places each value."""


def mark_dynamic(t, index, **options):
    """Says that a dimension's length changes: nothing, each length has a program of its own."""


def optimize(backend="inductor", **options):
    """`torch.compile` with a backend by its older name: the function itself."""
    return lambda model: _compile(model, backend=backend)


def __getattr__(name):
    if name in ("eval_frame", "exc", "utils"):                # the first loads `nn`, which not every script needs
        return _importlib.import_module(f"{__name__}.{name}")
    if name == "OptimizedModule":
        from .eval_frame import OptimizedModule
        return OptimizedModule
    raise AttributeError(f"module 'jtensor._dynamo' has no attribute '{name}'")


__all__ = ["allow_in_graph", "assume_constant_result", "config", "disable", "graph_break", "is_compiling", "list_backends", "mark_dynamic",
           "mark_static_address", "optimize", "reset"]
