"""``torch._C._nn``: those functions of `torch.nn.functional` that PyTorch has from C++, which its pickles name so; what ``to`` is told."""
from ..nn import functional as _functional
from ..nn.modules._convert import parse_to as _parse_to  # noqa: F401


def __getattr__(name):
    return getattr(_functional, name)
