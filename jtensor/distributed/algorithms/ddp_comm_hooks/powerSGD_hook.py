"""Gradients sent as products of narrow matrices: not there. Owns: the names of that."""
from ....base.absent import function, kind

_ABOUT = "PowerSGD", "default_hooks.bf16_compress_hook"

PowerSGDState = kind(__name__, "PowerSGDState", *_ABOUT)
batched_powerSGD_hook = function(__name__, "batched_powerSGD_hook", *_ABOUT)
powerSGD_hook = function(__name__, "powerSGD_hook", *_ABOUT)

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]
