"""What `programs` takes from `jax.lax` to read a view, for NumPy's arrays: moves alone, of any type, which give the same bits.

Owns: those functions, under JAX's names. May not know: views.
"""

from __future__ import annotations

import builtins

import numpy as np


def reshape(x, shape):
    """The elements in another shape.

    >>> reshape(np.arange(6), (2, 3)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    return x.reshape(shape)


def transpose(x, order):
    """The dimensions in another order.

    >>> transpose(np.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return x.transpose(order)


def slice(x, first, limit, steps):
    """A window, of which every ``steps``-th element is taken.

    >>> slice(np.arange(9), (1,), (8,), (3,)).tolist()
    [1, 4, 7]
    """
    return x[tuple(map(builtins.slice, first, limit, steps))]


def dynamic_slice(x, starts, windows, allow_negative_indices=False):
    """A window that begins where numbers say, which are in bounds.

    >>> dynamic_slice(np.arange(9), [np.int64(2)], (3,)).tolist()
    [2, 3, 4]
    """
    return x[tuple([builtins.slice(int(at), int(at) + window) for at, window in zip(starts, windows, strict=True)])]


def broadcast_in_dim(x, shape, dims):
    """The array in dimensions ``dims`` of a larger one.

    >>> broadcast_in_dim(np.arange(2), (2, 3), (0,)).tolist()
    [[0, 0, 0], [1, 1, 1]]
    """
    lengths = [1] * len(shape)
    for length, dim in zip(x.shape, dims, strict=True):
        lengths[dim] = length
    return np.broadcast_to(x.reshape(lengths), shape)
