"""Sums and products of matrices in an order that does not depend on how long they are, where XLA's libraries have one that does.

As functions of arrays, which stand for the primitives (`formulations`). So one program can serve many sizes (`masks`). Owns: these, and of
which types and shapes they are. Knows of nothing but JAX.
"""
import functools

import numpy as np
from jax import lax

from ..plan import is_for_cpu
from .barriers import UNROLLED, by_library, is_wide

WINDOW = 256                    # numbers of a column that are added up at once
MANY_ROWS, ROWS = 256, 64       # of a product that is done by rows: what is summed over, and the left factor's other axis
TURNED = 1 << 18                # elements of that factor from which on turning it is not worth it


def by_rows(x, y, *, dimension_numbers, preferred_element_type):
    """A product that is summed over the first axes of both factors, as of a layer's gradient: the left one is turned first. XLA's library
    would cut so long an axis into parts that depend on how long it is; now it goes through it from the beginning (`masks`). By itself it
    takes as long; in a whole step of a larger network (a GPT of 4 layers of 128) turning all of them cost a fifth of the time."""
    return lax.dot_general(lax.transpose(x, (1, 0)), y, (((1,), (0,)), ((), ())), precision=lax.Precision.HIGHEST)


def is_by_rows(params, avals):
    """Whether a product is one of `by_rows`."""
    if params["dimension_numbers"] != (((0,), (0,)), ((), ())) or not is_for_cpu():
        return False
    left, right = avals
    return (left.ndim == right.ndim == 2 and left.dtype == right.dtype == np.float32 and left.shape[0] >= MANY_ROWS
            and left.shape[1] >= ROWS and left.size < TURNED and params["precision"] == (lax.Precision.HIGHEST,) * 2
            and params.get("preferred_element_type") in (None, np.float32))


def is_turned(params, left):
    """Whether a product with a turned left factor may be one that `by_rows` gave."""
    return params["dimension_numbers"] == (((1,), (0,)), ((), ())) and left.shape[0] >= ROWS and left.shape[1] >= MANY_ROWS


def reduce_sum(x, axes):
    """A sum that XLA's library makes over several axes, one axis after the other: how it goes through several at once depends on all of
    their lengths. And of a long axis that is not the last one in windows: how it goes through more than `WINDOW` numbers at once depends
    on how many they are."""
    for axis in sum_order(x.shape, x.dtype, axes) or axes:
        x = _in_windows(x, axis) if is_in_windows(x.shape, x.dtype, (axis,)) else lax.reduce_sum(x, (axis,))
    return x


def sum_order(shape, dtype, axes):
    """The axes in the order in which `reduce_sum` adds them up, each as it is numbered when those before it are gone; () if it does not."""
    count = len(axes)
    if count < 2 or sorted(axes) != list(range(count)) or count == len(shape) or not _is_librarys(shape, dtype, axes):
        return ()
    longest = max(range(count), key=shape.__getitem__)
    return (longest, *range(count - 1)[::-1]) if shape[longest] > UNROLLED else ()


def _is_librarys(shape, dtype, axes):
    return dtype == np.float32 and is_for_cpu() and by_library("reduce_sum", shape, dtype) and not is_wide(shape, dtype, axes)


def is_in_windows(shape, dtype, axes):
    """Whether `reduce_sum` adds up the only one of these axes in windows."""
    return len(axes) == 1 and axes[0] < len(shape) - 1 and shape[axes[0]] > WINDOW and _is_librarys(shape, dtype, axes)


def _in_windows(x, axis):
    count, rest = -(-x.shape[axis] // WINDOW), (x.shape[:axis], x.shape[axis + 1:])
    more = [(0, count * WINDOW - x.shape[axis] if at == axis else 0, 0) for at in range(x.ndim)]
    x = lax.reshape(lax.pad(x, np.float32(0), more), (*rest[0], count, WINDOW, *rest[1]))
    x = lax.reduce_sum(x, (axis + 1,))
    return _in_windows(x, axis) if count > WINDOW else functools.reduce(lax.add, [lax.index_in_dim(x, at, axis, keepdims=False)
                                                                                for at in range(count)])
