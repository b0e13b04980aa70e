"""`torch.fft`: discrete Fourier transforms by their short names. The functions are the composites ``fft_<name>``."""
from .base.naming import found_at as _found_at
from .tensor import raw as _raw
from .tensor.core import Tensor as Tensor

__all__ = (
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft", "ihfft", "hfft2",
    "ihfft2", "hfftn", "ihfftn", "fftfreq", "rfftfreq", "fftshift", "ifftshift")

for _name in __all__:
    globals()[_name] = getattr(_raw, "fft_" + _name)
    _found_at(__name__, _name, globals()[_name])
__all__ += ("Tensor",)                                     # which PyTorch lists, too
