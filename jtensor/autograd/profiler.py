"""`torch.autograd.profiler`: the profiler's older place. Owns: the names there, which live in `jtensor.profiler`."""

_NAMES = {"record_function": "recording", "profile": "legacy", "emit_nvtx": "legacy", "emit_itt": "legacy", "EventList": "events",
          "FunctionEvent": "events", "DeviceType": "events", "ProfilerActivity": "scheduling", "kineto_available": "scheduling"}

__all__ = sorted(_NAMES.keys() - {"DeviceType", "ProfilerActivity", "kineto_available"})


def __dir__():
    return sorted(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        from ..profiler import events, legacy, recording, scheduling
        return getattr({"events": events, "legacy": legacy, "recording": recording, "scheduling": scheduling}[_NAMES[name]], name)
    raise AttributeError(f"module 'jtensor.autograd.profiler' has no attribute '{name}'")
