"""States of modules that lie on several devices: not there. Owns: the names of that."""
from ...base.absent import function, kind

_ABOUT = "checkpoints of many processes", "module.state_dict() and load_state_dict"

StateDictOptions = kind(__name__, "StateDictOptions", *_ABOUT)
get_model_state_dict = function(__name__, "get_model_state_dict", *_ABOUT)
get_optimizer_state_dict = function(__name__, "get_optimizer_state_dict", *_ABOUT)
get_state_dict = function(__name__, "get_state_dict", *_ABOUT)
set_model_state_dict = function(__name__, "set_model_state_dict", *_ABOUT)
set_optimizer_state_dict = function(__name__, "set_optimizer_state_dict", *_ABOUT)
set_state_dict = function(__name__, "set_state_dict", *_ABOUT)

__all__ = ["StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict",
           "set_optimizer_state_dict", "set_state_dict"]
