"""What a checkpoint of many processes has where: not there. Owns: the names of that."""
from typing import Any

from ...base.absent import kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"
_KINDS = ("BytesStorageMetadata", "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta", "TensorProperties",
          "TensorStorageMetadata")
STATE_DICT_TYPE = dict[str, Any]

globals().update({name: kind(__name__, name, *_ABOUT) for name in _KINDS})

__all__ = [*_KINDS]
