"""Checkpoints to and from the files of `torch.save`, in one process. Owns: that way. May not know: either format."""
import jtensor

from .default_planner import _EmptyStateDictLoadPlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .state_dict_loader import _load_state_dict
from .state_dict_saver import _save_state_dict

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir, torch_save_path):
    """Writes all of a checkpoint, whole tensors, as one file."""
    state = {}
    _load_state_dict(state, FileSystemReader(dcp_checkpoint_dir), no_dist=True, planner=_EmptyStateDictLoadPlanner())
    jtensor.save(state, torch_save_path)


def torch_save_to_dcp(torch_save_path, dcp_checkpoint_dir):
    """Writes a file of a dictionary as a checkpoint. The file may import what it names: for files that you trust."""
    _save_state_dict(jtensor.load(torch_save_path, weights_only=False), FileSystemWriter(dcp_checkpoint_dir), no_dist=True)
