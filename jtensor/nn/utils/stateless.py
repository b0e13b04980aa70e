"""`torch.nn.utils.stateless`: `functional_call` by its older name. Owns: that name, and that it is out of date."""
import importlib

from ...base import sites

__all__ = ["functional_call"]


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """`torch.func.functional_call`, with a warning."""
    sites.warn("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version of "
               "PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.", FutureWarning)
    call = importlib.import_module("jtensor.func").functional_call
    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
