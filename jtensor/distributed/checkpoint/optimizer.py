"""States of optimizers in checkpoints of many processes: not there. Owns: the names of that."""
from ...base.absent import function

_ABOUT = "checkpoints of many processes", "torch.save and torch.load, in one process"

load_sharded_optimizer_state_dict = function(__name__, "load_sharded_optimizer_state_dict", *_ABOUT)

__all__ = ["load_sharded_optimizer_state_dict"]
