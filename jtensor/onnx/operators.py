"""`torch.onnx.operators`: shapes as tensors, as programs for ONNX ask for them."""
import jtensor

__all__ = ["shape_as_tensor"]


def _shape_as_tensor(self):
    return jtensor.tensor(self.shape, dtype=jtensor.int64, device="cpu")


def shape_as_tensor(x):
    """The sizes of a tensor as a tensor of int64.

    >>> torch.onnx.operators.shape_as_tensor(torch.ones(2, 3))
    tensor([2, 3])
    """
    return _shape_as_tensor(x)
