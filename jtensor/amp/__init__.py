"""Mixed precision: a scaler of losses, and `autocast` as far as it is switched off.

There are no rules yet for which operations run in which type, so an `autocast` that would change types raises; off, or for a device that
is not there, it is a context without effect, as in PyTorch.
"""
from .autocast_mode import autocast, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "is_autocast_available"]
