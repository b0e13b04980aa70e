"""`torch.backends`: what computes. Here that is XLA alone, so each of PyTorch's own backends answers for itself that it is not there."""
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]
