"""`torch.onnx`: nothing is written in that format. Owns: the question whether something is being written, and the refusal."""
from ..base.errors import missing

__all__ = ["export", "is_in_onnx_export"]


def is_in_onnx_export():
    """Whether the code is being looked at to be written as ONNX: never."""
    return False


def export(model, args=(), f=None, **options):
    """Raises ``NotImplementedError``."""
    raise missing("ONNX (torch.onnx.export)", "a state dict: torch.save(model.state_dict(), path), which PyTorch loads and can write")
