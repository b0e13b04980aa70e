"""Where checkpoints are kept. Owns: what such a place has to do. May not know: any such place."""
import abc
from dataclasses import dataclass
from typing import Any

from .metadata import MetadataIndex

__all__ = ["StorageReader", "StorageWriter", "WriteResult"]


@dataclass(frozen=True)
class WriteResult:
    """What was written where."""

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


class StorageWriter(abc.ABC):
    """Keeps checkpoints. To be subclassed; its methods are called in this order, `prepare_global_plan` and `finish` in one process only."""

    @abc.abstractmethod
    def reset(self, checkpoint_id=None):
        """Begins a new checkpoint."""

    @abc.abstractmethod
    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        """Hears which process this is."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan):
        """The `SavePlan` of this process, with what it wants to note in it."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans):
        """The same of those of all processes."""

    @abc.abstractmethod
    def write_data(self, plan, planner):
        """Writes; answers a `torch.futures.Future` of a list of `WriteResult`."""

    @abc.abstractmethod
    def finish(self, metadata, results):
        """Writes the `Metadata`, with the results of all processes."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether it can keep a checkpoint of this name."""

    def storage_meta(self):
        """A `StorageMeta`, or None."""
        return None


class StorageReader(abc.ABC):
    """Has checkpoints. To be subclassed; its methods are called in this order, `prepare_global_plan` in one process alone."""

    @abc.abstractmethod
    def reset(self, checkpoint_id=None):
        """Begins with a checkpoint."""

    @abc.abstractmethod
    def read_metadata(self, *args, **kwargs):
        """The `Metadata`."""

    @abc.abstractmethod
    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        """Hears what the checkpoint has, and which process this is."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan):
        """The `LoadPlan` of this process, with what it wants to note in it."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans):
        """The same of those of all processes."""

    @abc.abstractmethod
    def read_data(self, plan, planner):
        """Reads, and has the planner take it; answers a `torch.futures.Future` of None."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether it can have a checkpoint of this name."""
