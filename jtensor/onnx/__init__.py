"""`torch.onnx`: nothing is written in that format. Owns: the question whether something is being written, and the refusal."""
import importlib

from ..base.errors import missing

__all__ = ["export", "is_in_onnx_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]


def is_in_onnx_export():
    """Whether the code is being looked at to be written as ONNX: never."""
    return False


def export(model, args=(), f=None, **options):
    """Raises ``NotImplementedError``."""
    raise missing("ONNX (torch.onnx.export)", "a state dict: torch.save(model.state_dict(), path), which PyTorch loads and can write")


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Says how an operator is to be written as ONNX, which nobody will ask: libraries do so when they are imported. ValueError for a name
    without a namespace."""
    if symbolic_name.count("::") != 1:
        raise ValueError(f"Failed to register operator {symbolic_name}. The symbolic name must match the format domain::name.")


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """The opposite of `register_custom_op_symbolic`."""


def __getattr__(name):
    if name in ("operators", "symbolic_helper", "symbolic_opset11"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'jtensor.onnx' has no attribute '{name}'")
