"""Checkpoints that many processes write together: not there. Owns: the names of that."""
from ...base.absent import function, kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

FileSystemReader = kind(__name__, "FileSystemReader", *_ABOUT)
FileSystemWriter = kind(__name__, "FileSystemWriter", *_ABOUT)
load = function(__name__, "load", *_ABOUT)
load_state_dict = function(__name__, "load_state_dict", *_ABOUT)
save = function(__name__, "save", *_ABOUT)
save_state_dict = function(__name__, "save_state_dict", *_ABOUT)

__all__ = ["FileSystemReader", "FileSystemWriter", "load", "load_state_dict", "save", "save_state_dict"]
