"""What a checkpoint has, and where. Owns: the classes that its ``.metadata`` file consists of."""
import enum
import os
from dataclasses import dataclass, field
from typing import Any

import jtensor

__all__ = ["BytesStorageMetadata", "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta", "TensorProperties",
           "TensorStorageMetadata"]

STATE_DICT_TYPE = dict[str, Any]


@dataclass
class ChunkStorageMetadata:
    """A box of a tensor: where it begins in each dimension, and how long it is there."""

    offsets: jtensor.Size
    sizes: jtensor.Size


class _MEM_FORMAT_ENCODING(enum.Enum):
    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


def _formats():
    return (jtensor.contiguous_format, jtensor.channels_last, jtensor.preserve_format)


@dataclass
class TensorProperties:
    """What is known of a tensor beside its size."""

    dtype: jtensor.dtype = field(default_factory=jtensor.get_default_dtype)
    layout: jtensor.layout = field(default=jtensor.strided)
    requires_grad: bool = False
    memory_format: jtensor.memory_format = field(default=jtensor.contiguous_format)
    pin_memory: bool = False

    def __getstate__(self):
        if self.memory_format not in _formats():
            raise RuntimeError(f"Invalid torch.memory_format: {self.memory_format}")
        encoded = _MEM_FORMAT_ENCODING(_formats().index(self.memory_format))
        return self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory

    def __setstate__(self, state):
        self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory = state
        if encoded not in _MEM_FORMAT_ENCODING:
            raise RuntimeError(f"Invalid torch.memory_format encoding: {encoded}")
        self.memory_format = _formats()[encoded.value]

    @staticmethod
    def create_from_tensor(tensor):
        """Those of a tensor."""
        return TensorProperties(tensor.dtype, tensor.layout, tensor.requires_grad, jtensor.contiguous_format, tensor.is_pinned())


@dataclass
class TensorStorageMetadata:
    """A tensor of a checkpoint, which lies there in boxes."""

    properties: TensorProperties
    size: jtensor.Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """An object of a checkpoint that is no tensor."""


@dataclass
class StorageMeta:
    """Where a checkpoint is, and marks of who has written and read it."""

    checkpoint_id: str | os.PathLike | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """A checkpoint's table of contents. ``planner_data``: by which path each name is reached; ``storage_data``: in which file it lies."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """The name of an object, of a tensor's box with where it begins. ``index`` is a hint: the how manieth box it is."""

    fqn: str
    offset: jtensor.Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(self, fqn, offset=None, index=None):
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "index", index)
        if offset is not None:
            object.__setattr__(self, "offset", jtensor.Size(offset))
