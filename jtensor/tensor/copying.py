"""Copies: into a tensor (`copy_`, `fill_`, `zero_`), of a tensor (`copy.deepcopy`), and `.data =`, which takes over another's memory.

Owns: PyTorch's arguments and refusals of these, and what becomes of a version counter. What is ordinary is written by `overwriting`.
May not know: how a write is recorded.
"""
import sys

import numpy as np

from ..autograd import engine
from ..autograd import gradmode_checks as checks
from ..base import devices
from ..base.naming import type_name
from ..ops.build import broadcast_inplace
from ..ops.families import create as ops
from ..ops.families.composing import number_fits
from ..storage import VersionCounter
from ..storage.lifted import LIFTED_MEMORY
from ..trace.tape import LOCAL
from .calling.overriding import disabled
from .core import COUNTED, LAYOUTS, Tensor, make_tensor
from .recording import overwriting
from .states import is_wrapper, set_state, slots_of, state_of
from .values import bump


def copy_(self, src, non_blocking=False):
    """Copies ``src`` (broadcast, cast) into this tensor.

    >>> torch.zeros(2).copy_(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    if not isinstance(src, Tensor):
        src = _numbers(src)
    if src._spec.device is not self._spec.device:
        src = src.to(self._spec.device)
    n, m = self._spec.size, src._spec.size
    if n != m:
        if len(m) > len(n) or any(a not in (1, b) for a, b in zip(reversed(m), reversed(n))):
            checks.before_inplace(self, LOCAL.grad_enabled and (self.requires_grad or src.requires_grad))
            checks.no_internal_overlap(self)
            if src._storage is self._storage:
                checks.no_partial_overlap(self, src)
            broadcast_inplace(self._spec, src._spec)
    elif src._storage is self._storage and src._spec is self._spec and src._offset == self._offset and not self._spec.dense \
            and not (LOCAL.grad_enabled and (self.requires_grad or src.requires_grad)):
        checks.before_inplace(self, False)                   # the same memory twice is not copied, so that it may overlap
        bump(self)
        return self
    elif overwriting.copy(self, src):
        return self
    return ops.copy.write(self, src)


def _numbers(src, name="copy_"):
    from .creating.from_data import tensor
    if isinstance(src, (bool, int, float, complex)):
        return tensor(src)
    if isinstance(src, np.generic):
        return src.item() if name == "fill_" else tensor(src.item())
    if name == "fill_":
        raise TypeError(f"fill_() received an invalid combination of arguments - got ({type_name(type(src))}), but expected one of:")
    raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(type(src))}")


def fill_(self, value):
    """Fills the tensor with a number (or a 0-d tensor)."""
    if value is not None and overwriting.fill(self, value):
        return self
    if not isinstance(value, (Tensor, bool, int, float, complex)):
        value = _numbers(value, "fill_")
    if isinstance(value, Tensor):
        if value._spec.ndim:
            checks.before_inplace(self, LOCAL.grad_enabled and (self.requires_grad or value.requires_grad))
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._spec.ndim} dimensions.")
        if value._spec.device is not self._spec.device:
            value = value.to(self._spec.device)
        return ops.fill_tensor.write(self, value)
    try:
        value = number_fits(value, self._spec.dtype, alone=self._spec.numel == 1)
    except RuntimeError:
        checks.before_inplace(self, LOCAL.grad_enabled and self.requires_grad)
        raise
    return ops.fill.write(self, value)


def zero_(self):
    """Fills the tensor with zeros."""
    return self if overwriting.fill(self, None) else ops.zero.write(self)


INCOMPATIBLE = "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."


def set_data(self, other):
    """``x.data = y``: this tensor takes over the other's memory, shape and dtype; its history stays."""
    if not isinstance(other, Tensor):
        raise TypeError("Variable data has to be a tensor, but got " + type(other).__name__)
    if self._requires_grad and not other._spec.dtype.differentiable:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    if (self._spec.device is devices.meta) is not (other._spec.device is devices.meta) or LAYOUTS.get(type(other)) is not None:
        raise RuntimeError(INCOMPATIBLE)
    keep_counter(self)
    if self.requires_grad and self._spec.size != other._spec.size:
        engine.RESHAPED[0] = self._autograd_meta().reshaped = True
    if self._spec.dtype is not other._spec.dtype:
        engine.RETYPED[0] = True
    if self._auto is not None and self._auto.accumulator is not None and self._spec.dtype is not other._spec.dtype:
        if self._auto.accumulator() is not None:                   # in a graph: gradients that come there are to be cast
            engine.RESHAPED[0] = True
        self._auto.accumulator = None                              # the leaf gets a new node: the old one takes another dtype
    self._storage, self._spec, self._offset, self._cached = other._storage, other._spec, other._offset, None
    if other._inference_tensor() is not self._inference_tensor():
        self._autograd_meta().inference = COUNTED if other._inference_tensor() else False


def keep_counter(self):
    """For a tensor about to leave its storage: its version counter stays with it, and with its views, as in PyTorch.

    The storage is the counter; it stays so where somebody else may look at it, else a counter alone lets the storage go.
    """
    storage = self._storage
    if self._counter is storage and sys.getrefcount(storage) <= _OWN_REFERENCES:
        self._counter = VersionCounter(storage.version)
        self._counter.site = storage.site


_OWN_REFERENCES = 4          # the tensor's two fields, the local name, the argument of getrefcount


def shallow(self):
    """What `copy.copy` answers: a leaf on the same memory, with the attributes but without the gradient."""
    if type(self).__reduce_ex__ is not Tensor.__reduce_ex__:                     # a Parameter says itself how
        again, arguments = self.__reduce_ex__(2)[:2]
        return again(*arguments)
    from .creating.likes import of_class
    made = self._share()
    if type(self) is not Tensor:
        made = of_class(made, type(self))
    made._counter = VersionCounter(1)                                            # PyTorch makes it empty and calls `set_`
    made._requires_grad = self.requires_grad
    set_state(made, state_of(self))
    return made


def deepcopy(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
            "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    wraps = is_wrapper(self)
    if not wraps and type(self) is not Tensor and type(self).__torch_function__ is not disabled and type(
            self.new_empty([])) is not type(self):
        raise RuntimeError(_NO_COPY)
    import copy
    made = memo[id(self)] = self._copied() if type(self) in LAYOUTS else _clone(self) if wraps else _copy_of_memory(self, memo)
    made._requires_grad = self.requires_grad
    if self._auto is not None and self._auto.grad is not None:
        made.grad = copy.deepcopy(self._auto.grad, memo)
    if self.__dict__:
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    for name, value in slots_of(self).items():
        setattr(made, name, copy.deepcopy(value, memo))
    return made


def _clone(self):
    """A copy of a wrapper, which its class makes."""
    before, LOCAL.grad_enabled = LOCAL.grad_enabled, False
    try:
        made = self.clone()
    finally:
        LOCAL.grad_enabled = before
    if type(made) is not type(self):
        raise RuntimeError(_NO_CLONE)
    return made


_NO_CLONE = (
    "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that implement clone() and for "
    "which cloning returns another instance of the same subclass. You should either properly implement clone() for your subclass or "
    "override __deepcopy__() if it is intended behavior for clone() to return an instance of a different type."
)
_NO_COPY = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that implement new_empty() and "
    "for which that function returns another instance of the same subclass. You should either properly implement new_empty() for your "
    "subclass or override __deepcopy__() if it is intended behavior for new_empty() to return an instance of a different type."
)


def _copy_of_memory(self, memo):
    """A tensor that lies on a copy of this one's memory, which tensors copied with it share; a clone where it is lazily conjugated."""
    if self._spec.conj or self._spec.neg or self._storage.host is LIFTED_MEMORY:
        made = self.detach().clone()
        made.__class__ = type(self)
        return made
    from .memory.storage_types import copied
    made = make_tensor(copied(self._storage, memo), self._spec, self._offset, type(self), inference=LOCAL.inference)
    made._counter = VersionCounter(1)                                                 # PyTorch makes it empty and calls `set_`
    return made
