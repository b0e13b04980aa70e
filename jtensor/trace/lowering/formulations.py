"""Which functions stand for primitives that XLA does not compute to the same bits everywhere: formulations of our own.

Elementary functions (`elementary.py`) and complex arithmetic (`complex_arithmetic.py`) are products and sums that LLVM contracts as it
likes; here are besides small products with vectors, and the extremes, since XLA's may lose a NaN.
Knows of nothing but JAX, and in what order sums are made.
"""
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import compat
from ..plan import is_for_cpu
from . import complex_arithmetic as of_complex
from .barriers import LIBRARY, UNROLLED, is_wide
from .elementary import acosh, asinh, atan, atan2, atanh, cosh, erfc, log1p, sinh, tanh
from .in_order import by_rows, is_by_rows, is_in_windows, reduce_sum, sum_order


def dot_general(x, y, *, dimension_numbers, preferred_element_type):
    """A small product with a vector, as a sum of products: XLA would make a sum of it, too, but in which order is up to the neighbours."""
    (left, right), (left_batch, right_batch) = dimension_numbers
    dtype = np.dtype(preferred_element_type or jnp.result_type(x, y))
    wide = np.dtype(np.float32) if dtype.kind == "V" or dtype.itemsize < 4 else dtype
    rows, columns = _free(x.ndim, left, left_batch), _free(y.ndim, right, right_batch)
    x = jnp.transpose(x, (*left_batch, *rows, *left)).astype(wide)
    y = jnp.transpose(y, (*right_batch, *columns, *right)).astype(wide)
    batch, free = len(left_batch), len(left_batch) + len(rows)
    x = jnp.expand_dims(x, range(free, free + len(columns)))
    y = jnp.expand_dims(y, range(batch, free))
    products = of_complex.mul(x, y) if wide.kind == "c" else x * y
    return _total(products, free + len(columns)).astype(dtype)


def _total(products, rank):
    """The sum over all axes from this one on, in steps of which none is the library's: its sums are kernels, one for each shape."""
    length = math.prod(products.shape[rank:])
    if not LIBRARY <= products.size <= MANY_PRODUCTS or length <= UNROLLED or rank == 0:
        return jnp.sum(products, axis=tuple(range(rank, products.ndim)))
    windows = -(-length // UNROLLED)
    products = jnp.reshape(products, (*products.shape[:rank], length))
    products = jnp.pad(products, [*[(0, 0)] * rank, (0, windows * UNROLLED - length)])
    return jnp.sum(jnp.sum(jnp.reshape(products, (*products.shape[:rank], windows, UNROLLED)), axis=-1), axis=-1)


def _free(rank, contracted, batch):
    return [axis for axis in range(rank) if axis not in contracted and axis not in batch]


def rsqrt(x):
    """Of float16: XLA's two emitters have each its own."""
    return lax.rsqrt(x.astype(np.float32)).astype(x.dtype)


def _is_sum(params, avals):
    """Whether a product of matrices is done as a sum of products: of two vectors always, of complex ones where nothing is summed, and of
    small matrices with vectors if there are several. (A single one XLA runs in the caller's thread, which it would not do with the fences
    of a sum, and its shape seldom changes; those of several, attention to what was there before, do so all the time.)"""
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    a, b = (aval.shape for aval in avals)
    rows, columns = [a[d] for d in _free(len(a), left, left_batch)], [b[d] for d in _free(len(b), right, right_batch)]
    if not rows and not columns:
        return len(left) > 0
    summed = math.prod(a[d] for d in left)
    if summed == 1 and left and avals[0].dtype.kind == "c":         # products, which LLVM may contract
        return True
    if min(math.prod(rows), math.prod(columns)) != 1 or math.prod(a[d] for d in left_batch) == 1:
        return False
    return 1 < summed <= UNROLLED ** 2 and 0 < math.prod(b if math.prod(rows) == 1 else a) <= MANY_PRODUCTS


def reduce_max(x, axes):
    return _or_nan(lax.reduce_max(x, axes), x, axes)


def reduce_min(x, axes):
    return _or_nan(lax.reduce_min(x, axes), x, axes)


def _or_nan(extreme, x, axes):
    # From 4,096 elements on XLA's library for the CPU (jaxlib 0.10.2) passes over NaNs.
    def marked():
        return lax.select(lax.reduce_or(lax.ne(x, x), axes), lax.full_like(extreme, jnp.nan), extreme)
    few = x.size < SUMMED or math.prod(x.shape[axis] for axis in axes) < LONG
    if few or x.dtype.itemsize < 4 or not is_for_cpu():
        return marked()
    # Looking at each element takes several times as long as the library's sum, which is a number unless one of them is NaN (or infinities
    # meet, or what overflows). Accelerators have no such library, and would wait for the choice.
    total = lax.reduce_sum(x, axes)
    return lax.cond(lax.reduce_or(lax.ne(total, total), tuple(range(total.ndim))), marked, lambda: extreme)


MANY = 1024                     # elements, well below those
SUMMED, LONG = 1 << 16, 64      # elements in all, and for each extreme, from which on they are added up
MANY_PRODUCTS = 1 << 15


REAL = {f.__name__: f for f in (log1p, atan, atan2, tanh, sinh, cosh, asinh, acosh, atanh, erfc, rsqrt, dot_general, reduce_max,
                                reduce_min, reduce_sum)}
COMPLEX = {"mul": of_complex.mul, "square": of_complex.square, "integer_pow": of_complex.power, "div": of_complex.div,
           "abs": of_complex.absolute, "exp": of_complex.exp, "sinh": of_complex.sinh, "cosh": of_complex.cosh, "sin": of_complex.sin,
           "cos": of_complex.cos, "atan": of_complex.atan, "log": of_complex.log, "reduce_prod": of_complex.prod,
           "dot_general": dot_general}
STATICS = "y", "axes", "dimension_numbers", "preferred_element_type"


def formulation(name, params, avals):
    """The jaxpr that stands for a primitive applied to these types, or None. The primitive itself may be in it, and is meant as it is."""
    kind = getattr(getattr(avals[0], "dtype", None), "kind", None) if avals else None
    table = COMPLEX if kind == "c" else REAL
    if name not in table or kind not in "fcV":
        return None
    if name == "reduce_sum" and not any(of(avals[0].shape, avals[0].dtype, params["axes"]) for of in (sum_order, is_in_windows)):
        return None
    rows = name == "dot_general" and is_by_rows(params, avals)
    if name == "dot_general" and not rows and not _is_sum(params, avals) or name == "rsqrt" and avals[0].dtype != np.float16:
        return None
    if name in ("reduce_max", "reduce_min") and (avals[0].size < MANY or is_wide(avals[0].shape, avals[0].dtype, params["axes"])):
        return None                             # the latter are written out (`fences`), and so lose no NaN
    statics = tuple((key, params[key]) for key in STATICS if key in params)
    function = by_rows if rows else table[name]
    return _traced(function, statics, tuple((a.shape, a.dtype) for a in avals), (jax.config.jax_enable_x64, is_for_cpu()))


@functools.lru_cache(1024)
def _traced(function, statics, types, settings):
    with jax.enable_x64(True):
        return compat.trace(lambda *arrays: [function(*arrays, **dict(statics))], [jax.ShapeDtypeStruct(*t) for t in types])
