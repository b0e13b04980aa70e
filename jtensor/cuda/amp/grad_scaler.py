"""`torch.cuda.amp.grad_scaler`: the names of `torch.cuda.amp` where scripts import it from."""
from ...amp.grad_scaler import OptState as OptState
from . import GradScaler as GradScaler

__all__ = ["GradScaler", "OptState"]
