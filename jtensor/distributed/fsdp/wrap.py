"""Which parts of a module would lie on several devices: not there. Owns: the names of that."""
from ...base.absent import function, kind

_ABOUT = "parameters on several devices (torch.distributed.fsdp)", "the module itself, on one device"

ModuleWrapPolicy = kind(__name__, "ModuleWrapPolicy", *_ABOUT)
enable_wrap = function(__name__, "enable_wrap", *_ABOUT)
size_based_auto_wrap_policy = function(__name__, "size_based_auto_wrap_policy", *_ABOUT)
transformer_auto_wrap_policy = function(__name__, "transformer_auto_wrap_policy", *_ABOUT)
wrap = function(__name__, "wrap", *_ABOUT)

__all__ = ["enable_wrap", "ModuleWrapPolicy", "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap"]
