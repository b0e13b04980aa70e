"""`torch.testing`: comparing tensors, numbers and containers of them; tensors to test with."""
from .comparing import assert_close
from .filecheck import FileCheck
from .making import make_tensor
from .older import assert_allclose

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]
