"""`torch.cuda`: honest answers about the GPUs that JAX can use."""
from .base import devices
from .random.cuda_seeding import get_rng_state as get_rng_state
from .random.cuda_seeding import get_rng_state_all as get_rng_state_all
from .random.cuda_seeding import initial_seed as initial_seed
from .random.cuda_seeding import manual_seed as manual_seed
from .random.cuda_seeding import manual_seed_all as manual_seed_all
from .random.cuda_seeding import seed as seed
from .random.cuda_seeding import seed_all as seed_all
from .random.cuda_seeding import set_rng_state as set_rng_state
from .random.cuda_seeding import set_rng_state_all as set_rng_state_all


def is_available():
    """Whether JAX has a GPU."""
    return bool(devices.accelerators())


def device_count():
    """How many GPUs JAX has."""
    return len(devices.accelerators())


def is_initialized():
    return is_available()


def current_device():
    """The index of the current GPU."""
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")
    return 0


def synchronize(device=None):
    """Waits for the work on the GPU: runs the tape of this thread."""
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")
    from .trace.executor import flush
    flush("cuda.synchronize")


def get_device_name(device=None):
    """The name of a GPU."""
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")
    return devices.accelerators()[0].device_kind


def empty_cache():
    """Nothing is cached that could be given back."""


def is_bf16_supported(including_emulation=True):
    return is_available()
