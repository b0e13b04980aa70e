"""`torch.mps`: Apple's GPUs, of which there are none: what PyTorch says that was built without them. Owns: these answers."""

__all__ = ["current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache", "get_rng_state", "is_available",
           "manual_seed", "recommended_max_memory", "seed", "set_per_process_memory_fraction", "set_rng_state", "synchronize"]


def is_available():
    """Whether there is such a GPU: False."""
    return False


def device_count():
    """How many there are: 0.

    >>> torch.mps.device_count()
    0
    """
    return 0


def manual_seed(seed):
    """Nothing, since there is no such GPU."""


def _refusing(name, core):
    def function(*args, **kwargs):
        raise RuntimeError(f"Cannot execute {core}() without MPS backend.")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "RuntimeError, since there is no such GPU."
    return function


synchronize = _refusing("synchronize", "deviceSynchronize")
empty_cache = _refusing("empty_cache", "emptyCache")
seed, get_rng_state, set_rng_state = (_refusing(name, "getDefaultGenerator") for name in ("seed", "get_rng_state", "set_rng_state"))
current_allocated_memory = _refusing("current_allocated_memory", "getCurrentAllocatedMemory")
driver_allocated_memory = _refusing("driver_allocated_memory", "getDriverAllocatedMemory")
recommended_max_memory = _refusing("recommended_max_memory", "getRecommendedMaxMemory")
set_per_process_memory_fraction = _refusing("set_per_process_memory_fraction", "setMemoryFraction")
