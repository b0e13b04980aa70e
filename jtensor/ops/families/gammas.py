"""Gamma functions: lgamma, digamma, polygamma, the incomplete ones.

Owns: those with a gradient, and the slopes of gamma and Dirichlet samples; `jtensor.special` gives the functions their public names.
float32 is computed through float64 where XLA's own function is off by more than PyTorch's. May not know: tensors as objects.
"""
import math

import jax.numpy as jnp
from jax import lax
from jax.scipy import special as jsp

from ...base import dtypes
from ..operator import Tensor, TensorOrNumber, op
from ..registry import composite
from .numeric import no_derivative, refuses, through_double, unary, wide


def _digamma(x):
    return jnp.where(x == 0, jnp.copysign(jnp.asarray(jnp.inf, x.dtype), -x), through_double(lax.digamma, x))


def _polygamma(n, x):
    if n == 0:
        return _digamma(x)
    if n == 1:
        return through_double(_trigamma, x)
    scale = (1 if n % 2 else -1) * float(math.factorial(n)) if n < 171 else math.inf
    return through_double(lambda v: scale * hurwitz(jnp.full_like(v, n + 1), v), x)


def _trigamma(x):
    """By reflection left of 1/2."""
    left = x < 0.5
    value = jnp.where(x == jnp.inf, 0, hurwitz(jnp.full_like(x, 2), jnp.where(left, 1 - x, x)))
    sine = jnp.sin(math.pi * x)
    return jnp.where(left, math.pi ** 2 / (sine * sine) - value, value)


def hurwitz(s, q):
    """The sum of ``(q + k) ** -s``: one by one up to ``q`` = 9, by the Euler-Maclaurin formula beyond; +inf at the poles."""
    whole = q == jnp.floor(q)

    def below(state):
        return (state[0] < 9).any()

    def step(state):
        at, total = state
        low = at < 9
        return jnp.where(low, at + 1, at), jnp.where(low, total + lax.pow(at, -s), total)
    begin = jnp.where(jnp.isnan(q) | (q < -1e6), jnp.full_like(q, 9), q)
    at, total = lax.while_loop(below, step, (begin, jnp.zeros_like(q)))
    value = jnp.where(q < 9, total, jnp.zeros_like(total)) + jsp.zeta(s, at)
    refused = (q <= 0) & ~whole & (s != jnp.floor(s)) | jnp.isnan(q) | (s < 1)
    value = jnp.where(refused, jnp.full_like(value, jnp.nan), value)
    return jnp.where((q <= 0) & whole & (s > 1) | (s == 1), jnp.full_like(value, jnp.inf), value)


@op("float", grad=lambda grad, self: grad * wide(_digamma)(self), **unary("lgamma_vml_cpu"), double="MulBackward0")
@wide
def lgamma(self: Tensor):
    """The logarithm of the absolute value of the gamma function.

    >>> torch.lgamma(torch.tensor([1., 4.]))
    tensor([0.0000, 1.7918])
    """
    return through_double(lax.lgamma, self)


@op("float", grad=lambda grad, self: grad * wide(lambda x: _polygamma(1, x))(self), **unary("digamma"), double="MulBackward0")
@wide
def digamma(self: Tensor):
    """The derivative of `lgamma`.

    >>> torch.digamma(torch.tensor([1.]))
    tensor([-0.5772])
    """
    return _digamma(self)


def _check_polygamma(self, n):
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    refuses("trigamma" if n == 1 else "polygamma", "complex")(self)


@op("float", name="polygamma_of", backward="PolygammaBackward0", inplace=True, out=True, function=False, method=False,
    check=_check_polygamma, grad=lambda grad, self, n: grad * wide(lambda x: _polygamma(n + 1, x))(self))
@wide
def polygamma_of(self: Tensor, n):
    """The ``n``-th derivative of `digamma`."""
    return _polygamma(n, self)


@composite()
def polygamma(n, input, *, out=None):
    """The ``n``-th derivative of `digamma`; the method is ``input.polygamma(n)``.

    >>> torch.polygamma(1, torch.tensor([1.]))
    tensor([1.6449])
    """
    if not isinstance(n, int):
        n, input = input, n
    return polygamma_of(input, n) if out is None else polygamma_of(input, n, out=out)


@composite(function=False)
def polygamma_(input, n):
    """``polygamma``, written back into the tensor."""
    return polygamma_of.inplace_form(input, n)


def _mvlgamma(x, p):
    x = x.astype(jnp.float64) if x.dtype == jnp.float32 else x
    total = jnp.full_like(x, p * (p - 1) / 4 * math.log(math.pi))
    for i in range(p):
        total = total + lax.lgamma(x - i / 2)
    return total


def _mvlgamma_gradient(grad, self, p):
    total = jnp.zeros_like(self)
    for i in range(p):
        total = total + lax.digamma(self - i / 2)
    return grad * total


def _check_mvlgamma(self, p):
    if self.dtype is dtypes.bool:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    refuses("mvlgamma", "complex")(self)


@op("float", inplace=True, out=True, layout="contiguous", check=_check_mvlgamma, grad=_mvlgamma_gradient, double="MulBackward0")
@wide
def mvlgamma(self: Tensor, p):
    """The logarithm of the ``p``-dimensional gamma function.

    >>> torch.mvlgamma(torch.tensor([3.]), 2)
    tensor([1.5502])
    """
    return _mvlgamma(self, p).astype(self.dtype)


def _gamma_density(grad, self, other):
    return grad * jnp.exp((self - 1) * jnp.log(other) - other - lax.lgamma(self))


def _incomplete(function, at_infinite_order):
    """``function`` with PyTorch's value where the order is infinite, and the argument zero; where the order is zero, and the argument
    infinite, it is 1 less that. NaN where both are zero, or infinite, or one is negative."""
    at_zero_order = 1 - at_infinite_order

    def body(a, x):
        a, x = jnp.broadcast_arrays(a, x)
        found = jnp.where(x == jnp.inf, at_zero_order, through_double(function, a, x))
        found = jnp.where(a == jnp.inf, jnp.where(x == jnp.inf, jnp.nan, at_infinite_order), found)
        found = jnp.where(a == 0, jnp.where(x > 0, at_zero_order, jnp.nan), jnp.where(x == 0, at_infinite_order, found))
        return jnp.where((x < 0) | (a < 0), jnp.nan, found).astype(a.dtype)
    return wide(body)


@op("numeric", inplace=True, out=True, check=refuses("igamma_cpu", "bool", "integral", "complex"),
    grad={**no_derivative("'igamma: input'", "self"), "other": wide(_gamma_density)})
def igamma(self: Tensor, other: Tensor):
    """The regularized lower incomplete gamma function of order ``input`` at ``other``.

    >>> torch.igamma(torch.tensor([1.]), torch.tensor([2.]))
    tensor([0.8647])
    """
    return _incomplete(lax.igamma, 0.0)(self, other)


@op("numeric", inplace=True, out=True, check=refuses("igammac_cpu", "bool", "integral", "complex"),
    grad={**no_derivative("'igammac: input'", "self"), "other": wide(lambda grad, self, other: -_gamma_density(grad, self, other))})
def igammac(self: Tensor, other: Tensor):
    """The regularized upper incomplete gamma function of order ``input`` at ``other``.

    >>> torch.igammac(torch.tensor([1.]), torch.tensor([2.]))
    tensor([0.1353])
    """
    return _incomplete(lax.igammac, 1.0)(self, other)


def _zeta(s, q):
    s, q = jnp.broadcast_arrays(s, q)
    return through_double(hurwitz, s, q)


@op("float", name="special_zeta", out=True, function=False, method=False, check=refuses("zeta_cpu", "narrow", "complex"),
    grad={**no_derivative("'zeta'", "self"), "other": lambda grad, self, other: grad * -self * wide(_zeta)(self + 1, other)})
@wide
def special_zeta(self: TensorOrNumber, other: TensorOrNumber):
    """Hurwitz's zeta function."""
    return _zeta(self, other)


# -- slopes of samples ------------------------------------------------------------------------------------------------
# A sample z of a distribution F(z; a) moves with its parameter so that F stays where it is: dz/da = -(dF/da) / (dF/dz), the implicit
# reparametrisation of Figurnov, Mohamed and Mnih (2018). PyTorch approximates these; here they are exact but for rounding.


def _check_slopes(kernel):
    """One of the two types that PyTorch has a kernel for, the same for all."""
    def check(first, *others):
        for other in others:
            if other.dtype is not first.dtype:
                raise RuntimeError(f"Found dtype {dtypes.scalar_name(other.dtype)} but expected {dtypes.scalar_name(first.dtype)}")
        if first.dtype not in (dtypes.float32, dtypes.float64):
            raise NotImplementedError(f'"{kernel}" not implemented for \'{dtypes.scalar_name(first.dtype)}\'')
    return check


@op("numeric", name="_standard_gamma_grad", method=False, check=_check_slopes("_standard_gamma_grad_cpu"), nondiff=("output",),
    grad=no_derivative("'_standard_gamma_grad'", "self"))
def _standard_gamma_grad(self: Tensor, output: Tensor):
    """How a gamma number ``output`` of the concentration ``self`` moves with it."""
    return through_double(lax.random_gamma_grad, *jnp.broadcast_arrays(self, output))


_TERMS = 20_000


def _beta_slope(x, a, b):
    """``dx/da / (1 - x)`` of beta numbers x.

    The distribution function is ``x^a (1 - x)^b / (a B(a, b))`` times the series of terms ``(a + b)_n / (a + 1)_n x^n``, which is quick
    left of the mean; right of it stands 1 less the same of ``1 - x``, a and b exchanged. Its logarithm is differentiated, term by term.
    """
    total = a + b
    left = x < (a + 1) / (total + 2)
    at, first = jnp.where(left, x, 1 - x), jnp.where(left, a, b)

    def going(state):
        n, term, _, series, _ = state
        return (n < _TERMS) & ((term > 1e-17 * series) & (series < jnp.inf)).any()

    def step(state):
        n, term, slope, series, slopes = state
        below = first + 1 + n
        slope = slope + 1 / (total + n) - jnp.where(left, 1 / below, 0)
        term = term * (total + n) / below * at
        return n + 1, term, slope, series + term, slopes + term * slope

    ones, zeros = jnp.ones_like(at), jnp.zeros_like(at)
    _, _, _, series, slopes = lax.while_loop(going, step, (jnp.zeros((), at.dtype), ones, zeros, ones, zeros))
    in_front = jnp.log(x) - lax.digamma(a) + lax.digamma(total) - jnp.where(left, 1 / a, 0)
    slope = jnp.where(left, -1, 1) * x / first * series * (in_front + slopes / series)
    return jnp.where((x <= 0) | (b <= 0), zeros, slope)


@op("numeric", name="_dirichlet_grad", method=False, check=_check_slopes("_dirichlet_grad_cpu"), backward="NotImplemented",
    grad=no_derivative("_dirichlet_grad", "x", "alpha", "total"))
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor):
    """How a share ``x`` of a Dirichlet sample moves with its concentration ``alpha`` of a ``total``, divided by ``1 - x``."""
    def slope(x, alpha, total):
        return _beta_slope(x, alpha, total - alpha)
    return through_double(slope, *jnp.broadcast_arrays(x, alpha, total))
