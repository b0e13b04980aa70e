"""Attention over several devices: not there. Owns: the names of that."""
from ....base.absent import function

_ABOUT = "sequences over several devices", "attention on one device"

context_parallel = function(__name__, "context_parallel", *_ABOUT)
set_rotate_method = function(__name__, "set_rotate_method", *_ABOUT)

__all__ = ["context_parallel", "set_rotate_method"]
