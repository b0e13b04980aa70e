"""Norms of matrices and of tensors seen as such, and condition numbers: `torch.linalg`'s functions by ``linalg_<name>``.

Owns: which norm an order and dims ask for. Vector norms are in `norms`, the singular values that some are made of in `spectral`.
May not know: operators of its own.
"""
from ..fitting import as_double
from ..operator import RAW
from ..registry import composite
from .composing import put_out
from .linalg import inv_ex_raw
from .matrices import floats, matrices, square
from .numeric import wrap_dim
from .spectral import linalg_svdvals


def _vector_norm(A, ord, dim, keepdim, dtype):
    from .norms import linalg_vector_norm
    return linalg_vector_norm(A, ord, dim, keepdim, dtype=dtype)


@composite("linalg_matrix_norm", **RAW)
def linalg_matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """A norm of matrices: "fro", "nuc", inf, -inf, 1, -1, 2 or -2.

    >>> torch.linalg.matrix_norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    s = A._spec
    if isinstance(ord, complex):
        raise RuntimeError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
    if ord not in ("fro", "nuc") and (isinstance(ord, str) or abs(ord) not in (1, 2, float("inf"))):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord if isinstance(ord, str) else format(ord, 'g')} not supported.")
    if s.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    floats("linalg.matrix_norm", s)
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = wrap_dim(dim[0], s.ndim), wrap_dim(dim[1], s.ndim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return put_out("linalg_matrix_norm", _vector_norm(A, 2, (rows, columns), keepdim, dtype), out, recorded=True)
    A = A if dtype is None else A.to(dtype)
    if ord in ("nuc", 2, -2):
        order = [d for d in range(s.ndim) if d not in (rows, columns)] + [rows, columns]
        values = linalg_svdvals(A.permute(*order))
        made = values.sum(-1) if ord == "nuc" else _most(values, -1, False) if ord == 2 else values.amin(-1)
        if keepdim:
            made = made.unsqueeze(-1).unsqueeze(-1).permute(*[order.index(d) for d in range(s.ndim)])
        return put_out("linalg_matrix_norm", made, out, recorded=True)
    summed, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _vector_norm(A, 1, (summed,), keepdim, None)
    if not keepdim and over > summed:
        over -= 1
    made = _most(sums, over, keepdim) if ord > 0 else sums.amin(over, keepdim)
    return put_out("linalg_matrix_norm", made, out, recorded=True)


def _most(sums, dim, keepdim):
    """The greatest of sums that are not negative: 0 of none."""
    size = sums._spec.size
    if size[dim]:
        return sums.amax(dim, keepdim)
    return sums.new_zeros([1 if d == dim % len(size) else n for d, n in enumerate(size) if keepdim or d != dim % len(size)])


@composite("linalg_norm", **RAW, asked=True)
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """A vector or matrix norm, as ``dim`` and the number of dimensions say; without ``ord`` the 2-norm of all elements.

    >>> torch.linalg.norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    dims = dim if dim is None or isinstance(dim, (tuple, list)) else (dim,)
    if ord is None:
        return put_out("linalg_norm", _vector_norm(A, 2, None if dims is None else tuple(dims), keepdim, dtype), out, recorded=True)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is specified, it must be of length 1 or 2. Got [" + ", ".join(map(str, dims)) + "]")
    if dims is None and A._spec.ndim not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{A._spec.ndim}D.")
    if isinstance(ord, str) or (len(dims) == 2 if dims is not None else A._spec.ndim == 2):
        return put_out("linalg_norm", linalg_matrix_norm(A, ord, (0, 1) if dims is None else tuple(dims), keepdim, dtype=dtype),
                       out, recorded=True)
    return put_out("linalg_norm", _vector_norm(A, ord, None if dims is None else tuple(dims), keepdim, dtype), out, recorded=True)


@composite("linalg_cond", **RAW)
def linalg_cond(A, p=None, *, out=None):
    """The condition number: the norm times that of the inverse.

    >>> torch.linalg.cond(torch.diag(torch.tensor([1., 4.])))
    tensor(4.)
    """
    if A._spec.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, str):
        square(f"linalg.cond(ord={p})", A)
    p = as_double(p)
    if p not in (None, 1, -1, 2, -2, float("inf"), -float("inf"), "fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else format(p, 'g')}")
    if not A._spec.numel and A._spec.dtype.category > 1:
        return put_out("linalg_cond", A.new_zeros(A._spec.size[:-2], dtype=A._spec.dtype.to_real()), out, recorded=True)
    if p is None or p in (2, -2):
        matrices("linalg.svd", A)
        values = linalg_svdvals(A)
        first, last = values.narrow(-1, 0, 1), values.narrow(-1, values._spec.size[-1] - 1, 1)
        return put_out("linalg_cond", (last / first if p == -2 else first / last).squeeze(-1), out, recorded=True)
    if A._spec.size[-2] == A._spec.size[-1]:
        matrices("linalg.inv", A)
    else:
        square(f"linalg.cond(ord={p if isinstance(p, str) else format(p, 'g')})", A)
    inverse, info = inv_ex_raw(A)
    norm, other = linalg_matrix_norm(A, p), linalg_matrix_norm(inverse, p)
    import jtensor
    if p == "nuc":                                                 # NaN of a matrix of zeros, as PyTorch
        return put_out("linalg_cond", norm * jtensor.where(info == 0, other, float("inf")), out, recorded=True)
    return put_out("linalg_cond", jtensor.where(info == 0, norm * other, float("inf")), out, recorded=True)
