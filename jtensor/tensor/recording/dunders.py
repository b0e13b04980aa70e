"""Python's operators, ``a + b``, ``a += b`` and ``2 + a``: straight to the operator's recorder or writer.

Owns: which operands they take, and which they leave to NumPy or to the methods. May not know: what an operator does.
"""
import contextlib

import numpy as np

from ...base.dtypes import plain_number
from ...base.naming import type_name
from ...ops.registry import REGISTRY
from .. import dispatch
from ..calling.overriding import unforeseen
from ..core import Tensor
from ..creating import from_data
from . import recorders


def binary_dunder(operator, method, dunder):
    """``a + b`` for an operator declared with two arrays; other operands go to the method, foreign ones get NotImplemented."""
    plain = operator is not None and _two_arrays(operator) and all(not p.required for p in operator.parameters[2:])
    arrays = dunder == "__eq__"
    if not plain:
        return _by_method(method, dunder)

    def other_operand(self, other, *defaults):
        if not isinstance(self, Tensor) and dunder != "__floordiv__":
            return _of_no_tensor(dunder, self)
        if isinstance(other, Tensor) or type(other) in _KNOWN:
            return dispatch.call(operator, (self, other, *defaults))
        if isinstance(other, _NUMBERS) or arrays and isinstance(other, np.ndarray):
            return method(self, _native(other))
        return unforeseen(dunder, self, other)
    return _recorder(dunder, operator, other_operand)


def _recorder(dunder, *made_of):
    """An operator's recorder under the name of a method, whose operands are called as PyTorch calls them."""
    made = recorders.recorder(*made_of, method=True)
    code = made.__code__
    made.__code__ = code.replace(co_name=dunder, co_qualname=dunder, co_varnames=("self", "other", *code.co_varnames[2:]))
    made.__name__ = made.__qualname__ = dunder
    return made


def _of_no_tensor(dunder, self):
    """``Tensor.__add__(2, x)``: PyTorch's methods in C refuse, those that it has in Python (``__floordiv__`` works) leave it to others."""
    if dunder in ("__pow__", "__ipow__", "__rsub__"):
        return NotImplemented
    raise TypeError(f"descriptor '{dunder}' for 'torch._C.TensorBase' objects doesn't apply to a '{type_name(type(self))}' object")


def product_dunder(method):
    """``a @ b``: the recorder of `mm` where both are matrices, which is what `matmul` comes to; others go to that."""
    def other_operands(self, other):
        if not isinstance(self, Tensor):
            return _of_no_tensor("__matmul__", self)
        return method(self, other) if isinstance(other, Tensor) else unforeseen("__matmul__", self, other)

    def missed(segment, key, operator, args, positions):
        return recorders.missed(segment, key, operator, args, positions) if args[0]._spec.ndim == 2 == args[1]._spec.ndim else None
    return _recorder("__matmul__", REGISTRY.operators["mm"], other_operands, missed)


def _by_method(method, dunder):
    """That of an operator of other parameters: tensors and numbers go to the method."""
    def dunder_method(self, other, *modulus):
        if modulus:                                     # pow(x, y, z)
            return NotImplemented
        if not isinstance(self, Tensor) and dunder != "__floordiv__":
            return _of_no_tensor(dunder, self)
        if isinstance(other, (Tensor, *_NUMBERS)):
            return method(self, _native(other))
        return unforeseen(dunder, self, other)
    dunder_method.__name__ = dunder_method.__qualname__ = dunder
    return dunder_method


def _two_arrays(operator):
    kinds = [p.kind.name for p in operator.parameters[:2]]
    return len(kinds) == 2 and kinds[0] in ("Tensor", "TensorOrNumber") and kinds[1] == "TensorOrNumber" and not operator.sync


_KNOWN = (int, float, bool, complex)
_NUMBERS = (int, float, complex, np.generic)            # also of classes derived from these: an `IntEnum`


def _native(other):
    """An operand as the operators know it; an ndarray where those are taken.

    Arithmetic leaves ndarrays to NumPy, as PyTorch does: it computes, in its own types, and hands the result back (`__array_wrap__`).
    """
    if isinstance(other, np.ndarray):
        from ..creating.from_data import from_host
        return from_host(other)
    return plain_number(other)


def inplace_dunder(operator, method, dunder):
    """``a += b``."""
    plain = operator is not None and operator.inplace and _two_arrays(operator) and all(not p.required for p in operator.parameters[2:])
    if not plain:
        return _by_method(method, dunder)

    def dunder_method(self, other):
        if not isinstance(self, Tensor):
            return _of_no_tensor(dunder, self)
        if isinstance(other, Tensor) or type(other) in _KNOWN:
            return operator.write(self, other)
        if isinstance(other, _NUMBERS):
            return method(self, _native(other))
        return unforeseen(dunder, self, other)          # `t += ndarray` makes another tensor, as in PyTorch
    dunder_method.__name__ = dunder_method.__qualname__ = dunder
    return dunder_method


# -- which there are --------------------------------------------------------------------------------------------------

_ARITHMETIC = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__floordiv__": "floor_divide", "__mod__": "remainder",
    "__pow__": "pow", "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le",
    "__gt__": "gt", "__ge__": "ge",
}
_REFLECTED = {"__radd__": "add", "__rmul__": "mul", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor"}
_INPLACE = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
            "__imod__": "remainder_", "__ipow__": "pow_", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_",
            "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_"}


def install(functions):
    """Gives the Tensor Python's operators; ``functions``: those of the namespace by name."""
    for dunder, name in _ARITHMETIC.items():
        if hasattr(Tensor, name):
            operator = REGISTRY.operators.get({"div": "div_Tensor"}.get(name, name))
            setattr(Tensor, dunder, binary_dunder(operator, getattr(Tensor, name), dunder))
    Tensor.__matmul__ = product_dunder(Tensor.matmul)
    for dunder, name in _REFLECTED.items():
        if hasattr(Tensor, name):
            setattr(Tensor, dunder, _exchanged(REGISTRY.operators.get(name), getattr(Tensor, name), dunder))
    for dunder, name in _INPLACE.items():
        if hasattr(Tensor, name):
            operator = REGISTRY.operators.get({"div_": "div_Tensor"}.get(name, name[:-1]))
            setattr(Tensor, dunder, inplace_dunder(operator, getattr(Tensor, name), dunder))
    Tensor.__pow__.__name__, Tensor.__ipow__.__name__ = "pow", "pow_"           # as PyTorch's are called, which who overrides them sees
    for dunder, name in (("__neg__", "neg"), ("__abs__", "abs"), ("__pos__", "positive")):
        if hasattr(Tensor, name):
            setattr(Tensor, dunder, getattr(Tensor, name))
    for dunder, name in _TURNED.items():
        setattr(Tensor, dunder, _turned(functions[name], name, dunder))
    Tensor.__rsub__ = _reflected(functions["rsub"], "__rsub__")
    Tensor.__div__, Tensor.__idiv__, Tensor.__long__ = Tensor.__truediv__, Tensor.__itruediv__, Tensor.__int__     # Python 2's, and kept
    Tensor.__rtruediv__ = Tensor.__rdiv__ = _divided(functions["reciprocal"])
    Tensor.__invert__, Tensor.__reversed__ = _inverted, _reversed
    Tensor.__hash__ = object.__hash__
    Tensor.__contains__, Tensor.__delitem__ = _contains, _not_deleted


def _divided(reciprocal):
    """``number / tensor``, which is a product in PyTorch."""
    def turned(self, other):
        if isinstance(other, (Tensor, *_NUMBERS)):
            return reciprocal(self) * other
        answer = unforeseen("__rtruediv__", self, other)
        if answer is NotImplemented:
            with contextlib.suppress(TypeError):                     # who can be multiplied by a tensor: an ndarray, above all
                return reciprocal(self) * other
        return answer
    turned.__name__ = "__rdiv__"
    return turned


def _inverted(self):
    if not isinstance(self, Tensor):
        return _of_no_tensor("__invert__", self)
    if self._spec.dtype.category > 1:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return self.bitwise_not()


def _reversed(self):
    """The elements of the first dimension in the opposite order."""
    return self.flip(0) if self._spec.ndim else self


def _tensor(number, like):
    return from_data.tensor(number, device=like.device)


def _not_deleted(self, index):
    raise TypeError("Tensor does not support deleting items")


def _contains(self, element):
    if isinstance(element, (Tensor, *_KNOWN)):
        return bool((element == self).any().item())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


_TURNED = {"__rpow__": "pow", "__rfloordiv__": "floor_divide", "__rmod__": "remainder", "__rmatmul__": "matmul",
           "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift"}


def _turned(function, name, dunder):
    """``number <op> tensor`` for an operator whose operands cannot be exchanged."""
    def turned(self, other, *modulus):
        if modulus:
            return NotImplemented
        if not isinstance(self, Tensor):
            try:
                return function(other, self)
            except TypeError:
                return NotImplemented
        if type(other) not in _KNOWN:
            other = plain_number(other)
        if not isinstance(other, (Tensor, *_KNOWN)) or name == "matmul" and not isinstance(other, Tensor):
            return unforeseen(dunder, self, other)
        return function(_tensor(other, self) if name == "floor_divide" else other, self)
    turned.__name__ = turned.__qualname__ = dunder
    return turned


OF_TWO = frozenset((*_ARITHMETIC, *_REFLECTED, *_INPLACE, *_TURNED, "__matmul__", "__rsub__", "__rtruediv__"))     # those of two operands


def _exchanged(operator, method, dunder):
    """``number <op> tensor`` for an operator whose operands may be exchanged: its recorder, too."""
    reflected = _reflected(method, dunder)
    if operator is None or not _two_arrays(operator) or any(p.required for p in operator.parameters[2:]):
        return reflected
    return _recorder(dunder, operator, lambda self, other, *defaults: reflected(self, other))


def _reflected(method, dunder):
    def reflected(self, other):
        if not isinstance(self, Tensor):
            return _of_no_tensor(dunder, self)
        if isinstance(other, np.ndarray):               # PyTorch takes an ndarray on the right only
            return NotImplemented
        if type(other) in _KNOWN or isinstance(other, Tensor):
            return method(self, other)
        try:
            return method(self, plain_number(other))
        except TypeError:
            return unforeseen(dunder, self, other)
    reflected.__name__ = reflected.__qualname__ = dunder
    return reflected
