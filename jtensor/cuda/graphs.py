"""`torch.cuda.graphs`: recorded GPU work that is launched again. Not here, where whole steps are programs anyway. Owns: the refusals."""
import contextlib

from ..base.errors import missing
from ._asked import class_wanted
from .streams import Stream

__all__ = ["CUDAGraph", "MemPool", "graph", "graph_pool_handle", "is_current_stream_capturing",
           "make_graphed_callables", "use_mem_pool"]

_INSTEAD = "the same step without a graph: jtensor records it, and runs it as one program when it comes again"


class CUDAGraph:
    """Refuses: RuntimeError without a GPU, NotImplementedError with one."""

    def __new__(cls, keep_graph=False):
        class_wanted("CUDAGraph")
        raise missing("CUDA graphs", _INSTEAD)


CUDAGraph.__module__ = "torch.cuda.graphs"


class graph:
    """Refuses: RuntimeError without a GPU, NotImplementedError with one."""

    __module__ = "torch.cuda.graphs"

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        Stream()
        raise missing("CUDA graphs", _INSTEAD)


def graph_pool_handle():
    """Refuses: RuntimeError without a GPU, NotImplementedError with one."""
    class_wanted("_graph_pool_handle")
    raise missing("CUDA graphs", _INSTEAD)


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Refuses: RuntimeError without a GPU, NotImplementedError with one."""
    Stream()
    raise missing("CUDA graphs", _INSTEAD)


def is_current_stream_capturing():
    """Whether work is being recorded for a graph: never. RuntimeError without a GPU."""
    class_wanted("_cuda_isCurrentStreamCapturing")
    return False


@contextlib.contextmanager
def use_mem_pool(pool, device=None):
    """Refuses when it is entered, as `MemPool` does."""
    MemPool()
    yield


class MemPool:
    """Refuses: RuntimeError without a GPU, NotImplementedError with one."""

    __module__ = "torch.cuda.memory"

    def __new__(cls, *args, **kwargs):
        class_wanted("MemPool")
        raise missing("pools of GPU memory", "XLA's allocator, which the variables XLA_PYTHON_CLIENT_* set up")


