"""`torch.autograd.Variable`: what tensors with a gradient were called before PyTorch 0.4. Old scripts still write it."""
from ..autograd.engine import _EngineBase
from ..base import sites
from .core import Tensor


class VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """``Variable(data, requires_grad=False)`` is a tensor on the same memory.

    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    __module__ = "torch.autograd.variable"
    _execution_engine = _EngineBase()

    def __new__(cls, data, requires_grad=False, volatile=False):
        if volatile:
            sites.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        return data.detach().requires_grad_(requires_grad)


def variable(*args, **kwargs):
    """RuntimeError: `torch.tensor` took its place."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")
