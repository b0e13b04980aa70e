"""Modules whose parameters lie on several devices: none is ever made, so that `isinstance` of one is False. Owns: the names of that."""
from dataclasses import dataclass
from typing import Any

from ...base.errors import missing
from ...nn import Module
from .api import *  # noqa: F403
from .api import __all__ as _decided


def _refused():
    return missing("parameters on several devices (torch.distributed.fsdp)", "the module itself, on one device")


class FullyShardedDataParallel(Module):
    """A module whose parameters lie on several devices. To be named alone: there is no instance."""

    def __init__(self, module, *args, **kwargs):
        raise _refused()


def _refuse(*args, **kwargs):
    """Raises ``NotImplementedError``."""
    raise _refused()


for _name in ("flatten_sharded_optim_state_dict", "fsdp_modules", "full_optim_state_dict", "get_state_dict_type", "optim_state_dict",
              "optim_state_dict_to_load", "rekey_optim_state_dict", "scatter_full_optim_state_dict", "set_state_dict_type",
              "state_dict_type", "summon_full_params"):
    setattr(FullyShardedDataParallel, _name, staticmethod(_refuse))


class FSDPModule:
    """What `fully_shard` makes of a module. To be named alone: there is no instance."""

    def __new__(cls, *args, **kwargs):
        raise _refused()


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The types `fully_shard` would compute in, add gradients up in and answer in. What is written down here, nobody reads."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where `fully_shard` would keep parameters that it does not need: on their devices."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """The same: in the host's memory."""

    pin_memory: bool = True


def fully_shard(module, **options):
    """Raises ``NotImplementedError``."""
    raise _refused()


def register_fsdp_forward_method(module, method_name):
    """Has a method of a module that `fully_shard` made treated as its ``forward`` is; of another module there is nothing to do."""


__all__ = [*_decided, "CPUOffloadPolicy", "FSDPModule", "FullyShardedDataParallel", "MixedPrecisionPolicy", "OffloadPolicy", "fully_shard",
           "register_fsdp_forward_method"]
