"""Gradients that are averaged now and then: not there. Owns: the names of that."""
from ....base.absent import function, kind

_ABOUT = "gradients that are averaged now and then", "DistributedDataParallel.no_sync"

PostLocalSGDState = kind(__name__, "PostLocalSGDState", *_ABOUT)
post_localSGD_hook = function(__name__, "post_localSGD_hook", *_ABOUT)

__all__ = ["post_localSGD_hook", "PostLocalSGDState"]
