"""Modules that are wrapped so that they compute their forward pass again: not there. Owns: the names of that."""
import enum

from ....base.absent import function, kind

_ABOUT = "wrapped checkpoints", "torch.utils.checkpoint.checkpoint, in forward"

CheckpointWrapper = kind(__name__, "CheckpointWrapper", *_ABOUT)
apply_activation_checkpointing = function(__name__, "apply_activation_checkpointing", *_ABOUT)
checkpoint_wrapper = function(__name__, "checkpoint_wrapper", *_ABOUT)
offload_wrapper = function(__name__, "offload_wrapper", *_ABOUT)


class CheckpointImpl(enum.Enum):
    """In which way the forward pass would be computed again."""

    REENTRANT = enum.auto()
    NO_REENTRANT = enum.auto()


__all__ = ["CheckpointImpl", "CheckpointWrapper", "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper"]
