"""Equations at a size that only the run knows, on arrays that are as large as the largest size: what is too much is masked where it counts.

An array whose extents go up with a size is held in one that has its extents at the largest; what stands behind its own numbers is anything.
Most equations do not mind: an element's bits do not depend on how many others there are, nor a row's of a product. Where one would look at
what is too much, it is replaced by what changes nothing, and where something stands behind an array, it is put where the array ends.

Each rule says when an equation's bits at the largest size are those at every smaller one down to the least, which is what the orders of
XLA's sums are known for (`orders`, `barriers`); everything else is `Unknown`. `tests/trace/test_dynamic.py` compares rule by rule.

Owns: these rules. May not know: tapes, which sizes come together in one program.
"""
import functools
import math

import jax
import numpy as np
from jax import lax
from jax.lax import GatherScatterMode

from ..base import compat
from . import orders, padded
from .barriers import UNROLLED, by_library, is_wide
from .examples import Unknown
from .flat import Constant
from .formulations import WINDOW, formulation, is_by_rows, is_in_windows, sum_order
from .kinds import ELEMENTWISE, ELEMENTWISE_MOVES

_OF_EACH_ELEMENT = ELEMENTWISE | ELEMENTWISE_MOVES | {
    "bitcast_convert_type", "stop_gradient", "shift_left", "shift_right_arithmetic", "shift_right_logical", "population_count", "clz"}
_NOWHERE = np.iinfo(np.int32).max
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


class _Equation:
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
    """Puts equations into a graph, as they are at the size ``most``; ``size``: the atom of what it is at the run, at least ``least``."""

    def __init__(self, graph, size, least, most):
        self.graph, self.size, self.least, self.most = graph, size, least, most
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
            e = _Equation()
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
        rule = _RULES.get(e.name)
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


# -- moves ------------------------------------------------------------------------------------------------------------

def _broadcast(w, e):
    if not e.are_fixed("shape"):
        raise Unknown
    x, = e.inputs
    made, = e.extents
    for axis, to in enumerate(e.params["broadcast_dimensions"]):
        if x.extents[axis] not in (made[to], (0, 1)):
            raise Unknown
    return w.as_it_is(e)


def _same_axes(w, e):
    """Of what leaves each axis what it is, whatever its extent."""
    if not e.are_fixed():
        raise Unknown
    return w.as_it_is(e)


def _iota(w, e):
    if not e.are_fixed("shape"):
        raise Unknown
    return w.as_it_is(e)


def _reshape(w, e):
    if not e.are_fixed("new_sizes") or e.params.get("dimensions") is not None:
        raise Unknown
    (x,), (made,) = e.inputs, e.extents
    groups = list(_groups(w, x.extents, made))
    if all(_stays(before, after) for before, after in groups):
        return w.as_it_is(e)
    atom, done = x.atom, []
    for at, (before, after) in enumerate(groups):           # each is put in order where the ones before it are already
        if not _stays(before, after):
            rest = [w.at_most(extent) for group, _ in groups[at + 1:] for extent in group]
            atom = w.call(_in_order, atom, *map(w.extent, (*before, *after)), statics=(
                len(before), math.prod(done), tuple(map(w.at_most, before)), tuple(map(w.at_most, after)), math.prod(rest)))
        done += map(w.at_most, after)
    return [w.call(_shaped, atom, statics=(tuple(map(w.at_most, made)),))]


def _groups(w, before, after):
    """Axes that become each other, as few of them at a time as possible: (extents, extents)."""
    def size(extents, n):
        return math.prod(slope * n + start for slope, start in extents)

    def are_whole(one, other):
        return all(size(one, n) == size(other, n) for n in (w.least, w.most, w.most + 1))
    before, after = list(before), list(after)
    while before or after:
        i = j = 0
        while not (i or j) or not are_whole(before[:i], after[:j]):
            if j == len(after) or i < len(before) and size(before[:i], w.most) <= size(after[:j], w.most):
                i += 1
            else:
                j += 1
            if i > len(before) or j > len(after):
                raise Unknown
        yield before[:i], after[:j]
        before, after = before[i:], after[j:]


def _stays(before, after):
    """Whether the axes' beginnings become each other: they are the same ones, or only the first of them changes."""
    before, after = ([extent for extent in extents if extent != (0, 1)] for extents in (before, after))
    return before == after or not any(slope for slope, _ in before[1:] + after[1:])


def _in_order(x, *given):
    """Reshapes some axes in the middle, whose numbers stand with gaps: ``before`` and ``after`` are their largest extents, the true ones
    are given; ``lead`` and ``rest``: how many elements there are along all others."""
    *extents, rank, lead, before, after, rest = given
    at, step = np.int64(0), np.int64(1)
    for axis in reversed(range(len(after))):                                    # where each element stands in the order of all
        at = at + lax.broadcasted_iota(np.int64, after, axis) * step
        step = step * extents[rank + axis]
    place, step = np.int64(0), 1
    for axis in reversed(range(rank)):                                          # and where that is in ``x``
        extent = jax.numpy.broadcast_to(extents[axis], after)
        place = place + lax.rem(at, extent) * step
        at = lax.div(at, extent)
        step *= before[axis]
    return lax.reshape(x, (lead, math.prod(before), rest)).at[:, lax.reshape(place, (math.prod(after),))].get(mode="clip")


def _shaped(x, shape):
    return lax.reshape(x, shape)


def _slice(w, e):
    if not e.are_fixed("start_indices", "limit_indices"):
        raise Unknown
    (x,), (made,) = e.inputs, e.extents
    starts, ends = ([e.line(name, axis) for axis in range(len(made))] for name in ("start_indices", "limit_indices"))
    more = tuple([max(0, here - w.at_most(extent)) for (_, here), extent in zip(ends, x.extents, strict=True)])
    if any(more):                   # the beginning of an array that ends before the largest size
        if any(slope for slope, _ in starts):
            raise Unknown
        return [w.call(_beginning, x.atom, statics=(more, tuple(e.params["start_indices"]), tuple(e.params["limit_indices"])))]
    if not any(slope for slope, _ in starts):
        return w.as_it_is(e)
    starts = [(slope, here - slope * w.most) for slope, here in starts]
    for (slope, start), size, extent in zip(starts, made, x.extents, strict=True):
        if slope and (slope < 0 or w.at_most((slope, start)) + w.at_most(size) > w.at_most(extent)):
            raise Unknown
    return [w.call(_sliced, x.atom, *map(w.extent, starts), statics=(tuple(map(w.at_most, made)),))]


def _beginning(x, more, starts, limits):
    return lax.slice(_longer(x, more), starts, limits)


def _sliced(x, *given):
    *starts, shape = given
    return lax.dynamic_slice(x, starts, shape, allow_negative_indices=False)


def _concatenate(w, e):
    axis, (made,) = e.params["dimension"], e.extents
    offsets = [(0, 0)]
    for x in e.inputs:
        slope, start = x.extents[axis]
        offsets.append((offsets[-1][0] + slope, offsets[-1][1] + start))
    if not e.are_fixed():
        raise Unknown
    if not any(slope for slope, _ in offsets[:-1]):
        return w.as_it_is(e)
    if any(slope < 0 for slope, _ in offsets):
        raise Unknown
    return [w.call(_one_after_another, *[x.atom for x in e.inputs], *map(w.extent, offsets[:-1]),
                   statics=(len(e.inputs), axis, tuple(map(w.at_most, made))))]


def _one_after_another(*given):
    *given, count, axis, shape = given
    made = lax.full(shape, 0, given[0].dtype)
    for x, offset in zip(given[:count], given[count:], strict=True):        # each begins where the one before ends, and so covers its rest
        made = lax.dynamic_update_slice_in_dim(made, x, offset, axis)
    return made


def _pad(w, e):
    (x, fill), (made,) = e.inputs, e.extents
    if not e.are_fixed("padding_config"):
        raise Unknown
    lows = []
    for axis, (low, high, between) in enumerate(e.params["padding_config"]):
        slope, here = e.line("padding_config", axis, 0)
        lows.append((slope, here - slope * w.most))
        if low < 0 or high < 0 or between or slope < 0 or e.least["padding_config"][axis][0] < 0 or e.least["padding_config"][axis][1] < 0:
            raise Unknown
    atom = x.atom
    for axis in x.changing:
        atom = w.call(_filled, atom, fill.atom, w.extent(x.extents[axis]), statics=(axis,))
    return [w.call(_put_into, atom, fill.atom, *map(w.extent, lows), statics=(tuple(map(w.at_most, made)),))]


def _filled(x, fill, extent, axis):
    here = lax.broadcasted_iota(np.int32, x.shape, axis) < extent.astype(np.int32)
    return lax.select(here, x, lax.broadcast(fill, x.shape))


def _put_into(x, fill, *given):
    *lows, shape = given
    return lax.dynamic_update_slice(lax.broadcast(fill, shape), x, lows, allow_negative_indices=False)


def _dynamic_slice(w, e):
    x, *starts = e.inputs
    if not e.are_fixed("slice_sizes"):
        raise Unknown
    atoms, more = [], []
    for start, size, extent, aval in zip(starts, e.extents[0], x.extents, e.types[1:], strict=True):
        room = extent[0] - size[0], extent[1] - size[1]
        atoms.append(w.call(_no_further, start.atom, w.extent(room), statics=(aval.dtype,)) if room[0] or size[0] else start.atom)
        more.append(max(0, -room[0]) * (w.most - w.least))          # it may begin that much later than would do at the largest size
    if not any(more):
        return w.as_it_is(e, [x.atom, *atoms])
    return [w.call(_sliced, w.call(_longer, x.atom, statics=(tuple(more),)), *atoms, statics=(e.results[0].shape,))]


def _dynamic_update_slice(w, e):
    x, update, *starts = e.inputs
    if not e.are_fixed():
        raise Unknown
    atoms = []
    for start, size, extent, aval in zip(starts, update.extents, x.extents, e.types[2:], strict=True):
        if size[0] and size != extent:
            raise Unknown           # what is too much would be written over what is there
        room = extent[0] - size[0], extent[1] - size[1]
        atoms.append(w.call(_no_further, start.atom, w.extent(room), statics=(aval.dtype,)) if room[0] else start.atom)
    return w.as_it_is(e, [x.atom, update.atom, *atoms])


def _no_further(start, room, dtype):
    return lax.min(start, room.astype(dtype))


def _longer(x, more):
    return lax.pad(x, np.zeros((), x.dtype), [(0, n, 0) for n in more])


# -- reductions -------------------------------------------------------------------------------------------------------

def _sum(w, e):
    (x,), axes, dtype = e.inputs, tuple(e.params["axes"]), e.types[0].dtype
    if not e.are_fixed():
        raise Unknown
    if dtype.kind in "iu" and e.results[0].dtype == dtype:
        return w.as_it_is(e, [w.masked(x, axes, 0)])
    shapes = w.at_least(x.extents), e.types[0].shape
    order, other = (sum_order(shape, dtype, axes) for shape in shapes)
    if order != other or len(axes) > 1 and not order and not _is_written_out(x, axes, shapes):
        raise Unknown
    kept = x.extents
    for axis in order or axes:
        _check_sum(kept, axis, dtype, [tuple(shape) for shape in (w.at_least(kept), tuple(map(w.at_most, kept)))])
        if order:
            kept = kept[:axis] + kept[axis + 1:]
    return w.as_it_is(e, [w.masked(x, axes, 0.0)])


def _is_written_out(x, axes, shapes):
    return not any(x.extents[axis][0] for axis in axes) and math.prod(shapes[0][axis] for axis in axes) <= UNROLLED


def _check_sum(extents, axis, dtype, shapes):
    """Whether a sum over an axis is the same at the largest size, what is too much being 0."""
    changes, lengths = bool(extents[axis][0]), [shape[axis] for shape in shapes]
    if not changes and lengths[0] <= UNROLLED:
        return                      # it is written out
    library, other = (by_library("reduce_sum", shape, dtype) for shape in shapes)
    if dtype != np.float32 or library != other or any(is_wide(shape, dtype, (axis,)) for shape in shapes):
        raise Unknown
    if library and axis != len(extents) - 1:
        windows, lists, columns = [is_in_windows(shape, dtype, (axis,)) for shape in shapes], extents[:axis], extents[axis + 1:]
        if any(slope for slope, _ in columns) and min(lengths[1], WINDOW) * math.prod(shapes[1][axis + 1:]) > orders.TABLE:
            raise Unknown
        if any(slope for slope, _ in lists) and math.prod(shapes[0][:axis]) < orders.LISTS:
            raise Unknown
        if min(lengths) <= UNROLLED or not orders.are_known() or any(windows) and (
                not all(windows) or changes and max(lengths) > WINDOW ** 2):
            raise Unknown
    elif library:
        if min(lengths) <= UNROLLED or min(math.prod(shape[:-1]) for shape in shapes) < 2:
            raise Unknown
        if changes and not (orders.are_known() and max(lengths) <= orders.LONGEST and orders.are_alike(*lengths)):
            raise Unknown
    elif changes:
        raise Unknown               # written out, or in windows: what stands where depends on the length


def _extreme(w, e):
    if not e.are_fixed():
        raise Unknown
    x, = e.inputs
    dtype, axes = e.types[0].dtype, e.params["axes"]
    atom = w.masked(x, axes, _worst(dtype, e.name in ("reduce_max", "argmax")))
    made = w.as_it_is(e, [atom])
    if dtype.kind == "f" and e.name.startswith("reduce") and any(x.extents[axis][0] for axis in axes):
        w.doubts.append(w.call(_may_be_either_zero, atom, *made))
    return made


def _may_be_either_zero(x, extreme):
    """Of zeros of both signs, which is the greatest depends on how XLA goes through them."""
    bits = np.dtype(f"i{x.dtype.itemsize}")
    negative = lax.bitcast_convert_type(x, bits) == np.iinfo(bits).min
    return lax.reduce_or(negative, tuple(range(x.ndim))) & lax.reduce_or(extreme == 0, tuple(range(extreme.ndim)))


def _worst(dtype, greatest):
    if dtype.kind == "b":
        return not greatest
    if dtype.kind == "f":
        return -math.inf if greatest else math.inf
    if dtype.kind not in "iu":
        raise Unknown               # half precision that NumPy has no type for, and complex numbers
    return int(np.iinfo(dtype).min if greatest else np.iinfo(dtype).max)


def _logical(w, e):
    if not e.are_fixed() or e.types[0].dtype.kind != "b":
        raise Unknown
    x, = e.inputs
    return w.as_it_is(e, [w.masked(x, e.params["axes"], e.name == "reduce_and")])


def _product(w, e):
    left, right = e.inputs
    (summed, others), (lists, _) = e.params["dimension_numbers"]
    if not e.are_fixed() or any(left.extents[axis][0] for axis in lists) or not orders.are_known():
        raise Unknown
    shapes = w.at_least(left.extents), w.at_least(right.extents)
    for a, b in (shapes, [a.shape for a in e.types]):
        types = [jax.core.ShapedArray(a, e.types[0].dtype), jax.core.ShapedArray(b, e.types[1].dtype)]
        if is_by_rows(e.params, types):
            if left.extents[1][0] or right.extents[1][0]:
                raise Unknown
        elif summed == (len(lists),) and right.extents[-1][0]:
            raise Unknown           # of a number of columns that is one more than a multiple of something the last one is another matter
        elif not padded.is_chain(e.params, *types, e.results[0].dtype) or formulation(e.name, e.params, types) is not None:
            raise Unknown
    if is_by_rows(e.params, types) != is_by_rows(e.params, [jax.core.ShapedArray(a, np.dtype(np.float32)) for a in shapes]):
        raise Unknown
    return w.as_it_is(e, [w.masked(left, summed, 0.0), w.masked(right, others, -0.0)])


# -- places -----------------------------------------------------------------------------------------------------------

def _gather(w, e):
    (x, places), d, mode = e.inputs, e.params["dimension_numbers"], e.params["mode"]
    if not e.are_fixed("slice_sizes") or mode not in (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP,
                                                      GatherScatterMode.PROMISE_IN_BOUNDS):
        raise Unknown
    atom = places.atom
    if places.extents[-1][0]:
        raise Unknown
    for axis, extent in enumerate(x.extents):
        if not extent[0]:
            if e.params["slice_sizes"][axis] != e.least["slice_sizes"][axis]:
                raise Unknown
        elif axis in d.start_index_map:
            if e.params["slice_sizes"][axis] != 1 or e.least["slice_sizes"][axis] != 1:
                raise Unknown
            atom = w.call(_within, atom, w.extent(extent), statics=(d.start_index_map.index(axis), mode is GatherScatterMode.CLIP))
        elif axis not in d.operand_batching_dims and e.params["slice_sizes"][axis] != w.at_most(extent):
            raise Unknown
    return w.as_it_is(e, [x.atom, atom])


def _within(places, extent, at, clip):
    last = (extent - 1).astype(places.dtype)
    found = places[..., at]
    found = lax.min(found, jax.numpy.broadcast_to(last, found.shape)) if clip else jax.numpy.where(found > last, _NOWHERE, found)
    return places.at[..., at].set(found)


def _scatter(w, e):
    (x, places, updates), d, mode = e.inputs, e.params["dimension_numbers"], e.params["mode"]
    if not e.are_fixed() or mode is GatherScatterMode.CLIP or places.extents[-1][0]:
        raise Unknown
    windows = [axis for axis in range(len(x.extents)) if axis not in (*d.inserted_window_dims, *d.operand_batching_dims)]
    for axis, update in zip(windows, d.update_window_dims, strict=True):
        if x.extents[axis] != updates.extents[update] and (x.extents[axis][0] or updates.extents[update][0]):
            raise Unknown
    atom = w.masked(places, places.changing, _NOWHERE)
    params = e.params if atom is places.atom else e.params | {"mode": GatherScatterMode.FILL_OR_DROP}
    return w.as_it_is(e, [x.atom, atom, updates.atom], params)


_RULES = {
    "broadcast_in_dim": _broadcast, "transpose": _same_axes, "squeeze": _same_axes, "expand_dims": _same_axes, "iota": _iota,
    "reshape": _reshape, "slice": _slice, "concatenate": _concatenate, "pad": _pad, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "reduce_sum": _sum, "reduce_max": _extreme, "reduce_min": _extreme, "argmax": _extreme, "argmin": _extreme,
    "reduce_and": _logical, "reduce_or": _logical, "dot_general": _product,
    "gather": _gather, "scatter": _scatter, "scatter-add": _scatter, "scatter_add": _scatter,
}
