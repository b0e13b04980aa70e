"""Linear algebra: inverses, determinants, Cholesky, QR and LU factors; the functions of `torch.linalg` by ``linalg_<name>``.

Owns: operators of one factorization and the composites that check and look at what came of it. Equations are in `solving`.
May not know: tensors as objects, but in composites.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from ..operator import RAW, Tensor, op
from ..registry import composite
from . import factor
from .composing import put_out
from .factor import adjoint, product, together
from .matrices import checked, matrices, named, square
from .numeric import not_implemented


def _singular(name):
    return lambda k: (name, f"The diagonal element {k} is zero, the inversion could not be completed because the input matrix is singular.")


def _not_positive(name):
    return lambda k: (name, "The factorization could not be completed because the input is not positive-definite (the leading minor of "
                      f"order {k} is not positive-definite).")


# -- inverses and determinants ----------------------------------------------------------------------------------------

def _inverse_gradient(grads, result0):
    h = adjoint(result0)
    return -product(product(h, grads[0]), h)


@op(name="linalg_inv_ex_dim.raw", layout="columns", backward="LinalgInvExBackward0", nondiff=(1,), outputs=("inverse", "info"),
    grad={"A": _inverse_gradient}, **RAW)
def inv_ex_raw(A: Tensor):
    """(the inverse, the first zero pivot or 0)."""
    lu, _, rows = lax.linalg.lu(A)
    n = A.shape[-1]
    eye = jnp.broadcast_to(jnp.eye(n, dtype=A.dtype), A.shape)
    b = jnp.take_along_axis(eye, rows[..., None].astype(jnp.int32), -2)
    b = lax.linalg.triangular_solve(lu, b, left_side=True, lower=True, unit_diagonal=True)
    return lax.linalg.triangular_solve(lu, b, left_side=True, lower=False), factor.lu_info(lu)


@composite("linalg_inv_ex", **RAW)
def linalg_inv_ex(A, *, check_errors=False, out=None):
    """The inverse and, instead of an exception, the position of the first zero pivot (0: none)."""
    square("linalg.inv", A)
    made = inv_ex_raw(A)
    if check_errors:
        checked(made[1], _singular("linalg.inv_ex"))
    return put_out("linalg_inv_ex", made, out)


@composite("linalg_inv", **RAW)
def linalg_inv(A, *, out=None):
    """The inverse of square matrices; ``LinAlgError`` if one is singular (so that the values are looked at).

    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    square("linalg.inv", A)
    made = inv_ex_raw(A)
    checked(made[1], _singular("linalg.inv"))
    return put_out("linalg_inv", made[0], out)


@composite()
def inverse(input, *, out=None):
    """The inverse of square matrices; ``LinAlgError`` if one is singular.

    >>> torch.inverse(torch.tensor([[2.]]))
    tensor([[0.5000]])
    """
    return linalg_inv(input, out=out)


@op(name="linalg_det.raw", backward="LinalgDetBackward0", **RAW)
def det_raw(A: Tensor):
    """The determinant."""
    return jnp.linalg.det(A)


@composite()
def det(input, *, out=None):
    """The determinant of square matrices.

    >>> torch.det(torch.tensor([[2., 0.], [0., 4.]]))
    tensor(8.)
    """
    square("linalg.det", input)
    if not input._spec.numel:
        return put_out("linalg_det", input.sum((-1, -2)) + 1, out)
    return put_out("linalg_det", det_raw(input), out)


def _slogdet_gradient(grads, A, result0):
    g = grads[1][..., None, None].astype(A.dtype)
    inverse = adjoint(jnp.linalg.inv(A))
    if not jnp.issubdtype(A.dtype, jnp.complexfloating):
        return g * inverse
    return (grads[1] + 1j * jnp.imag(grads[0] * jnp.conj(result0)))[..., None, None] * inverse


@op(name="linalg_slogdet_dim.raw", backward="LinalgSlogdetBackward0", outputs=("sign", "logabsdet"), grad={"A": _slogdet_gradient}, **RAW)
def slogdet_raw(A: Tensor):
    """(sign, logarithm of the absolute value) of the determinant."""
    sign, log = jnp.linalg.slogdet(A)
    return sign, log


@composite("slogdet")
def slogdet(input, *, out=None):
    """The sign of the determinant of square matrices, and the logarithm of its absolute value.

    >>> torch.slogdet(torch.tensor([[1., 0.], [0., 1.]])).logabsdet
    tensor(0.)
    """
    square("linalg.slogdet", input)
    return put_out("slogdet", named("slogdet", ("sign", "logabsdet"), slogdet_raw(input)), out)


@composite("linalg_slogdet", **RAW)
def linalg_slogdet(A, *, out=None):
    """The sign of the determinant of square matrices, and the logarithm of its absolute value."""
    square("linalg.slogdet", A)
    return put_out("linalg_slogdet", slogdet_raw(A), out)


@composite()
def logdet(input):
    """The logarithm of the determinant of square matrices; NaN where it is negative.

    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    square("logdet", input)
    sign, log = slogdet_raw(input)
    if sign._spec.dtype.is_complex:
        return log + sign.log()
    import jtensor
    return jtensor.where(sign == -1.0, float("nan"), log)


# -- Cholesky ---------------------------------------------------------------------------------------------------------

@composite("linalg_cholesky_ex", **RAW)
def linalg_cholesky_ex(input, *, upper=False, check_errors=False, out=None):
    """The Cholesky factor and, instead of an exception, the order of the first minor that is not positive (0: none)."""
    square("linalg.cholesky", input)
    made = factor.cholesky_ex_raw(input, bool(upper))
    if check_errors:
        checked(made[1], _not_positive("torch.linalg.cholesky_ex"))
    return put_out("linalg_cholesky_ex", made, out)


@composite("linalg_cholesky", **RAW)
def linalg_cholesky(A, *, upper=False, out=None):
    """The triangular factor of positive-definite matrices; ``LinAlgError`` if one is not.

    >>> torch.linalg.cholesky(torch.tensor([[4.]]))
    tensor([[2.]])
    """
    square("linalg.cholesky", A)
    made = factor.cholesky_ex_raw(A, bool(upper))
    checked(made[1], _not_positive("linalg.cholesky"))
    return put_out("linalg_cholesky", made[0], out)


@composite()
def cholesky(input, upper=False, *, out=None):
    """The triangular factor of positive-definite matrices.

    >>> torch.cholesky(torch.tensor([[4.]]))
    tensor([[2.]])
    """
    square("cholesky", input)
    made = factor.cholesky_ex_raw(input, bool(upper))
    checked(made[1], _not_positive("cholesky"))
    return put_out("cholesky", made[0], out)


def _factor_gradient(symmetric, triangle, upper):
    """Of a function of ``L L^H``, whose gradient by that is ``symmetric``: as PyTorch has it, both triangles of the factor get one."""
    return product(triangle, symmetric) if upper else product(symmetric, triangle)


def _by_factor(b, u, upper):
    return _factored(*together(b, u), upper)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _factored(b, u, upper):
    """The solution for a matrix given by its factor; its derivatives of every order have both triangles."""
    solve = lax.linalg.triangular_solve
    if upper:
        b = solve(u, b, left_side=True, lower=False, transpose_a=True, conjugate_a=True)
        return solve(u, b, left_side=True, lower=False)
    b = solve(u, b, left_side=True, lower=True)
    return solve(u, b, left_side=True, lower=True, transpose_a=True, conjugate_a=True)


def _solved_factor(grad, input2, result, upper):
    g, x, u = together(_by_factor(grad, input2, upper), result, input2)
    both = product(g, adjoint(x))
    return _factor_gradient(-(both + adjoint(both)), u, upper)


def _factored_kept(b, u, upper):
    x = _factored(b, u, upper)
    return x, (u, x)


def _factored_turned(upper, kept, ct):
    u, x = kept
    g = jnp.conj(ct)                                               # JAX's cotangent is the conjugate of PyTorch's gradient
    return jnp.conj(_factored(g, u, upper)), jnp.conj(_solved_factor(g, u, x, upper))


_factored.defvjp(_factored_kept, _factored_turned)


@op(name="cholesky_solve.raw", layout="columns", backward="CholeskySolveBackward0", grad={
    "self": lambda grad, input2, upper: _by_factor(grad, input2, upper), "input2": _solved_factor}, **RAW)
def cholesky_solve_raw(self: Tensor, input2: Tensor, upper=False):
    """The solution of ``A X = B`` for a matrix given by its Cholesky factor."""
    return _by_factor(self, input2, upper)


@composite()
def cholesky_solve(input, input2, upper=False, *, out=None):
    """The solution of ``A X = input`` for the matrix whose Cholesky factor is ``input2``.

    >>> torch.cholesky_solve(torch.tensor([[8.]]), torch.tensor([[2.]]))
    tensor([[2.]])
    """
    for name, t in (("b", input), ("u", input2)):
        if t._spec.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t._spec.ndim} dimensions instead")
    return put_out("cholesky_solve", cholesky_solve_raw(input, input2, bool(upper)), out)


def _inverse_factor(grad, self, result, upper):
    return _factor_gradient(-product(product(result, grad + adjoint(grad)), result), self, upper)


@op(name="cholesky_inverse.raw", layout="columns", backward="CholeskyInverseBackward0", grad={"self": _inverse_factor}, **RAW)
def cholesky_inverse_raw(self: Tensor, upper=False):
    """The inverse of a matrix given by its Cholesky factor."""
    eye = jnp.broadcast_to(jnp.eye(self.shape[-1], dtype=self.dtype), self.shape)
    half = lax.linalg.triangular_solve(self, eye, left_side=True, lower=not upper)
    return product(half, adjoint(half)) if upper else product(adjoint(half), half)


@composite()
def cholesky_inverse(input, upper=False, *, out=None):
    """The inverse of the matrix whose Cholesky factor is ``input``.

    >>> torch.cholesky_inverse(torch.tensor([[2.]]))
    tensor([[0.2500]])
    """
    square("cholesky_inverse", input)
    return put_out("cholesky_inverse", cholesky_inverse_raw(input, bool(upper)), out)


# -- QR and LU --------------------------------------------------------------------------------------------------------

@composite("linalg_qr", **RAW)
def linalg_qr(A, mode="reduced", *, out=None):
    """(orthonormal columns, an upper triangle) whose product is the matrix; ``mode``: "reduced", "complete" or "r"."""
    matrices("linalg.qr", A)
    return put_out("linalg_qr", _qr("linalg.qr", A, mode), out)


def _qr(name, A, mode):
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    if mode == "r":
        return factor.qr_r(A)
    tall = A._spec.size[-2] > A._spec.size[-1]
    return factor.qr_complete(A) if mode == "complete" and tall else factor.qr_reduced(A)


@composite()
def qr(input, some=True, *, out=None):
    """(orthonormal columns, an upper triangle) whose product is the matrix; ``some=False``: a square first factor.

    >>> q, r = torch.qr(torch.eye(2))
    >>> (q @ r).round()
    tensor([[1., 0.],
            [0., 1.]])
    """
    matrices("qr", input)
    return put_out("qr", named("qr", ("Q", "R"), _qr("qr", input, "reduced" if some else "complete")), out)


@composite("linalg_lu_factor_ex", **RAW)
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """Both triangles in one matrix, the rows exchanged, and the first zero pivot (0: none)."""
    matrices("torch.linalg.lu_factor_ex", A)
    _pivots_only("torch.linalg.lu_factor", pivot)
    return put_out("linalg_lu_factor_ex", factor.lu_factor_ex_raw(A), out)


def _pivots_only(name, pivot):
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


@composite("linalg_lu_factor", **RAW)
def linalg_lu_factor(A, *, pivot=True, out=None):
    """Both triangles in one matrix, and the rows exchanged (from 1)."""
    matrices("torch.linalg.lu_factor", A)
    _pivots_only("torch.linalg.lu_factor", pivot)
    lu, pivots, _ = factor.lu_factor_ex_raw(A)
    return put_out("linalg_lu_factor", named("linalg_lu_factor", ("LU", "pivots"), (lu, pivots)), out)


@composite()
def lu(input, pivot=True, get_infos=False, *, out=None):
    """(both triangles in one matrix, rows exchanged (from 1)), with ``get_infos`` also the first zero pivot: `linalg.lu_factor`.

    >>> torch.lu(torch.tensor([[1., 2.], [4., 4.]]))[1]
    tensor([2, 2], dtype=torch.int32)
    """
    if input._spec.ndim < 2:
        raise RuntimeError(f"torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: {list(input._spec.size)} instead")
    if input._spec.dtype.category < 2 or input._spec.dtype.itemsize < 4:
        raise not_implemented("lu_cpu", input._spec.dtype)
    _pivots_only("linalg.lu_factor", pivot)
    made = factor.lu_factor_ex_raw(input)
    made = named("_lu_with_info", ("LU", "pivots", "info"), made) if get_infos else tuple(made[:2])
    if out is None:
        return made
    if len(out) != len(made):
        raise TypeError(f"expected tuple of {len(made)} elements but got {len(out)}")
    for target, result in zip(out, made, strict=True):
        target.resize_as_(result).copy_(result)
    return out


@composite("lu_unpack", method=False)
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(permutation matrix, lower triangle, upper triangle) of what ``linalg.lu_factor`` answers."""
    p, low, up = factor.lu_unpack_raw(LU_data, LU_pivots)
    empty = LU_data.new_empty((0,))
    made = (p if unpack_pivots else empty, low if unpack_data else empty, up if unpack_data else empty)
    return put_out("lu_unpack", named("lu_unpack", ("P", "L", "U"), made), out)


@composite("linalg_lu", **RAW)
def linalg_lu(A, *, pivot=True, out=None):
    """(permutation matrix, lower triangle, upper triangle) whose product is the matrix."""
    matrices("linalg.lu", A)
    _pivots_only("linalg.lu", pivot)
    lu, pivots, _ = factor.lu_factor_ex_raw(A)
    return put_out("linalg_lu", named("linalg_lu", ("P", "L", "U"), factor.lu_unpack_raw(lu, pivots)), out)


@composite("linalg_lu_solve", **RAW)
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """The solution of ``A X = B`` (or ``X A = B``) for the matrix that ``linalg.lu_factor`` factored."""
    square("torch.linalg.lu_solve", LU, "LU")
    return put_out("linalg_lu_solve", factor.lu_solve_raw(LU, pivots, B, bool(left), bool(adjoint)), out)


@composite()
def lu_solve(input, LU_data, LU_pivots, *, out=None):
    """The solution of ``A X = input`` for the matrix that ``linalg.lu_factor`` factored."""
    return put_out("lu_solve", factor.lu_solve_raw(LU_data, LU_pivots, input, True, False), out)


@op(name="linalg_householder_product.raw", backward="LinalgHouseholderProductBackward0", **RAW)
def householder_product_raw(input: Tensor, tau: Tensor):
    """The product of reflections, applied to unit columns from the last one to the first."""
    m, n = input.shape[-2:]
    k = tau.shape[-1]
    rows = jnp.arange(m)
    start = jnp.broadcast_to(jnp.eye(m, n, dtype=input.dtype), input.shape)

    def step(q, i):
        v = lax.dynamic_index_in_dim(input, i, -1, False)
        v = jnp.where(rows < i, jnp.zeros((), v.dtype), jnp.where(rows == i, jnp.ones((), v.dtype), v))
        t = lax.dynamic_index_in_dim(tau, i, -1, False)[..., None, None]
        return q - t * v[..., :, None] * product(jnp.conj(v)[..., None, :], q), None
    return lax.scan(step, start, jnp.arange(k - 1, -1, -1))[0] if k else start


@composite("linalg_householder_product", **RAW)
def linalg_householder_product(A, tau, *, out=None):
    """The first columns of a product of Householder reflections."""
    matrices("torch.linalg.householder_product", A, "input")
    return put_out("linalg_householder_product", householder_product_raw(A, tau), out)


@composite()
def orgqr(input, tau, *, out=None):
    """Another name of ``linalg.householder_product``.

    >>> torch.orgqr(torch.eye(2), torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return linalg_householder_product(input, tau, out=out)
