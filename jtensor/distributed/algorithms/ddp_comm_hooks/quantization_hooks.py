"""Gradients sent as whole numbers of few bits: not there. Owns: the names of that."""
from ....base.absent import function

_ABOUT = "quantised gradients", "default_hooks.bf16_compress_hook"

quantization_perchannel_hook = function(__name__, "quantization_perchannel_hook", *_ABOUT)
quantization_pertensor_hook = function(__name__, "quantization_pertensor_hook", *_ABOUT)

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]
