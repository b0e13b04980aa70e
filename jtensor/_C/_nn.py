"""``torch._C._nn``: those functions of `torch.nn.functional` that PyTorch has from C++, which its pickles name so."""
from ..nn import functional as _functional


def __getattr__(name):
    return getattr(_functional, name)
