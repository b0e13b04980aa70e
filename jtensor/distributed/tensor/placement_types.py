"""How tensors would lie on several devices. Owns: PyTorch's place of these names."""
from ...base.absent import kind
from . import Partial, Placement, Replicate, Shard

_StridedShard = kind(__name__, "_StridedShard", "tensors on several devices (torch.distributed.tensor)", "torch.tensor, on one device")

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
