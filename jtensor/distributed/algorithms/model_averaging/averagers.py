"""Means of models instead of gradients: not there. Owns: the names of that."""
from ....base.absent import kind

_ABOUT = "means of models", "DistributedDataParallel, or all_reduce of the parameters"

ModelAverager = kind(__name__, "ModelAverager", *_ABOUT)
PeriodicModelAverager = kind(__name__, "PeriodicModelAverager", *_ABOUT)

__all__ = ["ModelAverager", "PeriodicModelAverager"]
