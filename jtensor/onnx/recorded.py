"""What a model does, recorded for ONNX: TorchScript's operators, with the facts of each tensor among them, and which sizes may change.

A model with axes that may change is recorded twice, with two sizes of each: what is the same both times is a constant, a number that is the
size of one such axis both times is that size, and anything else that differs has no place in a graph and is refused. Owns: recording and
comparing. May not know: ONNX, how axes are asked for (`axes`).
"""
import contextlib
import warnings

import jtensor

from ..jit import tracing
from ..jit.recording import Trace
from ..tensor.calling import overriding
from ..tensor.core import Tensor
from .errors import OnnxExporterError


class Fact:
    """Of a tensor as it was recorded: ``dtype``, ``shape`` (None for what may change), which memory is its, ``version`` of that.

    ``tensor``: itself, where it is made of constants."""

    __slots__ = ("tensor", "dtype", "shape", "storage", "version", "sizes")

    def __init__(self, tensor, dtype, shape, storage, version):
        self.tensor, self.dtype, self.shape, self.storage, self.version = tensor, dtype, shape, storage, version
        self.sizes = shape, shape                                 # as they were both times

    @property
    def is_static(self):
        """Whether all sizes are always these."""
        return None not in self.shape

    @property
    def is_untouched(self):
        """Whether the tensor still has the values that it was recorded with."""
        return self.tensor._version == self.version


class Recorded(Trace):
    """A trace that keeps the facts of the tensors that go by its values."""

    def __init__(self, lower):
        super().__init__(lower)
        self.facts, self.memories = {}, {}

    def set(self, tensor, value):
        """As a trace does; the questions about the tensor are not recorded themselves."""
        super().set(tensor, value)
        asking = self in overriding.STATE.modes
        self.facts[value] = self.aside(self._fact, tensor) if asking else self._fact(tensor)

    def _fact(self, tensor):
        memory = self.memories.setdefault(id(tensor._storage), (tensor._storage, len(self.memories)))   # kept: none gets its address
        return Fact(tensor, tensor.dtype, tuple(tensor.shape), memory[1], tensor._version)

    def constant(self, data, type="Tensor"):
        """A constant; a tensor's values are those that it has now."""
        if isinstance(data, Tensor):
            copied = data.detach().clone if self not in overriding.STATE.modes else lambda: self.aside(lambda: data.detach().clone())
            data = copied()
        return super().constant(data, type)


def _record(model, call, tensors, names):
    """A call with these tensors. The model's buffers, and the random numbers, are as they were before."""
    before = [(one, one.detach().clone()) for one in model.buffers()]
    state = jtensor.get_rng_state()
    try:
        with jtensor.no_grad():
            return _without_results(tracing.traced(call, [one.detach().clone() for one in tensors], names, False, model, Recorded))
    finally:
        jtensor.set_rng_state(state)
        with jtensor.no_grad():
            for one, kept in before:
                one.copy_(kept)


def _without_results(trace):
    """Lets the tensors go that are no constants: what nobody asks for is never computed."""
    fixed = set()
    for node in _flat(trace):
        if node.is_constant or node.inputs and fixed.issuperset(node.inputs):
            fixed.update(node.outputs)
    for value, fact in trace.facts.items():
        if value not in fixed:
            fact.tensor = None
    trace._values.clear()
    trace.memories.clear()
    return trace


def record(model, call, tensors, names, symbols=()):
    """The `Program` of ``call(*tensors)``, a tuple of tensors; ``symbols``: the `axes.Symbol`s that may change."""
    first = _record(model, call, tensors, names)
    if not symbols:
        return Program(first, symbols, {}, first.facts)
    failed = None
    for sizes in _trials(symbols):
        with warnings.catch_warnings(), contextlib.suppress(_Failed):
            warnings.simplefilter("ignore")
            try:
                second = _record(model, call, _resized(tensors, symbols, sizes), names)
            except (RuntimeError, IndexError, ValueError, AssertionError) as error:
                failed = error
                raise _Failed from error
            for symbol, size in zip(symbols, sizes, strict=True):
                symbol.other = size
            return _compared(first, second, symbols)
    raise OnnxExporterError(f"The model cannot be run with other sizes of its dynamic axes ({', '.join([str(s) for s in symbols])}); axes "
                            "that are always of one size need one name") from failed


class _Failed(Exception):
    pass


def _trials(symbols):
    """Other sizes to try, each symbol's its own; at last, those that were alike stay alike."""
    taken = {symbol.size for symbol in symbols}

    def spread(begin):
        made, steps = [], set()                                   # steps of their own, so that no other size goes along with one
        for symbol in symbols:
            size = begin(symbol.size)
            while size in taken or size in made or size - symbol.size in steps:
                size += 1
            made.append(size)
            steps.add(size - symbol.size)
        return made
    yield spread(lambda n: n + 1)
    yield spread(lambda n: max(n - 2, 2))
    yield spread(lambda n: 2 * n if n > 1 else 2)
    if len(taken) < len(symbols):
        for symbol in symbols:                                    # which of them a number is, nobody can tell then
            symbol.shared = sum(one.size == symbol.size for one in symbols) > 1
        for begin in (lambda n: n + 1, lambda n: max(n - 2, 2), lambda n: 2 * n if n > 1 else 2):
            found = {}
            for size in sorted(taken):
                other = begin(size)
                while other in taken or other in found.values():
                    other += 1
                found[size] = other
            yield [found[symbol.size] for symbol in symbols]


def _resized(tensors, symbols, sizes):
    made = list(tensors)
    for symbol, size in zip(symbols, sizes, strict=True):
        for at, axis in symbol.places:
            index = jtensor.arange(size, device=made[at].device) % max(made[at].shape[axis], 1)
            made[at] = made[at].index_select(axis, index)         # values that the model takes
    return made


# -- comparing ----------------------------------------------------------------------------------------------------------


class Program:
    """``nodes`` in their order, ``inputs``, ``results``; ``facts`` of values; ``sizes``: {a constant's value: the symbol whose size it
    is}."""

    def __init__(self, trace, symbols, sizes, facts):
        self.nodes, self.inputs, self.symbols, self.sizes, self.facts = _flat(trace), trace.root.inputs, symbols, sizes, facts
        self.results = trace.root.results[0].node.inputs


def _flat(trace):
    return [node for node in trace.root.all_nodes() if node.block is None]


def _differ(why):
    return OnnxExporterError(f"The model does something else for other sizes of its dynamic axes, so that no graph stands for it: {why}")


def _compared(first, second, symbols):
    ours, theirs = _flat(first), _flat(second)
    pairs = dict(zip(first.root.inputs, second.root.inputs, strict=True))
    sizes = {}
    for one, other in zip(ours, theirs, strict=False):
        if one.kind != other.kind or len(one.inputs) != len(other.inputs) or len(one.outputs) != len(other.outputs):
            raise _differ(f"{one.kind} in one case, {other.kind} in another")
        for a, b in zip(one.inputs, other.inputs, strict=True):
            if not _same_value(a, b, pairs):
                raise _differ(f"{one.kind} takes something else")
        if one.is_constant and not _equal(one.data, other.data):
            sizes[one.output] = _symbol(one.data, other.data, symbols)
        pairs.update(zip(one.outputs, other.outputs, strict=True))
    if len(ours) != len(theirs):
        raise _differ(f"{len(ours)} operators in one case, {len(theirs)} in another")
    return Program(first, symbols, sizes, _merged(first.facts, second.facts, pairs))


def _same_value(a, b, pairs):
    if a.node is not None and a.node.kind == "prim::Attribute":
        return b.node is not None and b.node.kind == "prim::Attribute" and a.node.data == b.node.data
    return pairs.get(a) is b


def _equal(a, b):
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and bool(((a == b) | (a != a) & (b != b)).all())
    return type(a) is type(b) and (a == b or a != a and b != b)


def _symbol(a, b, symbols):
    """The axis whose size a number is, both times."""
    a, b = [one.item() if isinstance(one, Tensor) and one.numel() == 1 and not one.is_floating_point() else one for one in (a, b)]
    if type(a) is int and type(b) is int:
        found = [symbol for symbol in symbols if (symbol.size, symbol.other) == (a, b)]
        if len(found) == 1 and not found[0].shared:
            return found[0]
        if found:
            raise _differ(f"the number {a} may be the size of {' or of '.join([str(one) for one in found])}; give axes that are always of "
                          "one size one name")
    shown = "a tensor that is no input of the model" if isinstance(a, Tensor) else f"{a!r}"
    raise _differ(f"{shown}, which depends on them, is a number or a list of Python's by then; operators on tensors and x.shape are "
                  "recorded")


def _merged(ours, theirs, pairs):
    """The facts of both, None for the sizes that differ."""
    merged = {}
    for value, fact in ours.items():
        other = theirs.get(pairs.get(value))
        shape = fact.shape
        if other is not None:
            if len(other.shape) != len(shape) or other.dtype is not fact.dtype:
                raise _differ("a result has another number of dimensions, or another dtype")
            shape = tuple([a if a == b else None for a, b in zip(shape, other.shape, strict=True)])
        merged[value] = Fact(fact.tensor, fact.dtype, shape, fact.storage, fact.version)
        merged[value].sizes = (fact.shape, fact.shape if other is None else other.shape)
    return merged
