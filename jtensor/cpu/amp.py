"""`torch.cpu.amp`: mixed precision on the CPU, under the names from before `torch.amp`."""
from ..amp.older import autocast_for, scaler_for
from ..base.dtypes import bfloat16

__all__ = ["GradScaler", "autocast"]

autocast, GradScaler = autocast_for("cpu", bfloat16), scaler_for("cpu")
