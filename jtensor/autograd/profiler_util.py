"""`torch.autograd.profiler_util`: parts of a profile, at their place in PyTorch. Owns: the names, which live in `jtensor.profiler`."""

_NAMES = ("DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel")

__all__ = list(_NAMES[1:])


def __dir__():
    return sorted(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        from ..profiler import events
        return getattr(events, name)
    raise AttributeError(f"module 'jtensor.autograd.profiler_util' has no attribute '{name}'")
