"""Equations at a size that only the run knows, on arrays that are as large as the largest size: what is too much is masked where it counts.

An array whose extents go up with a size is held in one that has its extents at the largest; what stands behind its own numbers is anything.
Most equations do not mind: an element's bits do not depend on how many others there are, nor a row's of a product. Where one would look at
what is too much, it is replaced by what changes nothing, and where something stands behind an array, it is put where the array ends.

A rule says when an equation's bits at the largest size are those at every smaller one down to the least, and what to put in place of what
is too much (`masked_moves`, `masked_sums`); everything else is `Unknown`. `tests/trace/test_dynamic.py` compares rule by rule.

Owns: the graph in the making, the masks. May not know: the rules, tapes, which sizes come together in one program.
"""
import functools

import jax
import numpy as np
from jax import lax

from ...base import compat
from ..lowering.examples import Unknown
from ..lowering.flat import Constant
from ..lowering.kinds import ELEMENTWISE, ELEMENTWISE_MOVES

_OF_EACH_ELEMENT = ELEMENTWISE | ELEMENTWISE_MOVES | {
    "bitcast_convert_type", "stop_gradient", "shift_left", "shift_right_arithmetic", "shift_right_logical", "population_count", "clz"}
_ANY = "sharding", "out_sharding"           # of one device they say nothing


class Array:
    """A value in the making: its ``atom`` in the graph, and its extents as (slope, start) each."""

    __slots__ = ("atom", "extents")

    def __init__(self, atom, extents):
        self.atom, self.extents = atom, extents

    @property
    def changing(self):
        """The axes whose extents are not always the same."""
        return [axis for axis, (slope, _) in enumerate(self.extents) if slope]


class Equation:
    """One equation: its ``params`` at the largest size, as ``least`` at the smallest one, and as ``more`` at one more than the largest;
    ``inputs``, which are `Array`s, and their ``types``; the types and the ``extents`` of its ``results``."""

    __slots__ = ("primitive", "name", "params", "least", "more", "inputs", "types", "results", "extents")

    def line(self, name, *at):
        """(slope, what it is at the largest size) of a number in a parameter."""
        here, there = self.params[name], self.more[name]
        for k in at:
            here, there = here[k], there[k]
        return there - here, here

    def are_fixed(self, *but):
        """Whether no parameter but these changes with the size."""
        return all(_are_equal(value, self.least[name]) and _are_equal(value, self.more[name])
                   for name, value in self.params.items() if name not in but + _ANY)


def extents(aval, larger, most):
    """The extents of an array, from its types at the largest size and at one more. None of them gets smaller."""
    if any(b < a for a, b in zip(aval.shape, larger.shape, strict=True)):
        raise Unknown
    return tuple([(b - a, a - (b - a) * most) if b != a else (0, a) for a, b in zip(aval.shape, larger.shape, strict=True)])


def _are_equal(value, other):
    return value is other or value == other or repr(value) == repr(other)       # NaN is what some gathers fill with


class Masking:
    """Puts equations into a graph, as they are at the size ``most``; ``size``: the atom of what it is at the run, at least ``least``.
    ``rules``: {primitive's name: function of this and an `Equation` to the results' atoms}."""

    def __init__(self, graph, size, least, most, rules):
        self.graph, self.size, self.least, self.most, self.rules = graph, size, least, most, rules
        self._extents = {}
        self.doubts = []            # atoms of truth values: whether the bits may be others after all

    def operator(self, example, numbers, operands):
        """The results of an operation. ``numbers``: of its equations at a size, as a function."""
        (types, equations), (_, fewer), (more, others) = (example.written(numbers(n)) for n in (self.most, self.least, self.most + 1))
        if [tuple(a.shape) for a in types] != [self.graph.aval(x.atom).shape for x in operands] or any(
                extents(a, b, self.most) != x.extents for a, b, x in zip(types, more, operands, strict=True)):
            raise Unknown
        values = list(operands)
        for (primitive, params, atoms, avals), (_, small, _, _), (_, large, beside, wider) in zip(equations, fewer, others, strict=True):
            e = Equation()
            e.primitive, e.name, e.params, e.least, e.more = primitive, primitive.name, params, small, large
            e.inputs = [values[atom] if type(atom) is int else self._constant(atom, other)
                        for atom, other in zip(atoms, beside, strict=True)]
            e.types = [self.graph.aval(x.atom) if type(atom) is int else atom.aval for x, atom in zip(e.inputs, atoms, strict=True)]
            e.results, e.extents = list(avals), [extents(a, b, self.most) for a, b in zip(avals, wider, strict=True)]
            if any(slope and slope * self.least + start < 1 for made in e.extents for slope, start in made):
                raise Unknown                       # of a size so small there is nothing
            values += map(Array, self._put(e), e.extents)
        return [values[at] for at in example.outputs]

    def _constant(self, literal, larger):
        here, there = np.asarray(literal.val), np.asarray(larger.val)
        if here.tobytes() == there.tobytes():
            return Array(Constant(literal.val), tuple([(0, n) for n in here.shape]))
        slope = int(there) - int(here)
        return Array(self.call(_as_type, self.extent((slope, int(here) - slope * self.most)), statics=(here.dtype,)), ())

    def _put(self, e):
        changes = any(x.changing for x in e.inputs) or any(slope for extents in e.extents for slope, _ in extents)
        if e.name in _OF_EACH_ELEMENT and e.are_fixed():
            return self.as_it_is(e)
        if not changes and e.are_fixed():
            return self.as_it_is(e)
        rule = self.rules.get(e.name)
        if rule is None:
            raise Unknown
        return rule(self, e)

    # -- what rules do ------------------------------------------------------------------------------------------------

    def as_it_is(self, e, inputs=None, params=None):
        """The equation at the largest size, perhaps of other atoms."""
        return self.graph.apply(e.primitive, params or e.params, inputs or [x.atom for x in e.inputs], e.types, e.results)

    def call(self, function, *atoms, statics=()):
        """The only result of a function of arrays."""
        types = tuple([(a.shape, a.dtype) for a in map(self.graph.aval, atoms)])
        return self.graph.call(_traced(function, statics, types), list(atoms))[0]

    def extent(self, line):
        """What ``slope * size + start`` is at the run, as an atom."""
        if not line[0]:
            return Constant(np.int64(line[1]))
        found = self._extents.get(line)
        if found is None:
            found = self._extents[line] = self.size if line == (1, 0) else self.call(_on_line, self.size, statics=line)
        return found

    def at_most(self, line):
        """The same at the largest size."""
        return line[0] * self.most + line[1]

    def at_least(self, extents):
        """The shape at the least size."""
        return tuple([slope * self.least + start for slope, start in extents])

    def either(self, one, other):
        """Whether one of two truth values is true."""
        return self.call(lax.bitwise_or, one, other)

    def masked(self, x, axes, fill):
        """The array with ``fill`` for what is too much along these axes."""
        atom = x.atom
        for axis in axes:
            if x.extents[axis][0]:
                # by its bytes: 0.0 and -0.0 are equal
                atom = self.call(_masked, atom, self.extent(x.extents[axis]),
                                 statics=(axis, np.array(fill, self.graph.aval(atom).dtype).tobytes()))
        return atom


@functools.lru_cache(1024)
def _traced(function, statics, types):
    with jax.enable_x64(True):
        return compat.trace(lambda *arrays: [function(*arrays, *statics)], [jax.ShapeDtypeStruct(*t) for t in types])


def _as_type(number, dtype):
    return lax.convert_element_type(number, dtype)


def _on_line(size, slope, start):
    return size * slope + start


def _masked(x, extent, axis, fill):
    here = lax.broadcasted_iota(np.int32, x.shape, axis) < extent.astype(np.int32)
    return lax.select(here, x, lax.full_like(x, np.frombuffer(fill, x.dtype)[0]))
