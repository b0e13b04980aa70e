"""Linear equations: of square and triangular matrices, by least squares, and of tensors; `torch.linalg`'s functions by ``linalg_<name>``.

Owns: how equations are solved and what is checked and looked at for it. Inverses and factors are in `linalg` and `factor`.
May not know: tensors as objects, but in composites.
"""
import math

import jax.numpy as jnp
from jax import lax

from ...base import dtypes, sites
from ..build import broadcast_shapes
from ..layout import columns
from ..operator import RAW, Tensor, op
from ..registry import composite
from . import factor
from .composing import put_out
from .factor import adjoint, product, together
from .linalg import linalg_inv
from .matrices import checked, eps, floating, floats, named, square
from .numeric import wrap_dim
from .right_sides import fitting, solvable
from .spectral import pinv_gradient, pseudoinverse

# -- of matrices ------------------------------------------------------------------------------------------------------

def _solve_parts(A, B, left, vector):
    b = B[..., None] if vector else B
    batch = jnp.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    return jnp.broadcast_to(A, (*batch, *A.shape[-2:])), jnp.broadcast_to(b, (*batch, *b.shape[-2:]))


def _solved(A, B, left, vector):
    a, b = _solve_parts(A, B, left, vector)
    lu, _, rows = lax.linalg.lu(a if left else jnp.swapaxes(a, -1, -2))
    right = b if left else jnp.swapaxes(b, -1, -2)
    right = jnp.take_along_axis(right, rows[..., None], -2)
    right = lax.linalg.triangular_solve(lu, right, left_side=True, lower=True, unit_diagonal=True)
    x = lax.linalg.triangular_solve(lu, right, left_side=True, lower=False)
    x = x if left else jnp.swapaxes(x, -1, -2)
    return (x[..., 0] if vector else x), factor.lu_info(lu)


def _solve_b(grads, A, left, vector):
    return _solved(adjoint(A), grads[0], left, vector)[0]


def _solve_a(grads, A, result0, left, vector):
    g = _solved(adjoint(A), grads[0], left, vector)[0]
    x = result0
    if vector:
        g, x = g[..., None], x[..., None]
    return -product(g, adjoint(x)) if left else -product(adjoint(x), g)


def _solution_layout(specs, outputs, statics):
    """PyTorch lays a batch of vectors out as it does a matrix, and from the right it solves the transposed system."""
    solution = outputs[0].shape
    if not statics["left"] and not statics["vector"]:
        return [None, None]
    return [columns(solution) if len(solution) > 1 else None, None]


@op(name="linalg_solve_ex_dim.raw", layout=_solution_layout, backward="LinalgSolveExBackward0", nondiff=(1,), outputs=("result", "info"),
    grad={"A": _solve_a, "B": _solve_b}, **RAW)
def solve_ex_raw(A: Tensor, B: Tensor, left, vector):
    """(the solution, the first zero pivot or 0)."""
    return _solved(A, B, left, vector)


def _solve(name, A, B, left):
    a, b = A._spec, B._spec
    floats(name, a)
    if a.dtype is not b.dtype:
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type {dtypes.scalar_name(a.dtype)} and B of "
                           f"type {dtypes.scalar_name(b.dtype)} instead")
    square(name, A)
    floating(name, b)
    if not b.ndim:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and tuple(b.size) == tuple(a.size[:-1]))
    rows, columns = (b.size[-1], 1) if vector else (b.size[-2], b.size[-1]) if b.ndim > 1 else (b.size[0], 1)
    fits = rows == a.size[-2] if left else columns == a.size[-2]
    if not fits:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} ({a.size[-2]}x{a.size[-1]} and "
                           f"{rows}x{columns})")
    if not left and vector:
        raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve "
                           "is equivalent to B / A.squeeze(-1)")
    broadcast_shapes([tuple(a.size[:-2]), tuple(b.size[:-1] if vector else b.size[:-2])])
    return solve_ex_raw(A, B, left, vector)


def _solver_failed(name):
    return lambda k: (name, "The solver failed because the input matrix is singular.")


@composite("linalg_solve_ex", **RAW, asked=True)
def linalg_solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """The solution of ``A X = B`` and, instead of an exception, the first zero pivot (0: none).

    >>> torch.linalg.solve_ex(torch.zeros(2, 2), torch.ones(2)).info
    tensor(1, dtype=torch.int32)
    """
    made = _solve("linalg.solve", A, B, bool(left))
    if check_errors:
        checked(made[1], _solver_failed("torch.linalg.solve_ex"))
    return put_out("linalg_solve_ex", made, out)


@composite("linalg_solve", **RAW)
def linalg_solve(A, B, *, left=True, out=None):
    """The solution of ``A X = B`` (or ``X A = B``); ``LinAlgError`` for a singular matrix.

    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 4.]))
    tensor([1., 1.])
    """
    made = _solve("linalg.solve", A, B, bool(left))
    checked(made[1], _solver_failed("torch.linalg.solve"))
    return put_out("linalg_solve", made[0], out)


@op(name="linalg_solve_triangular.raw", layout="columns", backward="LinalgSolveTriangularBackward0", **RAW)
def solve_triangular_raw(self: Tensor, B: Tensor, upper, left, unitriangular):
    """The solution of ``A X = B`` (or ``X A = B``) for a triangle."""
    a, b = together(self, B)
    return lax.linalg.triangular_solve(jnp.triu(a) if upper else jnp.tril(a), b, left_side=left, lower=not upper,
                                       unit_diagonal=unitriangular)


@composite("linalg_solve_triangular", **RAW, asked=True)
def linalg_solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """The solution of ``A X = B`` (or ``X A = B``) for triangular matrices, of which one triangle is read.

    >>> torch.linalg.solve_triangular(torch.tensor([[2., 0.], [1., 1.]]), torch.tensor([[2.], [3.]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    square("linalg.solve_triangular", A)
    if B._spec.ndim < 2:
        raise RuntimeError("linalg.solve_triangular: The input tensor B must have at least 2 dimensions.")
    if A._spec.dtype is not B._spec.dtype:
        raise RuntimeError("linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type "
                           f"{dtypes.scalar_name(A._spec.dtype)} and B of type {dtypes.scalar_name(B._spec.dtype)} instead")
    solvable("linalg.solve_triangular", A._spec, B._spec, left)
    return put_out("linalg_solve_triangular", solve_triangular_raw(A, B, bool(upper), bool(left), bool(unitriangular)), out)


@op(name="triangular_solve_dim.raw", layout="columns", backward="TriangularSolveBackward0",
    outputs=("solution", "cloned_coefficient"), **RAW)
def triangular_solve_raw(self: Tensor, A: Tensor, upper, transpose, unitriangular):
    """(the solution of ``A X = self`` for a triangle, the matrices repeated for each)."""
    a, b = together(A, self)
    x = lax.linalg.triangular_solve(jnp.triu(a) if upper else jnp.tril(a), b, left_side=True, lower=not upper, transpose_a=transpose,
                                    unit_diagonal=unitriangular)
    return x, a


@composite()
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """(the solution of ``A X = input`` for triangular matrices, a copy of the matrices).

    >>> torch.triangular_solve(torch.tensor([[8.]]), torch.tensor([[2.]])).solution
    tensor([[4.]])
    """
    for name, t in (("b", input), ("A", A)):
        if t._spec.ndim < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {t._spec.ndim} "
                               "dimensions instead")
    fitting("triangular_solve", input, A)
    sites.warn_once("torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future PyTorch "
                    "release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
                    "X = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).")
    floating("triangular_solve", A._spec)
    made = triangular_solve_raw(input, A, bool(upper), bool(transpose), bool(unitriangular))
    return put_out("triangular_solve", made, out)


# -- least squares ----------------------------------------------------------------------------------------------------

def _lstsq_b(grads, self):
    return product(adjoint(pseudoinverse(self)), grads[0])


def _lstsq_a(grads, self, b):
    """By the pseudoinverse: singular values that are equal or zero do no harm."""
    return pinv_gradient(product(grads[0], adjoint(b)), self, pseudoinverse(self))


@op(name="linalg_lstsq.raw", backward="LinalgLstsqBackward0", nondiff=(1, 2), grad={"self": _lstsq_a, "b": _lstsq_b}, **RAW,
    layout=lambda specs, outputs, statics: [columns(outputs[0].shape), None, None])
def lstsq_raw(self: Tensor, b: Tensor, rcond, orthogonal):
    """(solution, rank, singular values): of least length where several are as good. `orthogonal`: cut where LAPACK's gelsy does."""
    u, s, vh = lax.linalg.svd(self, full_matrices=False)
    greatest = s[..., :1]
    keep = s > rcond * greatest
    if orthogonal:                      # gelsy counts the greatest whatever rcond is, and those at the limit
        keep = ((s >= rcond * greatest) | (jnp.arange(s.shape[-1]) == 0)) & (greatest > 0)
    inverse = jnp.where(keep, 1 / jnp.where(keep, s, 1), 0).astype(self.dtype)
    x = product(adjoint(vh), inverse[..., :, None] * product(adjoint(u), b))
    return x, keep.sum(-1).astype(jnp.int64), s


def _limit(rcond, driver, dtype, size):
    """What share of the greatest singular value counts as none: LAPACK reads several `rcond` as its own precision, each driver others."""
    if rcond is None or driver == "gels":
        return eps(dtype) * max(size)
    if rcond < 0 and driver == "gelss" or driver == "gelsd" and not 0 < rcond < 1:
        return eps(dtype) / 2
    return float(rcond)


@composite("linalg_lstsq", **RAW)
def linalg_lstsq(A, B, rcond=None, *, driver=None, out=None):
    """(solution, residuals, rank, singular values) of the least squares problem ``min |A X - B|``.

    >>> torch.linalg.lstsq(torch.tensor([[1.], [1.]]), torch.tensor([[1.], [3.]])).solution
    tensor([[2.0000]])
    """
    if A._spec.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if B._spec.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if not 0 <= A._spec.ndim - B._spec.ndim <= 1:
        raise RuntimeError("torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    driver = driver or "gelsy"
    if A._spec.dtype is not B._spec.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                           f"{dtypes.scalar_name(A._spec.dtype)} and other's dtype {dtypes.scalar_name(B._spec.dtype)}")
    if A._spec.dtype.category < 2 or A._spec.dtype.itemsize < 4:
        raise RuntimeError("This function doesn't handle types other than float and double")
    m, n = A._spec.size[-2:]
    vector = B._spec.ndim == 1 or B._spec.ndim == A._spec.ndim - 1 and tuple(B._spec.size) == tuple(A._spec.size[:-1])
    if (B._spec.size[-1] if vector else B._spec.size[-2]) != m:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({'-1' if vector else '-2'})")
    right = B.unsqueeze(-1) if vector else B
    fewer = A._spec.ndim > B._spec.ndim                        # PyTorch reads the batch as if these were vectors, whatever they are
    batch = broadcast_shapes([tuple(A._spec.size[:-2]), tuple(B._spec.size[:-1] if fewer else B._spec.size[:-2])])
    right = right.expand(*batch, *right._spec.size[-2:])
    x, rank, s = lstsq_raw(A, right, _limit(rcond, driver, A._spec.dtype, (m, n)), driver == "gelsy")
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


# -- of tensors -------------------------------------------------------------------------------------------------------

@composite("linalg_tensorinv", **RAW, asked=True)
def linalg_tensorinv(A, ind=2, *, out=None):
    """The inverse of the map that ``tensordot(A, ., A.ndim - ind)`` is.

    >>> torch.linalg.tensorinv(torch.eye(6).reshape(6, 2, 3), ind=1).shape
    torch.Size([2, 3, 6])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > A._spec.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {A._spec.ndim}")
    size = list(A._spec.size)
    rows, columns = math.prod(size[:ind]), math.prod(size[ind:])
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
                           f"{columns} != {rows}")
    return put_out("linalg_tensorinv", linalg_inv(A.reshape(rows, columns)).reshape(*size[ind:], *size[:ind]),
                   out, copied=True, recorded=True)


@composite("linalg_tensorsolve", **RAW)
def linalg_tensorsolve(A, B, dims=None, *, out=None):
    """The solution ``X`` of ``tensordot(A, X) = B``.

    >>> torch.linalg.tensorsolve(torch.eye(6).reshape(2, 3, 6), torch.ones(2, 3))
    tensor([1., 1., 1., 1., 1., 1.])
    """
    n = A._spec.ndim
    if dims is not None:
        moved = [wrap_dim(d, n) for d in dims]
        A = A.permute(*[d for d in range(n) if d not in moved], *moved)
    rest = list(A._spec.size[B._spec.ndim:])
    columns, rows = math.prod(rest), math.prod(B._spec.size)
    if rows != columns:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
                           f"got {columns} != {rows}")
    return put_out("linalg_tensorsolve", linalg_solve(A.reshape(rows, columns), B.flatten()).reshape(rest), out, recorded=True)
