"""Who writes what of a checkpoint of many processes: not there. Owns: the names of that."""
from ...base.absent import kind

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

DefaultLoadPlanner = kind(__name__, "DefaultLoadPlanner", *_ABOUT)
DefaultSavePlanner = kind(__name__, "DefaultSavePlanner", *_ABOUT)

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]
