"""Orthogonal polynomials and Bessel functions, none of which PyTorch differentiates.

Owns: the recurrences, in float64. The Bessel and Airy functions are computed on the host by SciPy, which comes with JAX.
May not know: tensors as objects.
"""
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...base import dtypes
from ..operator import Tensor, TensorOrNumber, op
from ..quirks import Quirks
from .numeric import not_implemented, refuses

_HIDDEN = {"out": True, "function": False, "method": False}


# -- polynomials ------------------------------------------------------------------------------------------------------

def _recurrence(x, n, dtype, first, step, closed):
    """The n-th polynomial at x: 1, ``first(x)``, and then ``step(k, x, p, q)`` after p and q, its k-th; 0 for n < 0.

    ``closed(x, n, dtype)``: where a formula is as good, which does not take n steps, and what it gives. What overflows on the way is
    infinite from there on, as it is where the steps are made in the type itself.
    """
    most = float(jnp.finfo(dtype).max)
    x, n = jnp.broadcast_arrays(x.astype(jnp.float64), n)
    n = jnp.where(jnp.abs(n.astype(jnp.float64)) < 2.0**63, n, -1).astype(jnp.int64)     # beyond them C has the least integer
    known, value = closed(x, n, dtype)
    steps = jnp.where(known, 0, n)

    def more(state):
        k, _, q = state
        return ((steps > k) & (q == q)).any()

    def body(state):
        k, p, q = state
        following = step(k.astype(jnp.float64), x, p, q)
        following = jnp.where(jnp.abs(following) > most, jnp.sign(following) * jnp.inf, following)
        return k + 1, jnp.where(n > k, q, p), jnp.where(n > k, following, q)
    _, _, q = lax.while_loop(more, body, (jnp.ones((), jnp.int64), jnp.ones_like(x), first(x)))
    value = jnp.where(known, value, jnp.where(n == 0, jnp.ones_like(x), q))
    return jnp.where(n < 0, jnp.zeros_like(x), value).astype(dtype)


def _by_angle(inside, right, left):
    """Closed forms of a Chebyshev polynomial: ``inside(n, angle)`` between -1 and 1, from the ninth degree on; ``right(n)`` at 1, and
    ``left(n)``, times 1 and -1 in turn, at -1."""
    def closed(x, n, dtype):
        degree, turn = n.astype(jnp.float64), jnp.where(n % 2 == 0, 1.0, -1.0)
        between = (jnp.abs(x) < 1) & (n > 8)
        value = jnp.where(x == 1, right(degree), turn * left(degree))
        return between | (jnp.abs(x) == 1), jnp.where(between, inside(degree, jnp.arccos(jnp.clip(x, -1, 1))), value)
    return closed


def _in_steps(x, n, dtype):
    return jnp.zeros(x.shape, bool), x


def _low(x, n, dtype):
    """Nothing is known in closed form, and there is no number of a high degree."""
    return n > (128 if dtype == jnp.float32 else 512), jnp.full_like(x, jnp.nan)


def _chebyshev(k, x, p, q):
    return 2 * x * q - p


def _one(n):
    return jnp.ones_like(n)


_STEPS = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev, _by_angle(lambda n, a: jnp.cos(n * a), _one, _one)),
    "chebyshev_polynomial_u": (lambda x: 2 * x, _chebyshev, _by_angle(
        lambda n, a: jnp.sin((n + 1) * a) / jnp.sin(a), lambda n: n + 1, lambda n: n + 1)),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, _chebyshev, _by_angle(
        lambda n, a: jnp.cos((n + 0.5) * a) / jnp.cos(a / 2), _one, lambda n: 2 * n + 1)),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, _chebyshev, _by_angle(
        lambda n, a: jnp.sin((n + 0.5) * a) / jnp.sin(a / 2), lambda n: 2 * n + 1, _one)),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * q - 2 * k * p, _low),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, q: x * q - k * p, _low),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * q - k * p) / (k + 1), _in_steps),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * q - k * p) / (k + 1), _in_steps),
}


def _polynomial(name, shifted=False):
    first, step, closed = _STEPS[name.replace("shifted_", "")]

    def body(x: TensorOrNumber, n: TensorOrNumber):
        return _recurrence(2 * x.astype(jnp.float64) - 1 if shifted else x, n, x.dtype, first, step, closed)
    body.__doc__ = f"The {name.replace('_', ' ').title()}, ``n`` its degree, at ``x``; 0 where ``n`` is negative."
    op("float", name=f"special_{name}", nondiff=("x", "n", 0), check=refuses(f"{name}_cpu", "narrow", "complex"), **_HIDDEN)(body)


for _name in _STEPS:
    _polynomial(_name)
for _kind in "tuvw":
    _polynomial(f"shifted_chebyshev_polynomial_{_kind}", shifted=True)


# -- Bessel and Airy functions ----------------------------------------------------------------------------------------

_BY_SCIPY = {
    "airy_ai": lambda s, x: np.where((x > 104) & (x < np.inf), 0, s.airy(x)[0]),        # SciPy gives no number far away
    "bessel_j0": lambda s, x: s.j0(x), "bessel_j1": lambda s, x: s.j1(x),
    "bessel_y0": lambda s, x: s.y0(x), "bessel_y1": lambda s, x: s.y1(x),
    "modified_bessel_i0": lambda s, x: s.i0(x), "modified_bessel_i1": lambda s, x: s.i1(x),
    "modified_bessel_k0": lambda s, x: s.k0(x), "modified_bessel_k1": lambda s, x: s.k1(x),
    "scaled_modified_bessel_k0": lambda s, x: s.k0e(x), "scaled_modified_bessel_k1": lambda s, x: s.k1e(x),
    "spherical_bessel_j0": lambda s, x: s.spherical_jn(0, x),
}

_OF_X = ("airy_ai", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0")     # which call their argument so


def _without_data(self):
    import jtensor
    return jtensor.empty_like(self, dtype=self.dtype if self.is_floating_point() else jtensor.get_default_dtype())


def _on_host(name, function):
    def body(self: Tensor):
        from scipy import special
        given = dtypes.of_numpy(self.dtype)
        if given.is_complex or given.is_floating_point and given.itemsize == 2:
            raise not_implemented(f"{name}_cpu", given)
        wanted = self.dtype if self.dtype.kind == "f" else dtypes.get_default_dtype().numpy
        return np.asarray(function(special, np.asarray(self, np.float64))).astype(wanted)
    body.__doc__ = f"The function {name.replace('_', ' ')} of each element, computed on the host."
    quirks = Quirks(first="x" if name in _OF_X else "", out_asked_first=True)
    op(None, name=f"special_{name}", sync="slices", nondiff=("self", 0), on_meta=_without_data, quirks=quirks, **_HIDDEN)(body)


for _name, _function in _BY_SCIPY.items():
    _on_host(_name, _function)
