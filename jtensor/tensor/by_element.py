"""`apply_`, `map_`, `map2_`: a Python function on one element after the other, in place, for elements that no operator can compute.

Owns: the order of the elements, and what a function's answer becomes in the tensor's type. Memory is written to as it goes, so that a
function that raises leaves what it has done; autograd hears of none of it. May not know: operators.
"""
import math
import operator

import numpy as np

from ..base import dtypes
from ..base.naming import type_name
from ..trace import spec as specs
from .core import Tensor, make_tensor
from .creating.from_data import from_host
from .looking import host_copy
from .viewing.shapes import expand


def apply_(self, callable):
    """Puts ``callable(element)`` in the place of each element of a CPU tensor, in order.

    ``RuntimeError`` for a tensor that requires a gradient.

    >>> torch.tensor([1., 2.]).apply_(lambda x: x + 1)
    tensor([2., 3.])
    """
    return _each("apply_", self, (), callable)


def map_(self, other, callable):
    """Puts ``callable(element, element of other)`` in the place of each element; ``other``: of the same type, broadcast.

    >>> torch.tensor([1., 2.]).map_(torch.tensor([3.]), lambda x, y: x * y)
    tensor([3., 6.])
    """
    return _each("map_", self, (("'other'", other),), callable)


def map2_(self, x, y, callable):
    """Puts ``callable(element, element of x, element of y)`` in the place of each element; ``x``, ``y``: of the same type, broadcast.

    >>> torch.tensor([1., 2.]).map2_(torch.tensor([3.]), torch.tensor([1., 0.]), lambda a, x, y: a * x + y)
    tensor([4., 6.])
    """
    return _each("map2_", self, (("argument 'x'", x), ("argument 'y'", y)), callable)


def _each(name, self, others, function):
    for at, (_, other) in enumerate(others):
        if not isinstance(other, Tensor):
            said = "other" if len(others) == 1 else "xy"[at]
            raise TypeError(f"{name}(): argument '{said}' (position {at + 1}) must be Tensor, not {type_name(type(other))}")
    if self.requires_grad or any(other.requires_grad for _, other in others):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    for which, other in others:
        if other.type() != self.type():
            raise TypeError(f"{name}: expected {self.type()} for {which} (got {other.type()})")
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    operands = [np.array(expand(other.detach(), tuple(self._spec.size)).tolist(), object) for _, other in others]
    spec = self._spec
    plain = specs.spec(spec.size, spec.stride, spec.dtype, spec.device)                # what is conjugated lazily is taken as it lies there
    there = make_tensor(self._storage, plain, self._offset)
    if spec.dtype is not dtypes.bfloat16:
        _walk(there.numpy(), operands, function, spec.dtype)
        return self
    memory = np.array(host_copy(there))                                                # such memory NumPy does not share
    try:
        _walk(memory, operands, function, spec.dtype)
    finally:
        self._share().copy_(from_host(memory, spec.dtype))
    return self


def _walk(memory, operands, function, dtype):
    """The function on each element of an ndarray, whose place its answer takes."""
    fitting = bool if dtype is dtypes.bool else complex if dtype.is_complex else _real if dtype.is_floating_point else _whole
    for at in np.ndindex(memory.shape):
        element = memory[at]
        memory[at] = fitting(function(float(element) if dtype is dtypes.bfloat16 else element.item(), *[o[at] for o in operands]))


def _real(answer):
    return math.ldexp(answer, 0)                     # the same number, or Python's error for what is none


def _whole(answer):
    return int(answer) if isinstance(answer, float) else operator.index(answer)


def install():
    """Gives the Tensor these methods."""
    for method in (apply_, map_, map2_):
        method.__qualname__ = "Tensor." + method.__name__
        setattr(Tensor, method.__name__, method)
