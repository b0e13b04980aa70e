"""`torch.cuda.amp`: mixed precision on "cuda", under the names from before `torch.amp`."""
from ...amp import custom_bwd as _custom_bwd
from ...amp import custom_fwd as _custom_fwd
from ...amp.older import autocast_for, custom_for, scaler_for
from ...base.dtypes import float16

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

autocast, GradScaler = autocast_for("cuda", float16), scaler_for("cuda")
custom_fwd, custom_bwd = custom_for("cuda", _custom_fwd), custom_for("cuda", _custom_bwd)
