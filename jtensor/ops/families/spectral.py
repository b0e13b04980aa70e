"""Linear algebra: eigenvalues, singular values, and what is made of them; the functions of `torch.linalg` by ``linalg_<name>``.

Owns: pseudoinverses, ranks, exponentials and powers, least squares, matrix norms, tensor equations. May not know: tensors as objects, but
in composites.
"""
import jax
import jax.numpy as jnp
from jax import lax

from ...base import dtypes
from ...base.errors import LinAlgError
from ..operator import Tensor, op
from ..registry import composite
from . import factor
from .composing import put_out
from .factor import adjoint, product, together
from .linalg import inv_ex_raw, linalg_inv, linalg_solve
from .matrices import matrices, named, square
from .numeric import wrap_dim

RAW = {"function": False, "method": False}

# -- eigenvalues and singular values ----------------------------------------------------------------------------------

def _converges(name, A):
    """What LAPACK's iterations cannot take: values that are not finite."""
    import numpy as np
    if not np.isfinite(A.detach().resolve_conj().cpu().numpy()).all():
        if name == "linalg.svd":
            raise LinAlgError("linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.")
        raise LinAlgError(f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                          "eigenvalues (error code: 1).")


@composite("linalg_eigh", **RAW)
def linalg_eigh(A, UPLO="L", *, out=None):
    """(real eigenvalues in order, eigenvectors as columns) of Hermitian matrices, of which one triangle is read.

    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return put_out("linalg_eigh", factor.eigh_raw(A, UPLO.upper()), out)


@composite("linalg_eigvalsh", **RAW)
def linalg_eigvalsh(A, UPLO="L", *, out=None):
    """The real eigenvalues of Hermitian matrices, in order."""
    square("linalg.eigvalsh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return put_out("linalg_eigvalsh", factor.eigh_raw(A, UPLO.upper())[0], out)


@composite("linalg_eig", **RAW)
def linalg_eig(A, *, out=None):
    """(complex eigenvalues, eigenvectors of length 1 as columns) of square matrices."""
    square("linalg.eig", A)
    return put_out("linalg_eig", factor.eig_raw(A), out)


@composite("linalg_eigvals", **RAW)
def linalg_eigvals(A, *, out=None):
    """The complex eigenvalues of square matrices."""
    square("linalg.eigvals", A)
    return put_out("linalg_eigvals", factor.eig_raw(A)[0], out)


@composite("linalg_svd", **RAW)
def linalg_svd(A, full_matrices=True, *, driver=None, out=None):
    """(left vectors as columns, singular values in falling order, right vectors as rows).

    >>> torch.linalg.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    matrices("linalg.svd", A)
    _cpu_driver("torch.linalg.svd", driver)
    _converges("linalg.svd", A)
    return put_out("linalg_svd", factor.svd_raw(A, bool(full_matrices)), out)


def _cpu_driver(name, driver):
    if driver is not None:
        raise RuntimeError(f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")


@composite("linalg_svdvals", **RAW)
def linalg_svdvals(A, *, driver=None, out=None):
    """The singular values, in falling order."""
    matrices("linalg.svdvals", A)
    _cpu_driver("torch.linalg.svd", driver)
    return put_out("linalg_svdvals", factor.svd_raw(A, False)[1], out)


@composite()
def svd(input, some=True, compute_uv=True, *, out=None):
    """(left vectors as columns, singular values in falling order, right vectors as columns).

    >>> torch.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    matrices("linalg.svd", input)
    if not compute_uv:
        s = factor.svd_raw(input, False)[1]
        batch, (m, n) = input._spec.size[:-2], input._spec.size[-2:]
        made = input.new_zeros((*batch, m, m)), s, input.new_zeros((*batch, n, n))
    else:
        u, s, vh = factor.svd_raw(input, not some)
        made = u, s, vh.mH
    return put_out("svd", named("svd", ("U", "S", "V"), made), out)


# -- made of them -----------------------------------------------------------------------------------------------------

def _eps(dtype):
    from ...base.info import finfo
    return finfo(dtype.to_real()).eps


def _cutoffs(values, A, atol, rtol):
    """The smallest singular value that counts, for each matrix."""
    m, n = A._spec.size[-2:]
    if rtol is None:
        has_atol = atol is not None and (not isinstance(atol, (int, float)) or atol > 0)
        rtol = 0.0 if has_atol else max(m, n) * _eps(A._spec.dtype)
    most = values.amax(-1, keepdim=True) if values._spec.size[-1] else values.new_zeros((*values._spec.size[:-1], 1))
    rtol = rtol.unsqueeze(-1) if hasattr(rtol, "_spec") else rtol
    limit = most * rtol
    if atol is None:
        return limit
    atol = atol.unsqueeze(-1) if hasattr(atol, "_spec") else limit.new_full((), float(atol))
    import jtensor
    return jtensor.maximum(atol.to(limit.dtype), limit)


@composite("linalg_matrix_rank", **RAW)
def linalg_matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The number of singular values above a tolerance: the larger of ``atol`` and ``rtol`` times the largest.

    >>> torch.linalg.matrix_rank(torch.eye(3))
    tensor(3)
    """
    matrices("linalg.matrix_rank", A, "input")
    if tol is not None:
        atol, rtol = tol, 0.0
    A = A.detach()
    if not A._spec.numel:
        return put_out("linalg_matrix_rank", A.new_zeros(A._spec.size[:-2], dtype=dtypes.int64), out)
    values = factor.eigh_raw(A, "L")[0].abs() if hermitian else factor.svd_raw(A, False)[1]
    return put_out("linalg_matrix_rank", (values > _cutoffs(values, A, atol, rtol)).sum(-1), out)


@op(name="linalg_pinv.raw", backward="LinalgPinvBackward0", nondiff=("limit",), grad={
    "A": lambda grad, A, result: _pinv_gradient(grad, A, result)}, **RAW)
def pinv_raw(A: Tensor, limit: Tensor, hermitian):
    """The pseudoinverse, singular values up to a limit counted as zero."""
    if hermitian:
        full = jnp.tril(A) + adjoint(jnp.tril(A, -1))
        v, w = lax.linalg.eigh(full, symmetrize_input=False)
        keep = jnp.abs(w) > limit
        inverse = jnp.where(keep, 1 / jnp.where(keep, w, 1), 0).astype(A.dtype)
        return product(v * inverse[..., None, :], adjoint(v))
    u, s, vh = lax.linalg.svd(A, full_matrices=False)
    keep = s > limit
    inverse = jnp.where(keep, 1 / jnp.where(keep, s, 1), 0).astype(A.dtype)
    return product(adjoint(vh) * inverse[..., None, :], adjoint(u))


def _pinv_gradient(grad, A, result):
    """Golub and Pereyra's formula, turned round for the gradient."""
    p, h = adjoint(result), adjoint(grad)
    rows = jnp.eye(A.shape[-2], dtype=A.dtype) - product(A, result)
    columns = jnp.eye(A.shape[-1], dtype=A.dtype) - product(result, A)
    return (-product(product(p, grad), p) + product(rows, product(h, product(result, p)))
            + product(product(product(p, result), h), columns))


@composite("linalg_pinv", **RAW)
def linalg_pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The pseudoinverse; singular values up to the larger of ``atol`` and ``rtol`` times the largest count as zero.

    >>> torch.linalg.pinv(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    matrices("linalg.pinv", A, "input")
    if rcond is not None:
        rtol = rcond
    if not A._spec.numel:
        return put_out("linalg_pinv", A.mH.clone(), out)
    fixed = A.detach()
    values = factor.eigh_raw(fixed, "L")[0].abs() if hermitian else factor.svd_raw(fixed, False)[1]
    return put_out("linalg_pinv", pinv_raw(A, _cutoffs(values, fixed, atol, rtol), bool(hermitian)), out)


@composite()
def pinverse(input, rcond=1e-15):
    """The pseudoinverse; singular values up to ``rcond`` times the largest count as zero.

    >>> torch.pinverse(torch.tensor([[2.]]))
    tensor([[0.5000]])
    """
    return linalg_pinv(input, rcond)


def _expm(a):
    n = a.shape[-1]
    flat = a.reshape(-1, n, n)
    return jax.vmap(jax.scipy.linalg.expm)(flat).reshape(a.shape) if flat.shape[0] and n else a


def _expm_gradient(grad, self):
    """The upper right block of the exponential of ``[[A^H, G], [0, A^H]]``."""
    h, n = adjoint(self), self.shape[-1]
    block = jnp.concatenate([jnp.concatenate([h, grad], -1), jnp.concatenate([jnp.zeros_like(h), h], -1)], -2)
    return _expm(block)[..., :n, n:]


@op(name="matrix_exp.raw", backward="LinalgMatrixExpBackward0", grad={"self": _expm_gradient}, **RAW)
def matrix_exp_raw(self: Tensor):
    """The exponential of square matrices."""
    return _expm(self)


@composite()
def matrix_exp(input):
    """The exponential of square matrices.

    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    square("linalg.matrix_exp", input)
    return matrix_exp_raw(input)


@composite()
def matrix_power(input, n, *, out=None):
    """The ``n``-th power of square matrices; a negative one of the inverse.

    >>> torch.matrix_power(torch.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    s = input._spec
    if s.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if s.size[-1] != s.size[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, but they are {s.size[-2]} by {s.size[-1]} matrices")
    return put_out("linalg_matrix_power", _power(input, n), out)


def _power(a, n):
    if n == 0:
        import jtensor
        return jtensor.eye(a._spec.size[-1], dtype=a.dtype, device=a.device).expand(a._spec.size).clone()
    if n < 0:
        a, n = linalg_inv(a), -n
    if n == 1:
        return a.clone() if a.requires_grad is False else a
    if n == 3:
        return a @ a @ a
    result = None
    while n:
        if n & 1:
            result = a if result is None else result @ a
        n >>= 1
        if n:
            a = a @ a
    return result


# -- least squares ----------------------------------------------------------------------------------------------------

@op(name="linalg_lstsq.raw", backward="LinalgLstsqBackward0", nondiff=(1, 2), **RAW)
def lstsq_raw(self: Tensor, b: Tensor, rcond):
    """(solution, rank, singular values): of least length where several are as good."""
    a, b = together(self, b)
    u, s, vh = lax.linalg.svd(a, full_matrices=False)
    keep = s > rcond * s.max(-1, keepdims=True) if s.shape[-1] else s > 0
    inverse = jnp.where(keep, 1 / jnp.where(keep, s, 1), 0).astype(a.dtype)
    x = product(adjoint(vh), inverse[..., :, None] * product(adjoint(u), b))
    return x, keep.sum(-1).astype(jnp.int64), s


@composite("linalg_lstsq", **RAW)
def linalg_lstsq(A, B, rcond=None, *, driver=None, out=None):
    """(solution, residuals, rank, singular values) of the least squares problem ``min |A X - B|``.

    >>> torch.linalg.lstsq(torch.tensor([[1.], [1.]]), torch.tensor([[1.], [3.]])).solution
    tensor([[2.0000]])
    """
    matrices("torch.linalg.lstsq", A, "input")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    driver = driver or "gelsy"
    if A._spec.dtype is not B._spec.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                           f"{dtypes.scalar_name(A._spec.dtype)} and other's dtype {dtypes.scalar_name(B._spec.dtype)}")
    m, n = A._spec.size[-2:]
    vector = B._spec.ndim == A._spec.ndim - 1 and tuple(B._spec.size) == tuple(A._spec.size[:-1])
    if (B._spec.size[-1] if vector else B._spec.size[-2]) != m:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({'-1' if vector else '-2'})")
    right = B.unsqueeze(-1) if vector else B
    limit = float(rcond) if rcond is not None else _eps(A._spec.dtype) * max(m, n)
    x, rank, s = lstsq_raw(A, right, limit)
    empty = A.new_empty((0,), dtype=A.dtype.to_real())
    residuals = x.flatten()[:0].abs()
    if m > n and driver != "gelsy" and bool((rank == n).all()):
        away = (A @ x - right).abs()
        residuals = (away * away).sum(-2)
    solution = x.squeeze(-1) if vector else x
    rank = rank if driver != "gels" else A.new_empty((0,), dtype=dtypes.int64)
    values = s if driver in ("gelsd", "gelss") else empty
    made = named("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"), (solution, residuals, rank, values))
    return put_out("linalg_lstsq", made, out)


# -- norms ------------------------------------------------------------------------------------------------------------

def _vector_norm(A, ord, dim, keepdim, dtype):
    from .norms import linalg_vector_norm
    return linalg_vector_norm(A, ord, dim, keepdim, dtype=dtype)


@composite("linalg_matrix_norm", **RAW)
def linalg_matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """A norm of matrices: "fro", "nuc", inf, -inf, 1, -1, 2 or -2."""
    s = A._spec
    _floating_norm("linalg.matrix_norm", s)
    if s.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = wrap_dim(dim[0], s.ndim), wrap_dim(dim[1], s.ndim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return put_out("linalg_matrix_norm", _vector_norm(A, 2, (rows, columns), keepdim, dtype), out)
    if ord not in ("nuc", 2, -2, 1, -1, float("inf"), -float("inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    A = A if dtype is None else A.to(dtype)
    if ord in ("nuc", 2, -2):
        values = linalg_svdvals(A.permute(*[d for d in range(s.ndim) if d not in (rows, columns)], rows, columns))
        made = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                made = made.unsqueeze(d)
        return put_out("linalg_matrix_norm", made, out)
    summed, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _vector_norm(A, 1, (summed,), keepdim, None)
    if not keepdim and over > summed:
        over -= 1
    made = sums.amax(over, keepdim) if ord > 0 else sums.amin(over, keepdim)
    return put_out("linalg_matrix_norm", made, out)


def _floating_norm(name, s):
    if s.dtype.category < 2:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {dtypes.scalar_name(s.dtype)}")


@composite("linalg_norm", **RAW)
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """A vector or matrix norm, as ``dim`` and the number of dimensions say; without ``ord`` the 2-norm of all elements.

    >>> torch.linalg.norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    dims = dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)
    if ord is None:
        return put_out("linalg_norm", _vector_norm(A, 2, None if dims is None else tuple(dims), keepdim, dtype), out)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is specified, it must be of length 1 or 2. Got [" + ", ".join(map(str, dims)) + "]")
    if dims is None and A._spec.ndim not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{A._spec.ndim}D.")
    if isinstance(ord, str) or (len(dims) == 2 if dims is not None else A._spec.ndim == 2):
        return linalg_matrix_norm(A, ord, (0, 1) if dims is None else tuple(dims), keepdim, dtype=dtype, out=out)
    return put_out("linalg_norm", _vector_norm(A, ord, None if dims is None else tuple(dims), keepdim, dtype), out)


@composite("linalg_cond", **RAW)
def linalg_cond(A, p=None, *, out=None):
    """The condition number: the norm times that of the inverse."""
    matrices("linalg.cond", A)
    if p is None or p in (2, -2):
        values = linalg_svdvals(A)
        first, last = values.narrow(-1, 0, 1), values.narrow(-1, values._spec.size[-1] - 1, 1)
        return put_out("linalg_cond", (last / first if p == -2 else first / last).squeeze(-1), out)
    square("linalg.cond", A)
    if p == "nuc":
        return put_out("linalg_cond", linalg_matrix_norm(A, p) * linalg_matrix_norm(linalg_inv(A), p), out)
    inverse, info = inv_ex_raw(A)
    made = linalg_matrix_norm(A, p) * linalg_matrix_norm(inverse, p)
    import jtensor
    return put_out("linalg_cond", jtensor.where(info == 0, made, float("inf")), out)


@composite("linalg_vecdot", **RAW)
def linalg_vecdot(x, y, *, dim=-1, out=None):
    """The dot products along ``dim``, the first vector conjugated."""
    for t in (x, y):
        _floating_norm("linalg.vecdot", t._spec)
    return put_out("linalg_vecdot", (x.conj() * y).sum(dim), out)


@composite("linalg_diagonal", **RAW)
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices; a view."""
    return A.diagonal(offset, dim1, dim2)


@composite("linalg_vander", **RAW)
def linalg_vander(x, *, N=None):
    """The powers ``0`` to ``N - 1`` of each element along a new last dimension."""
    import jtensor
    if x._spec.dtype is dtypes.bool:
        raise RuntimeError("linalg.vander: x must be an integer, floating point or complex tensor but got Bool")
    x = x if x._spec.ndim else x.unsqueeze(0)
    n = x._spec.size[-1] if N is None else N
    if n <= 1:
        raise RuntimeError(f"N must be greater than 1, got {n}.")
    powers = x.unsqueeze(-1).expand(*x._spec.size, n - 1).cumprod(-1)
    return jtensor.cat([powers.new_ones((*x._spec.size, 1)), powers], -1)


@composite("linalg_tensorinv", **RAW)
def linalg_tensorinv(A, ind=2, *, out=None):
    """The inverse of the map that ``tensordot(A, ., A.ndim - ind)`` is."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    size = list(A._spec.size)
    rows, columns = _total(size[:ind]), _total(size[ind:])
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
                           f"{columns} != {rows}")
    return put_out("linalg_tensorinv", linalg_inv(A.reshape(rows, columns)).reshape(*size[ind:], *size[:ind]), out)


def _total(sizes):
    n = 1
    for size in sizes:
        n *= size
    return n


@composite("linalg_tensorsolve", **RAW)
def linalg_tensorsolve(A, B, dims=None, *, out=None):
    """The solution ``X`` of ``tensordot(A, X) = B``."""
    n = A._spec.ndim
    if dims is not None:
        moved = [wrap_dim(d, n) for d in dims]
        A = A.permute(*[d for d in range(n) if d not in moved], *moved)
    rest = list(A._spec.size[B._spec.ndim:])
    columns, rows = _total(rest), _total(A._spec.size[:B._spec.ndim])
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
                           f"got {columns} != {rows}")
    return put_out("linalg_tensorsolve", linalg_solve(A.reshape(rows, columns), B.flatten()).reshape(rest), out)


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
def orgqr(input, tau):
    """Another name of ``linalg.householder_product``.

    >>> torch.orgqr(torch.eye(2), torch.zeros(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return linalg_householder_product(input, tau)
