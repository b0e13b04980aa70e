"""Factorizations of matrices: Cholesky, QR, LU, eigenvalues, singular values; with PyTorch's gradients.

Owns: the operators and what failed inside them (``info``), never an exception: that is raised by composites in `linalg` and its
neighbours, which look. Matrices are the last two dimensions. May not know: tensors.
"""
import jax.numpy as jnp
from jax import lax

from ..loops import fori_loop
from ..operator import RAW, Tensor, op


def adjoint(x):
    """The conjugate transpose."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def product(a, b):
    """``a @ b`` in full precision."""
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


def together(*arrays):
    """Batches broadcast."""
    batch = jnp.broadcast_shapes(*[a.shape[:-2] for a in arrays])
    return [jnp.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]


def _times_column(x, v):
    return x * v[..., None, :]


# -- Cholesky ---------------------------------------------------------------------------------------------------------

def _as_far_as_it_comes(a):
    """(LAPACK's factor of a matrix that is not positive definite, the order of the first leading minor that is not positive).

    The elimination carried out column by column; from the first pivot that is not positive on the matrix stays as it was, but for that
    pivot. LAPACK goes by blocks in matrices of more than 128 rows, and leaves more of theirs changed.
    """
    n = a.shape[-1]
    rows = jnp.arange(n)

    def step(k, state):
        a, made, found = state
        column = lax.dynamic_index_in_dim(a, k, -1, False)
        pivot = lax.dynamic_index_in_dim(column, k, -1, False).real
        goes_on = (found == 0) & (pivot > 0)
        root = jnp.sqrt(jnp.where(goes_on, pivot, 1)).astype(a.dtype)
        diagonal = jnp.where(goes_on, root, pivot.astype(a.dtype))[..., None]
        column = jnp.where(goes_on[..., None], column, 0)
        old = lax.dynamic_index_in_dim(made, k, -1, False)
        new = jnp.where(rows == k, diagonal, jnp.where(goes_on[..., None] & (rows > k), column / root[..., None], old))
        made = lax.dynamic_update_index_in_dim(made, jnp.where((found == 0)[..., None], new, old), k, -1)
        found = jnp.where((found == 0) & ~goes_on, k + 1, found)
        safe = jnp.where(goes_on, pivot, 1).astype(a.dtype)
        return a - column[..., :, None] * jnp.conj(column)[..., None, :] / safe[..., None, None], made, found
    return fori_loop(0, n, step, (a, jnp.tril(a), jnp.zeros(a.shape[:-2], jnp.int32)))[1:]


def _cholesky(a, upper):
    if not a.size:
        return a, jnp.zeros(a.shape[:-2], jnp.int32)
    if upper:
        a = adjoint(a)
    lower = jnp.tril(a)
    full = lower + adjoint(jnp.tril(a, -1))
    factor = lax.linalg.cholesky(full, symmetrize_input=False)
    failed = (factor != factor).any((-1, -2))

    def partly(x):
        made, info = _as_far_as_it_comes(x)
        return jnp.where(failed[..., None, None], made, factor), jnp.where(failed, info, 0)

    factor, info = lax.cond(failed.any(), partly, lambda x: (factor, jnp.zeros(x.shape[:-2], jnp.int32)), full)
    factor = jnp.tril(factor)
    return (adjoint(factor) if upper else factor), info.astype(jnp.int32)


def _cholesky_gradient(grads, result0, upper):
    factor, g = (adjoint(result0), adjoint(grads[0])) if upper else (result0, grads[0])
    inner = jnp.tril(product(adjoint(factor), g))             # of a complex diagonal PyTorch keeps the imaginary part
    inner = inner + adjoint(jnp.tril(inner, -1))
    left = lax.linalg.triangular_solve(factor, inner, left_side=True, lower=True, transpose_a=True, conjugate_a=True)
    return lax.linalg.triangular_solve(factor, left, left_side=False, lower=True) / 2


@op(name="linalg_cholesky_ex_dim.raw", layout="columns", backward="LinalgCholeskyExBackward0", nondiff=(1,), outputs=("L", "info"),
    grad={"self": _cholesky_gradient}, **RAW)
def cholesky_ex_raw(self: Tensor, upper=False):
    """(the triangular factor, the order of the first minor that is not positive or 0)."""
    return _cholesky(self, upper)


@op(name="cholesky_dim.raw", layout="columns", backward="CholeskyBackward0", nondiff=(1,), outputs=("L", "info"),
    grad={"self": _cholesky_gradient}, **RAW)
def cholesky_raw(self: Tensor, upper=False):
    """The same for the older function, whose node has its name."""
    return _cholesky(self, upper)


# -- QR ---------------------------------------------------------------------------------------------------------------

def _reduced(a):
    """The factors; of a wide matrix those of its first square part, whose Q turns the rest."""
    m, n = a.shape[-2:]
    if m >= n:
        return tuple(lax.linalg.qr(a, full_matrices=False))
    q, r = lax.linalg.qr(a[..., :m], full_matrices=False)
    return q, jnp.concatenate([r, product(adjoint(q), a[..., m:])], -1)


@op(name="linalg_qr_dim.reduced", layout="columns", backward="LinalgQrBackward0", outputs=("Q", "R"), **RAW)
def qr_reduced(A: Tensor):
    """(orthonormal columns, an upper triangle), as small as possible."""
    return _reduced(A)


def _refuses(text):
    """The formula of a result that has no gradient: it is refused when the backward is asked for, before it is traced."""
    def formula(grads):
        raise RuntimeError(text)
    formula.never = lambda mark: RuntimeError(text)
    return {"A": formula}


@op(name="linalg_qr_dim.complete", layout="columns", backward="LinalgQrBackward0", outputs=("Q", "R"), **RAW, grad=_refuses(
    "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."))
def qr_complete(A: Tensor):
    """(a square orthonormal matrix, an upper triangle) of a tall matrix."""
    return tuple(lax.linalg.qr(A, full_matrices=True))


@op(name="linalg_qr_dim.r", layout="columns", backward="LinalgQrBackward0", outputs=("Q", "R"), **RAW, grad=_refuses(
    "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
    "mode='reduced') if you are going to differentiate through linalg.qr."))
def qr_r(A: Tensor):
    """(nothing, the upper triangle)."""
    return jnp.zeros((0,), A.dtype), _reduced(A)[1]


# -- LU ---------------------------------------------------------------------------------------------------------------

def lu_info(lu):
    """The position (from 1) of the first zero on the diagonal, or 0."""
    zero = jnp.diagonal(lu, axis1=-2, axis2=-1) == 0
    if not zero.shape[-1]:
        return jnp.zeros(zero.shape[:-1], jnp.int32)
    return jnp.where(zero.any(-1), jnp.argmax(zero, -1) + 1, 0).astype(jnp.int32)


@op(name="linalg_lu_factor_ex_dim.raw", layout="columns", backward="LinalgLuFactorExBackward0", nondiff=(1, 2),
    outputs=("LU", "pivots", "info"), **RAW)
def lu_factor_ex_raw(A: Tensor):
    """(both triangles in one matrix, rows exchanged (from 1), the first zero pivot or 0)."""
    lu, pivots, _ = lax.linalg.lu(A)
    return lu, (pivots + 1).astype(jnp.int32), lu_info(lu)


def permutation_of(pivots, n):
    """The permutation that exchanges of rows (from 1) amount to."""
    return lax.linalg.lu_pivots_to_permutation(pivots.astype(jnp.int32) - 1, n)


def _unpacked(LU, pivots):
    m, n = LU.shape[-2:]
    k = min(m, n)
    lower = jnp.tril(LU[..., :, :k], -1) + jnp.eye(m, k, dtype=LU.dtype)
    rows = permutation_of(pivots, m)
    places = (rows[..., None, :] == jnp.arange(m)[:, None]).astype(LU.dtype)
    return lower, jnp.triu(LU[..., :k, :]), places


@op(name="lu_unpack_dim.raw", backward="LuUnpackBackward0", nondiff=("pivots", 2), **RAW)
def lu_unpack_raw(LU: Tensor, pivots: Tensor):
    """(lower triangle, upper triangle, permutation matrix): the last one is no output of PyTorch's node."""
    return _unpacked(LU, pivots)


def _nothing_to_give(grad, LU):
    """There is none: PyTorch's formula makes an error of the gradient of what has no elements."""


_nothing_to_give.never = lambda suffix: RuntimeError("tril: input tensor must have at least 2 dimensions")


@op(name="lu_unpack_dim.none", backward="LuUnpackBackward0", grad={"LU": _nothing_to_give}, **RAW)
def lu_unpack_none(LU: Tensor):
    """What stands for the triangles where they are not asked for: two tensors of no elements, with PyTorch's node."""
    return jnp.zeros((0,), LU.dtype), jnp.zeros((0,), LU.dtype)


@op(name="linalg_lu_dim.raw", backward="LinalgLuBackward0", nondiff=(2,), **RAW)
def lu_raw(A: Tensor):
    """(lower triangle, upper triangle, permutation matrix)."""
    lu, pivots, _ = lax.linalg.lu(A)
    return _unpacked(lu, pivots + 1)


@op(name="linalg_lu_solve.raw", layout="columns", backward="LinalgLuSolveBackward0", nondiff=("pivots",), **RAW)
def lu_solve_raw(LU: Tensor, pivots: Tensor, B: Tensor, left=True, adjoint=False):
    """The solution of ``A X = B`` (or ``X A = B``) for a matrix that is factored."""
    n = LU.shape[-1]
    batch = jnp.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    lu = jnp.broadcast_to(LU, (*batch, n, n))
    rows = jnp.broadcast_to(permutation_of(pivots, n), (*batch, n))
    b = jnp.broadcast_to(B, (*batch, *B.shape[-2:]))
    if not left:
        return _swap(_lu_apply(lu, rows, _swap(b), not adjoint, conjugate=adjoint))
    return _lu_apply(lu, rows, b, adjoint, conjugate=adjoint)


def _swap(x):
    return jnp.swapaxes(x, -1, -2)


def _lu_apply(lu, rows, b, transposed, conjugate):
    solve = lax.linalg.triangular_solve
    if not transposed:
        if conjugate:
            lu = jnp.conj(lu)
        b = jnp.take_along_axis(b, rows[..., None], -2)
        b = solve(lu, b, left_side=True, lower=True, unit_diagonal=True)
        return solve(lu, b, left_side=True, lower=False)
    b = solve(lu, b, left_side=True, lower=False, transpose_a=True, conjugate_a=conjugate)
    b = solve(lu, b, left_side=True, lower=True, unit_diagonal=True, transpose_a=True, conjugate_a=conjugate)
    back = jnp.argsort(rows, -1)
    return jnp.take_along_axis(b, back[..., None], -2)


# -- eigenvalues ------------------------------------------------------------------------------------------------------

def _gaps(values):
    """Differences of eigenvalues, 1 on the diagonal."""
    away = values[..., None, :] - values[..., :, None]
    return away + jnp.eye(values.shape[-1], dtype=values.dtype)


def _eigh_gradient(grads, result0, result1, defined):
    values, v = result0, result1
    g_values, g_v = grads
    if 1 not in defined:                                           # equal eigenvalues do no harm: only eigenvectors are torn apart by them
        return product(v * g_values[..., None, :].astype(v.dtype), adjoint(v))
    inner = product(adjoint(v), g_v)
    gaps = _gaps(values).astype(v.dtype)
    off = 1 - jnp.eye(values.shape[-1], dtype=v.dtype)
    middle = inner / gaps * off + (jnp.eye(values.shape[-1], dtype=v.dtype) * g_values[..., None, :].astype(v.dtype))
    total = product(product(v, middle), adjoint(v))
    return (total + adjoint(total)) / 2


@op(name="linalg_eigh_dim.raw", layout="columns", backward="LinalgEighBackward0",
    outputs=("eigenvalues", "eigenvectors"), grad={"A": _eigh_gradient}, **RAW)
def eigh_raw(A: Tensor, UPLO="L"):
    """(real eigenvalues in order, eigenvectors as columns) of a Hermitian matrix of which one triangle is read."""
    a = A if UPLO.upper() == "L" else adjoint(A)
    full = jnp.tril(a) + adjoint(jnp.tril(a, -1))
    v, w = lax.linalg.eigh(full, symmetrize_input=False)
    return w, v


def _eig_gradient(grads, result0, result1, shapes, defined):
    values, v = result0, result1
    g_values, g_v = grads
    if 1 not in defined:
        return jnp.linalg.solve(adjoint(v), g_values[..., :, None] * adjoint(v))
    inner = product(adjoint(v), g_v)
    gram = product(adjoint(v), v)
    diagonal = jnp.real(jnp.diagonal(inner, axis1=-2, axis2=-1)).astype(v.dtype)
    eye = jnp.eye(values.shape[-1], dtype=v.dtype)
    middle = (inner - _times_column(gram, diagonal)) / jnp.conj(_gaps(values)) * (1 - eye) + eye * g_values[..., None, :]
    return jnp.linalg.solve(adjoint(v), product(middle, adjoint(v)))


@op(name="linalg_eig_dim.raw", layout="columns", backward="LinalgEigBackward0",
    outputs=("eigenvalues", "eigenvectors"), grad={"self": _eig_gradient}, **RAW)
def eig_raw(self: Tensor):
    """(complex eigenvalues, eigenvectors of length 1 as columns)."""
    return tuple(lax.linalg.eig(self, compute_left_eigenvectors=False))


# -- singular values --------------------------------------------------------------------------------------------------

def _svd_gradient(grads, result0, result1, result2, full_matrices, shapes, defined):
    k = result1.shape[-1]
    m, n = shapes[0][-2:]
    u, s, vh = result0[..., :k], result1, result2[..., :k, :]
    if 0 not in defined and 2 not in defined:
        return product(u * grads[1][..., None, :].astype(u.dtype), vh)
    g_u, g_s, g_vh = grads[0][..., :k], grads[1], grads[2][..., :k, :]
    v, g_v = adjoint(vh), adjoint(g_vh)
    eye = jnp.eye(k, dtype=s.dtype)
    squares = s * s
    gaps = squares[..., None, :] - squares[..., :, None]
    gaps = jnp.where(eye != 0, jnp.ones_like(gaps), gaps).astype(u.dtype)
    off = (1 - eye).astype(u.dtype)

    def skew(x):
        return x - adjoint(x)
    s_row = s[..., None, :].astype(u.dtype)
    s_column = s[..., :, None].astype(u.dtype)
    inner = skew(product(adjoint(u), g_u)) / gaps * off * s_row + s_column * (skew(product(adjoint(v), g_v)) / gaps * off)
    middle = inner + eye.astype(u.dtype) * g_s[..., None, :].astype(u.dtype)
    if jnp.issubdtype(u.dtype, jnp.complexfloating):
        phase = jnp.diagonal(product(adjoint(u), g_u), axis1=-2, axis2=-1)
        middle = middle + eye * (1j * jnp.imag(phase) / s)[..., None, :]
    total = product(product(u, middle), vh)
    safe = s[..., None, :].astype(u.dtype)
    if m > k:
        rest = g_u / safe
        total = total + product(rest - product(u, product(adjoint(u), rest)), vh)
    if n > k:
        rest = g_v / safe
        total = total + product(u, adjoint(rest - product(v, product(adjoint(v), rest))))
    return total


@op(name="linalg_svd_dim.raw", layout="columns", backward="LinalgSvdBackward0", outputs=("U", "S", "Vh"), grad={"A": _svd_gradient}, **RAW)
def svd_raw(A: Tensor, full_matrices=True):
    """(left vectors as columns, singular values in falling order, right vectors as rows)."""
    u, s, vh = lax.linalg.svd(A, full_matrices=full_matrices, compute_uv=True)
    return u, s, vh
