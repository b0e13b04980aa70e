"""`torch.ao.quantization`: the marks of where a model's quantised part begins and ends. Nothing is quantised here: they do nothing."""
from ..base.absent import kind
from ..base.errors import refusal
from ..nn import Module


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


_ABOUT = "quantised tensors", "model.to(torch.bfloat16), or torch.autocast"
_FUNCTIONS = ("convert", "fuse_modules", "fuse_modules_qat", "get_default_qat_qconfig", "get_default_qconfig", "prepare", "prepare_qat",
              "quantize", "quantize_dynamic")
_KINDS = {"FakeQuantize": "fake_quantize", "FakeQuantizeBase": "fake_quantize", "ObserverBase": "observer"}

globals().update({name: refusal(f"torch.ao.quantization.{name}", *_ABOUT, "there are no quantised tensors.") for name in _FUNCTIONS})
globals().update({name: kind(f"torch.ao.quantization.{home}", name, *_ABOUT, Module) for name, home in _KINDS.items()})
QConfig = kind("torch.ao.quantization.qconfig", "QConfig", *_ABOUT)

__all__ = ["DeQuantStub", "QConfig", "QuantStub", *_FUNCTIONS, *_KINDS]
