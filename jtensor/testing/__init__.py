"""`torch.testing`: comparing tensors, numbers and containers of them."""
from .comparing import assert_close

__all__ = ["assert_close"]
