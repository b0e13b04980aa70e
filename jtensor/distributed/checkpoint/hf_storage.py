"""Checkpoints of many processes as others write them: not there. Owns: the names of that."""
from ...base.absent import kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

HuggingFaceStorageReader = kind(__name__, "HuggingFaceStorageReader", *_ABOUT)
HuggingFaceStorageWriter = kind(__name__, "HuggingFaceStorageWriter", *_ABOUT)

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]
