"""Python's operators, ``a + b`` and ``a += b``: straight to the operator's recorder or writer.

Owns: which operands they take, and which they leave to NumPy or to the methods. May not know: what an operator does.
"""
import numpy as np

from . import dispatch
from .core import Tensor
from .recorders import recorder


def binary_dunder(operator, method, dunder):
    """``a + b`` for an operator declared with two arrays; other operands go to the method, foreign ones get NotImplemented."""
    plain = operator is not None and _two_arrays(operator) \
        and all(not p.required for p in operator.parameters[2:])
    arrays = dunder == "__eq__"
    if not plain:
        takes_numbers = dunder != "__matmul__"

        def other_operator(self, other):
            if isinstance(other, Tensor) or takes_numbers and (type(other) in _KNOWN or isinstance(other, np.generic)):
                return method(self, _native(other))
            return NotImplemented
        other_operator.__name__ = other_operator.__qualname__ = dunder
        return other_operator

    def other_operand(self, other, *defaults):
        if isinstance(other, Tensor) or type(other) in _KNOWN:
            return dispatch.call(operator, (self, other, *defaults))
        if _from_numpy(other, arrays):
            return method(self, _native(other))
        return NotImplemented
    dunder_method = recorder(operator, other_operand)
    dunder_method.__name__ = dunder_method.__qualname__ = dunder
    return dunder_method


def _two_arrays(operator):
    kinds = [p.kind.name for p in operator.parameters[:2]]
    return len(kinds) == 2 and kinds[0] in ("Tensor", "TensorOrNumber") and kinds[1] == "TensorOrNumber" and not operator.sync


_KNOWN = (int, float, bool, complex)


def _from_numpy(other, arrays):
    """Whether an operand is a number of NumPy's, or an ndarray where those are taken.

    Arithmetic leaves ndarrays to NumPy, as PyTorch does: it computes, in its own types, and hands the result back (`__array_wrap__`).
    """
    return isinstance(other, np.generic) or arrays and isinstance(other, np.ndarray)


def _native(other):
    if isinstance(other, np.generic):
        return other.item()
    if isinstance(other, np.ndarray):
        from .from_data import from_host
        return from_host(other)
    return other


def inplace_dunder(operator, method, dunder):
    """``a += b``."""
    plain = operator is not None and operator.inplace and _two_arrays(operator) and all(not p.required for p in operator.parameters[2:])
    if not plain:
        def other_operator(self, other):
            if isinstance(other, Tensor) or type(other) in _KNOWN or isinstance(other, np.generic):
                return method(self, _native(other))
            return NotImplemented
        other_operator.__name__ = other_operator.__qualname__ = dunder
        return other_operator

    def dunder_method(self, other):
        if isinstance(other, Tensor) or type(other) in _KNOWN:
            return operator.write(self, other)
        if isinstance(other, np.generic):
            return method(self, _native(other))
        return NotImplemented                           # `t += ndarray` makes another tensor, as in PyTorch
    dunder_method.__name__ = dunder_method.__qualname__ = dunder
    return dunder_method
