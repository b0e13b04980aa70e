"""`torch.testing`: comparing tensors, numbers and containers of them; tensors to test with."""
from .comparing import assert_close
from .making import make_tensor

__all__ = ["assert_close", "make_tensor"]
