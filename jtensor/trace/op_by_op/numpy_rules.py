"""How NumPy does an equation with the bits that XLA gives it: moves, comparisons, arithmetic that rounds once, short sums.

Where a number comes up that the two do not treat alike (XLA flushes subnormal ones, a NaN has bits of its own, the larger of two zeros is
either), a function declines. Owns: one rule for each primitive. May not know: operations, for how long NumPy does them.
"""

import math

import numpy as np

from ..lowering import orders
from ..lowering.barriers import LIBRARY, LONG, UNROLLED, by_library
from ..lowering.fences import is_written_out

FLOATS = {np.dtype(d): np.finfo(d).tiny for d in (np.float32, np.float64)}
_SAME = {"operator_result", "barrier", "copy", "copy_p", "stop_gradient"}
_COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
_ARITHMETIC = {"add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply}
_LOGICAL = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.bitwise_not}
_ROUNDED = {"floor": np.floor, "ceil": np.ceil}
_SHIFTS = {"shift_left": np.left_shift, "shift_right_arithmetic": np.right_shift}
_RUNNING = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
_EXTREMES = {"max": np.maximum, "min": np.minimum, "reduce_max": np.maximum.reduce, "reduce_min": np.minimum.reduce}

MOVE, LOOK, ROUND = "moves numbers", "looks at them", "makes others"
"""What a function does to numbers."""
COPIES = {"concatenate", "pad", "dynamic_update_slice", "select_n", "stack", "tile"}
"""Moves whose result has memory of its own."""


class Unknown(Exception):
    """An equation that is not done by NumPy."""


class Declined(Exception):
    """Numbers came up of which NumPy and XLA make different things."""


def is_ordinary(x):
    """Whether each number is zero, normal or infinite."""
    size, least = np.abs(_each_once(x)), FLOATS[x.dtype]
    if x.size and size.min() >= least:                  # most arrays hold no zero, and this takes half of the time
        return True
    return ((size >= least) | (size == 0)).all()


def _each_once(x):
    """The numbers of an array that was broadcast, each where it stands first."""
    return x if all(x.strides) else x[tuple([slice(None) if stride else slice(0, 1) for stride in x.strides])]


def checked(x):
    """The array, of which NumPy and XLA make the same."""
    if not is_ordinary(x):
        raise Declined
    return x


def function_of(e, graph):
    """(function of ndarrays, what it does to numbers) for an equation of a graph."""
    name, params = e.name, e.params
    mover = _MOVERS.get(name)
    if mover is not None:
        return mover(e, params), MOVE
    types, made = [np.dtype(graph.aval(atom).dtype) for atom in e.inputs], np.dtype(e.avals[0].dtype)
    if not types or not _are_plain((*types, made)):
        raise Unknown
    kind = types[0].kind
    if name in _COMPARISONS:
        return _COMPARISONS[name], LOOK
    if name == "is_finite":
        return np.isfinite, MOVE
    if name in _ARITHMETIC and kind != "b":
        return _ARITHMETIC[name], ROUND
    if name in _LOGICAL and kind in "biu":
        return _LOGICAL[name], LOOK
    if name == "div" and kind == "f":
        return np.divide, ROUND
    if name == "sqrt" and kind == "f":
        return np.sqrt, ROUND
    if name == "square" or name == "integer_pow" and params["y"] == 2:
        return lambda x: x * x, ROUND
    if name in ("neg", "abs") and kind != "b":
        return (np.negative if name == "neg" else np.abs), LOOK
    if name in _ROUNDED and kind == "f":
        return _ROUNDED[name], LOOK
    if name in ("max", "min"):
        return _extreme(_EXTREMES[name], kind), LOOK
    if name in ("reduce_max", "reduce_min"):
        axes = tuple(params["axes"])
        return _extreme(lambda x: _EXTREMES[name](x, axis=axes), kind), LOOK
    if name in ("reduce_and", "reduce_or") and kind == "b":
        reduce, axes = (np.logical_and if name == "reduce_and" else np.logical_or).reduce, tuple(params["axes"])
        return lambda x: reduce(x, axis=axes), LOOK
    if name == "reduce_sum" and kind in "iu" and made == types[0]:
        axes = tuple(params["axes"])
        return lambda x: np.add.reduce(x, axis=axes, dtype=made), LOOK
    if name == "reduce_sum" and kind == "f":
        return _sum(e, graph), ROUND
    if name == "convert_element_type":
        return _converter(types[0], made)
    if name in _RUNNING and (kind in "iu" or kind == "f" and name in ("cummax", "cummin")):
        return _running(_RUNNING[name], params["axis"], params["reverse"], kind), LOOK
    if name in ("argmax", "argmin") and len(params["axes"]) == 1:
        (axis,), first = params["axes"], np.argmax if name == "argmax" else np.argmin            # of equal ones, and of NaNs
        return lambda x: first(x, axis).astype(made), LOOK
    if name == "rem" and kind in "iu":
        return _remainder, LOOK
    if name in _SHIFTS and kind == "i":
        return _shift(_SHIFTS[name], 8 * made.itemsize), LOOK
    raise Unknown


def _are_plain(types):
    return all(dtype in FLOATS or dtype.kind in "biu" and dtype.isbuiltin for dtype in types)


def _remainder(x, divisor):
    if ((divisor == 0) | (divisor == -1)).any():            # of the least integer, divided by -1, there is none
        raise Declined
    return np.fmod(x, divisor)


def _shift(function, bits):
    def shifted(x, places):
        if ((places < 0) | (places >= bits)).any():
            raise Declined
        return function(x, places)
    return shifted


# -- sums -------------------------------------------------------------------------------------------------------------

def _sum(e, graph):
    axes, shape = e.params["axes"], graph.aval(e.inputs[0]).shape
    if is_written_out(e, graph):
        return _summed(_halving, sorted(axes, reverse=True))
    if _has_known_order(graph.aval(e.inputs[0]), axes):
        return _summed(orders.row_sums)
    if all(shape[axis] <= LONG for axis in axes) or math.prod(shape) >= LIBRARY:
        raise Unknown
    return _summed(_axis_by_axis, sorted(axes, reverse=True))


def _summed(function, *order):
    return lambda x: function(summable(x), *order) + x.dtype.type(0)            # a sum of -0.0 alone is 0.0


def summable(x):
    """The array, of whose numbers no sum is subnormal."""
    size, least = np.abs(_each_once(x)), FLOATS[x.dtype] / np.finfo(x.dtype).eps
    if (not x.size or not size.min() >= least) and ((size < least) & (size != 0)).any():         # as in `is_ordinary`
        raise Declined
    return x


def _halving(x, axes):
    # in the order of `barriers.short_reduction`
    for axis in axes:
        x = np.moveaxis(x, axis, 0)
        while len(x) > 1:
            half = len(x) // 2
            pairs = x[:half] + x[half:2 * half]
            if len(x) % 2:
                pairs[0] += x[-1]
            x = pairs
        x = x[0]
    return x


def _axis_by_axis(x, axes):
    for axis in axes:
        x = _halving(x, [axis]) if x.shape[axis] <= UNROLLED else _by_windows(np.moveaxis(x, axis, -1))
    return x


def _by_windows(x):
    # XLA's TreeReductionRewriter, along the last axis: zeros on both sides fill the last window
    while x.shape[-1] > LONG:
        size = x.shape[-1]
        windows = -(-size // LONG)
        filled = np.zeros((*x.shape[:-1], windows * LONG), x.dtype)
        start = (windows * LONG - size) // 2
        filled[..., start:start + size] = x
        x = _in_a_row(filled.reshape(*x.shape[:-1], windows, LONG))
    return _in_a_row(x)


def _in_a_row(x):
    return np.add.accumulate(x, axis=-1)[..., -1]


def _has_known_order(aval, axes):
    # rows that XLA's library adds up
    return (by_library("reduce_sum", aval.shape, aval.dtype) and aval.dtype == np.float32 and tuple(axes) == (aval.ndim - 1,)
            and UNROLLED < aval.shape[-1] <= orders.LONGEST and orders.are_known())


# -- several results ----------------------------------------------------------------------------------------------------

def sort(e, graph):
    """The rule of a sort that has one outcome: a stable one, for which zeros of both signs are equal, and NaNs, which come last; or one of
    nothing but whole numbers."""
    keys, axis = e.params["num_keys"], e.params["dimension"]
    types = _plain(e, graph)
    if not e.params["is_stable"] and (keys < len(types) or any(dtype.kind == "f" for dtype in types)):
        raise Unknown

    def ordered(*arrays):
        if len(arrays) == 1:
            return [np.sort(arrays[0], axis, "stable")]
        order = np.argsort(arrays[0], axis, "stable") if keys == 1 else np.lexsort(arrays[keys - 1::-1], axis)
        return [np.take_along_axis(x, order, axis) for x in arrays]
    return ordered, LOOK


def top_k(e, graph):
    """The rule of the greatest along the last axis, of equal ones the first, with their places."""
    (dtype,), k, index = _plain(e, graph), e.params["k"], e.avals[1].dtype
    if e.params.get("axis", -1) not in (-1, e.avals[0].ndim - 1):
        raise Unknown

    def first(x):
        if dtype.kind == "f" and (np.signbit(x[x == 0]).any() or np.isnan(x).any()):
            raise Declined
        order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], -1, "stable")[..., :-k - 1:-1]
        return [np.take_along_axis(x, order, -1), order.astype(index)]
    return first, LOOK


def _plain(e, graph):
    types = [np.dtype(graph.aval(atom).dtype) for atom in e.inputs]
    if not _are_plain(types):
        raise Unknown
    return types


# -- what may be either -----------------------------------------------------------------------------------------------

def _extreme(function, kind):
    if kind != "f":
        return function

    def extreme(*arrays):
        for x in arrays:
            if np.signbit(x[x == 0]).any():                 # the larger of two zeros may be either
                raise Declined
        return function(*arrays)
    return extreme


def _running(function, axis, backwards, kind):
    def running(x):
        if backwards:
            return np.flip(function.accumulate(np.flip(x, axis), axis, x.dtype), axis)
        return function.accumulate(x, axis, x.dtype)
    return _extreme(running, kind)


def _converter(old, new):
    if new.kind == "b":
        return (lambda x: x != 0), LOOK
    if old.kind == "f" and new.kind in "iu":
        least, most = float(np.iinfo(new).min), float(np.iinfo(new).max)

        def converted(x):
            if not ((x >= least) & (x < most)).all():       # XLA takes the nearest, NumPy whatever the processor makes of it
                raise Declined
            return x.astype(new)
        return converted, LOOK
    return (lambda x: x.astype(new)), ROUND if new.kind == "f" else LOOK


# -- moves ------------------------------------------------------------------------------------------------------------

def _same(e, params):
    return lambda x: x


def _reshape(e, params):
    shape = e.avals[0].shape
    if params.get("dimensions") is not None and e.name == "reshape":
        raise Unknown
    return lambda x: x.reshape(shape)


def _broadcast(e, params):
    if len(e.inputs) != 1:
        raise Unknown
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


def _stack(e, params):
    axis = params["axis"]
    return lambda *arrays: np.stack(arrays, axis)


def _tile(e, params):
    reps = params["reps"]
    return lambda x: np.tile(x, reps)


def _pad(e, params):
    shape, config = e.avals[0].shape, params["padding_config"]
    if any(low < 0 or high < 0 for low, high, _ in config):
        raise Unknown
    inside = tuple([slice(low, size - high, between + 1) for (low, high, between), size in zip(config, shape)])

    def padded(x, value):
        made = np.empty(shape, x.dtype)
        made[...] = value
        made[inside] = x
        return made
    return padded


def _iota(e, params):
    if e.inputs:
        raise Unknown
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
        raise Unknown

    def selected(which, no, yes):
        if which.dtype != bool:
            raise Declined
        return np.where(which, yes, no)
    return selected


def _bitcast(e, params):
    dtype = np.dtype(params["new_dtype"])

    def viewed(x):
        if x.dtype.itemsize != dtype.itemsize:
            raise Declined
        return x.view(dtype)
    return viewed


_MOVERS = {**dict.fromkeys(_SAME, _same), **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshape), "broadcast_in_dim": _broadcast,
           "transpose": _transpose, "rev": _reverse, "slice": _slice, "concatenate": _concatenate, "stack": _stack, "tile": _tile,
           "pad": _pad, "iota": _iota,
           "dynamic_slice": _dynamic_slice, "dynamic_update_slice": _dynamic_update_slice, "select_n": _select,
           "bitcast_convert_type": _bitcast}
