"""`torch.backends`: what computes. Here that is XLA alone, so each of PyTorch's own backends answers for itself that it is not there."""
from contextlib import contextmanager as _contextmanager

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]


fp32_precision = "none"             # what PyTorch's backends say who have not been told


@_contextmanager
def __allow_nonbracketed_mutation():
    """Switches may be written outside of ``flags(...)`` anyway."""
    yield


def flags_frozen():
    """Whether switches may be written inside of ``flags(...)`` alone: no."""
    return False
