"""`torch.cuda.memory`: what XLA's allocator tells of a GPU's memory. Owns: these answers, by the names of PyTorch's statistics.

XLA tells bytes in use and held, their peaks, its limit, and how often it was asked; nothing of blocks, segments or retries. A statistic it
does not tell is not in the dictionaries; functions that need one refuse.
"""
import contextlib
from collections import OrderedDict

from ..base import devices, sites
from ..base.errors import missing
from ._asked import built, wanted

__all__ = ["caching_allocator_alloc", "caching_allocator_disabled", "caching_allocator_enable", "empty_cache",
           "get_allocator_backend", "get_per_process_memory_fraction", "host_memory_stats", "host_memory_stats_as_nested_dict",
           "list_gpu_processes", "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
           "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats",
           "memory_stats_as_nested_dict", "memory_summary", "reset_accumulated_host_memory_stats",
           "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
           "reset_peak_host_memory_stats", "reset_peak_memory_stats", "set_per_process_memory_fraction"]

# PyTorch's name of a statistic -> XLA's.
_TOLD = {
    "active_bytes.all.current": "bytes_in_use",
    "active_bytes.all.peak": "peak_bytes_in_use",
    "allocated_bytes.all.current": "bytes_in_use",
    "allocated_bytes.all.peak": "peak_bytes_in_use",
    "allocation.all.allocated": "num_allocs",
    "reserved_bytes.all.current": "pool_bytes",
    "reserved_bytes.all.peak": "peak_pool_bytes",
}
_PEAKS = "peaks of memory that can be reset", "torch.cuda.max_memory_allocated(), since the process began"


def memory_stats(device=None):
    """What XLA tells, an ordered dictionary; empty without a GPU.

    >>> torch.cuda.memory_stats().get("allocated_bytes.all.current", 0) == torch.cuda.memory_allocated()
    True
    """
    if not devices.accelerators():
        return OrderedDict()
    told = devices.accelerators()[devices.index_of(device) or 0].memory_stats() or {}
    return OrderedDict((name, told[its]) for name, its in _TOLD.items() if its in told)


def memory_stats_as_nested_dict(device=None):
    """The same as dictionaries in dictionaries."""
    nested = {}
    for name, number in memory_stats(device).items():
        *path, last = name.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = number
    return nested


def memory_allocated(device=None):
    """Bytes that arrays occupy on the GPU now, as XLA counts them; 0 without a GPU."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device=None):
    """The most bytes that arrays have occupied, as XLA counts them; 0 without a GPU."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device=None):
    """Bytes that XLA's allocator holds; 0 without a GPU."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device=None):
    """The most bytes that XLA's allocator has held; 0 without a GPU."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def memory_cached(device=None):
    """`memory_reserved` by its older name."""
    sites.warn("`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`", FutureWarning)
    return memory_reserved(device)


def max_memory_cached(device=None):
    """`max_memory_reserved` by its older name."""
    sites.warn("`torch.cuda.max_memory_cached` has been renamed to `torch.cuda.max_memory_reserved`", FutureWarning)
    return max_memory_reserved(device)


def memory_summary(device=None, abbreviated=False):
    """What XLA tells, as a table. KeyError without a GPU, as from PyTorch."""
    stats = memory_stats(device)
    if not devices.accelerators():
        raise KeyError("allocated_bytes.all.current")
    width = max(map(len, stats), default=0)
    lines = [f"memory of cuda:{devices.index_of(device) or 0}, as XLA's allocator tells"]
    return "\n".join([*lines, *[f"  {name:{width}s} {number:>20,}" for name, number in stats.items()]])


def mem_get_info(device=None):
    """(bytes that XLA's allocator has left, bytes that it may use at most) of a GPU."""
    wanted()
    index = devices.index_of(device)
    most = devices.memory_statistic("bytes_limit", index)
    return most - devices.memory_statistic("bytes_in_use", index), most


def reset_peak_memory_stats(device=None):
    """XLA's peaks cannot be reset: NotImplementedError. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_resetPeakMemoryStats")
    raise missing(*_PEAKS)


def _older(name):
    sites.warn(f"torch.cuda.{name} now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.",
                  FutureWarning)
    reset_peak_memory_stats()


def reset_max_memory_allocated(device=None):
    """`reset_peak_memory_stats` by an older name."""
    _older("reset_max_memory_allocated")


def reset_max_memory_cached(device=None):
    """`reset_peak_memory_stats` by an older name."""
    _older("reset_max_memory_cached")


def reset_accumulated_memory_stats(device=None):
    """XLA's counts cannot be reset: NotImplementedError. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_resetAccumulatedMemoryStats")
    raise missing("counts of allocations that can be reset", "differences of torch.cuda.memory_stats()")


def host_memory_stats():
    """What is known of pinned memory: nothing, an empty dictionary."""
    return OrderedDict()


def host_memory_stats_as_nested_dict():
    """What is known of pinned memory: nothing, an empty dictionary."""
    return {}


def reset_peak_host_memory_stats():
    """There are none: NotImplementedError. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_resetPeakHostMemoryStats")
    raise missing("statistics of pinned memory")


def reset_accumulated_host_memory_stats():
    """There are none: NotImplementedError. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_resetAccumulatedHostMemoryStats")
    raise missing("statistics of pinned memory")


def memory_snapshot(mempool_id=None, include_traces=True):
    """XLA does not tell its blocks: NotImplementedError. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_memorySnapshot")
    raise missing("snapshots of the allocator", "jax.profiler.save_device_memory_profile(path)")


def _record_memory_history(enabled="all", *args, **kwargs):
    """XLA keeps no history: NotImplementedError. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_record_memory_history")
    raise missing("a history of allocations", "jax.profiler.save_device_memory_profile(path)")


def _snapshot(device=None):
    return memory_snapshot()


def empty_cache():
    """Nothing is cached that could be given back."""


def get_per_process_memory_fraction(device=None):
    """The part of a GPU that XLA may use is set before it starts: NotImplementedError. AssertionError without a GPU."""
    wanted()
    raise missing("the fraction of memory", "the variable XLA_PYTHON_CLIENT_MEM_FRACTION, and torch.cuda.mem_get_info()")


def set_per_process_memory_fraction(fraction, device=None):
    """The part of a GPU that XLA may use is set before it starts: NotImplementedError. AssertionError without a GPU."""
    wanted()
    raise missing("another fraction of memory than at the start", "the variable XLA_PYTHON_CLIENT_MEM_FRACTION")


def get_allocator_backend():
    """The allocator's name. AttributeError without a GPU, as from PyTorch."""
    built("_cuda_getAllocatorBackend")
    return "xla"


def caching_allocator_enable(value=True):
    """XLA's allocator is chosen before it starts: NotImplementedError on a GPU unless ``value`` is True; nothing changes without one."""
    if not value and devices.accelerators():
        raise missing("another allocator than at the start", "the variable XLA_PYTHON_CLIENT_ALLOCATOR=platform")


@contextlib.contextmanager
def caching_allocator_disabled():
    """Refuses on a GPU, as `caching_allocator_enable` does; nothing changes without one."""
    caching_allocator_enable(False)
    yield


def caching_allocator_alloc(size, device=None, stream=None):
    """Memory that is no tensor's: NotImplementedError. AssertionError without a GPU."""
    wanted()
    raise missing("GPU memory without a tensor", 'torch.empty(size, dtype=torch.uint8, device="cuda")')


def list_gpu_processes(device=None):
    """Who uses the GPU: a text that says that the package nvidia-ml-py would know; NotImplementedError on a GPU."""
    if devices.accelerators():
        raise missing("the processes on a GPU", "nvidia-smi")
    return "pynvml module not found, please install nvidia-ml-py"
