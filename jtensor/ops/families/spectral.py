"""Linear algebra: eigenvalues, singular values, and what is made of them; the functions of `torch.linalg` by ``linalg_<name>``.

Owns: pseudoinverses, ranks, exponentials and powers of matrices. Norms of matrices are in `matrix_norms`, least squares in `solving`.
May not know: tensors as objects, but in composites.
"""
import jax
import jax.numpy as jnp
from jax import lax

from ...base import devices, dtypes
from ...base.errors import LinAlgError
from ..loops import expm
from ..operator import RAW, Tensor, op
from ..registry import composite
from . import factor
from .composing import put_out
from .factor import adjoint, product
from .linalg import linalg_inv
from .matrices import eps, matrices, named, square

# -- eigenvalues and singular values ----------------------------------------------------------------------------------

def _converges(name, A):
    """What LAPACK's iterations cannot take: values that are not finite."""
    import numpy as np

    from ...tensor.lifted.batching import whole
    if A._spec.device is not devices.meta and not np.isfinite(whole(A).detach().resolve_conj().resolve_neg().cpu().numpy()).all():
        if name == "linalg.eig":
            raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
        if name == "linalg.svd":
            raise LinAlgError("linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.")
        raise LinAlgError(f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                          "eigenvalues (error code: 1).")


@composite("linalg_eigh", **RAW, asked=True)
def linalg_eigh(A, UPLO="L", *, out=None):
    """(real eigenvalues in order, eigenvectors as columns) of Hermitian matrices, of which one triangle is read.

    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return put_out("linalg_eigh", factor.eigh_raw(A, UPLO.upper()), out)


@composite("linalg_eigvalsh", **RAW, asked=True)
def linalg_eigvalsh(A, UPLO="L", *, out=None):
    """The real eigenvalues of Hermitian matrices, in order.

    >>> torch.linalg.eigvalsh(torch.tensor([[2., 1.], [1., 2.]]))
    tensor([1., 3.])
    """
    square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return put_out("linalg_eigvalsh", factor.eigh_raw(A, UPLO.upper())[0], out)


@composite("linalg_eig", **RAW)
def linalg_eig(A, *, out=None):
    """(complex eigenvalues, eigenvectors of length 1 as columns) of square matrices.

    >>> torch.linalg.eig(torch.diag(torch.tensor([1., 2.]))).eigenvalues
    tensor([1.+0.j, 2.+0.j])
    """
    A._spec.dtype.computed_complex()                               # there is none of integers
    square("linalg.eig", A)
    _converges("linalg.eig", A)
    return put_out("linalg_eig", factor.eig_raw(A), out)


@composite("linalg_eigvals", **RAW)
def linalg_eigvals(A, *, out=None):
    """The complex eigenvalues of square matrices.

    >>> torch.linalg.eigvals(torch.tensor([[0., 1.], [-1., 0.]])).imag.sort().values
    tensor([-1.,  1.])
    """
    A._spec.dtype.computed_complex()
    square("linalg.eigvals", A)
    _converges("linalg.eig", A)
    return put_out("linalg_eigvals", factor.eig_raw(A)[0], out)


@composite("linalg_svd", **RAW, asked=True)
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


@composite("linalg_svdvals", **RAW, asked=True)
def linalg_svdvals(A, *, driver=None, out=None):
    """The singular values, in falling order.

    >>> torch.linalg.svdvals(torch.diag(torch.tensor([2., -3.])))
    tensor([3., 2.])
    """
    matrices("linalg.svd", A)
    _cpu_driver("torch.linalg.svd", driver)
    return put_out("linalg_svdvals", factor.svd_raw(A, False)[1], out)


@composite(asked=True)
def svd(input, some=True, compute_uv=True, *, out=None):
    """(left vectors as columns, singular values in falling order, right vectors as columns).

    >>> torch.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    if input._spec.ndim < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {input._spec.ndim} dimensions instead")
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

def _real_limits(function, **limits):
    """Refuses tolerances that are tensors of complex numbers."""
    for name, limit in limits.items():
        if hasattr(limit, "_spec") and limit._spec.dtype.is_complex:
            raise RuntimeError(f"torch.linalg.{function}: {name} tensor of complex type is not supported. Got "
                               f"{dtypes.scalar_name(limit._spec.dtype)}")


def _cutoffs(values, A, atol, rtol):
    """The smallest singular value that counts, for each matrix."""
    m, n = A._spec.size[-2:]
    if rtol is None:
        has_atol = atol is not None and (not isinstance(atol, (int, float)) or atol > 0)
        rtol = 0.0 if has_atol else max(m, n) * eps(A._spec.dtype)
    most = values.amax(-1, keepdim=True) if values._spec.size[-1] else values.new_zeros((*values._spec.size[:-1], 1))
    rtol = rtol.unsqueeze(-1) if hasattr(rtol, "_spec") else rtol
    limit = most * rtol
    if atol is None:
        return limit
    atol = atol.unsqueeze(-1) if hasattr(atol, "_spec") else limit.new_full((), float(atol))
    import jtensor
    return jtensor.maximum(atol.to(limit.dtype), limit)


@composite("linalg_matrix_rank", **RAW, asked=True)
def linalg_matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The number of singular values above a tolerance: the larger of ``atol`` and ``rtol`` times the largest.

    >>> torch.linalg.matrix_rank(torch.eye(3))
    tensor(3)
    """
    if A._spec.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    if A._spec.dtype.category < 2 or A._spec.dtype.itemsize < 4:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if hermitian and A._spec.numel:
        square("linalg.eigh", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    _real_limits("matrix_rank", atol=atol, rtol=rtol)
    A = A.detach()
    if not A._spec.numel:
        return put_out("linalg_matrix_rank", A.new_zeros(A._spec.size[:-2], dtype=dtypes.int64), out, fold="sum")
    values = factor.eigh_raw(A, "L")[0].abs() if hermitian else factor.svd_raw(A, False)[1]
    return put_out("linalg_matrix_rank", (values > _cutoffs(values, A, atol, rtol)).sum(-1), out, fold="sum")


@op(name="linalg_pinv.raw", backward="LinalgPinvBackward0", nondiff=("limit",), grad={
    "A": lambda grad, A, result: pinv_gradient(grad, A, result)}, **RAW)
def pinv_raw(A: Tensor, limit: Tensor, hermitian):
    """The pseudoinverse, singular values up to a limit counted as zero."""
    if not A.size:
        return jnp.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    if hermitian:
        full = jnp.tril(A) + adjoint(jnp.tril(A, -1))
        v, w = lax.linalg.eigh(full, symmetrize_input=False)
        keep = jnp.abs(w) > limit
        inverse = jnp.where(keep, 1 / jnp.where(keep, w, 1), 0).astype(A.dtype)
        return product(v * inverse[..., None, :], adjoint(v))
    u, s, vh = lax.linalg.svd(A, full_matrices=False)
    return _inverted(u, s, vh, limit)


def _inverted(u, s, vh, limit):
    keep = s > limit
    inverse = jnp.where(keep, 1 / jnp.where(keep, s, 1), 0).astype(u.dtype)
    return product(adjoint(vh) * inverse[..., None, :], adjoint(u))


@jax.custom_jvp
def pseudoinverse(a):
    """The pseudoinverse inside of a formula: its own derivatives, of every order and both ways, are those of the operator."""
    u, s, vh = lax.linalg.svd(a, full_matrices=False)
    limit = s.max(-1, keepdims=True) * (max(a.shape[-2:]) * jnp.finfo(a.dtype).eps) if s.shape[-1] else 0
    return _inverted(u, s, vh, limit)


@pseudoinverse.defjvp
def _pseudoinverse_slope(primals, tangents):
    """Golub and Pereyra's formula."""
    (a,), (da,) = primals, tangents
    p = pseudoinverse(a)
    h, ph, da_h = product(p, adjoint(p)), product(adjoint(p), p), adjoint(da)
    rows = jnp.eye(a.shape[-2], dtype=a.dtype) - product(a, p)
    columns = jnp.eye(a.shape[-1], dtype=a.dtype) - product(p, a)
    return p, product(product(h, da_h), rows) + product(columns, product(da_h, ph)) - product(product(p, da), p)


def pinv_gradient(grad, A, result):
    """Golub and Pereyra's formula, turned round for the gradient."""
    p, h = adjoint(result), adjoint(grad)
    rows = jnp.eye(A.shape[-2], dtype=A.dtype) - product(A, result)
    columns = jnp.eye(A.shape[-1], dtype=A.dtype) - product(result, A)
    return (-product(product(p, grad), p) + product(rows, product(h, product(result, p)))
            + product(product(product(p, result), h), columns))


@composite("linalg_pinv", **RAW, asked=True)
def linalg_pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The pseudoinverse; singular values up to the larger of ``atol`` and ``rtol`` times the largest count as zero.

    >>> torch.linalg.pinv(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    if A._spec.ndim < 2 or A._spec.dtype.category < 2 or A._spec.dtype.itemsize < 4:
        raise RuntimeError(f"linalg.pinv({dtypes.scalar_name(A._spec.dtype)}{{{list(A._spec.size)}}}): expected a tensor with 2 or more "
                           "dimensions of float, double, cfloat or cdouble types")
    if hermitian and A._spec.numel:
        square("linalg.eigh", A)
    _real_limits("pinv", rcond=rcond, atol=atol, rtol=rtol)
    if rcond is not None:
        rtol = rcond
    fixed = A.detach()
    if not A._spec.numel:
        return put_out("linalg_pinv", pinv_raw(A, fixed.new_zeros((), dtype=A._spec.dtype.to_real()), bool(hermitian)), out)
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
    """In double precision throughout: the squarings at the end double the error of every step, to some hundred last places of a float32."""
    if not a.size:
        return a
    n, wide = a.shape[-1], jnp.promote_types(a.dtype, jnp.float64)
    return jax.vmap(expm)(a.astype(wide).reshape(-1, n, n)).reshape(a.shape).astype(a.dtype)


def _expm_gradient(grad, self):
    """The upper right block of the exponential of ``[[A^H, G], [0, A^H]]``."""
    h, n = adjoint(self), self.shape[-1]
    block = jnp.concatenate([jnp.concatenate([h, grad], -1), jnp.concatenate([jnp.zeros_like(h), h], -1)], -2)
    return _expm(block)[..., :n, n:]


@op(name="matrix_exp.raw", backward="LinalgMatrixExpBackward0", grad={"self": _expm_gradient}, **RAW)
def matrix_exp_raw(self: Tensor):
    """The exponential of square matrices."""
    return jnp.exp(self) if self.shape[-1] == 1 else _expm(self)


@composite()
def matrix_exp(input):
    """The exponential of square matrices.

    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if input.dtype in (dtypes.float16, dtypes.bfloat16) and input._spec.numel:
        return matrix_exp(input.to(dtypes.float32)).to(input.dtype)
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
    if not isinstance(n, int):
        raise TypeError("matrix_power: n must be int")              # PyTorch's words: `refusals`
    if s.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if s.size[-1] != s.size[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, but they are {s.size[-2]} by {s.size[-1]} matrices")
    return put_out("linalg_matrix_power", _power(input, n), out, kernel=None if n in (0, 1) else "linalg_matrix_power.product",
                   copied=n == -1)


def _power(a, n):
    if n in (0, 1):
        import jtensor
        made = a.clone(memory_format=jtensor.contiguous_format)
        return made if n else made.copy_(jtensor.eye(a._spec.size[-1], dtype=a.dtype, device=a.device))
    if n < 0:
        a, n = linalg_inv(a), -n
    if n == 1:
        return a
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
