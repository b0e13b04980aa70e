"""`torch.cuda.nvtx`: marks for NVIDIA's profilers. Without a GPU they refuse as PyTorch's do; with one they are JAX's annotations.

Owns: the marks. May not know: what runs between them.
"""
from contextlib import contextmanager

from ..base import devices
from ..base.errors import missing

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_open = []


def _there():
    if not devices.accelerators():
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def range_push(msg):
    """Begins a range, within the one that is open; answers how deep it lies."""
    _there()
    from jax.profiler import TraceAnnotation
    _open.append(TraceAnnotation(msg))
    _open[-1].__enter__()
    return len(_open) - 1


def range_pop():
    """Ends the innermost range; answers how deep it lay."""
    _there()
    if _open:
        _open.pop().__exit__(None, None, None)
    return len(_open) - 1


@contextmanager
def range(msg, *args, **kwargs):
    """A range as a context."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()


def mark(msg):
    """A mark at one point in time."""
    with range(msg):
        pass


def range_start(msg):
    """Ranges that another function ends are not here."""
    _there()
    raise missing("ranges that begin and end in any order", "torch.cuda.nvtx.range_push and range_pop")


def range_end(range_id):
    """Ranges that another function ends are not here."""
    range_start("")
