"""`torch.ao`: quantisation, of which there is what models are written with to be quantised later, and what that is while they are not."""
from . import nn, quantization

__all__ = ["nn", "quantization"]
