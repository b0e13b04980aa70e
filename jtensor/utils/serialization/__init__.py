"""`torch.utils.serialization`: the settings of `torch.save` and `torch.load`."""
from . import config as config
