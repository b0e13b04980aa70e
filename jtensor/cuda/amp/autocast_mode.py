"""`torch.cuda.amp.autocast_mode`: the functions of `torch.cuda.amp` where scripts import them from."""
from . import autocast as autocast
from . import custom_bwd as custom_bwd
from . import custom_fwd as custom_fwd

__all__ = ["autocast", "custom_bwd", "custom_fwd"]
