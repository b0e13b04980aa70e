"""Orthogonal polynomials and Bessel functions, none of which PyTorch differentiates.

Owns: the recurrences, in float64. The Bessel and Airy functions are computed on the host by SciPy, which comes with JAX.
May not know: tensors as objects.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..operator import Tensor, TensorOrNumber, op
from .numeric import not_implemented, refuses

_HIDDEN = {"out": True, "function": False, "method": False}


# -- polynomials ------------------------------------------------------------------------------------------------------

def _recurrence(x, n, first, step):
    """The n-th polynomial at x: 1, ``first(x)``, and then ``step(k, x, p, q)`` after p and q, its k-th; 0 for n < 0."""
    wanted = x.dtype
    x, n = jnp.broadcast_arrays(x.astype(jnp.float64), n)
    n = jnp.trunc(n).astype(jnp.int64)
    top = jnp.max(n, initial=0)

    def more(state):
        return state[0] < top

    def body(state):
        k, p, q = state
        following = step(k.astype(jnp.float64), x, p, q)
        return k + 1, jnp.where(n > k, q, p), jnp.where(n > k, following, q)
    start = (jnp.ones((), jnp.int64), jnp.ones_like(x), first(x))
    _, before, value = lax.while_loop(more, body, start)
    value = jnp.where(n == 0, jnp.ones_like(x), value)
    del before
    return jnp.where(n < 0, jnp.zeros_like(x), value).astype(wanted)


def _chebyshev(k, x, p, q):
    return 2 * x * q - p


_STEPS = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev),
    "chebyshev_polynomial_u": (lambda x: 2 * x, _chebyshev),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, _chebyshev),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, _chebyshev),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * q - 2 * k * p),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, q: x * q - k * p),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * q - k * p) / (k + 1)),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * q - k * p) / (k + 1)),
}


def _polynomial(name, shifted=False):
    first, step = _STEPS[name.replace("shifted_", "")]

    def body(x: TensorOrNumber, n: TensorOrNumber):
        return _recurrence(2 * x.astype(jnp.float64) - 1 if shifted else x, n, first, step).astype(x.dtype)
    body.__doc__ = f"The {name.replace('_', ' ').title()}, ``n`` its degree, at ``x``; 0 where ``n`` is negative."
    op("float", name=f"special_{name}", nondiff=("x", "n", 0), check=refuses(f"{name}_cpu", "narrow", "complex"), **_HIDDEN)(body)


for _name in _STEPS:
    _polynomial(_name)
for _kind in "tuvw":
    _polynomial(f"shifted_chebyshev_polynomial_{_kind}", shifted=True)


# -- Bessel and Airy functions ----------------------------------------------------------------------------------------

_BY_SCIPY = {
    "airy_ai": lambda s, x: s.airy(x)[0],
    "bessel_j0": lambda s, x: s.j0(x), "bessel_j1": lambda s, x: s.j1(x),
    "bessel_y0": lambda s, x: s.y0(x), "bessel_y1": lambda s, x: s.y1(x),
    "modified_bessel_i0": lambda s, x: s.i0(x), "modified_bessel_i1": lambda s, x: s.i1(x),
    "modified_bessel_k0": lambda s, x: s.k0(x), "modified_bessel_k1": lambda s, x: s.k1(x),
    "scaled_modified_bessel_k0": lambda s, x: s.k0e(x), "scaled_modified_bessel_k1": lambda s, x: s.k1e(x),
    "spherical_bessel_j0": lambda s, x: s.spherical_jn(0, x),
}


def _on_host(name, function):
    def body(self: Tensor):
        from scipy import special
        given = dtypes.of_numpy(self.dtype)
        if given.is_complex or given.is_floating_point and given.itemsize == 2:
            raise not_implemented(f"{name}_cpu", given)
        wanted = self.dtype if self.dtype.kind == "f" else dtypes.get_default_dtype().numpy
        return np.asarray(function(special, np.asarray(self, np.float64))).astype(wanted)
    body.__doc__ = f"The function {name.replace('_', ' ')} of each element, computed on the host."
    op(None, name=f"special_{name}", sync="slices", nondiff=("self", 0), **_HIDDEN)(body)


for _name, _function in _BY_SCIPY.items():
    _on_host(_name, _function)
