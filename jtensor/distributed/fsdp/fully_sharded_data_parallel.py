"""PyTorch's room of `FullyShardedDataParallel`. Owns: that place of its name, and of what is decided about it."""
from . import FullyShardedDataParallel
from .api import *  # noqa: F403
from .api import __all__ as _decided

__all__ = ["FullyShardedDataParallel", *_decided]
