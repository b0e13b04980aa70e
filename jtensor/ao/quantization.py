"""`torch.ao.quantization`: the marks of where a model's quantised part begins and ends. Nothing is quantised here: they do nothing."""
from ..base.errors import refusal
from ..nn import Module

__all__ = ["DeQuantStub", "QuantStub", "convert", "prepare", "prepare_qat", "quantize", "quantize_dynamic"]


class QuantStub(Module):
    """Where numbers are to be quantised: answers what it is given, as PyTorch's does until a model is converted. ``qconfig`` is kept.

    >>> torch.ao.quantization.QuantStub()(torch.ones(2))
    tensor([1., 1.])
    """

    __module__ = "torch.ao.quantization.stubs"

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        """``x``."""
        return x


class DeQuantStub(QuantStub):
    """Where quantised numbers are to become floating point ones again: answers what it is given. ``qconfig`` is kept."""

    __module__ = "torch.ao.quantization.stubs"


convert, prepare, prepare_qat, quantize, quantize_dynamic = [
    refusal(f"torch.ao.quantization.{name}", "quantised tensors", "model.to(torch.bfloat16), or torch.autocast",
            "there are no quantised tensors.")
    for name in ("convert", "prepare", "prepare_qat", "quantize", "quantize_dynamic")]
