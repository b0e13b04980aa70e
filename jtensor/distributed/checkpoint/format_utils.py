"""Checkpoints to and from the files of `torch.save`, in one process; and such files read by many. Owns: those ways. May not know: either
format.
"""
import os

import jtensor

from ...futures import Future
from ..collectives import broadcast
from ..world import get_rank
from ._nested_dict import flatten_state_dict
from .default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .metadata import Metadata, TensorProperties, TensorStorageMetadata
from .planner import LoadItemType
from .planner_helpers import _create_chunk_list, narrowed
from .state_dict_loader import _load_state_dict
from .state_dict_saver import _save_state_dict
from .storage import StorageReader

__all__ = ["BroadcastingTorchSaveReader", "DynamicMetaLoadPlanner", "dcp_to_torch_save", "torch_save_to_dcp"]


class BroadcastingTorchSaveReader(StorageReader):
    """Reads a file of `torch.save` in one process of a group and sends each tensor to the others; with `DynamicMetaLoadPlanner`. Tensors
    alone; RuntimeError for others. The file may import what it names: for files that you trust.
    """

    def __init__(self, checkpoint_id=None, coordinator_rank=0):
        self.checkpoint_id, self.coordinator_rank = checkpoint_id, coordinator_rank

    def reset(self, checkpoint_id=None):
        """Begins with a file."""
        self.checkpoint_id = checkpoint_id

    def read_metadata(self):
        """An empty table: the planner knows what there is."""
        return Metadata(state_dict_metadata={})

    def set_up_storage_reader(self, metadata, is_coordinator):
        """Hears whether this process reads."""
        self.is_coordinator = is_coordinator
        if is_coordinator and get_rank() != self.coordinator_rank:
            raise AssertionError(f"Coordinator rank mismatch: expected {self.coordinator_rank}, got {get_rank()}")
        if self.checkpoint_id is None:
            raise AssertionError("checkpoint_id must be set before setting up storage reader")

    def prepare_local_plan(self, plan):
        """The plan as it is."""
        return plan

    def prepare_global_plan(self, global_plan):
        """The plans as they are."""
        return global_plan

    def read_data(self, plan, planner):
        """Fills the tensors, one after the other; answers a done future of None."""
        state = None
        if self.is_coordinator:
            state = jtensor.load(self.checkpoint_id, map_location="cpu", weights_only=False)
            state = flatten_state_dict(state)[0] if planner.flatten_state_dict else state
        for item in plan.items:
            name = item.storage_index.fqn
            if item.type is LoadItemType.BYTE_IO:
                raise RuntimeError(f"Non-tensor value identified at {name}. At this time {type(self).__name__} only supports loading "
                                   "Tensors.")
            tensor = state[name] if self.is_coordinator else jtensor.empty_like(planner.state_dict[name])
            broadcast(tensor, src=self.coordinator_rank)
            tensor, place = narrowed(tensor, item.storage_offsets, item.lengths), planner.resolve_tensor(item).detach()
            if place.size() != tensor.size():
                raise AssertionError(f"req {item.storage_index} mismatch sizes, {place.size()} vs {tensor.size()}")
            place.copy_(tensor)
            planner.commit_tensor(item, place)
        done = Future()
        done.set_result(None)
        return done

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether this is a file."""
        return os.path.isfile(checkpoint_id)


class DynamicMetaLoadPlanner(DefaultLoadPlanner):
    """Expects what the state has, for files without a table of contents. RuntimeError for what is no tensor."""

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        """Takes the state that is to be filled, and makes the table of it."""
        super().set_up_planner(state_dict, metadata, is_coordinator)
        known = {}
        for name, tensor in self.state_dict.items():
            if not isinstance(tensor, jtensor.Tensor):
                raise RuntimeError(f"Non-tensor value identified at {name}. At this time {type(self).__name__} only supports loading "
                                   "Tensors.")
            known[name] = TensorStorageMetadata(TensorProperties(dtype=tensor.dtype), tensor.size(), _create_chunk_list(tensor))
        self.metadata = Metadata(state_dict_metadata=known)


def dcp_to_torch_save(dcp_checkpoint_dir, torch_save_path):
    """Writes all of a checkpoint, whole tensors, as one file."""
    state = {}
    _load_state_dict(state, FileSystemReader(dcp_checkpoint_dir), no_dist=True, planner=_EmptyStateDictLoadPlanner())
    jtensor.save(state, torch_save_path)


def torch_save_to_dcp(torch_save_path, dcp_checkpoint_dir):
    """Writes a file of a dictionary as a checkpoint. The file may import what it names: for files that you trust."""
    _save_state_dict(jtensor.load(torch_save_path, weights_only=False), FileSystemWriter(dcp_checkpoint_dir), no_dist=True)
