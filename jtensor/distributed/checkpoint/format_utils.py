"""Other forms of checkpoints of many processes: not there. Owns: the names of that."""
from ...base.absent import function, kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

_EmptyStateDictLoadPlanner = kind(__name__, "_EmptyStateDictLoadPlanner", *_ABOUT)
dcp_to_torch_save = function(__name__, "dcp_to_torch_save", *_ABOUT)
torch_save_to_dcp = function(__name__, "torch_save_to_dcp", *_ABOUT)

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]
