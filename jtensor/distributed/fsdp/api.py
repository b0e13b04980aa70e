"""What would be decided about parameters on several devices. Owns: the names and the values of that; nobody reads them here."""
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ...nn.modules.batchnorm import _BatchNorm


class BackwardPrefetch(Enum):
    """When the next parameters would be fetched in backward."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class ShardingStrategy(Enum):
    """What would lie on several devices."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class StateDictType(Enum):
    """As what a state would be given."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """By what an optimizer's state would name parameters."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class CPUOffload:
    """Whether parameters would lie in the host's memory."""

    offload_params: bool = False


@dataclass
class MixedPrecision:
    """The types that would be computed in."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True
    _module_classes_to_ignore: Any = (_BatchNorm,)


@dataclass
class StateDictConfig:
    """How a module's state would be given."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """The same of a whole one."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """The same of what each device has."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """The same of its parts."""

    _use_dtensor: bool = False


@dataclass
class OptimStateDictConfig:
    """How an optimizer's state would be given."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """The same of a whole one."""

    rank0_only: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """The same of what each device has."""

    offload_to_cpu: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """The same of its parts."""

    _use_dtensor: bool = False


@dataclass
class StateDictSettings:
    """All of this together."""

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig


__all__ = ["BackwardPrefetch", "CPUOffload", "FullOptimStateDictConfig", "FullStateDictConfig", "LocalOptimStateDictConfig",
           "LocalStateDictConfig", "MixedPrecision", "OptimStateDictConfig",
           "OptimStateKeyType", "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictConfig",
           "StateDictSettings", "StateDictType"]
