"""`torch.quantization`: the older place of `torch.ao.quantization`, whose names are here, too."""
from ..ao import quantization as _quantization
from ..ao.quantization import *  # noqa: F403

__all__ = list(_quantization.__all__)
