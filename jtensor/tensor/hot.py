"""The hot paths: recording an operator of two tensors, or of a tensor and a number, written out in line.

They do what `dispatch.call` does, with one look-up in the trie: the key of a node is the operator, the positions of its inputs and their
Specs. What is not an ordinary case (a miss, hooks, numbers of other types, views that must be read) goes to the general path. Measure
each change here with `dispatch_*` of the benchmark.
"""
import weakref

import numpy as np

from ..autograd.graph import sequence
from ..base import sites
from ..ops import build, gradient
from ..storage.cell import Storage
from ..trace import tape
from ..trace.tape import LOCAL, TRIE, Value, slot
from . import arguments, dispatch, history
from .core import Tensor
from .dispatch import call
from .history import edge_of, node_type
from .inplace import call_inplace
from .values import read

reference = weakref.ref
new_value, new_storage, new_tensor = Value.__new__, Storage.__new__, object.__new__
NUMBERS = {float: "f", int: "i"}


def binary_dunder(operator, method, dunder):
    """``a + b`` for an operator declared with two arrays; other operands go to the method, foreign ones get NotImplemented."""
    plain = operator is not None and _two_arrays(operator) \
        and all(not p.required for p in operator.parameters[2:])
    arrays = dunder not in _NO_ARRAYS
    if not plain:
        takes_numbers = dunder != "__matmul__"

        def other_operator(self, other):
            if isinstance(other, Tensor) or takes_numbers and type(other) in _KNOWN or _from_numpy(other, arrays) and (
                    takes_numbers or isinstance(other, np.ndarray)):
                return method(self, _native(other))
            return NotImplemented
        other_operator.__name__ = other_operator.__qualname__ = dunder
        return other_operator
    record_binary = binary(operator)

    def dunder_method(self, other):
        if isinstance(other, Tensor):
            return record_binary(self, other)
        kind = type(other)
        if kind is float or kind is int:
            return record_number(self, other)
        if kind is bool or kind is complex:
            return method(self, other)
        if _from_numpy(other, arrays):
            return method(self, _native(other))
        return NotImplemented
    record_number = with_number(operator)
    dunder_method.__name__ = dunder_method.__qualname__ = dunder
    return dunder_method


def _two_arrays(operator):
    kinds = [p.kind.name for p in operator.parameters[:2]]
    return len(kinds) == 2 and kinds[0] in ("Tensor", "TensorOrNumber") and kinds[1] == "TensorOrNumber" and not operator.sync


_KNOWN = (int, float, bool, complex)


_NO_ARRAYS = frozenset(("__lt__", "__le__", "__gt__", "__ge__", "__ne__"))     # an ndarray on the right is refused, as in PyTorch


def _from_numpy(other, arrays):
    """Whether an operand is a number of NumPy's, or an ndarray where those are taken."""
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


def _trie_miss(segment, key, operator, template, cache_key):
    """The plan of a node that this tape has not had at this place, put into the trie."""
    plan = dispatch.plan_of(cache_key, operator, template)
    return TRIE.grow(segment.state, key, plan)


def _take_back(segment, value, at):
    """Frees the number of an input that no node uses: values on the meta device have no array to run with."""
    if at < 0 and ~at == len(segment.inputs) - 1 and not any(at in node[1] for node in segment.nodes):
        segment.inputs.pop()
        del segment.slots[id(value)]


def binary(operator):
    """``f(a, b)`` for two tensors: the shortest way from operands to a recorded result."""
    defaults = tuple(p.default for p in operator.parameters[2:])
    rest = _rest(operator, defaults)
    cpu = build.plans.spec.devices.cpu
    meta = build.plans.spec.devices.meta

    def record_binary(a, b):
        spec_a, spec_b, storage_a, storage_b = a._spec, b._spec, a._storage, b._storage
        value_a = storage_a.value if spec_a is storage_a.spec else read(a)
        value_b = storage_b.value if spec_b is storage_b.spec else read(b)
        segment = LOCAL.segment
        at_a = value_a.position if value_a.segment is segment else slot(segment, value_a)
        at_b = value_b.position if value_b.segment is segment else slot(segment, value_b)
        key = (operator, at_a, at_b, spec_a, spec_b)
        state = segment.state.children.get(key)
        if state is None:
            if spec_a.device is not cpu or spec_b.device is not cpu:
                if value_a.aval.device is meta or value_b.aval.device is meta:
                    _take_back(segment, value_b, at_b)
                    _take_back(segment, value_a, at_a)
                return call(operator, (a, b, *defaults))
            state = _trie_miss(segment, key, operator, [spec_a, spec_b, *defaults], (operator, spec_a, spec_b, *rest))
        segment.state = state
        plan = state.plan
        spec = plan.spec
        value = new_value(Value)
        value.array, value.segment, value.aval = None, segment, spec.aval
        value.position = segment.count
        segment.count += 1
        segment.nodes.append((plan, (at_a, at_b), (), reference(value)))
        storage = new_storage(Storage)
        storage.value, storage.spec, storage.layout, storage.version = value, spec, spec, 0
        storage.host = storage._address = storage.site = None
        out = new_tensor(Tensor)
        out._storage, out._spec, out._offset, out._cached, out._counter = storage, spec, 0, None, storage
        out._info = out._auto = out._edge = None
        out._requires_grad = False
        local = LOCAL
        if local.grad_enabled:
            if (a._requires_grad or b._requires_grad or a._info is not None or b._info is not None) and plan.differentiable[0]:
                _attach(plan, a, b, out)
        elif local.inference:
            out._autograd_meta().inference = True
        if state.cut or local.eager:
            tape.over_cap()
        return out
    return record_binary


_NEEDS = {(True, True): (0, 1), (True, False): (0,), (False, True): (1,)}


def _attach(plan, a, b, out):
    """The graph node of a recorded operator of two tensors."""
    needs = _NEEDS.get((a.requires_grad and a._spec.dtype.differentiable, b.requires_grad and b._spec.dtype.differentiable))
    if needs is None:
        return
    cls = node_type(plan.operator)
    node = cls.__new__(cls)
    node.edges = ((a._edge if a._info is None and a._edge is not None else edge_of(a)) if needs[0] == 0 else None,
                  (b._edge if b._info is None and b._edge is not None else edge_of(b)) if needs[-1] == 1 else None)
    node.sequence = sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
    node.plan, node.needs, node.scalars = plan, needs, ()
    codes = plan.saves.get(needs) if plan.saves is not None else None
    if codes is None:
        codes = gradient.saved(plan, needs)
    if codes:
        node.site = sites.user_site()
        node.saved = [history.save(c, (a, b), (out,)) for c in codes]
    else:
        node.saved = ()
    out._edge, out._requires_grad = (node, 0), True


def with_number(operator):
    """``f(a, number)``: the number is a run-time input."""
    defaults = tuple(p.default for p in operator.parameters[2:])
    rest = _rest(operator, defaults)
    cpu = build.plans.spec.devices.cpu

    def record_number(a, number):
        spec_a, storage_a = a._spec, a._storage
        if spec_a.device is not cpu or LOCAL.inference or a._info is not None or a._requires_grad:
            return call(operator, (a, number, *defaults))
        value_a = storage_a.value if spec_a is storage_a.spec else read(a)
        segment = LOCAL.segment
        at_a = value_a.position if value_a.segment is segment else slot(segment, value_a)
        kind = type(number)
        key = (operator, at_a, kind, spec_a)
        state = segment.state.children.get(key)
        if state is None:
            wrapped = build.WRAPPED[kind]
            state = _trie_miss(segment, key, operator, [spec_a, wrapped, *defaults], (operator, spec_a, wrapped, *rest))
        if kind is float:
            numbers = segment.floats
            scalar = ("f", len(numbers))
        else:
            if not -0x8000000000000000 <= number < 0x8000000000000000:
                number = arguments._fits(number)
            numbers = segment.integers
            scalar = ("i", len(numbers))
        numbers.append(number)
        segment.state = state
        plan = state.plan
        spec = plan.spec
        value = new_value(Value)
        value.array, value.segment, value.aval = None, segment, spec.aval
        value.position = segment.count
        segment.count += 1
        segment.nodes.append((plan, (at_a,), (scalar,), reference(value)))
        storage = new_storage(Storage)
        storage.value, storage.spec, storage.layout, storage.version = value, spec, spec, 0
        storage.host = storage._address = storage.site = None
        out = new_tensor(Tensor)
        out._storage, out._spec, out._offset, out._cached, out._counter = storage, spec, 0, None, storage
        out._info = out._auto = out._edge = None
        out._requires_grad = False
        if state.cut or LOCAL.eager:
            tape.over_cap()
        return out
    return record_number


def unary(operator):
    """``f(a)`` for an operator of one tensor whose other parameters are left at their defaults."""
    defaults = tuple(p.default for p in operator.parameters[1:])
    rest = tuple(arguments._static(d)[1] if p.kind.name == "Static" else (type(d), repr(d)) if p.kind.name == "Number" else d
                 for p, d in zip(operator.parameters[1:], defaults, strict=True))
    cpu = build.plans.spec.devices.cpu

    def record_unary(a):
        spec_a, storage_a = a._spec, a._storage
        local = LOCAL
        if spec_a.device is not cpu or local.inference or a._info is not None:
            return call(operator, (a, *defaults))
        value_a = storage_a.value if spec_a is storage_a.spec else read(a)
        segment = local.segment
        at_a = value_a.position if value_a.segment is segment else slot(segment, value_a)
        key = (operator, at_a, spec_a)
        state = segment.state.children.get(key)
        if state is None:
            state = _trie_miss(segment, key, operator, [spec_a, *defaults], (operator, spec_a, *rest))
        segment.state = state
        plan = state.plan
        spec = plan.spec
        value = new_value(Value)
        value.array, value.segment, value.aval = None, segment, spec.aval
        value.position = segment.count
        segment.count += 1
        segment.nodes.append((plan, (at_a,), (), reference(value)))
        storage = new_storage(Storage)
        storage.value, storage.spec, storage.layout, storage.version = value, spec, spec, 0
        storage.host = storage._address = storage.site = None
        out = new_tensor(Tensor)
        out._storage, out._spec, out._offset, out._cached, out._counter = storage, spec, 0, None, storage
        out._info = out._auto = out._edge = None
        out._requires_grad = False
        if a._requires_grad and local.grad_enabled and plan.differentiable[0] and not history.blocked_positions(plan):
            history.attach(plan, (a,), (0,), (out,), ())
        if state.cut or local.eager:
            tape.over_cap()
        return out
    return record_unary
