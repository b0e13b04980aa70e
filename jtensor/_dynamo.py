"""`torch._dynamo`, as far as scripts touch it: a compiler of Python code, not here. Owns: its marks, and settings that nothing reads.

Everything that runs is recorded and compiled, so that there is nothing to switch on, off or back.
"""
from types import SimpleNamespace as _Space

from .compiler import compile as _compile
from .compiler import disable, is_compiling, list_backends

config = _Space(suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8)     # kept; nothing here reads them


def reset():
    """Forgets what the compiler of Python code has compiled: nothing, it is not here."""


def graph_break(msg=""):
    """Ends what is compiled as one: nothing, since that is cut where values are looked at."""


def allow_in_graph(fn):
    """The function itself."""
    return fn


def optimize(backend="inductor", **options):
    """`torch.compile` with a backend by its older name: the function itself."""
    return lambda model: _compile(model, backend=backend)


__all__ = ["allow_in_graph", "config", "disable", "graph_break", "is_compiling", "list_backends", "optimize", "reset"]
