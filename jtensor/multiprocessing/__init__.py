"""`torch.multiprocessing`: Python's `multiprocessing`, and `spawn` (`spawn.py`).

Owns: the sharing strategies' names. How tensors are sent is `tensor.memory.sending`'s; everything else is Python's. May not know: tensors.
"""
import multiprocessing as _python
from multiprocessing import *  # noqa: F403

from .spawn import ProcessContext, ProcessExitedException, ProcessRaisedException, SpawnContext, spawn, start_processes  # noqa: F401

_STRATEGIES = {"file_descriptor", "file_system"}
_chosen = ["file_descriptor"]


def get_all_sharing_strategies():
    """The names of the ways in which PyTorch shares tensors between processes. Here it is by descriptors, whichever is chosen."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """The way that was chosen."""
    return _chosen[0]


def set_sharing_strategy(new_strategy):
    """Chooses a way, which changes nothing here. AssertionError for one that there is not."""
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}")
    _chosen[0] = new_strategy


def init_reductions():
    """Nothing: `multiprocessing` knows how tensors are sent since jtensor was imported."""


__all__ = [*_python.__all__, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy"]
