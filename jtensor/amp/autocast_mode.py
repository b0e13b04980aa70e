"""`torch.autocast`: a region whose operations choose their types, and the functions that ask about it. Owns: the regions' arguments.

What happens to a call inside is in `casting`, what is cast to which type in `tables`.
"""
import contextlib
import functools
import warnings

import jtensor

__all__ = ["autocast", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
           "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_available", "is_autocast_cache_enabled",
           "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
           "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"]

_WITH_REGIONS = frozenset((                             # of most there are no tensors here: such a region is open, and nothing happens
    "cpu", "cuda", "ipu", "xpu", "xla", "mps", "hpu", "mtia", "maia", "privateuseone"))


def _cast(value, device_type, dtype):
    """Floating point tensors in another type, also inside of containers, as libraries ask for it."""
    from .custom import _cast_given
    return _cast_given(value, device_type, dtype)


def _state():
    from .casting import STATE
    return STATE


def _device_type(device_type, function):
    if not isinstance(device_type, str):
        raise TypeError(f"{function}(): argument 'device_type' (position 1) must be str, not {type(device_type).__name__}")
    return jtensor.device(device_type).type


def _with_regions(device_type, function):
    kind = _device_type(device_type, function)
    if kind not in _WITH_REGIONS:
        raise RuntimeError("unknown device type for autocast in get_autocast_dispatch_key_from_device_type")
    return kind


# -- what PyTorch's C++ shows of the state ----------------------------------------------------------------------------------


def is_autocast_available(device_type):
    """Whether there is a device type of this name that PyTorch's `autocast` knows."""
    return _device_type(device_type, "is_autocast_available") in _WITH_REGIONS


def is_autocast_enabled(device_type="cuda"):
    """Whether operations on tensors of that device type choose their types now, in this thread.

    >>> with torch.autocast("cpu"):
    ...     torch.is_autocast_enabled("cpu")
    True
    """
    return _with_regions(device_type, "is_autocast_enabled") in _state().enabled


def set_autocast_enabled(device_type, enabled=None):
    """Opens or closes a region without an end; ``set_autocast_enabled(enabled)`` is for "cuda"."""
    position = 2
    if enabled is None:
        device_type, enabled, position = "cuda", device_type, 1
    if not isinstance(enabled, bool):
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' (position {position}) must be bool, not {type(enabled).__name__}")
    state, device_type = _state(), _with_regions(device_type, "set_autocast_enabled")
    if enabled:
        from .casting import put_doors
        put_doors()
    state.enabled = state.enabled - {device_type} | ({device_type} if enabled else set())


def get_autocast_dtype(device_type):
    """The type that regions of that device type cast to."""
    kind = _device_type(device_type, "get_autocast_dtype")
    if kind not in _WITH_REGIONS:
        raise RuntimeError("unsupported scalarType")
    return _state().type_for(kind)


def set_autocast_dtype(device_type, dtype):
    """Says which type regions of that device type cast to."""
    if not isinstance(dtype, jtensor.dtype):
        raise TypeError(f"set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not {type(dtype).__name__}")
    _state().lower[_device_type(device_type, "set_autocast_dtype")] = dtype


def is_autocast_cache_enabled():
    """Whether the cast of a parameter is kept for its next use in the region."""
    return _state().keeps


def set_autocast_cache_enabled(enabled, /):
    """Says whether the cast of a parameter is kept for its next use in the region."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    _state().keeps = enabled


def clear_autocast_cache():
    """Forgets the casts of parameters that were kept."""
    _state().kept.clear()


def autocast_increment_nesting():
    """Counts a region that is entered; answers how many are open."""
    state = _state()
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting():
    """Counts a region that is left; answers how many are open."""
    state = _state()
    state.nesting -= 1
    return state.nesting


def _older(name, now, function):
    """A function under the name it had before it took a device type."""
    def older(*args):
        warnings.warn(f"torch.{name}({', '.join(function.__code__.co_varnames[1:len(args) + 1])}) is deprecated. Please use "
                      f"torch.{now} instead.", DeprecationWarning, stacklevel=2)
        return function("cuda" if "gpu" in name else name.split("_")[2], *args)
    older.__name__ = older.__qualname__ = name
    older.__doc__ = f"The older name of ``{now}``."
    return older


is_autocast_cpu_enabled = _older("is_autocast_cpu_enabled", "is_autocast_enabled('cpu')", is_autocast_enabled)
get_autocast_cpu_dtype = _older("get_autocast_cpu_dtype", "get_autocast_dtype('cpu')", get_autocast_dtype)
get_autocast_gpu_dtype = _older("get_autocast_gpu_dtype", "get_autocast_dtype('cuda')", get_autocast_dtype)
set_autocast_cpu_enabled = _older("set_autocast_cpu_enabled", "set_autocast_enabled('cpu', enabled)", set_autocast_enabled)
set_autocast_cpu_dtype = _older("set_autocast_cpu_dtype", "set_autocast_dtype('cpu', dtype)", set_autocast_dtype)
set_autocast_gpu_dtype = _older("set_autocast_gpu_dtype", "set_autocast_dtype('cuda', dtype)", set_autocast_dtype)
for _kind in ("ipu", "xla"):
    for _name, _now, _function in (("is_autocast_{}_enabled", "is_autocast_enabled('{}')", is_autocast_enabled),
                                   ("get_autocast_{}_dtype", "get_autocast_dtype('{}')", get_autocast_dtype),
                                   ("set_autocast_{}_enabled", "set_autocast_enabled('{}', enabled)", set_autocast_enabled),
                                   ("set_autocast_{}_dtype", "set_autocast_dtype('{}', dtype)", set_autocast_dtype)):
        globals()[_name.format(_kind)] = _older(_name.format(_kind), _now.format(_kind), _function)


# -- regions ----------------------------------------------------------------------------------------------------------------


class autocast:
    """A context manager and decorator: inside, products run in ``dtype`` (by default bfloat16 on the CPU, float16 on CUDA), what needs the
    range in float32, and the rest in the types that come.

    Casts of parameters (leaves in float32 that require grad) are kept until the outermost region ends, unless ``cache_enabled=False``.
    ``backward()`` belongs outside. ``enabled=False``, or a device type that is not there: nothing happens. ``RuntimeError`` for a device
    type without such regions, ``ValueError`` for what is no text. https://docs.pytorch.org/docs/stable/amp.html

    >>> with torch.autocast("cpu"):
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        kind = _device_type(device_type, "autocast")
        if kind == "meta" and dtype is None:
            raise RuntimeError("unsupported scalarType")
        if kind not in _WITH_REGIONS:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device, self.custom_backend_name = device_type, "privateuseone"
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda" and not jtensor.cuda.is_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        if enabled and device_type == "cpu" and self.fast_dtype not in (jtensor.bfloat16, jtensor.float16):
            warnings.warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                          "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", stacklevel=2)
            enabled = False
        self._enabled = enabled

    def __enter__(self):
        self.prev_cache_enabled = is_autocast_cache_enabled()
        self.prev, self.prev_fastdtype = is_autocast_enabled(self.device), get_autocast_dtype(self.device)
        set_autocast_enabled(self.device, bool(self._enabled))
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exc):
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, self.prev)
        set_autocast_dtype(self.device, self.prev_fastdtype)
        set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapper


def as_now():
    """A function that opens the regions again that are open now: what runs a second time does so as the first time (`checkpoint`)."""
    regions = [(device, get_autocast_dtype(device), is_autocast_enabled(device)) for device in ("cpu", "cuda")]
    keeps = is_autocast_cache_enabled()

    @contextlib.contextmanager
    def again():
        with contextlib.ExitStack() as stack:
            for region in regions:
                stack.enter_context(autocast(*region, cache_enabled=keeps))
            yield
    return again
