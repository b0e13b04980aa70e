"""`torch.accelerator`: the accelerator there is, whatever its kind: a GPU that JAX can use, or none.

Owns: the questions and their answers. May not know: what runs there.
"""
from .base import devices
from .base.errors import missing
from .streams import Stream, current, set_current, wait

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count",
           "device_index", "empty_cache", "empty_host_cache", "get_device_capability", "get_memory_info", "is_available",
           "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
           "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream",
           "synchronize"]


def is_available():
    """Whether there is an accelerator.

    >>> torch.accelerator.is_available() is (torch.accelerator.current_accelerator() is not None)
    True
    """
    return bool(devices.accelerators())


def device_count():
    """How many accelerators there are."""
    return len(devices.accelerators())


def current_accelerator(check_available=False):
    """The accelerator's `torch.device`, without an index; None where there is none."""
    return devices.device("cuda") if is_available() else None


def current_device_index():
    """The index of the accelerator that ``"cuda"`` means: 0. ``RuntimeError`` where there is none."""
    _wanted()
    return 0


current_device_idx = current_device_index


def set_device_index(device):
    """Makes this accelerator the current one; jtensor's is always the first."""
    index = _index(device)
    if index not in (None, 0):
        raise missing("another current accelerator than the first", f'device="cuda:{index}"')


set_device_idx = set_device_index


class device_index:
    """Within it, this accelerator is the current one; None changes nothing."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        if self.idx is not None:
            set_device_index(self.idx)

    def __exit__(self, *exc):
        return False


def synchronize(device=None):
    """Waits for the work on the accelerator: runs the tape of this thread, and waits until it is done."""
    wait(_index(device))


def current_stream(device=None):
    """The current stream of the accelerator on this thread; RuntimeError where there is none."""
    if device is not None and not isinstance(device, int) and devices.device(device).type != "cuda":
        raise RuntimeError("Accelerator expected")
    return current(devices.device("cuda", _index(device) or 0))


def set_stream(stream):
    """Makes a stream the current one of its device."""
    if not isinstance(stream, Stream):
        raise TypeError("_accelerator_setStream(): incompatible function arguments. The following argument types are supported:\n"
                        f"    1. (arg0: torch.Stream) -> None\n\nInvoked with: {stream!r}")
    _wanted()
    set_current(stream)


def get_device_capability(device=None):
    """What the accelerator's kinds of numbers are: told by no name that JAX has; refuses (RuntimeError where there is none)."""
    _index(device)
    raise missing("the capabilities of accelerators", "torch.cuda.get_device_capability()")


def get_memory_info(device_index=None):
    """(bytes that XLA's allocator has left, bytes that it may use at most)."""
    most = devices.memory_statistic("bytes_limit", _index(device_index))
    return most - devices.memory_statistic("bytes_in_use", _index(device_index)), most


def memory_stats(device_index=None):
    """What XLA's allocator tells, as `torch.cuda.memory_stats` gives it."""
    index = _index(device_index)
    from .cuda import memory
    return memory.memory_stats(index)


def reset_accumulated_memory_stats(device_index=None):
    """XLA's counts cannot be reset: `MissingFeature` (where there is no accelerator, the ``RuntimeError`` that says so)."""
    _index(device_index)
    raise missing("counts of allocations that can be reset", "differences of torch.accelerator.memory_stats()")


def empty_cache():
    """Nothing is cached that could be given back."""
    _wanted()


def empty_host_cache():
    """Nothing is cached that could be given back."""
    _wanted()


def memory_allocated(device_index=None):
    """Bytes that arrays occupy on the accelerator now, as XLA counts them."""
    return devices.memory_statistic("bytes_in_use", _index(device_index))


def max_memory_allocated(device_index=None):
    """The most bytes that arrays have occupied, as XLA counts them."""
    return devices.memory_statistic("peak_bytes_in_use", _index(device_index))


def memory_reserved(device_index=None):
    """Bytes that XLA's allocator holds."""
    return devices.memory_statistic("pool_bytes", _index(device_index))


def max_memory_reserved(device_index=None):
    """The most bytes that XLA's allocator has held."""
    return devices.memory_statistic("peak_pool_bytes", _index(device_index))


def reset_peak_memory_stats(device_index=None):
    """XLA's peaks cannot be reset: `MissingFeature` (where there is no accelerator, the ``RuntimeError`` that says so)."""
    _index(device_index)
    raise missing("peaks of memory that can be reset", "torch.accelerator.max_memory_allocated(), since the process began")


def _wanted():
    if not is_available():
        raise RuntimeError(devices.NONE_THERE)


def _index(device):
    _wanted()
    return devices.index_of(device)
