"""The names of mixed precision under ``torch.cuda.amp`` and ``torch.cpu.amp``: the same for one device type, out of date in PyTorch.

Owns: what they warn of. May not know: what they are.
"""
import functools
import warnings

from . import autocast_mode, grad_scaler


def _out_of_date(where, name, now):
    warnings.warn(f"`torch.{where}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{now}` instead.", FutureWarning, stacklevel=3)


def _stands_in(kind, device_type, room):
    """A class says that it comes from where PyTorch has it."""
    kind.__module__, kind.__qualname__ = f"torch.{device_type}.amp.{room}", kind.__name__


def autocast_for(device_type, default):
    """`torch.amp.autocast` of one device type, as a class."""
    class autocast(autocast_mode.autocast):
        def __init__(self, enabled=True, dtype=default, cache_enabled=True):
            _out_of_date(device_type, "autocast", f"autocast('{device_type}', args...)")
            super().__init__(device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    _stands_in(autocast, device_type, "autocast_mode")
    autocast.__doc__ = f"``torch.amp.autocast('{device_type}', ...)``, out of date under this name."
    return autocast


def scaler_for(device_type):
    """`torch.amp.GradScaler` of one device type, as a class."""
    class GradScaler(grad_scaler.GradScaler):
        def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
            _out_of_date(device_type, "GradScaler", f"GradScaler('{device_type}', args...)")
            super().__init__(device_type, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    _stands_in(GradScaler, device_type, "grad_scaler")
    GradScaler.__doc__ = f"``torch.amp.GradScaler('{device_type}', ...)``, out of date under this name."
    return GradScaler


def custom_for(device_type, decorator):
    """`torch.amp.custom_fwd` or `custom_bwd` of one device type."""
    name = decorator.__name__

    @functools.wraps(decorator)
    def custom(*args, **kwargs):
        _out_of_date(device_type, name, f"{name}(args..., device_type='{device_type}')")
        return decorator(*args, **kwargs, device_type=device_type)
    custom.__doc__ = f"``torch.amp.{name}(..., device_type='{device_type}')``, out of date under this name."
    return custom
