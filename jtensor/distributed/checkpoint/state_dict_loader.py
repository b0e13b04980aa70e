"""Reading checkpoints of many processes: not there. Owns: the names of that."""
from ...base.absent import function

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

_load_state_dict = function(__name__, "_load_state_dict", *_ABOUT)
load = function(__name__, "load", *_ABOUT)

__all__ = ["load"]
