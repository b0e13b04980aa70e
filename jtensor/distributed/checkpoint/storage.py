"""Where checkpoints of many processes would be kept: not there. Owns: the names of that."""
from ...base.absent import kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"
_KINDS = ("StorageReader", "StorageWriter", "WriteResult")

globals().update({name: kind(__name__, name, *_ABOUT) for name in _KINDS})

__all__ = [*_KINDS]
