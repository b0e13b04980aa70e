"""`torch.cuda.amp.grad_scaler`: the class of `torch.cuda.amp` where scripts import it from."""
from . import GradScaler as GradScaler

__all__ = ["GradScaler"]
