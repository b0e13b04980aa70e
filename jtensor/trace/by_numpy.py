"""Operations on arrays, done by NumPy: what moves data, compares, or rounds once.

A kernel takes XLA some 16 ms to compile and a fifth of a megabyte to keep, and serves one shape. In a script whose shapes do not come again
(sentences of any length, episodes, graphs) that is most of the time. Most of its kernels only move data or do arithmetic that IEEE defines
to the bit, and NumPy does that on any shape. Where a number comes up that the two do not treat alike (XLA flushes subnormal ones, a NaN has
bits of its own, the larger of two zeros is either), the function made here declines, and the kernel is compiled after all. Sums, matrix
products and what is not defined to the bit are XLA's alone.

Owns: which equations NumPy does with XLA's bits, and how; for how long that is cheaper than a kernel. May not know: when tapes run.
"""
import math

import numpy as np

from ..base import compat
from .arrival import awaited
from .flat import flattened
from .report import REPORT

LONGEST = 120           # equations
_FLOATS = {np.dtype(d): np.finfo(d).tiny for d in (np.float32, np.float64)}
_SAME = {"operator_result", "barrier", "copy", "copy_p", "stop_gradient"}
_COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
_ARITHMETIC = {"add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply}
_LOGICAL = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.bitwise_not}
_ROUNDED = {"floor": np.floor, "ceil": np.ceil}
_SHIFTS = {"shift_left": np.left_shift, "shift_right_arithmetic": np.right_shift}
_EXTREMES = {"max": np.maximum, "min": np.minimum, "reduce_max": np.maximum.reduce, "reduce_min": np.minimum.reduce}


class ByNumpy:
    """A plan that has no kernel yet. ``left``: how much work is done by NumPy before a kernel costs less."""

    __slots__ = ("run", "left", "elements")

    def __init__(self, run, elements):
        self.run, self.left, self.elements = run, ENOUGH, elements + CALL

    def done(self, arrays, numbers):
        """The results, as ndarrays; None if a kernel is to do it. ``numbers``: (kind, number) each."""
        self.left -= self.elements
        if self.left < 0:
            return None
        given = [x if x.__class__ is np.ndarray else compat.looked_at(awaited(x)) for x in arrays]
        made = self.run([*given, *[np.asarray(number, NUMBERS[kind]) for kind, number in numbers]])
        if made is not None:
            REPORT.by_numpy += 1
        return made

    def results(self, segment, seen, asked):
        """The same for the only operation of a tape. ``seen``: the executor's."""
        (_, positions, taken, _), = segment.nodes
        numbers = {"f": segment.floats, "i": segment.integers, "b": segment.integers, "c": segment.complexes}
        return self.done([seen(segment.inputs[~p]) for p in positions], [(kind, numbers[kind][at]) for kind, at in taken])


ENOUGH, CALL = 1 << 22, 2048            # elements that are worth a kernel; as how many a call counts
NUMBERS = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128}


def of(plan):
    """The plan's `ByNumpy`; None if it has a kernel, or needs one."""
    found = plan.by_numpy
    if found is None:
        run = by_numpy(plan) if plan.kernel is None else None
        found = plan.by_numpy = ByNumpy(run, plan.elements()) if run is not None else False
    if not found or plan.kernel is not None or found.left < 0:
        return None
    return found


def by_numpy(plan):
    """``f(list of ndarrays) -> list of ndarrays, or None`` for an operation of the CPU; None if NumPy would not give XLA's bits.

    The arguments are those of the plan, arrays first; the results share no memory with them.

    >>> from jtensor.trace import plan, spec
    >>> three = spec.aval((3,), spec.dtypes.float32, spec.devices.cpu)
    >>> twice = by_numpy(plan.make("twice", lambda a: (a + a,), [three]))
    >>> twice([np.array([1, 2, 3], np.float32)]), twice([np.array([1, 2, math.nan], np.float32)])
    ([array([2., 4., 6.], dtype=float32)], None)
    """
    if any(aval.device.type != "cpu" for aval in (*plan.inputs, *plan.outputs)):
        return None
    graph = flattened(plan.jaxpr())
    if len(graph.equations) > LONGEST or graph.effects or any(math.prod(aval.shape) == 0 for aval in graph.avals):
        return None
    try:
        return _Steps(graph).run
    except _Unknown:
        return None


class _Unknown(Exception):
    """An equation that is not done by NumPy."""


class _Declined(Exception):
    """Numbers came up of which NumPy and XLA make different things."""


class _Steps:
    """A graph's equations as calls of NumPy: ``steps`` of (function, places of its arguments, place of its result)."""

    def __init__(self, graph):
        self.values, self.count = [None] * len(graph.avals), len(graph.inputs)
        self.steps, self.graph = [], graph
        self.ordinary = {v for v in graph.inputs if graph.avals[v].dtype not in _FLOATS}         # of which this has been looked at
        for e in graph.equations:
            self._add(e)
        self.outputs = [self._place(atom) for atom in graph.outputs]

    def _place(self, atom):
        if type(atom) is int:
            return atom
        value = np.asarray(atom.value)
        self.values.append(value)
        if value.dtype not in _FLOATS or _is_ordinary(value):
            self.ordinary.add(len(self.values) - 1)
        return len(self.values) - 1

    def _add(self, e):
        if len(e.outputs) != 1:
            raise _Unknown
        made, (result,) = e.avals[0], e.outputs
        places = [self._place(atom) for atom in e.inputs]
        types = [np.dtype(self.graph.aval(atom).dtype) for atom in e.inputs]
        function, kind = _function(e, types, np.dtype(made.dtype))
        if kind != _MOVE:
            for place, dtype in zip(places, types):
                if dtype in _FLOATS and place not in self.ordinary:
                    self.steps.append((_checked, (place,), place))
                    self.ordinary.add(place)
        self.steps.append((function, tuple(places), result))
        if kind == _ROUND and made.dtype in _FLOATS:
            self.steps.append((_checked, (result,), result))
        if kind != _MOVE or made.dtype not in _FLOATS or self.ordinary.issuperset(places):
            self.ordinary.add(result)

    def run(self, arrays):
        """The results, or None."""
        values = self.values.copy()
        values[:self.count] = arrays
        try:
            with np.errstate(all="ignore"):
                for function, places, result in self.steps:
                    values[result] = function(*[values[place] for place in places])
        except _Declined:
            return None
        return [np.array(values[place], order="C") for place in self.outputs]


def _is_ordinary(x):
    """Whether each number is zero, normal or infinite."""
    size = np.abs(x)
    return ((size >= _FLOATS[x.dtype]) | (size == 0)).all()


def _checked(x):
    if not _is_ordinary(x):
        raise _Declined
    return x


_MOVE, _LOOK, _ROUND = "moves numbers", "looks at them", "makes others"


def _function(e, types, made):
    """(function of ndarrays, what it does to numbers) for an equation."""
    name, params = e.name, e.params
    mover = _MOVERS.get(name)
    if mover is not None:
        return mover(e, params), _MOVE
    if not types or not all(dtype in _FLOATS or dtype.kind in "biu" and dtype.isbuiltin for dtype in (*types, made)):
        raise _Unknown
    kind = types[0].kind
    if name in _COMPARISONS:
        return _COMPARISONS[name], _LOOK
    if name == "is_finite":
        return np.isfinite, _MOVE
    if name in _ARITHMETIC and kind != "b":
        return _ARITHMETIC[name], _ROUND
    if name in _LOGICAL and kind in "biu":
        return _LOGICAL[name], _LOOK
    if name == "div" and kind == "f":
        return np.divide, _ROUND
    if name == "sqrt" and kind == "f":
        return np.sqrt, _ROUND
    if name == "square" or name == "integer_pow" and params["y"] == 2:
        return lambda x: x * x, _ROUND
    if name in ("neg", "abs") and kind != "b":
        return (np.negative if name == "neg" else np.abs), _LOOK
    if name in _ROUNDED and kind == "f":
        return _ROUNDED[name], _LOOK
    if name in ("max", "min"):
        return _extreme(_EXTREMES[name], kind), _LOOK
    if name in ("reduce_max", "reduce_min"):
        axes = tuple(params["axes"])
        return _extreme(lambda x: _EXTREMES[name](x, axis=axes), kind), _LOOK
    if name in ("reduce_and", "reduce_or") and kind == "b":
        reduce, axes = (np.logical_and if name == "reduce_and" else np.logical_or).reduce, tuple(params["axes"])
        return lambda x: reduce(x, axis=axes), _LOOK
    if name == "reduce_sum" and kind in "iu" and made == types[0]:
        axes = tuple(params["axes"])
        return lambda x: np.add.reduce(x, axis=axes, dtype=made), _LOOK
    if name == "convert_element_type":
        return _converter(types[0], made)
    if name == "rem" and kind in "iu":
        return _remainder, _LOOK
    if name in _SHIFTS and kind == "i":
        return _shift(_SHIFTS[name], 8 * made.itemsize), _LOOK
    raise _Unknown


def _remainder(x, divisor):
    if ((divisor == 0) | (divisor == -1)).any():            # of the least integer, divided by -1, there is none
        raise _Declined
    return np.fmod(x, divisor)


def _shift(function, bits):
    def shifted(x, places):
        if ((places < 0) | (places >= bits)).any():
            raise _Declined
        return function(x, places)
    return shifted


def _extreme(function, kind):
    if kind != "f":
        return function

    def extreme(*arrays):
        for x in arrays:
            if np.signbit(x[x == 0]).any():                 # the larger of two zeros may be either
                raise _Declined
        return function(*arrays)
    return extreme


def _converter(old, new):
    if new.kind == "b":
        return (lambda x: x != 0), _LOOK
    if old.kind == "f" and new.kind in "iu":
        least, most = float(np.iinfo(new).min), float(np.iinfo(new).max)

        def converted(x):
            if not ((x >= least) & (x < most)).all():       # XLA takes the nearest, NumPy whatever the processor makes of it
                raise _Declined
            return x.astype(new)
        return converted, _LOOK
    return (lambda x: x.astype(new)), _ROUND if new.kind == "f" else _LOOK


# -- moves ------------------------------------------------------------------------------------------------------------

def _same(e, params):
    return lambda x: x


def _reshape(e, params):
    shape = e.avals[0].shape
    if params.get("dimensions") is not None and e.name == "reshape":
        raise _Unknown
    return lambda x: x.reshape(shape)


def _broadcast(e, params):
    if len(e.inputs) != 1:
        raise _Unknown
    shape, dimensions = e.avals[0].shape, params["broadcast_dimensions"]

    def broadcast(x):
        here = [1] * len(shape)
        for axis, size in zip(dimensions, x.shape):
            here[axis] = size
        return np.broadcast_to(x.reshape(here), shape)
    return broadcast


def _transpose(e, params):
    permutation = params["permutation"]
    return lambda x: x.transpose(permutation)


def _reverse(e, params):
    axes = tuple(params["dimensions"])
    return lambda x: np.flip(x, axes)


def _slice(e, params):
    strides = params["strides"] or (1,) * len(params["start_indices"])
    part = tuple(map(slice, params["start_indices"], params["limit_indices"], strides))
    return lambda x: x[part]


def _concatenate(e, params):
    axis = params["dimension"]
    return lambda *arrays: np.concatenate(arrays, axis)


def _pad(e, params):
    shape, config = e.avals[0].shape, params["padding_config"]
    if any(low < 0 or high < 0 for low, high, _ in config):
        raise _Unknown
    inside = tuple([slice(low, size - high, between + 1) for (low, high, between), size in zip(config, shape)])

    def padded(x, value):
        made = np.empty(shape, x.dtype)
        made[...] = value
        made[inside] = x
        return made
    return padded


def _iota(e, params):
    if e.inputs:
        raise _Unknown
    shape, axis = params["shape"], params["dimension"]
    here = [1] * len(shape)
    here[axis] = shape[axis]
    made = np.broadcast_to(np.arange(shape[axis]).astype(params["dtype"]).reshape(here), shape)
    return lambda: made


def _part(starts, shape, sizes):
    """The part of an array that begins at ``starts``, or as near as it fits in."""
    first = [min(max(int(start), 0), size - length) for start, size, length in zip(starts, shape, sizes)]
    return tuple([slice(at, at + length) for at, length in zip(first, sizes)])


def _dynamic_slice(e, params):
    sizes = params["slice_sizes"]
    return lambda x, *starts: x[_part(starts, x.shape, sizes)]


def _dynamic_update_slice(e, params):
    def updated(x, update, *starts):
        made = np.array(x, order="C")
        made[_part(starts, x.shape, update.shape)] = update
        return made
    return updated


def _select(e, params):
    if len(e.inputs) != 3:
        raise _Unknown

    def selected(which, no, yes):
        if which.dtype != bool:
            raise _Declined
        return np.where(which, yes, no)
    return selected


def _bitcast(e, params):
    dtype = np.dtype(params["new_dtype"])

    def viewed(x):
        if x.dtype.itemsize != dtype.itemsize:
            raise _Declined
        return x.view(dtype)
    return viewed


_MOVERS = {**dict.fromkeys(_SAME, _same), **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshape), "broadcast_in_dim": _broadcast,
           "transpose": _transpose, "rev": _reverse, "slice": _slice, "concatenate": _concatenate, "pad": _pad, "iota": _iota,
           "dynamic_slice": _dynamic_slice, "dynamic_update_slice": _dynamic_update_slice, "select_n": _select,
           "bitcast_convert_type": _bitcast}
