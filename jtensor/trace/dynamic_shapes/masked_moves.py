"""Which moves of numbers are the same on arrays that are too long, and what is masked in them (`masks`).

Owns: the rules of equations that put numbers elsewhere and do nothing to them. May not know: tapes.
"""
import math

import jax
import numpy as np
from jax import lax
from jax.lax import GatherScatterMode

from ..lowering.examples import Unknown

_NOWHERE = np.iinfo(np.int32).max


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


RULES = {
    "broadcast_in_dim": _broadcast, "transpose": _same_axes, "squeeze": _same_axes, "expand_dims": _same_axes, "iota": _iota,
    "reshape": _reshape, "slice": _slice, "concatenate": _concatenate, "pad": _pad, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice, "gather": _gather, "scatter": _scatter, "scatter-add": _scatter,
    "scatter_add": _scatter,
}
