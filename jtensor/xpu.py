"""`torch.xpu`: Intel's GPUs, of which there are none: what PyTorch says that was built without them. Owns: these answers."""

__all__ = ["current_device", "current_stream", "device_count", "empty_cache", "get_device_name", "get_device_properties", "get_rng_state",
           "init", "initial_seed", "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
           "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "seed", "seed_all", "set_device",
           "synchronize"]


def is_available():
    """Whether there is such a GPU: False."""
    return False


def is_initialized():
    """Whether one is in use: False."""
    return False


def is_bf16_supported(including_emulation=True):
    """Whether one computes with bfloat16: False."""
    return False


def device_count():
    """How many there are: 0.

    >>> torch.xpu.device_count()
    0
    """
    return 0


def memory_allocated(device=None):
    """Bytes in use there: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def manual_seed(seed):
    """Nothing, since there is no such GPU."""


manual_seed_all = manual_seed


def seed():
    """Nothing, since there is no such GPU."""


seed_all = empty_cache = seed


def init(*args, **kwargs):
    """AssertionError, since there is no such GPU."""
    raise AssertionError("Torch not compiled with XPU enabled")


current_device = current_stream = get_device_name = get_device_properties = get_rng_state = initial_seed = set_device = synchronize = init
