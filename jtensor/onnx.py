"""`torch.onnx`, as far as models ask whether they are being exported. Files of ONNX are not written here."""
from .base.errors import missing as _missing

__all__ = ["export", "is_in_onnx_export"]


def is_in_onnx_export():
    """False: nothing is exported here.

    >>> torch.onnx.is_in_onnx_export()
    False
    """
    return False


def export(*args, **kwargs):
    """``MissingFeature``: PyTorch writes such files, of a model that was saved here by `torch.save`."""
    raise _missing("torch.onnx.export", "torch.save(model.state_dict(), path), loaded and exported by PyTorch")
