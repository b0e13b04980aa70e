"""Which sums, extremes and products are the same on arrays that are too long, and what is masked in them (`masks`).

That is what the orders of XLA's sums are known for (`orders`, `barriers`, `in_order`, `padded`). Owns: the rules of equations that make one
number of several. May not know: tapes.
"""
import math

import jax
import numpy as np
from jax import lax

from ..lowering import orders
from ..lowering.barriers import UNROLLED, by_library, is_wide
from ..lowering.examples import Unknown
from ..lowering.formulations import formulation
from ..lowering.in_order import WINDOW, is_by_rows, is_in_windows, sum_order
from ..op_by_op import padded


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
        count = math.prod(shapes[0][:axis]) * (-(-lengths[0] // WINDOW) if windows[0] else 1)
        if min(lengths[1], WINDOW) * math.prod(shapes[1][axis + 1:]) > orders.TABLE and (any(slope for slope, _ in columns) or (
                windows[0] and changes or any(slope for slope, _ in lists)) and count < orders.LISTS):
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


RULES = {
    "reduce_sum": _sum, "reduce_max": _extreme, "reduce_min": _extreme, "argmax": _extreme, "argmin": _extreme,
    "reduce_and": _logical, "reduce_or": _logical, "dot_general": _product,
}
