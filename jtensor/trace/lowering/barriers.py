"""What stands between operators so that a compiler sees nothing through it, as functions of arrays that a program calls.

Owns: the fence in its strengths (`fence`, `opaque`, `pinned`), what puts a value into memory (`kept`), and sums in an order that no
compiler chooses: written out, or axis by axis. Knows of nothing but JAX; where they are put, `fences` and `boxes` decide. ``zero`` is a
uint32 scalar 0 that only the run knows.
"""
import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..plan import is_for_cpu

_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def fence(x, zero):
    """`x`, and nothing else that the compiler could tell."""
    if jnp.iscomplexobj(x):
        return lax.complex(fence(lax.real(x), zero), fence(lax.imag(x), zero))
    bits = x.dtype if jnp.issubdtype(x.dtype, jnp.integer) else _BITS.get(x.dtype.itemsize)
    if bits is None:
        return x                        # eight-bit floats are only stored and converted
    return lax.bitcast_convert_type(_added(zero.astype(bits), lax.bitcast_convert_type(x, bits)), x.dtype)


def _added(zeros, x):
    # In this order: XLA lets a sum's type inherit the order of axes of its first operand, and with it a guess at the layout. A transpose's
    # guess would reach the reductions behind it, which choose their algorithm by it; zeros have the usual order.
    return (zeros if zeros.ndim else lax.broadcast(zeros, x.shape)) + x


def opaque(x, zero):
    """`x`, of which not even the shape it came from can be told, nor whether its elements are all the same."""
    if jnp.iscomplexobj(x):
        return lax.complex(opaque(lax.real(x), zero), opaque(lax.imag(x), zero))
    if x.dtype == bool:
        return x ^ (opaque(lax.full(x.shape, 0, np.uint32), zero) != 0)
    bits = x.dtype if jnp.issubdtype(x.dtype, jnp.integer) else _BITS.get(x.dtype.itemsize)
    if bits is None:
        return x
    zeros = zero.astype(bits)
    places = [lax.broadcasted_iota(bits, x.shape, axis) for axis, size in enumerate(x.shape) if size > 1]
    if places:
        zeros = functools.reduce(lax.add, places) & zeros
    return lax.bitcast_convert_type(_added(zeros, lax.bitcast_convert_type(x, bits)), x.dtype)


def pinned(x, zero):
    """`x`, opaque and laid out in memory the way its shape says."""
    return lax.reshape(opaque(lax.reshape(x, (x.size,)), zero), x.shape)


def kept(x, zero):
    """`x`, put into memory: who reads it finds it there and does not compute it anew. Its first element is written to it once more."""
    first = [zero.astype(np.int32)] * x.ndim
    return lax.dynamic_update_slice(x, lax.dynamic_slice(x, first, (1,) * x.ndim, allow_negative_indices=False), first,
                                    allow_negative_indices=False)


def made_once(x, zero):
    """`x`, made before what reads it begins: a choice between results is not taken apart. (`kept` may be done where it is read, for each
    row anew if rows are read.)"""
    return lax.cond(zero == 0, lambda x: x, lambda x: lax.full_like(x, 0), x)


def short_reduction(operation, x, axes):
    """A sum or product over a few elements, in an order that no compiler chooses."""
    for axis in sorted(axes, reverse=True):
        length = x.shape[axis]
        while length > 1:
            half = length // 2
            pairs = operation(lax.slice_in_dim(x, 0, half, axis=axis), lax.slice_in_dim(x, half, 2 * half, axis=axis))
            if length % 2:
                last = lax.slice_in_dim(x, length - 1, length, axis=axis)
                first = operation(lax.slice_in_dim(pairs, 0, 1, axis=axis), last)
                pairs = lax.concatenate([first, lax.slice_in_dim(pairs, 1, half, axis=axis)], axis) if half > 1 else first
            x, length = pairs, half
        x = lax.squeeze(x, [axis])
    return x


@functools.cache
def spread(shape):
    """`opaque` of what is repeated to a shape first."""
    return lambda x, zero: opaque(jnp.broadcast_to(x, shape), zero)


@functools.cache
def written_out(name, axes, once=False):
    """``(x, zero)`` to the sum, product or extreme over these axes (`short_reduction`), which is `made_once` if that is said. ``name``: the
    primitive's."""
    operation, sums = _OPERATIONS[name], name == "reduce_sum"

    def reduction(x, zero):
        result = short_reduction(operation, x, axes)
        result = zero.astype(result.dtype) + result if sums else result         # a sum of -0.0 alone is 0.0
        return made_once(result, zero) if once else result
    return reduction


_OPERATIONS = {"reduce_sum": lax.add, "reduce_prod": lax.mul, "reduce_max": lax.max, "reduce_min": lax.min}
UNROLLED = 32       # elements of an axis up to which a sum or product is written out
LONG = 32           # elements of an axis beyond which XLA reduces it in windows of so many
LIBRARY = 4096      # elements from which on a library of XLA's adds up float32 and float64
WIDE, ROWS = 1 << 14, 4     # elements of a row that it adds up to beyond which it is slow, unless there are so many rows
OFTEN, ROW, MANY = 8, 1 << 10, 1 << 16      # elements that one is made of, of a row, and in all, from which on rows are added up but once


def by_library(name, shape, dtype):
    """Whether a library of XLA's makes a sum or product over axes of an array; ``name`` as in `in_windows`."""
    return name == "reduce_sum" and dtype in (np.float32, np.float64) and math.prod(shape) >= LIBRARY


def is_wide(shape, dtype, axes):
    """Whether an array is reduced to so long rows, and so few, that the library goes through memory in an order that takes 10 to 100 times
    as long as adding rows to rows (jaxlib 0.10.2): a bias's gradient where there is a word for each column. Accelerators have no such
    library."""
    if dtype not in (np.float32, np.float64) or not axes or not is_for_cpu():
        return False
    last = max(axes)
    above = math.prod([length for axis, length in enumerate(shape[:last]) if axis not in axes])
    return math.prod(shape[last + 1:]) > WIDE and above < ROWS


def is_row_by_row(shape, axes):
    """Whether what is written out adds many rows up, so that it would best be made once. On an accelerator the whole program would wait
    for the choice that this takes."""
    return (is_for_cpu() and math.prod(shape[axis] for axis in axes) >= OFTEN and math.prod(shape[max(axes, default=0) + 1:]) >= ROW
            and math.prod(shape) >= MANY)


def in_windows(name, shape, dtype, axes):
    """Whether XLA makes a sum or product over several axes in windows of a long one: how LLVM goes through a window of more than one axis
    is a matter of emitters and optimizations. ``name``: "reduce_sum" or "reduce_prod"."""
    lengths = [shape[axis] for axis in axes if shape[axis] != 1]
    return not by_library(name, shape, dtype) and len(lengths) > 1 and min(lengths) > 0 and max(lengths) > LONG


@functools.cache
def axis_by_axis(name, axes):
    """``(x, zero)`` to the sum, or the product, over these axes one by one, the last one first."""
    def reduction(x, zero):
        for axis in sorted(axes, reverse=True):
            short = x.shape[axis] <= UNROLLED
            x = fence(written_out(name, (axis,))(x, zero) if short else reduce(x, axes=(axis,)), zero)
        return x
    reduce = lax.reduce_sum if name == "reduce_sum" else lax.reduce_prod
    return reduction
