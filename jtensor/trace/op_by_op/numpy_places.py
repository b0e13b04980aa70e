"""How NumPy reads from, writes to and adds into the places that an index array names: JAX's gather and scatters in their common forms.

In those a place is a position along some axes and everything along the others: rows of a table, an element of each row. May not know:
operations, for how long NumPy does them.
"""
import numpy as np
from jax.lax import GatherScatterMode

from .numpy_rules import FLOATS, MOVE, ROUND, Declined, Unknown, summable


def _gather(e, graph):
    d, sizes = e.params["dimension_numbers"], e.params["slice_sizes"]
    operand, starts = [graph.aval(atom).shape for atom in e.inputs]
    named = (*d.start_index_map, *d.operand_batching_dims)
    if any(size != (1 if axis in named else operand[axis]) for axis, size in enumerate(sizes)):
        raise Unknown
    if set(named) != {*d.collapsed_slice_dims, *d.operand_batching_dims}:
        raise Unknown
    places = _places(operand, starts, d.start_index_map, d.operand_batching_dims, d.start_indices_batching_dims, e.params["mode"])
    others = [axis for axis in range(e.avals[0].ndim) if axis not in d.offset_dims]
    here = _where_numpy_has_them(named, len(others))
    return (lambda x, at: np.moveaxis(x[places(at)], here, others)), MOVE


def _scatter_add(e, graph):
    dtype = np.dtype(e.avals[0].dtype)
    if dtype not in FLOATS and dtype.kind not in "iu":
        raise Unknown
    targets = _targets(e, graph)
    looked_at = summable if dtype in FLOATS else (lambda x: x)

    def added(x, at, more):
        made = np.array(looked_at(x), order="C")
        _add_at(made, *targets(at, looked_at(more)))
        return made
    return added, ROUND


MANY, WIDE, OFTEN = 256, 32, 16         # so many rows, so wide, are added in rounds, unless one place has more of them than this


def _add_at(made, where, what):
    """Adds into places of ``made``, to each place one after the other, as XLA does.

    Of many wide rows `numpy.add.at` takes two or three times as long as rounds do: in each, every place gets the next of its rows.
    """
    rows = where[0]
    if type(rows) is not np.ndarray or any(type(index) is not slice for index in where[1:]) or not (
            MANY <= rows.size and WIDE * rows.size <= what.size):
        np.add.at(made, where, what)
        return
    places = rows.reshape(-1)
    order = np.argsort(places, kind="stable")
    sorted_ = places[order]
    begins = np.flatnonzero(np.concatenate(([True], sorted_[1:] != sorted_[:-1])))
    counts = np.diff(begins, append=len(order))
    if counts.max() > OFTEN:
        np.add.at(made, where, what)
        return
    what = what.reshape(rows.size, *made.shape[1:])
    for turn in range(counts.max()):
        of_turn = order[begins[counts > turn] + turn]
        made[places[of_turn]] += what[of_turn]


def _scatter(e, graph):
    targets = _targets(e, graph)

    def written(x, at, more):
        made = np.array(x, order="C")
        where, what = targets(at, more)
        made[where] = what                                      # of several for one place the last one stays, as XLA has it
        return made
    return written, MOVE


def _targets(e, graph):
    """``(starts, updates) -> (index, what goes there)``, both as NumPy has them."""
    d = e.params["dimension_numbers"]
    operand, starts, updates = [graph.aval(atom).shape for atom in e.inputs]
    named = (*d.scatter_dims_to_operand_dims, *d.operand_batching_dims)
    window = [updates[axis] for axis in d.update_window_dims]
    if window != [size for axis, size in enumerate(operand) if axis not in named] or set(named) != {
            *d.inserted_window_dims, *d.operand_batching_dims}:
        raise Unknown
    places = _places(operand, starts, d.scatter_dims_to_operand_dims, d.operand_batching_dims, d.scatter_indices_batching_dims,
                     e.params["mode"])
    others = [axis for axis in range(len(updates)) if axis not in d.update_window_dims]
    here = _where_numpy_has_them(named, len(others))
    return lambda at, what: (places(at), np.moveaxis(what, others, here))


RULES = {"gather": _gather, "scatter": _scatter, "scatter-add": _scatter_add, "scatter_add": _scatter_add}
"""Primitive: (equation, graph) to (function of ndarrays, what it does to numbers), as `numpy_rules.function_of`."""


def _where_numpy_has_them(axes, count):
    """Where the ``count`` axes of an index stand in what NumPy reads, if it is for these axes: there, where they stand side by side."""
    first = min(axes, default=0) if max(axes, default=0) - min(axes, default=0) + 1 == len(axes) else 0
    return range(first, first + count)


def _places(operand, starts, axes, batching, of_starts, mode):
    """``starts -> index`` for an array of shape ``operand``, one entry for each axis."""
    before, entries = starts[:-1], [slice(None)] * len(operand)
    for axis, place in zip(batching, of_starts, strict=True):
        entries[axis] = np.arange(before[place]).reshape([-1 if at == place else 1 for at in range(len(before))])

    def places(at):
        found = list(entries)
        for k, axis in enumerate(axes):
            position = at[..., k]
            if mode is GatherScatterMode.CLIP:
                position = np.clip(position, 0, operand[axis] - 1)
            elif ((position < 0) | (position >= operand[axis])).any():          # there is nothing there
                raise Declined
            found[axis] = position
        return tuple(found)
    return places
