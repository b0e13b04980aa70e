"""XLA's loops, for operators.

An operator's function is traced as if nothing in it were jitted (`trace.plan.traced`): what JAX's NumPy does by many small functions of
its own is then traced in half of the time, and the equations are the same. Only a `scan` JAX would write out round by round, so that
operators take it from here. May not know: operators.

>>> import jax.numpy as jnp
>>> scan(lambda total, x: (total + x, total), jnp.zeros(()), jnp.ones(3))[0]
Array(3., dtype=float32)
"""
import functools

import jax
import jax.numpy as jnp
import jax.scipy
from jax import lax


def rolled(function):
    """A function of JAX's in which there is a `scan`, to be called where nothing is jitted."""
    @functools.wraps(function)
    def within(*args, **options):
        with jax.disable_jit(False):
            return function(*args, **options)
    return within


scan, fori_loop = rolled(lax.scan), rolled(lax.fori_loop)
searchsorted, expm = rolled(jnp.searchsorted), rolled(jax.scipy.linalg.expm)
