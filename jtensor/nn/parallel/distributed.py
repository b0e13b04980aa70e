"""`nn.parallel.DistributedDataParallel`, which asks for what is not there."""
from ...base.errors import missing
from ..modules.module import Module


class DistributedDataParallel(Module):
    """A module whose gradients several processes share: making one raises ``NotImplementedError``."""

    def __init__(self, module, *args, **kwargs):
        raise missing("groups of processes (DistributedDataParallel)", "the module itself, in one process")


__all__ = ["DistributedDataParallel"]
