"""`torch.autograd.profiler`: the profiler's older place. Owns: the names there, which live in `jtensor.profiler`."""

_NAMES = {"record_function": "record_function", "profile": "legacy_profile", "emit_nvtx": "emit_nvtx", "EventList": "EventList",
          "FunctionEvent": "FunctionEvent", "ProfilerActivity": "ProfilerActivity"}


def __dir__():
    return sorted(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        from ..profiler import events
        from ..profiler import profiler as profiling
        return getattr(profiling, _NAMES[name], None) or getattr(events, _NAMES[name])
    raise AttributeError(f"module 'jtensor.autograd.profiler' has no attribute '{name}'")
