"""`torch.onnx.errors`: what `torch.onnx.export` raises and warns of. Owns: these classes and their texts. May not know: tensors, ONNX."""

__all__ = ["OnnxExporterWarning", "SymbolicValueError", "UnsupportedOperatorError"]


class OnnxExporterWarning(UserWarning):
    """What `torch.onnx.export` warns of."""

    __module__ = "torch.onnx.errors"


class OnnxExporterError(RuntimeError):
    """What cannot be written as ONNX; the class of all such errors."""

    __module__ = "torch.onnx"


class UnsupportedOperatorError(OnnxExporterError):
    """An operator that has no counterpart in ONNX, or none in the version that was asked for.

    ``name``: as TorchScript calls it ("aten::svd"); ``version``: of the operators of ONNX; ``supported_version``: the first that has it;
    ``reason``: why not, where the operator itself can be written.

    >>> print(UnsupportedOperatorError("aten::svd", 20, None))
    Exporting the operator 'aten::svd' to ONNX opset version 20 is not supported
    """

    __module__ = "torch.onnx.errors"

    def __init__(self, name, version, supported_version, reason=""):
        text = f"Exporting the operator '{name}' to ONNX opset version {version} is not supported"
        if supported_version is not None:
            text += (f". Support for this operator was added in version {supported_version}, try exporting with this version")
        super().__init__(text + (f": {reason}" if reason else ""))


class SymbolicValueError(OnnxExporterError):
    """PyTorch's, for handlers that name it: an error of functions that write operators, which are none of the user's here."""

    __module__ = "torch.onnx.errors"
