"""`torch.autograd.profiler`: the profiler's older place. Owns: the names there, which live in `jtensor.profiler`."""

_NAMES = {"record_function": "recording", "profile": "legacy", "emit_nvtx": "legacy", "emit_itt": "legacy", "EventList": "events",
          "FunctionEvent": "events", "DeviceType": "events", "ProfilerActivity": "scheduling", "kineto_available": "scheduling"}


def __dir__():
    return sorted(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        import importlib
        return getattr(importlib.import_module("jtensor.profiler." + _NAMES[name]), name)
    raise AttributeError(f"module 'jtensor.autograd.profiler' has no attribute '{name}'")
