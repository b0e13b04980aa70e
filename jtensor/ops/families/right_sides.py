"""What solving with a matrix that is factored or triangular asks of the matrix, of its pivots and of the right hand side.

Owns: these checks and PyTorch's words for them. May not know: operators.
"""
from ...base import dtypes
from ..build import broadcast_shapes
from .bounds import extremes
from .matrices import floats, square
from .numeric import size_at


def fitting(name, right, matrix):
    """What `cholesky_solve` and `triangular_solve` ask of ``right`` and the square ``matrix``."""
    b, a = right._spec, matrix._spec
    if b.dtype is not a.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {dtypes.scalar_name(b.dtype)} and A of type "
                           f"{dtypes.scalar_name(a.dtype)} instead.")
    rows, columns = a.size[-2:]
    if rows != columns:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if b.size[-2] != columns:
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {columns} by {columns} but each b matrix is "
                           f"{b.size[-2]} by {b.size[-1]}")
    broadcast_shapes([tuple(b.size[:-2]), tuple(a.size[:-2])])


def solvable(name, matrix, right, left):
    """What an equation ``A X = B`` (or ``X A = B``) asks of the sizes of two batches of matrices."""
    a, b = matrix.size, right.size
    if b[-2 if left else -1] != a[-1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})")
    broadcast_shapes([tuple(b[:-2]), tuple(a[:-2])])


def pivoted(LU, pivots, B, left):
    """What `lu_solve` asks of the factors, the exchanges of rows and the right hand side."""
    lu, p, b = LU._spec, pivots._spec, B._spec
    floats("torch.linalg.lu_solve", lu)
    if lu.dtype is not b.dtype:
        raise RuntimeError("linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
                           f"{dtypes.scalar_name(lu.dtype)} and B of type {dtypes.scalar_name(b.dtype)} instead")
    if p.dtype is not dtypes.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    square("torch.linalg.lu_solve", lu)
    if b.ndim < 2:
        raise RuntimeError("linalg.lu_solve: The input tensor B must have at least 2 dimensions.")
    solvable("linalg.lu_solve", lu, b, left)
    if size_at(p, -1) != lu.size[-1]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if tuple(p.size) != tuple(lu.size[:-1]):
        raise RuntimeError("linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(p.size)} instead")
    found = extremes(pivots)
    if found is not None and (found[0] < 1 or found[1] > lu.size[-2]):
        bound = "greater or equal to 1" if found[0] < 1 else "smaller or equal to LU.size(-2)"
        raise RuntimeError(f"Pivots given to lu_solve must all be {bound}. Did you properly pass the result of lu_factor?")


def unpackable(LU, pivots):
    """What `lu_unpack` asks of the factors and, where they are wanted, of the exchanges of rows (None: they are not)."""
    lu = LU._spec
    if lu.ndim < 2:
        raise RuntimeError(f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(lu.size)} instead")
    if pivots is None:
        return
    p = pivots._spec
    if p.dtype is not dtypes.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor")
    found = extremes(pivots)
    if not p.ndim or p.size[-1] != min(lu.size[-2:]) or found is not None and (found[0] < 1 or found[1] > lu.size[-2]):
        raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                           "Did you properly pass the result of lu_factor?")


def reflected(A, tau):
    """What `householder_product` asks of the vectors and their factors."""
    a, t, name = A._spec, tau._spec, "torch.linalg.householder_product"
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if a.size[-2] < a.size[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if a.size[-1] < size_at(t, -1):
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if a.ndim - t.ndim != 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {t.ndim} and input.ndim "
                           f"is equal to {a.ndim}")
    if tuple(t.size[:-1]) != tuple(a.size[:-2]):
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(t.size[:-1])}")
    if t.dtype is not a.dtype:
        raise RuntimeError(f"{name}: tau dtype {dtypes.scalar_name(t.dtype)} does not match input dtype {dtypes.scalar_name(a.dtype)}")


__all__ = ["fitting", "pivoted", "reflected", "solvable", "unpackable"]
