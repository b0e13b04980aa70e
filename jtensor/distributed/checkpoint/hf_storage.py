"""Checkpoints as Hugging Face writes them, safetensors: not there. Owns: the names of that."""
from ...base.absent import kind

_ABOUT = "checkpoints of safetensors", "FileSystemReader and FileSystemWriter; the package safetensors, in one process"

HuggingFaceStorageReader = kind(__name__, "HuggingFaceStorageReader", *_ABOUT)
HuggingFaceStorageWriter = kind(__name__, "HuggingFaceStorageWriter", *_ABOUT)

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]
