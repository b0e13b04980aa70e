"""Who writes and reads what of a checkpoint. Owns: the plans, and what a planner has to do. May not know: where checkpoints are kept."""
import abc
import enum
import math
from dataclasses import dataclass
from typing import Any

import jtensor

from .metadata import ChunkStorageMetadata, MetadataIndex, TensorProperties

__all__ = ["BytesIOWriteData", "LoadItemType", "LoadPlan", "LoadPlanner", "ReadItem", "SavePlan", "SavePlanner", "TensorWriteData",
           "WriteItem", "WriteItemType"]


class WriteItemType(enum.Enum):
    """A tensor, a part of one, or another object."""

    TENSOR = enum.auto()
    SHARD = enum.auto()
    BYTE_IO = enum.auto()


class LoadItemType(enum.Enum):
    """A tensor or another object."""

    TENSOR = enum.auto()
    BYTE_IO = enum.auto()


@dataclass(frozen=True)
class BytesIOWriteData:
    """How long an object is in bytes."""

    nbytes: int


@dataclass(frozen=True)
class TensorWriteData:
    """A box of a tensor that is to be written."""

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: jtensor.Size


@dataclass(frozen=True)
class WriteItem:
    """One thing that is to be written."""

    index: MetadataIndex
    type: WriteItemType
    bytes_io_data: BytesIOWriteData | None = None
    tensor_data: TensorWriteData | None = None

    def tensor_storage_size(self):
        """The bytes of the whole tensor; None of what is none."""
        if self.tensor_data is None:
            return None
        return math.prod(self.tensor_data.size) * self.tensor_data.properties.dtype.itemsize


@dataclass(frozen=True)
class ReadItem:
    """One thing that is to be read: which part of what is kept goes to which part of what is there."""

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: jtensor.Size
    storage_index: MetadataIndex
    storage_offsets: jtensor.Size
    lengths: jtensor.Size


@dataclass(frozen=True)
class SavePlan:
    """What a process writes."""

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass
class LoadPlan:
    """What a process reads."""

    items: list[ReadItem]
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(abc.ABC):
    """Decides what is written. To be subclassed; its methods are called in this order, `create_global_plan` in one process alone."""

    @abc.abstractmethod
    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        """Takes the state that is to be written."""

    @abc.abstractmethod
    def create_local_plan(self):
        """The `SavePlan` of this process."""

    @abc.abstractmethod
    def create_global_plan(self, all_plans):
        """(the plans of all processes, as they are to be, the `Metadata` of the checkpoint)."""

    @abc.abstractmethod
    def finish_plan(self, new_plan):
        """The plan that this process carries out, of the one it got back."""

    @abc.abstractmethod
    def resolve_data(self, write_item):
        """The tensor, or the object's pickle in an `io.BytesIO`, of a `WriteItem`."""


class LoadPlanner:
    """Decides what is read. To be subclassed; its methods are called in this order, `create_global_plan` in one process alone."""

    @abc.abstractmethod
    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Takes the state that is to be filled, and the `Metadata` of the checkpoint."""

    @abc.abstractmethod
    def create_local_plan(self):
        """The `LoadPlan` of this process."""

    @abc.abstractmethod
    def create_global_plan(self, global_plan):
        """The plans of all processes, as they are to be."""

    @abc.abstractmethod
    def finish_plan(self, central_plan):
        """The plan that this process carries out, of the one it got back."""

    @abc.abstractmethod
    def load_bytes(self, read_item, value):
        """Takes an object's pickle, an `io.BytesIO`."""

    def resolve_bytes(self, read_item):
        """Where an object is to be put: NotImplementedError."""
        raise NotImplementedError("LoadPlanner.resolve_bytes is not implemented")

    @abc.abstractmethod
    def resolve_tensor(self, read_item):
        """The tensor, or the part of one, that a `ReadItem` fills."""

    @abc.abstractmethod
    def commit_tensor(self, read_item, tensor):
        """Hears that it is filled."""
