"""Matrix products and sums of rows, of any size, by kernels that serve many sizes: what they read is padded, what is too much is dropped.

XLA's library for products adds up one product after another, each by a fused multiply-add, from zero on; from 512 products on it makes
partial sums of 512 each. Which of its routines it takes for a size changes nothing in that, as long as it is asked for arithmetic that is
the same on every processor (`orders`) and the factors are such as `_is_plain` says. So what an element becomes does not
depend on how many rows and columns there are, and one product more changes nothing if it is -0.0. Nor does the sum of a row depend on how
many rows there are. `tests/trace/padded_bits.py` compared thousands of sizes. A script whose sequences get longer by one at each step
compiles a kernel for each half of a power of two instead of one for each length.

Owns: which products and sums these are, the sizes that kernels are made for. May not know: tapes, for how long this is cheaper than a
kernel for the size.
"""
import math

import jax
import numpy as np

from ...base import compat
from ..cache import store
from ..lowering import orders
from ..lowering.barriers import UNROLLED, by_library
from ..lowering.flat import Equation, Flat
from ..lowering.in_order import MANY_ROWS, ROWS
from ..lowering.orders import CHAIN
from . import equations

PACKED = 1 << 15        # elements of a right factor up to which it is always put in order first where it lies as (summed over, columns)
NARROW = 48             # columns up to which partial sums are longer ones
LEAST = 16              # the smallest size that a kernel is made for
LITTLE = 1 << 13        # elements of a few rows up to which they are worth padding
TURNED = 1 << 16        # elements of a right factor up to which it is worth padding: it often has the size of a layer
SHORT = 192             # what is summed over, of a left factor that lies as (summed over, rows), in a chain without parts
TILE = 48               # columns that such a product has side by side; a single one that is left over is made in another way
_FLOAT32 = np.dtype(np.float32)


class Padded(equations.Shared):
    """One equation by the kernel of a larger one: ``run(list of ndarrays) -> [ndarray]``. ``shapes``: of what the kernel reads; ``fills``:
    what that is padded with.

    >>> from jtensor.trace import plan, spec
    >>> from jtensor.trace.lowering.flat import flattened
    >>> float32 = spec.dtypes.float32
    >>> left, right = spec.aval((3, 20), float32, spec.devices.cpu), spec.aval((20, 5), float32, spec.devices.cpu)
    >>> graph = flattened(plan.make("product", lambda a, b: (jax.numpy.matmul(a, b, precision="highest"),), [left, right]).jaxpr())
    >>> product = of(graph.equations[0], graph)
    >>> product.shapes, product.run([np.ones((3, 20), np.float32), np.ones((20, 5), np.float32)])[0].tolist()
    (((16, 24), (24, 16)), [[20.0, 20.0, 20.0, 20.0, 20.0], [20.0, 20.0, 20.0, 20.0, 20.0], [20.0, 20.0, 20.0, 20.0, 20.0]])
    """

    __slots__ = ("shapes", "fills", "given", "size", "shape")

    def __init__(self, e, params, given, shapes, fills, made, size):
        # ``given``: the shapes of the arguments, as they are padded; ``made``: that of the kernel's result, ``size`` what is kept of it
        dtype = e.avals[0].dtype
        graph = Flat([jax.core.ShapedArray(shape, dtype) for shape in shapes])
        graph.avals.append(jax.core.ShapedArray(made, dtype))
        graph.equations = [Equation(e.primitive, params, list(range(len(shapes))), [len(shapes)], graph.avals[-1:])]
        graph.outputs = [len(shapes)]
        super().__init__(graph, f"padded {equations.text(graph)}", sum(map(math.prod, (*shapes, made))))
        self.shapes, self.fills, self.given = shapes, fills, given
        self.size, self.shape = tuple(map(slice, size)), e.avals[0].shape

    def run(self, arrays):
        made, = self.done(list(map(_padded, arrays, self.given, self.shapes, self.fills)))
        return [made[self.size].reshape(self.shape).copy()]


def _padded(x, given, shape, fill):
    x = np.reshape(x, given)
    return x if given == shape else compat.padded(x, shape, fill)


def of(e, graph):
    """The `Padded` of a graph's equation; None if the size tells in its bits, or it is another equation."""
    rule = _RULES.get(e.name)
    if rule is None or not all(type(v) is int for v in e.inputs) or not orders.are_known():
        return None
    found = rule(e, *[graph.avals[v] for v in e.inputs])
    return None if found is None or store.fleeting(found.name) else found


def up(size):
    """The next size that kernels are made for: 16, 24, 32, 48, 64, 96, ...

    >>> [up(n) for n in (1, 16, 17, 24, 25, 100, 512)]
    [16, 16, 24, 24, 32, 128, 512]
    """
    if size <= LEAST:
        return LEAST
    whole = 1 << (size - 1).bit_length()
    return whole // 4 * 3 if size <= whole // 4 * 3 else whole


# -- products ---------------------------------------------------------------------------------------------------------

def _product(e, left, right):
    params = e.params
    found = _factors(params, left, right, e.avals[0].dtype)
    if found is None:
        return None
    many, rows, length, columns, first, turned = found
    found = _sizes(rows, length, columns, first, turned)
    if found is None:
        if not _grows(params, left, right, e.avals[0].dtype):
            return None
        found = rows, up(length), columns
    wide_rows, length, columns = found
    return Padded(e, params, (left.shape, right.shape),
                  ((*many, length, wide_rows) if first else (*many, wide_rows, length),
                   (*many, columns, length) if turned else (*many, length, columns)), (0.0, -0.0),
                  (*many, wide_rows, columns), e.avals[0].shape)


def _factors(params, left, right, dtype):
    """What a product's sizes are: (those of lists of products, rows, summed over, columns, whether the left factor lies as (summed over,
    rows), whether the right one as (columns, summed over)); None of another product than of float32 matrices."""
    (summed, right_summed), (lists, right_lists) = params["dimension_numbers"]
    count = len(lists)
    if (not left.dtype == right.dtype == dtype == _FLOAT32 or not left.ndim == right.ndim == count + 2
            or len(summed) != 1 or len(right_summed) != 1 or not lists == right_lists == tuple(range(count))
            or params["precision"] != (jax.lax.Precision.HIGHEST,) * 2 or params.get("out_sharding") is not None):
        return None
    first, turned = summed[0] == count, right_summed[0] == count + 1
    rows, length = left.shape[count:][::-1 if first else 1]
    return left.shape[:count], rows, length, right.shape[count if turned else count + 1], first, turned


def is_chain(params, left, right, dtype):
    """Whether each element of a product is what a chain of multiply-adds gives, however many rows and columns there are."""
    found = _factors(params, left, right, dtype)
    return found is not None and _is_plain(*found[1:])


def _grows(params, left, right, dtype):
    """Whether a product of matrices stays what it is where what is summed over is longer, and nothing is added."""
    found = _factors(params, left, right, dtype)
    if found is None:
        return False
    many, rows, length, columns, first, turned = found
    return not (many or first or turned) and rows >= ROWS and length >= MANY_ROWS and columns > 1


def _sizes(rows, length, columns, first, turned):
    """The sizes of the kernel for a product; None if it has to be of this very size."""
    if not _is_plain(rows, length, columns, first, turned):
        return None
    wide = up(length), up(columns)
    if length > CHAIN or length * columns > TURNED or not _is_plain(rows, *wide, first, turned):
        wide = length, columns
    return (up(rows) if _is_plain(up(rows), *wide, first, turned) else rows), *wide


def _is_plain(rows, length, columns, first, turned):
    """Whether each element of a product is what a chain of multiply-adds gives, with partial sums after each `CHAIN` of them."""
    if min(rows, length, columns) < 2:                          # of vectors XLA makes loops of its own
        return False
    if first:
        return (not turned and length <= SHORT and length * max(rows, columns) <= TURNED and min(rows, columns) >= LEAST
                and columns % TILE != 1)
    if turned:
        return length <= CHAIN or columns > NARROW
    return length <= CHAIN and length * columns <= PACKED


# -- sums -------------------------------------------------------------------------------------------------------------

def _sum_of_rows(e, x):
    if not by_library("reduce_sum", x.shape, x.dtype) or e.params["axes"] != (x.ndim - 1,) or x.shape[-1] <= UNROLLED:
        return None
    length = x.shape[-1]
    rows = x.size // length
    if rows < LEAST and rows * length > LITTLE or rows == 1:
        return None
    return Padded(e, {**e.params, "axes": (1,)}, ((rows, length),), ((up(rows), length),), (0.0,), (up(rows),), (rows,))


_RULES = {"dot_general": _product, "reduce_sum": _sum_of_rows}
