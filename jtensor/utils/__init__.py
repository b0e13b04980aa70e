"""Helpers around tensors and modules, under PyTorch's names.

``hooks`` is imported at once, since everything stands on it; the others when they are first asked for.
"""
import importlib

from . import hooks as hooks

_LAZY = ("_pytree", "benchmark", "checkpoint", "collect_env", "cpp_extension", "data", "deterministic", "dlpack", "model_zoo",
         "serialization", "weak")
_FUNCTIONS = {"swap_tensors": "swapping"}
__all__ = ["checkpoint", "collect_env", "data", "deterministic", "dlpack", "hooks", "swap_tensors", "weak"]


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LAZY, *_FUNCTIONS})
