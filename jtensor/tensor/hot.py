"""Python's operators, and the hot path of writing in place: a tensor or a number into a tensor that is a whole storage.

`write` does what `inplace.call_inplace` does, with one look-up in the trie. What is not an ordinary case (views, gradients, numbers of
other types) goes to that general path. Operators that make new tensors have their `recorders`. Measure each change here with `dispatch_*`
of the benchmark.
"""
import weakref

import numpy as np

from ..base import sites
from ..ops import build
from ..trace import tape
from ..trace.tape import LOCAL, TRIE, Value, slot
from . import arguments, dispatch
from .core import Tensor
from .inplace import call_inplace
from .recorders import recorder
from .values import read

reference = weakref.ref
new_value = Value.__new__


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
    write = inplace(operator)

    def dunder_method(self, other):
        if isinstance(other, Tensor) or type(other) in _KNOWN:
            return write(self, other)
        if isinstance(other, np.generic):
            return method(self, _native(other))
        return NotImplemented                           # `t += ndarray` makes another tensor, as in PyTorch
    dunder_method.__name__ = dunder_method.__qualname__ = dunder
    return dunder_method


def inplace(operator):
    """``a.name_(b)`` for a tensor or a number, where ``a`` is a whole storage and nothing needs a gradient; else the general path."""
    defaults = tuple(p.default for p in operator.parameters[2:])
    rest = _rest(operator, defaults)
    mark = object()
    cpu = build.plans.spec.devices.cpu

    def write(a, b):
        spec_a, storage = a._spec, a._storage
        local = LOCAL
        kind = type(b)
        if spec_a is not storage.spec or local.eager or spec_a.device is not cpu or not spec_a.dense \
                or (local.grad_enabled and (a._requires_grad or a._info is not None)) or local.inference or a._auto is not None \
                and a._auto.inference:
            return call_inplace(operator, (a, b, *defaults))
        if kind is Tensor or isinstance(b, Tensor):
            spec_b, storage_b = b._spec, b._storage
            if (storage_b is storage and b is not a) or spec_b.device is not cpu \
                    or (local.grad_enabled and (b._requires_grad or b._info is not None)):
                return call_inplace(operator, (a, b, *defaults))
            value_b = storage_b.value if spec_b is storage_b.spec else read(b)
            value_a = storage.value
            segment = local.segment
            at_a = value_a.position if value_a.segment is segment else slot(segment, value_a)
            at_b = value_b.position if value_b.segment is segment else slot(segment, value_b)
            key = (mark, at_a, at_b, spec_a, spec_b)
            positions, scalars = (at_a, at_b), ()
        elif kind is float or (kind is int and -0x8000000000000000 <= b < 0x8000000000000000):
            value_a = storage.value
            segment = local.segment
            at_a = value_a.position if value_a.segment is segment else slot(segment, value_a)
            key = (mark, at_a, kind, spec_a)
            spec_b = None
            positions = (at_a,)
        else:
            return call_inplace(operator, (a, b, *defaults))
        state = segment.state.children.get(key)
        if state is None:
            shown = build.WRAPPED[kind] if spec_b is None else spec_b
            plan = dispatch.plan_of(("in place", operator, spec_a, shown, *rest), operator, [spec_a, shown, *defaults], True)
            state = TRIE.grow(segment.state, key, plan)
        if spec_b is None:
            numbers = segment.floats if kind is float else segment.integers
            scalars = (("f" if kind is float else "i", len(numbers)),)
            numbers.append(b)
        segment.state = state
        plan = state.plan
        value = new_value(Value)
        value.array, value.segment, value.aval = None, segment, spec_a.aval
        value.position = segment.count
        segment.count += 1
        segment.nodes.append((plan, positions, scalars, reference(value)))
        storage.value = value
        counter = a._counter
        counter.version += 1
        if counter.site is not None:
            counter.site = sites.user_site()
        if state.cut:
            tape.over_cap()
        return a
    return write


def _rest(operator, defaults):
    """The defaulted parameters' part of a plan's key."""
    return tuple(arguments._static(d)[1] if p.kind.name == "Static" else (type(d), repr(d))
                 for p, d in zip(operator.parameters[2:], defaults, strict=True))
