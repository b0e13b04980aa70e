"""Modules that are wrapped so that they compute their forward pass again: not there. Owns: the names of that."""
from ....base.absent import function, kind

_ABOUT = "wrapped checkpoints", "torch.utils.checkpoint.checkpoint, in forward"

CheckpointImpl = kind(__name__, "CheckpointImpl", *_ABOUT)
CheckpointWrapper = kind(__name__, "CheckpointWrapper", *_ABOUT)
apply_activation_checkpointing = function(__name__, "apply_activation_checkpointing", *_ABOUT)
checkpoint_wrapper = function(__name__, "checkpoint_wrapper", *_ABOUT)
offload_wrapper = function(__name__, "offload_wrapper", *_ABOUT)

__all__ = ["CheckpointImpl", "CheckpointWrapper", "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper"]
