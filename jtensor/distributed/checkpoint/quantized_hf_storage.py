"""Checkpoints of quantised numbers as Hugging Face writes them: not there. Owns: the name of that."""
from ...base.absent import kind

QuantizedHuggingFaceStorageReader = kind(__name__, "QuantizedHuggingFaceStorageReader", "checkpoints of quantised safetensors",
                                         "FileSystemReader, of tensors that are not quantised")

__all__ = ["QuantizedHuggingFaceStorageReader"]
