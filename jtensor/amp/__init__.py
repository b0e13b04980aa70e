"""Mixed precision: regions whose operations choose their types, and a scaler of losses.

    autocast_mode.py   the regions: their arguments, what can be asked about them
    custom.py          custom functions inside
    casting.py         what they do to a call
    tables.py          which functions in which type
    older.py           the names of torch.cuda.amp and torch.cpu.amp
    grad_scaler.py     losses multiplied up, so that small gradients survive in half precision
"""
from . import autocast_mode
from .autocast_mode import autocast, is_autocast_available
from .custom import custom_bwd, custom_fwd
from .grad_scaler import GradScaler

autocast_mode.custom_fwd, autocast_mode.custom_bwd = custom_fwd, custom_bwd     # where PyTorch defines them, and scripts import them from

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
