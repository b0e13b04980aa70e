"""PyTorch's autograd: the graph of nodes, the engine that walks it, modes, hooks, custom functions."""

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
           "set_multithreading_enabled", "variable"]                       # which the namespace puts in


def _is_checkpoint_valid():
    """Whether a checkpoint of the oldest kind may be recomputed, which it may not in a backward that ends at tensors that were named."""
    from .engine import current_task
    task = current_task()
    return task is None or task.needed is None


def _profiler_enabled():
    """Whether a profile records."""
    import sys
    recording = sys.modules.get("jtensor.profiler.recording")
    return recording is not None and recording.Recorder.current is not None


_ELSEWHERE = {"handle_torch_function": ".overrides", "has_torch_function": ".overrides", "is_tensor_like": ".overrides",
              "kineto_available": ".profiler", "ProfilerActivity": ".profiler"}


def __getattr__(name):
    if name == "profiler":                                     # loaded by those who use it
        import importlib
        return importlib.import_module(f"{__name__}.profiler")
    room = _ELSEWHERE.get(name)
    if room is not None:
        import importlib
        return getattr(importlib.import_module(room, __package__.partition(".")[0]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_ELSEWHERE, "profiler"})
