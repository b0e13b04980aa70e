"""Gradients through calls of other processes' functions: not there. Owns: the question whether they are, and the names of that."""
from ..base.absent import function, kind

_ABOUT = "gradients through other processes (torch.distributed.autograd)", "torch.distributed.nn.functional, or DistributedDataParallel"

DistAutogradContext = kind(__name__, "DistAutogradContext", *_ABOUT)
context = kind(__name__, "context", *_ABOUT)
backward = function(__name__, "backward", *_ABOUT)
get_gradients = function(__name__, "get_gradients", *_ABOUT)

__all__ = ["DistAutogradContext", "backward", "context", "get_gradients", "is_available"]


def is_available():
    """Whether gradients go through other processes: no."""
    return False
