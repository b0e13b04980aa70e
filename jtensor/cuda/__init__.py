"""`torch.cuda`: honest answers about the GPUs that JAX can use, and without one what PyTorch says that was built without CUDA."""
from ..base import absent, devices
from ..base.errors import AcceleratorError as AcceleratorError
from ..base.errors import OutOfMemoryError as OutOfMemoryError
from ..base.errors import missing
from ..streams import wait
from . import graphs as graphs
from . import memory as memory
from . import nvtx as nvtx
from . import random as random
from . import streams as streams
from ._asked import built, wanted
from .graphs import *  # noqa: F403
from .memory import *  # noqa: F403
from .random import *  # noqa: F403
from .streams import *  # noqa: F403

CudaError = absent.kind("torch.cuda", "CudaError", "errors of CUDA's own runtime", "RuntimeError, which XLA's errors are", RuntimeError)


class cudaStatus:
    """Numbers of CUDA's errors, which programs compare with those that they get from CUDA itself."""

    __module__ = "torch.cuda"

    SUCCESS = 0
    ERROR_NOT_READY = 34


has_half, has_magma = True, False


class DeferredCudaCallError(Exception):
    """An error of a call that waited for the start of CUDA; ours do not wait."""

    __module__ = "torch.cuda"


def _index(device):
    """The index that a number, a name or a device of a GPU tells; None where none is told. ValueError for another kind of device."""
    if device is None or isinstance(device, int):
        return device
    named = devices.device(device)
    if named.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return named.index


def is_available():
    """Whether JAX has a GPU."""
    return bool(devices.accelerators())


def device_count():
    """How many GPUs JAX has."""
    return len(devices.accelerators())


def is_initialized():
    """Whether GPUs are in use, as they are from the start where there are any."""
    return is_available()


def current_device():
    """The index of the current GPU."""
    wanted()
    return 0


def synchronize(device=None):
    """Waits for the work on the GPU: runs the tape of this thread, and waits until XLA has done it."""
    wanted()
    wait(devices.index_of(device))


def get_device_name(device=None):
    """The name of a GPU."""
    return get_device_properties(device).name


def set_device(device):
    """Makes a GPU the current one; jtensor's is always the first. A negative index changes nothing."""
    index = _index(device)
    if index is None:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    if index < 0:
        return
    built("_cuda_setDevice")
    if index != 0:
        raise missing("another current GPU than the first", f'device="cuda:{index}"')


class device:
    """A context in which a GPU is the current one: its index, name or `torch.device`; nothing changes for a negative index."""

    def __init__(self, device):
        self.idx = _index(device)
        if self.idx is None and is_available():
            self.idx = current_device()

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
    wanted()


def _lazy_call(callable, **kwargs):
    """Calls a function where there is a GPU; PyTorch waits for the first use of it, which without one never comes."""
    if is_available():
        callable()


def ipc_collect():
    """Memory that other processes have given back: there is none. AssertionError without a GPU."""
    wanted()


def get_device_capability(device=None):
    """The compute capability of a GPU, as (major, minor)."""
    found = get_device_properties(device)
    return found.major, found.minor


class _CudaDeviceProperties:
    """What JAX tells of a GPU: its name, compute capability, memory that XLA may use, and how many multiprocessors it has."""

    __module__ = "torch._C"

    def __init__(self, index):
        gpu = devices.accelerators()[index]
        self.name = gpu.device_kind
        self.major, self.minor = map(int, str(gpu.compute_capability).split("."))
        self.total_memory = devices.memory_statistic("bytes_limit", index)
        self.multi_processor_count = gpu.core_count

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count})")

    def __getattr__(self, name):
        raise AttributeError(f"jtensor does not know '{name}' of a GPU, since JAX does not tell it")


def get_device_properties(device=None):
    """What JAX tells of a GPU. ``total_memory`` is what XLA's allocator may use, which is less than the GPU has."""
    wanted()
    return _CudaDeviceProperties(devices.index_of(device) or 0)


def get_arch_list():
    """The architectures that this library holds machine code for: none, since XLA compiles for the GPU that is there."""
    return []


def get_gencode_flags():
    """The compiler's flags for these architectures: none."""
    return ""


def can_device_access_peer(device, peer_device):
    """Whether a GPU reads another's memory by itself, which JAX does not tell. AssertionError without a GPU."""
    wanted()
    raise missing("what GPUs know of each other", "x.to(device), which copies in any case")


def cudart():
    """CUDA's own functions are not here. AssertionError without a GPU."""
    wanted()
    raise missing("CUDA's runtime", "JAX's functions for GPUs")


def current_blas_handle():
    """Addresses of CUDA's libraries are not here. AssertionError without a GPU."""
    cudart()


current_solver_handle = current_blas_handle


def get_sync_debug_mode():
    """What waits for the GPU is told by ``jtensor.report()``; there is no such mode. AssertionError without a GPU."""
    wanted()
    return 0


def set_sync_debug_mode(debug_mode):
    """Refuses another mode than "default". AssertionError without a GPU."""
    wanted()
    if debug_mode not in (0, "default"):
        raise missing("warnings at what waits for the GPU", "jtensor.report(), which lists every flush with its line")


def is_tf32_supported():
    """Whether the GPU has TF32: from compute capability 8.0 on."""
    return is_available() and get_device_capability() >= (8, 0)


def is_bf16_supported(including_emulation=True):
    """Whether there is a GPU: XLA computes with bfloat16 on each."""
    return is_available()


def _by_nvml(name):
    def function(device=None):
        if is_available():
            raise missing("the sensors of a GPU", "nvidia-smi")
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed or it can't be imported.")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Refuses: ModuleNotFoundError without a GPU, as PyTorch without nvidia-ml-py; NotImplementedError with one."
    return function


clock_rate, temperature, power_draw, utilization, memory_usage, device_memory_used = map(
    _by_nvml, ("clock_rate", "temperature", "power_draw", "utilization", "memory_usage", "device_memory_used"))


_UNSTARRED = frozenset(("AcceleratorError", "OutOfMemoryError", "absent", "built", "devices", "missing", "wait", "wanted"))


def __getattr__(name):
    if name == "__all__":                                  # what `import *` gives: as in PyTorch, also what is found late
        return [name for name in __dir__() if name[0] != "_" and name not in _UNSTARRED]
    if name == "amp":                                      # mixed precision is loaded by those who use it
        import importlib
        return importlib.import_module("jtensor.cuda.amp")
    if name == "_initialized":
        return is_initialized()
    if name == "default_generators":
        from ..random.cuda_seeding import of_device
        return tuple([of_device(index) for index in range(device_count())])
    if name.endswith("Tensor"):
        from .._legacy import CUDA
        if name in CUDA:
            return CUDA[name]
    raise AttributeError(f"module 'jtensor.cuda' has no attribute '{name}'")


def __dir__():
    from .._legacy import CUDA
    return sorted({*globals(), "amp", "default_generators", *CUDA})
