"""Which parts of a module would lie on several devices: not there. Owns: the names of that."""
from ...base.absent import function, kind

_ABOUT = "parameters on several devices (torch.distributed.fsdp)", "the module itself, on one device"

CustomPolicy = kind(__name__, "CustomPolicy", *_ABOUT)
ModuleWrapPolicy = kind(__name__, "ModuleWrapPolicy", *_ABOUT)
enable_wrap = function(__name__, "enable_wrap", *_ABOUT)
lambda_auto_wrap_policy = function(__name__, "lambda_auto_wrap_policy", *_ABOUT)
size_based_auto_wrap_policy = function(__name__, "size_based_auto_wrap_policy", *_ABOUT)
transformer_auto_wrap_policy = function(__name__, "transformer_auto_wrap_policy", *_ABOUT)
wrap = function(__name__, "wrap", *_ABOUT)



def always_wrap_policy(*args, **kwargs):
    """Whether a part of a module would lie on several devices by itself: yes."""
    return True


__all__ = ["CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap", "lambda_auto_wrap_policy",
           "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap"]
