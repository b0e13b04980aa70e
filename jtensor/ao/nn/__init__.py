"""`torch.ao.nn`: modules for models that are to be quantised."""
from . import quantized

__all__ = ["quantized"]
