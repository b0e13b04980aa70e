"""Equations as numbers and the rest: what is the same at all sizes, and what `sizes` has to explain.

A jaxpr that was traced becomes a row of numbers (extents of arrays, integers among parameters, literals) and a frame, into which other
numbers can be put. Owns: both ways, and of which equations nothing is concluded for others. May not know: which numbers go together.
"""
import jax
import numpy as np
from jax.extend import core

from ...base import compat
from ..plan import PARTICULAR
from .flat import CALLS, Constant, Flat, called, is_floating
from .kinds import ELEMENTWISE, ELEMENTWISE_MOVES

LEAST = 8               # the smallest number that is a size


class Unknown(Exception):
    """Equations of which nothing is concluded for others."""


_INTEGERS = {int, np.int64}
_PLAIN = ELEMENTWISE | ELEMENTWISE_MOVES | frozenset("""bitcast_convert_type stop_gradient shift_left shift_right_arithmetic
    shift_right_logical rem population_count clz broadcast_in_dim reshape transpose squeeze expand_dims slice concatenate rev
    dynamic_slice dynamic_update_slice gather scatter scatter-add scatter_add pad iota dot_general reduce_sum reduce_max reduce_min
    reduce_prod reduce_and reduce_or argmax argmin sort split""".split())
"""Primitives whose results' extents go with those of what they read (loops and windows go by remainders), if no ``strides`` are taken."""


def _parts(x, frame, numbers):
    """Appends the integers in a parameter to ``numbers``, and everything else to ``frame``."""
    kind = type(x)
    if kind in _INTEGERS:
        frame.append(kind)
        numbers.append(int(x))
    elif isinstance(x, (tuple, list)):
        frame.append((kind, len(x)))
        for y in x:
            _parts(y, frame, numbers)
    elif isinstance(x, (core.Jaxpr, core.ClosedJaxpr)):
        if getattr(x, "consts", ()):
            raise Unknown
        frame.append((kind, str(x)))
    elif isinstance(x, (np.ndarray, jax.Array)):
        raise Unknown
    else:
        frame.append((kind, x))


def _with(x, numbers):
    """The parameter with other integers, which an iterator gives."""
    kind = type(x)
    if kind in _INTEGERS:
        return kind(next(numbers))
    if isinstance(x, (tuple, list)):
        made = [_with(y, numbers) for y in x]
        return kind(*made) if hasattr(x, "_fields") else kind(made)
    return x


def _type_with(aval, numbers):
    if not aval.shape:
        return aval
    return jax.core.ShapedArray(tuple([next(numbers) for _ in aval.shape]), aval.dtype, aval.weak_type)


def _whole(value):
    """A constant's number, if it is a single whole one; else None."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iuf" or not LEAST <= abs(array) < 1 << 24 or array != int(array):
        return None
    return int(array) if compat.number_like(value, int(array)) == value else None


class Example:
    """A jaxpr that was traced, its calls inlined: ``equations`` of (primitive, params, atoms, avals of its results), where atoms are the
    places of values, or literals. ``numbers``: all integers in it, and the bytes of literals that are none; ``frame``: the rest; ``lots``:
    how many numbers each equation has; ``starts``: where among them the extents of each value begin."""

    __slots__ = ("sizes", "classes", "frame", "numbers", "lots", "avals", "starts", "equations", "outputs", "counted")

    def __init__(self, sizes, classes, closed):
        self.counted = False                        # whether a size is a literal
        self.sizes, self.classes = sizes, frozenset(classes)
        self.frame, self.numbers, self.lots, self.equations, self.avals, self.starts = [], [], [], [], [], []
        inputs = self._values([v.aval for v in closed.jaxpr.invars])
        self.outputs = self._inlined(closed.jaxpr, closed.consts, inputs)
        self.frame.append(tuple(self.outputs))
        if not self.avals or closed in PARTICULAR or not all(type(atom) is int for atom in self.outputs):
            raise Unknown
        if self.counted and any(aval.dtype.itemsize < 4 and is_floating(aval) for aval in self.avals):
            raise Unknown                           # it may have been rounded

    def _inlined(self, jaxpr, constants, arguments):
        """Takes in the equations of a jaxpr; answers what it gives."""
        if len(constants) or jaxpr.effects:
            raise Unknown
        names = dict(zip(jaxpr.invars, arguments, strict=True))

        def read(atoms):
            return [atom if isinstance(atom, core.Literal) else names[atom] for atom in atoms]

        for e in jaxpr.eqns:
            atoms = read(e.invars)
            if e.primitive.name in CALLS:
                inner = called(e)
                made = self._inlined(getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), atoms)
            else:
                made = self._add(e.primitive, e.params, atoms, [v.aval for v in e.outvars])
            names.update(zip(e.outvars, made, strict=True))
        return read(jaxpr.outvars)

    def _add(self, primitive, params, atoms, avals):
        frame, numbers, before = self.frame, self.numbers, len(self.numbers)
        if primitive.name not in _PLAIN or any(n != 1 for n in params.get("strides") or ()) or any(
                n for *_, n in params.get("padding_config") or ()):
            raise Unknown
        frame.append((primitive, tuple(params)))
        for value in params.values():
            _parts(value, frame, numbers)
        for atom in atoms:
            if type(atom) is int:
                frame.append(atom)
                continue
            value, number = atom.val, _whole(atom.val)
            frame.append((type(value), str(atom.aval)))
            numbers.append(np.asarray(value).tobytes() if number is None else number)
            self.counted |= number is not None
        made = self._values(avals)
        self.lots.append(len(numbers) - before)
        self.equations.append((primitive, params, atoms, avals))
        return made

    def _values(self, avals):
        """Takes in values of these types; answers their places."""
        for aval in avals:
            if type(aval) is not jax.core.ShapedArray or not isinstance(aval.dtype, np.dtype):
                raise Unknown
            self.starts.append(len(self.numbers))
            self.frame.append((aval.dtype, aval.weak_type, len(aval.shape)))
            self.numbers.extend(aval.shape)
        self.avals += avals
        return list(range(len(self.avals) - len(avals), len(self.avals)))

    def at(self, numbers):
        """The graph with these numbers in it."""
        types, equations = self.written(numbers)
        graph = Flat(types)
        values, types = list(graph.inputs), list(types)
        for primitive, params, atoms, avals in equations:
            values += graph.apply(primitive, params, [values[atom] if type(atom) is int else Constant(atom.val) for atom in atoms],
                                  [types[atom] if type(atom) is int else atom.aval for atom in atoms], list(avals))
            types += avals
        return graph.finish([values[at] for at in self.outputs])

    def written(self, numbers):
        """With these numbers in them: the types of what it takes, and its ``equations``."""
        rest, count = iter(numbers), len(self.avals) - sum(len(e[3]) for e in self.equations)
        types = [_type_with(aval, rest) for aval in self.avals[:count]]
        return types, self._with(numbers, sum(len(aval.shape) for aval in types))

    def _with(self, numbers, start):
        for (primitive, params, atoms, avals), lot in zip(self.equations, self.lots, strict=True):
            own, at = numbers[start:start + lot], start
            start += lot
            if own != self.numbers[at:start]:
                rest = iter(own)
                params = {name: _with(value, rest) for name, value in params.items()}
                atoms = [atom if type(atom) is int else _literal_with(atom, rest) for atom in atoms]
                avals = [_type_with(aval, rest) for aval in avals]
            yield primitive, params, atoms, avals

    def extents(self):
        """Where among the numbers those of each result's shape are."""
        return [range(self.starts[v], self.starts[v] + len(self.avals[v].shape)) for v in self.outputs]


def _literal_with(atom, numbers):
    number = next(numbers)
    return atom if type(number) is bytes else core.Literal(compat.number_like(atom.val, number), atom.aval)
