"""Linear algebra: inverses, determinants, QR and LU factors; the functions of `torch.linalg` by ``linalg_<name>``.

Owns: operators of one factorization and the composites that check and look at what came of it. Positive matrices are in `cholesky`,
equations in `solving`. May not know: tensors as objects, but in composites.
"""
import jax.numpy as jnp
from jax import lax

from ...base import sites
from ...base.naming import type_name
from ..loops import scan
from ..operator import RAW, Tensor, op
from ..registry import composite
from . import factor
from .composing import put_out
from .factor import adjoint, product
from .matrices import checked, enough, floating, matrices, named, singular, square
from .right_sides import pivoted, reflected, unpackable

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


@composite("linalg_inv_ex", **RAW, asked=True)
def linalg_inv_ex(A, *, check_errors=False, out=None):
    """The inverse and, instead of an exception, the position of the first zero pivot (0: none).

    >>> torch.linalg.inv_ex(torch.diag(torch.tensor([2., 0.]))).info
    tensor(2, dtype=torch.int32)
    """
    square("linalg.inv", A)
    made = inv_ex_raw(A)
    if check_errors:
        checked(made[1], singular("linalg.inv_ex"))
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
    checked(made[1], singular("linalg.inv"))
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
    """The sign of the determinant of square matrices, and the logarithm of its absolute value.

    >>> torch.linalg.slogdet(torch.diag(torch.tensor([-1., 1.]))).sign
    tensor(-1.)
    """
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


# -- QR and LU --------------------------------------------------------------------------------------------------------

@composite("linalg_qr", **RAW, asked=True)
def linalg_qr(A, mode="reduced", *, out=None):
    """(orthonormal columns, an upper triangle) whose product is the matrix; ``mode``: "reduced", "complete" or "r".

    >>> torch.linalg.qr(torch.ones(3, 2)).R.shape
    torch.Size([2, 2])
    """
    matrices("linalg.qr", A)
    return put_out("linalg_qr", _qr("linalg.qr", A, mode), out)


def _qr(name, A, mode):
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    if mode == "r":
        return factor.qr_r(A)
    tall = A._spec.size[-2] > A._spec.size[-1]
    return factor.qr_complete(A) if mode == "complete" and tall else factor.qr_reduced(A)


@composite(asked=True)
def qr(input, some=True, *, out=None):
    """(orthonormal columns, an upper triangle) whose product is the matrix; ``some=False``: a square first factor.

    >>> q, r = torch.qr(torch.eye(2))
    >>> (q @ r).round()
    tensor([[1., 0.],
            [0., 1.]])
    """
    sites.warn_once("torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
                    "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\n"
                    "should be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')")
    matrices("linalg.qr", input)
    return put_out("qr", named("qr", ("Q", "R"), _qr("qr", input, "reduced" if some else "complete")), out)


@composite("linalg_lu_factor_ex", **RAW, asked=True)
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """Both triangles in one matrix, the rows exchanged, and the first zero pivot (0: none).

    >>> torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    _factored(A)
    _pivots_only(pivot)
    made = factor.lu_factor_ex_raw(A)
    if check_errors:
        checked(made[2], _zero_pivot("torch.linalg.lu_factor_ex"), RuntimeError)
    return put_out("linalg_lu_factor_ex", made, out)


def _zero_pivot(name):
    return lambda k: (name, f"U[{k},{k}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
                      "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")


def _factored(A):
    enough("torch.lu_factor", A._spec)
    matrices("torch.lu_factor", A)


def _pivots_only(pivot):
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@composite("linalg_lu_factor", **RAW, asked=True)
def linalg_lu_factor(A, *, pivot=True, out=None):
    """Both triangles in one matrix, and the rows exchanged (from 1). ``RuntimeError`` where one cannot be solved by them.

    >>> torch.linalg.lu_factor(torch.tensor([[1., 2.], [4., 4.]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """
    _factored(A)
    _pivots_only(pivot)
    lu, pivots, info = factor.lu_factor_ex_raw(A)
    checked(info, _zero_pivot("torch.linalg.lu_factor"), RuntimeError)
    return put_out("linalg_lu_factor", named("linalg_lu_factor", ("LU", "pivots"), (lu, pivots)), out)


@composite()
def lu(input, pivot=True, get_infos=False, *, out=None):
    """(both triangles in one matrix, rows exchanged (from 1)), with ``get_infos`` also the first zero pivot: `linalg.lu_factor`.

    >>> torch.lu(torch.tensor([[1., 2.], [4., 4.]]))[1]
    tensor([2, 2], dtype=torch.int32)
    """
    sites.warn_once("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a future "
                    "PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
                    "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
                    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
                    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)")
    _factored(input)
    if not isinstance(pivot, bool):
        raise TypeError(f"_lu_with_info(): argument 'pivot' must be bool, not {type_name(type(pivot))}")
    _pivots_only(pivot)
    made = factor.lu_factor_ex_raw(input)
    made = named("_lu_with_info", ("LU", "pivots", "info"), made) if get_infos else tuple(made[:2])
    if out is None:
        return made
    if len(out) != len(made):
        raise TypeError(f"expected tuple of {len(made)} elements but got {len(out)}")
    for target, result in zip(out, made, strict=True):
        target.resize_as_(result).copy_(result)
    return out


@composite("lu_unpack", method=False, asked=True)
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(permutation matrix, lower triangle, upper triangle) of what ``linalg.lu_factor`` answers."""
    unpackable(LU_data, LU_pivots if unpack_pivots else None)
    low, up, p = factor.lu_unpack_raw(LU_data, LU_pivots) if unpack_data or unpack_pivots else (None,) * 3
    low, up = (low, up) if unpack_data else factor.lu_unpack_none(LU_data)
    made = (p if unpack_pivots else LU_data.new_empty((0,)), low, up)
    return put_out("lu_unpack", named("lu_unpack", ("P", "L", "U"), made), out)


@composite("linalg_lu", **RAW, asked=True)
def linalg_lu(A, *, pivot=True, out=None):
    """(permutation matrix, lower triangle, upper triangle) whose product is the matrix.

    >>> torch.linalg.lu(torch.tensor([[1., 2.], [4., 4.]])).L
    tensor([[1.0000, 0.0000],
            [0.2500, 1.0000]])
    """
    enough("linalg.lu", A._spec)
    matrices("linalg.lu", A)
    _pivots_only(pivot)
    low, up, p = factor.lu_raw(A)
    return put_out("linalg_lu", named("linalg_lu", ("P", "L", "U"), (p, low, up)), out)


@composite("linalg_lu_solve", **RAW, asked=True)
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """The solution of ``A X = B`` (or ``X A = B``) for the matrix that ``linalg.lu_factor`` factored.

    >>> torch.linalg.lu_solve(*torch.linalg.lu_factor(torch.tensor([[2., 0.], [0., 4.]])), torch.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    pivoted(LU, pivots, B, left)
    return put_out("linalg_lu_solve", factor.lu_solve_raw(LU, pivots, B, bool(left), bool(adjoint)), out)


@composite(asked=True)
def lu_solve(input, LU_data, LU_pivots, *, out=None):
    """The solution of ``A X = input`` for the matrix that ``linalg.lu_factor`` factored."""
    sites.warn_once("torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.\n"
                    "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\n"
                    "should be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)")
    pivoted(LU_data, LU_pivots, input, True)
    return put_out("lu_solve", factor.lu_solve_raw(LU_data, LU_pivots, input, True, False), out)


@op(name="linalg_householder_product.raw", layout="columns", backward="LinalgHouseholderProductBackward0", **RAW)
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
    return scan(step, start, jnp.arange(k - 1, -1, -1))[0] if k else start


@composite("linalg_householder_product", **RAW)
def linalg_householder_product(A, tau, *, out=None):
    """The first columns of a product of Householder reflections.

    >>> torch.linalg.householder_product(torch.zeros(3, 2), torch.zeros(2)).shape
    torch.Size([3, 2])
    """
    reflected(A, tau)
    floating("orgqr", A._spec)
    return put_out("linalg_householder_product", householder_product_raw(A, tau), out)


@composite()
def orgqr(input, tau, *, out=None):
    """Another name of ``linalg.householder_product``.

    >>> torch.orgqr(torch.eye(2), torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return linalg_householder_product(input, tau, out=out)
