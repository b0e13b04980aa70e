"""The orders in which XLA's libraries for the CPU add up float32 numbers, as far as they are known, and whether this processor's are these.

They belong to the libraries' code, which may choose another for another processor or in a later version. They are asked for arithmetic
that is the same everywhere (`executable.CONSISTENT`); what that comes to is tried once in a process, before anybody counts on it. Owns:
those orders. May not know: equations, who counts on them.
"""
import functools

import jax
import numpy as np
from jax import lax

from . import lower
from .executable import is_asked_for_consistency
from .flat import flattened

LANES, FOUR, LONGEST = 16, 4, 1 << 10
# A column of up to `WINDOW` numbers is added up in an order which does not depend on how many they are; nor on how many columns there are
# in a table of up to so many numbers; nor on how many larger tables there are, from so many on.
TABLE, LISTS = 1 << 15, 8
CHAIN = 512             # products that are added up one by one, before a partial sum is begun


def row_sums(x):
    """The sum of each row of `LONGEST` numbers at most.

    Sixteen numbers side by side are added to those that follow: four of them to a sum, four such sums to another, and then one after the
    other; what is no multiple is filled up with zeros. In the end one half is added to the other, until a single number is left.

    >>> row_sums(np.ones((2, 100), np.float32)).tolist()
    [100.0, 100.0]
    """
    size, block = x.shape[-1], LANES * FOUR
    blocks = -(-size // block)
    filled = np.zeros((*x.shape[:-1], blocks * block), x.dtype)
    filled[..., :size] = x
    made = _four(filled.reshape(*x.shape[:-1], blocks, FOUR, LANES))
    whole = size // (block * FOUR) * FOUR                   # blocks that are added to each other before they are to others
    fours = _four(made[..., :whole, :].reshape(*x.shape[:-1], whole // FOUR, FOUR, LANES))
    lanes = functools.reduce(np.add, [*np.moveaxis(fours, -2, 0), *np.moveaxis(made[..., whole:, :], -2, 0)])
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def are_alike(size, other):
    """Whether `row_sums` of so many numbers are those of the other number of them, if the shorter row is filled up with zeros.

    >>> are_alike(100, 255), are_alike(300, 511), are_alike(300, 512)
    (True, True, False)
    """
    return size // (LANES * FOUR * FOUR) == other // (LANES * FOUR * FOUR)


def _four(x):
    return x[..., 0, :] + x[..., 1, :] + x[..., 2, :] + x[..., 3, :]


def column_sums(x):
    """The sum of each column of `WINDOW` (`in_order`) numbers at most: four numbers to a sum, four such sums to another, and these one
    after the other.

    >>> column_sums(np.ones((100, 2), np.float32)).tolist()
    [100.0, 100.0]
    """
    for count in (4, 4):
        groups = -(-len(x) // count)
        filled = np.zeros((groups * count, *x.shape[1:]), x.dtype)
        filled[:len(x)] = x
        x = functools.reduce(np.add, np.moveaxis(filled.reshape(groups, count, *x.shape[1:]), 1, 0))
    return functools.reduce(np.add, x)


def product(x, y):
    """The product of two matrices: a chain of fused multiply-adds for each element, with a partial sum after each `CHAIN` of them. Slow.

    >>> product(np.ones((2, 600), np.float32), np.ones((600, 1), np.float32)).tolist()
    [[600.0], [600.0]]
    """
    total = np.zeros((len(x), y.shape[1]), np.float32)
    for begin in range(0, len(y), CHAIN):
        part = np.zeros_like(total)
        for k in range(begin, min(begin + CHAIN, len(y))):
            # in double precision the product is exact and the sum all but always, so that it is rounded once
            part = (x[:, k:k + 1].astype(np.float64) * y[k] + part).astype(np.float32)
        total = total + part if begin else part
    return total


@functools.cache
def are_known():
    """Whether the libraries add up so on this processor."""
    if not is_asked_for_consistency():
        return False
    draws = np.random.default_rng(0)
    rows, columns, x, y = (draws.normal(size=shape).astype(np.float32) for shape in ((8, 1000), (250, 40), (7, 700), (700, 70)))
    return (np.array_equal(_by_library(lambda a: lax.reduce_sum(a, (0,)), columns), column_sums(columns))
            and np.array_equal(_by_library(lambda a: lax.reduce_sum(a, (1,)), rows), row_sums(rows))
            and np.array_equal(_by_library(lambda a, b: lax.dot_general(a, b, (((1,), (1,)), ((), ())), precision="highest"),
                                           x, np.ascontiguousarray(y.T)), product(x, y)))


def _by_library(function, *arrays):
    def graph():
        with jax.enable_x64(True):
            return flattened(jax.make_jaxpr(lambda *given: (function(*given),))(*arrays))
    name = f"order {[x.shape for x in arrays]}"
    executable, _ = lower.kernel_of(graph, name, sum(x.size for x in arrays))
    return np.asarray(executable.run([np.zeros((), np.uint32), *arrays])[0])
