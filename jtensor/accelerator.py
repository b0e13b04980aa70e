"""`torch.accelerator`: the accelerator there is, whatever its kind: a GPU that JAX can use, or none.

Owns: the questions and their answers. May not know: what runs there.
"""
from .base import devices
from .base.errors import missing

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "device_count", "device_index", "empty_cache",
           "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
           "reset_peak_memory_stats", "set_device_idx", "set_device_index", "synchronize"]


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
    """Waits for the work on the accelerator: runs the tape of this thread."""
    _index(device)
    from .trace.executor import flush
    flush("accelerator.synchronize")


def empty_cache():
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
