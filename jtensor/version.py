"""`torch.version`: the PyTorch whose interface this is, and what it was built with: no CUDA of its own, GPUs come through JAX."""
__version__ = "2.13.0+jtensor"
debug = False
cuda = hip = xpu = rocm = None
git_version = None

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]
