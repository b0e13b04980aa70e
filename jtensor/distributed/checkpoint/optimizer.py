"""States of optimizers that lie in parts: not there. Owns: the name of that."""
from ...base.absent import function

load_sharded_optimizer_state_dict = function(__name__, "load_sharded_optimizer_state_dict", "states of optimizers in parts",
                                             "load and set_optimizer_state_dict, whole tensors")

__all__ = ["load_sharded_optimizer_state_dict"]
