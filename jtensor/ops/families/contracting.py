"""Contractions of two arrays in full precision, and the gradients of their factors.

Owns: which dimensions of a matrix, of a batch of them, or of what lies in memory the other way round, are contracted. Narrow floats
accumulate in float32. May not know: operators.
"""

import jax.numpy as jnp
from jax import lax

from .numeric import NARROW, precision


def contract(a, b, dims, batch=((), ()), keep_wide=False):
    """``lax.dot_general`` in full precision, or what is permitted (`precision`); float16 and bfloat16 accumulate in float32 and round once
    (or not: ``keep_wide``)."""
    wide = jnp.float32 if a.dtype in NARROW else None
    out = lax.dot_general(a, b, (dims, batch), precision=precision("matmul"), preferred_element_type=wide)
    return out if wide is None or keep_wide else out.astype(a.dtype)


def mm_of(a, b, keep_wide=False):
    return contract(a, b, ((1,), (0,)), keep_wide=keep_wide)


def mm_left(grad, b):
    """``grad @ b^H`` without a transpose of ``b``."""
    return contract(grad, jnp.conj(b), ((1,), (1,)))


def mm_right(grad, a):
    """``a^H @ grad``."""
    return contract(jnp.conj(a), grad, ((0,), (0,)))


_BATCH = ((0,), (0,))


def bmm_of(a, b, keep_wide=False):
    return contract(a, b, ((2,), (1,)), _BATCH, keep_wide)


def bmm_left(grad, b):
    return contract(grad, jnp.conj(b), ((2,), (2,)), _BATCH)


def bmm_right(grad, a):
    return contract(jnp.conj(a), grad, ((1,), (1,)), _BATCH)


def outer_of(a, b):
    return a[:, None] * b[None, :]


# -- what lies in memory the other way round --------------------------------------------------------------------------

# Where an operand is the transpose of what lies in memory (`x @ w.t()`), the product contracts the memory as it is. Nothing is transposed,
# neither forward nor backward, whether the tape runs operator by operator or as one program; so that both sum in the same order.

def flipped_of(a, b, flips, keep_wide=False):
    return contract(a, b, ((0 if "a" in flips else 1,), (1 if "b" in flips else 0,)), keep_wide=keep_wide)


def flipped_left(grad, b, flips):
    """The gradient of the left factor, as that lies in memory."""
    columns = 0 if "b" in flips else 1
    b = jnp.conj(b)
    return contract(b, grad, ((columns,), (1,))) if "a" in flips else contract(grad, b, ((1,), (columns,)))


def flipped_right(grad, a, flips):
    rows = 1 if "a" in flips else 0
    a = jnp.conj(a)
    return contract(grad, a, ((0,), (rows,))) if "b" in flips else contract(a, grad, ((rows,), (0,)))
