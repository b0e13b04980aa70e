"""All elements up to each one along an axis, put together: what sums, products, extremes and logarithms that run have in common.

On the CPU a loop goes from place to place, in PyTorch's order and in the type it adds up in, so that the bits are PyTorch's; XLA makes one
piece of machine code of it, and compiles it in a tenth of the time that a tree of additions takes. On an accelerator, where a turn is a
kernel, it is a tree. May not know: operators.
"""
import math

import jax
import jax.numpy as jnp
from jax import lax

from ...trace.lowering.elementary import barrier
from ...trace.plan import is_for_cpu
from ..loops import scan
from .numeric import NARROW, widened

AT_ONCE = 8             # places that a turn goes on, where there is but one row: more and XLA would make a list of kernels of the loop


def accumulated_in(dtype):
    """The type in which PyTorch adds up elements of this one."""
    if dtype in NARROW:
        return jnp.dtype(jnp.float32)
    wide = {jnp.dtype(jnp.float32): jnp.dtype(jnp.float64), jnp.dtype(jnp.complex64): jnp.dtype(jnp.complex128)} if is_for_cpu() else {}
    return wide.get(dtype, dtype)


def running(combine, first, x, axis, reverse=False):
    """``combine`` of all elements of an array up to each one along an axis, from the number ``first`` on."""
    shape = x.shape[:axis] + x.shape[axis + 1:]
    return along(combine, jnp.full(shape, first, accumulated_in(x.dtype)), widened(x), axis, reverse).astype(x.dtype)


def running_sum(x, axis, reverse=False):
    """The sums of all elements up to each one."""
    return running(lax.add, 0, x, axis, reverse)


def running_product(x, axis, reverse=False):
    """The products of all elements up to each one."""
    return running(lax.mul, 1, x, axis, reverse)


def along(combine, first, xs, axis, reverse=False):
    """What `running` does, of an array or a tuple of them. ``combine(so far, here)``: what is so far then, in the types of ``first``.

    ``combine`` is associative, and ``first`` changes nothing.
    """
    types = jax.tree.map(lambda x: x.dtype, xs)
    if not is_for_cpu():
        wide = jax.tree.map(lambda x, c: x.astype(c.dtype), xs, first)
        return jax.tree.map(lambda x, dtype: x.astype(dtype), lax.associative_scan(combine, wide, reverse, axis), types)

    def turn(so_far, here):
        so_far = combine(so_far, jax.tree.map(lambda x, c: x.astype(c.dtype), here, so_far))
        return so_far, jax.tree.map(lambda c, dtype: c.astype(dtype), so_far, types)

    rows = jax.tree.map(lambda x: jnp.moveaxis(x, axis, 0), xs)
    n, *shape = jax.tree.leaves(rows)[0].shape
    if n == 1:                                      # XLA would take the loop from around it, and see that zero is added
        done = turn(jax.tree.map(barrier.bind, first), jax.tree.map(lambda x: x[0], rows))[1]
        return jax.tree.map(lambda y: jnp.expand_dims(y, axis), done)
    alone = math.prod(shape) == 1 and n > 2 * AT_ONCE
    if alone:                                       # whole turns: what is gone to last is no element
        more = (-n % AT_ONCE, 0) if reverse else (0, -n % AT_ONCE)
        rows = jax.tree.map(lambda x: jnp.pad(x, [more] + [(0, 0)] * len(shape)), rows)
    done = scan(turn, first, rows, reverse=reverse, unroll=AT_ONCE if alone else 1)[1]
    if alone:
        done = jax.tree.map(lambda y: y[-n:] if reverse else y[:n], done)
    return jax.tree.map(lambda y: jnp.moveaxis(y, 0, axis), done)
