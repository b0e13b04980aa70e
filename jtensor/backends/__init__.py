"""`torch.backends`: what computes. Here that is XLA alone, so each of PyTorch's own backends answers for itself that it is not there."""
from . import cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
