"""Products of Householder reflections, as LAPACK keeps them: the vectors below the diagonal, their factors apart.

Owns: making them (`geqrf`) and multiplying with them (`ormqr`); `linalg` has the product's first columns and QR itself.
May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ..loops import scan
from ..operator import RAW, Tensor, op
from ..quirks import Quirks
from ..registry import composite
from .composing import put_out
from .factor import adjoint, product
from .matrices import floating, named
from .numeric import no_derivative, not_implemented, size_at


@op(name="geqrf.raw", backward="GeqrfBackward0", layout="columns", outputs=("a", "tau"), grad=no_derivative("'geqrf'", "input"), **RAW,
    quirks=Quirks(real_only="geqrf"))
def geqrf_raw(input: Tensor):
    """(R with the vectors below it, their factors)."""
    packed, tau = jnp.linalg.qr(input, mode="raw")
    return jnp.swapaxes(packed, -1, -2), tau


@composite()
def geqrf(input, *, out=None):
    """``(a, tau)``: R of the QR decomposition, below its diagonal the vectors of the reflections whose product is Q, and their factors.

    >>> torch.geqrf(torch.tensor([[3.0], [4.0]])).tau
    tensor([1.6000])
    """
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    if input.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise not_implemented("geqrf_cpu", input.dtype)
    return put_out("geqrf", named("geqrf", ("a", "tau"), geqrf_raw(input)), out)


def _reflected(vectors, tau, c, adjoint_of):
    """The product of the reflections, or its adjoint, times the columns of ``c``."""
    count, rows = tau.shape[-1], jnp.arange(vectors.shape[-2])

    def step(c, i):
        v = lax.dynamic_index_in_dim(vectors, i, -1, False)
        v = jnp.where(rows < i, jnp.zeros((), v.dtype), jnp.where(rows == i, jnp.ones((), v.dtype), v))
        t = lax.dynamic_index_in_dim(tau, i, -1, False)[..., None, None]
        return c - (jnp.conj(t) if adjoint_of else t) * v[..., :, None] * product(jnp.conj(v)[..., None, :], c), None
    order = jnp.arange(count) if adjoint_of else jnp.arange(count - 1, -1, -1)
    return scan(step, c, order)[0] if count else c


@op(name="ormqr.raw", backward="OrmqrBackward0", layout="columns", **RAW)
def ormqr_raw(input: Tensor, tau: Tensor, other: Tensor, left, transpose):
    """Q times ``other``, or with ``other`` first: C Q is the adjoint of Q^H C^H."""
    if left:
        return _reflected(input, tau, other, transpose)
    return adjoint(_reflected(input, tau, adjoint(other), not transpose))


def _check_ormqr(input, tau, other, left):
    for what, x in (("input", input), ("other", other)):
        if x.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {what} must have at least 2 dimensions.")
    size_at(tau._spec, -1)                                                    # which refuses one of no dimension
    along, side = (-2, "other.shape[-2]") if left else (-1, "other.shape[-1]")
    if other.shape[along] != input.shape[-2]:
        raise RuntimeError(f"torch.ormqr: {side} must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[along], input.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min({side}, input.shape[-1])")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError("torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to "
                           f"{tau.ndim} and input.ndim is equal to {input.ndim}")
    if input.ndim != other.ndim:
        raise RuntimeError("torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
                           f"{other.ndim} and input.ndim is equal to {input.ndim}")
    for what, x, end in (("tau", tau, -1), ("other", other, -2)):
        if x.shape[:end] != input.shape[:-2]:
            raise RuntimeError(f"torch.ormqr: Expected batch dimensions of {what} to be equal to input.shape[:-2], but got "
                               f"{list(x.shape[:end])}")
    for what, x in (("tau", tau), ("other", other)):
        if x.dtype is not input.dtype:
            raise RuntimeError(f"torch.ormqr: Expected input and {what} to have the same dtype, but input has dtype"
                               f"{dtypes.scalar_name(input.dtype)} and {what} has dtype {dtypes.scalar_name(x.dtype)}")


@composite(asked=True)
def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """The product of reflections ``(input, tau)``, as `geqrf` gives them, times ``other``; ``left=False``: behind it; or its adjoint.

    >>> torch.ormqr(*torch.geqrf(torch.tensor([[3.0], [4.0]])), torch.tensor([[3.0], [4.0]]), transpose=True)
    tensor([[-5.],
            [ 0.]])
    """
    _check_ormqr(input, tau, other, left)
    floating("ormqr", input._spec)
    return put_out("ormqr", ormqr_raw(input, tau, other, bool(left), bool(transpose)), out)
