"""Schedules of the learning rate."""
from math import inf as inf

from ...base.homes import settle as _settle
from ...tensor.core import Tensor as Tensor
from ..optimizer import Optimizer as Optimizer
from ._base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ._base import LRScheduler, _LRScheduler
from ._base import _enable_get_lr_call as _enable_get_lr_call
from ._base import _warn_get_lr_called_within_step as _warn_get_lr_called_within_step
from ._combined import ChainedScheduler, SequentialLR
from ._cyclic import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from ._plateau import ReduceLROnPlateau
from ._simple import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)

__all__ = ["LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "SequentialLR",
           "CosineAnnealingLR", "ChainedScheduler", "ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts", "OneCycleLR",
           "PolynomialLR", "LRScheduler"]

_settle(__name__, _LRScheduler, *[globals()[_name] for _name in __all__])
