"""PyTorch's autograd: the graph of nodes, the engine that walks it, modes, hooks, custom functions."""


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


def __getattr__(name):
    if name == "profiler":                                     # loaded by those who use it
        import importlib
        return importlib.import_module(f"{__name__}.profiler")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
