"""The first name of `torch.distributed.tensor.experimental`. Owns: nothing."""
from ..tensor.experimental import implicit_replication

__all__ = ["implicit_replication"]
