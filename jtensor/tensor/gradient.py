"""A tensor's gradient: `grad`, and the type that it may have, `grad_dtype`.

Owns: these properties, with PyTorch's errors. May not know: how gradients come about; what a leaf makes of one is in `accumulate`.
"""
import warnings

from ..autograd import engine
from ..base import dtypes
from ..base.naming import type_name
from .core import LAYOUTS, Tensor

_NO_LEAF = ("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
            "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
            "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
            "github.com/pytorch/pytorch/pull/30531 for more information.")


def _get(self):
    auto = self._auto
    if (auto is None or not auto.retains and auto.grad is None) and self._edge is not None:
        warnings.warn(_NO_LEAF, UserWarning, stacklevel=2)
    return None if auto is None else auto.grad


def _get_quietly(self):
    return None if self._auto is None else self._auto.grad


def _set(self, grad):
    if grad is None:
        if self._auto is not None:
            self._auto.grad = None
        return
    if not isinstance(grad, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(type(grad))}")
    if grad is self:
        raise RuntimeError("can't assign Variable as its own grad")
    if LAYOUTS and type(self) in LAYOUTS and type(grad) is not type(self):
        raise RuntimeError("attempting to assign a gradient to a tensor that has data of a different type")
    wanted = engine.gradient_type(self)
    if wanted is not None and grad._spec.dtype is not wanted:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{dtypes.cpp_name(grad.dtype)}' to a tensor with grad_dtype "
            f"'{dtypes.scalar_name(wanted)}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can "
            "set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. "
            "Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match.")
    if grad._spec.device != self._spec.device:
        raise RuntimeError(f"attempting to assign a gradient with device type '{grad.device.type}' to a tensor with device type "
                           f"'{self.device.type}'. Please ensure that the gradient and the tensor are on the same device")
    if tuple(grad._spec.size) != tuple(self._spec.size) or LAYOUTS and grad.is_nested and tuple(grad.shape) != tuple(self.shape):
        raise RuntimeError(f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of size '{list(self.shape)}'. Please "
                           "ensure that the gradient and the tensor are the same size")
    self._autograd_meta().grad = grad


def _forget(self):
    if self._auto is not None:
        self._auto.grad = None


def _type(self):
    """The type that a leaf's gradient has: that of the leaf unless another is set, or None for any.

    A gradient on its way to the leaf is cast to it. It can be set while there is no gradient of another type; RuntimeError otherwise,
    and for what is no leaf.

    >>> x = torch.ones(2, requires_grad=True)
    >>> x.grad_dtype = torch.bfloat16
    >>> (x * 3).sum().backward()
    >>> x.grad
    tensor([3., 3.], dtype=torch.bfloat16)
    """
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return engine.gradient_type(self)


def _set_type(self, wanted):
    if wanted is not None and not isinstance(wanted, dtypes.dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(wanted).__name__}")
    if not self.is_leaf:
        warnings.warn(_NO_LEAF, UserWarning, stacklevel=2)              # PyTorch looks at the gradient first
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    auto = self._autograd_meta()
    if wanted is not None and auto.grad is not None and auto.grad.dtype is not wanted:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{dtypes.scalar_name(wanted)}' because there is already a gradient with dtype "
            f"'{dtypes.cpp_name(auto.grad.dtype)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new "
            "grad_dtype matches the existing gradient's dtype.")
    auto.grad_type = (wanted,)
    if wanted is not self._spec.dtype:
        engine.RESHAPED[0] = engine.GRAD_TYPES[0] = True


def install():
    """Gives the Tensor these properties."""
    Tensor.grad, Tensor._grad = property(_get, _set, _forget), property(_get_quietly, _set, _forget)
    Tensor.grad_dtype = property(_type, _set_type)
