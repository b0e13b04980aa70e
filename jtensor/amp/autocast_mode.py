"""`torch.autocast`: a region whose operations choose their types. Owns: its arguments, and the refusal where it would have an effect."""
import functools
import warnings

import jtensor

from ..base.errors import missing

__all__ = ["autocast", "get_autocast_dtype", "is_autocast_available", "is_autocast_enabled"]

_DEVICES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan", "mps",
            "meta", "hpu", "mtia", "privateuseone")
_DEFAULTS = {"cpu": "bfloat16", "cuda": "float16"}


def is_autocast_available(device_type):
    """Whether there is a device type of this name that PyTorch's `autocast` knows."""
    return device_type in _DEFAULTS


def is_autocast_enabled(device_type=None):
    """Whether operations choose their types now: never, so far."""
    return False


def get_autocast_dtype(device_type):
    """The type that `autocast` would cast to by default."""
    return getattr(jtensor, _DEFAULTS.get(device_type, "bfloat16"))


class autocast:
    """A context manager and decorator. With ``enabled=False``, or for "cuda" on a machine without it, nothing happens in the region.

    Where operations would be cast, ``NotImplementedError`` is raised: that is not there yet.

    >>> with torch.autocast("cpu", enabled=False):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.float32
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in _DEVICES:
            raise RuntimeError(f"Expected one of {', '.join(_DEVICES)} device type at start of device string: {device_type}")
        if device_type == "meta":
            raise RuntimeError("unsupported scalarType")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and device_type == "cuda" and not jtensor.cuda.is_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        if enabled and device_type == "cpu" and self.fast_dtype not in (jtensor.bfloat16, jtensor.float16):
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                          "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", stacklevel=2)
            enabled = False
        if enabled and device_type in _DEFAULTS:
            raise missing(f"autocast to {self.fast_dtype}", "autocast(..., enabled=False), and casts by `.to(dtype)`")
        self._enabled = False

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapper
