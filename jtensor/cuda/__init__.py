"""`torch.cuda`: honest answers about the GPUs that JAX can use."""
from ..base import devices
from ..base.errors import OutOfMemoryError as OutOfMemoryError
from ..random.cuda_seeding import get_rng_state as get_rng_state
from ..random.cuda_seeding import get_rng_state_all as get_rng_state_all
from ..random.cuda_seeding import initial_seed as initial_seed
from ..random.cuda_seeding import manual_seed as manual_seed
from ..random.cuda_seeding import manual_seed_all as manual_seed_all
from ..random.cuda_seeding import seed as seed
from ..random.cuda_seeding import seed_all as seed_all
from ..random.cuda_seeding import set_rng_state as set_rng_state
from ..random.cuda_seeding import set_rng_state_all as set_rng_state_all


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
    _wanted()
    return 0


def synchronize(device=None):
    """Waits for the work on the GPU: runs the tape of this thread."""
    _wanted()
    from ..trace.executor import flush
    flush("cuda.synchronize")


def get_device_name(device=None):
    """The name of a GPU."""
    _wanted()
    return devices.accelerators()[0].device_kind


def empty_cache():
    """Nothing is cached that could be given back."""


def set_device(device):
    """Makes a GPU the current one; jtensor's is always the first."""
    _wanted()
    if devices.index_of(device) not in (None, 0):
        from ..base.errors import missing
        raise missing("another current GPU than the first", f'device="cuda:{devices.index_of(device)}"')


class device:
    """A context in which a GPU is the current one: its index, name or `torch.device`; nothing changes for None or a negative index."""

    def __init__(self, device):
        if device is not None and not isinstance(device, int):
            named = devices.device(device)
            if named.type != "cuda":
                raise ValueError(f"Expected a cuda device, but got: {device}")
            device = named.index or 0
        self.idx = -1 if device is None else device

    def __enter__(self):
        if self.idx < 0:
            return
        if not is_available():
            raise RuntimeError("PyTorch was compiled without CUDA support")
        set_device(self.idx)

    def __exit__(self, type, value, traceback):
        return False


class device_of(device):
    """The same for the device of a tensor; one on the CPU changes nothing."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def init():
    """Nothing that JAX would not do by itself; AssertionError without a GPU."""
    _wanted()


def ipc_collect():
    """Memory that other processes have given back: there is none. AssertionError without a GPU."""
    _wanted()


def get_device_capability(device=None):
    """The compute capability of a GPU, as (major, minor)."""
    _wanted()
    major, minor = str(devices.accelerators()[0].compute_capability).split(".")
    return int(major), int(minor)


def memory_allocated(device=None):
    """Bytes that arrays occupy on the GPU now, as XLA counts them; 0 without a GPU."""
    return _bytes("bytes_in_use", device)


def max_memory_allocated(device=None):
    """The most bytes that arrays have occupied, as XLA counts them; 0 without a GPU."""
    return _bytes("peak_bytes_in_use", device)


def memory_reserved(device=None):
    """Bytes that XLA's allocator holds; 0 without a GPU."""
    return _bytes("pool_bytes", device)


def max_memory_reserved(device=None):
    """The most bytes that XLA's allocator has held; 0 without a GPU."""
    return _bytes("peak_pool_bytes", device)


def _bytes(name, device):
    return devices.memory_statistic(name, devices.index_of(device)) if is_available() else 0


def _wanted():
    if not is_available():
        raise AssertionError("Torch not compiled with CUDA enabled")


def is_bf16_supported(including_emulation=True):
    return is_available()


def __getattr__(name):
    if name == "amp":                                      # mixed precision is loaded by those who use it
        import importlib
        return importlib.import_module("jtensor.cuda.amp")
    raise AttributeError(f"module 'jtensor.cuda' has no attribute '{name}'")
