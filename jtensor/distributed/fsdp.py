"""Modules whose parameters lie on several devices: none is ever made, so that `isinstance` of one is False. Owns: the names of that."""
from ..base.errors import missing
from ..nn import Module


def _refused():
    return missing("parameters on several devices (torch.distributed.fsdp)", "the module itself, on one device")


class FullyShardedDataParallel(Module):
    """A module whose parameters lie on several devices. To be named alone: there is no instance."""

    def __init__(self, module, *args, **kwargs):
        raise _refused()


class FSDPModule:
    """What `fully_shard` makes of a module. To be named alone: there is no instance."""

    def __new__(cls, *args, **kwargs):
        raise _refused()


def fully_shard(module, **options):
    """Raises ``NotImplementedError``."""
    raise _refused()


__all__ = ["FSDPModule", "FullyShardedDataParallel", "fully_shard"]
