"""Scaled gradients on several devices: not there. Owns: the names of that."""
from ...base.absent import kind

_ABOUT = "parameters on several devices (torch.distributed.fsdp)", "torch.amp.GradScaler"

ShardedGradScaler = kind(__name__, "ShardedGradScaler", *_ABOUT)

__all__ = ["ShardedGradScaler"]
