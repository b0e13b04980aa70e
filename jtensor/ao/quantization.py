"""`torch.ao.quantization`: the marks of where a model's quantised part begins and ends. Nothing is quantised here: they do nothing."""
from ..base.errors import missing
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


def _refusal(name):
    def refuse(*args, **kwargs):
        raise missing(f"quantised tensors (torch.ao.quantization.{name})", "model.to(torch.bfloat16), or torch.autocast")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuses: there are no quantised tensors."
    return refuse


convert, prepare, prepare_qat, quantize, quantize_dynamic = map(_refusal, ("convert", "prepare", "prepare_qat", "quantize",
                                                                           "quantize_dynamic"))
