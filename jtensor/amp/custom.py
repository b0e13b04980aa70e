"""Custom functions in regions of `autocast`: decorators of ``forward`` and ``backward``. May not know: what a region does to a call."""
import functools

import jtensor

from .autocast_mode import autocast, get_autocast_dtype, is_autocast_enabled

__all__ = ["custom_bwd", "custom_fwd"]


def _cast_given(value, device_type, dtype):
    """Floating point tensors of a device type in another type, also inside of tuples, lists and dicts; float64 stays."""
    if isinstance(value, jtensor.Tensor):
        takes_part = value.is_floating_point() and value.device.type == device_type and value.dtype is not jtensor.float64
        return value.to(dtype) if takes_part else value
    if isinstance(value, dict):
        return {_cast_given(key, device_type, dtype): _cast_given(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast_given(item, device_type, dtype) for item in value)
    return value


def _check(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates the ``forward`` of a `torch.autograd.Function` that is used in regions of `autocast`.

    ``cast_inputs``: a type that its tensors are cast to, in a forward pass for which the region is closed; None: it runs in the region.

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    ...     def forward(ctx, x):
    ...         return x @ x
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return grad
    >>> with torch.autocast("cpu"):
    ...     Square.apply(torch.ones(2, 2, dtype=torch.bfloat16)).dtype
    torch.float32
    """
    _check(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **kwargs):
        ctx, inside = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = inside
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        if not inside:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast_given(args, device_type, cast_inputs), **_cast_given(kwargs, device_type, cast_inputs))
    return forward


def custom_bwd(bwd=None, *, device_type):
    """Decorates the ``backward`` that belongs to `custom_fwd`: it runs in the region in which the forward pass ran."""
    _check(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)
    return backward
