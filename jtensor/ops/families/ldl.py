"""The factors ``P L D L^T P^T`` of symmetric matrices, and what is solved by them: Bunch and Kaufman's way, with LAPACK's pivots.

Owns: the elimination, which NumPy does column by column on the host, since each next step depends on what is found. Blocks of D are 1 by 1,
or 2 by 2 where a pair of equal negative pivots says so. May not know: tensors as objects, but in composites.
"""
import numpy as np

from ...base import dtypes
from ...trace.tape import LOCAL
from ..layout import columns
from ..operator import RAW, Tensor, op
from ..registry import composite
from .composing import put_out
from .matrices import floats, named
from .numeric import not_implemented
from .right_sides import fitting

_GROWTH = (1 + 17**0.5) / 8                     # where a block of 2 by 2 lets the numbers grow less than one of 1 by 1


def _size(x):
    return np.abs(x.real) + np.abs(x.imag) if np.iscomplexobj(x) else np.abs(x)


def _pivot(a, k, hermitian):
    """(the row that takes part, how many columns the block has)."""
    n = len(a)
    here, column = _size(a[k, k].real if hermitian else a[k, k]), _size(a[k + 1:, k])
    most = column.max(initial=0)
    if here >= _GROWTH * most:
        return k, 1
    row = k + 1 + int(column.argmax())
    across = max(_size(a[row, k:row]).max(initial=0), _size(a[row + 1:n, row]).max(initial=0))
    if here >= _GROWTH * most * (most / across):
        return k, 1
    return row, 1 if _size(a[row, row].real if hermitian else a[row, row]) >= _GROWTH * across else 2


def _exchange(a, i, j, turned):
    """Rows and columns ``i < j`` of a lower triangle, from column ``i`` on."""
    a[[i, j], [i, j]] = a[[j, i], [j, i]]
    a[j + 1:, [i, j]] = a[j + 1:, [j, i]]
    between = turned(a[i + 1:j, i].copy())
    a[i + 1:j, i] = turned(a[j, i + 1:j])
    a[j, i + 1:j] = between
    a[j, i] = turned(a[j, i])


def _block(a, k, turned):
    return np.array([[a[k, k], turned(a[k + 1, k])], [a[k + 1, k], a[k + 1, k + 1]]])


def _factored(matrix, hermitian):
    """(L and D in one lower triangle, pivots from 1, the first zero on D's diagonal or 0)."""
    a, n = np.tril(matrix), len(matrix)
    turned = np.conj if hermitian else lambda x: x
    pivots, info, k = np.zeros(n, np.int32), 0, 0
    while k < n:
        if max(_size(a[k, k]), _size(a[k + 1:, k]).max(initial=0)) == 0:
            pivots[k], info, k = k + 1, info or k + 1, k + 1
            continue
        row, width = _pivot(a, k, hermitian)
        last, after = k + width - 1, k + width
        if row != last:
            _exchange(a, last, row, turned)
            if width == 2:
                a[[last, row], k] = a[[row, last], k]
        if hermitian:
            a[range(k, after), range(k, after)] = a[range(k, after), range(k, after)].real
        below = a[after:, k:after].copy()
        made = below / a[k, k] if width == 1 else below @ np.linalg.inv(_block(a, k, turned))
        a[after:, after:] -= np.tril(made @ turned(below).T)
        a[after:, k:after] = made
        pivots[k:after] = row + 1 if width == 1 else -(row + 1)
        k = after
    return a, pivots, info


def _each(function, *arrays, dims):
    """A function of single matrices for all of a batch, which is broadcast."""
    batch = np.broadcast_shapes(*[x.shape[:x.ndim - d] for x, d in zip(arrays, dims, strict=True)])
    wide = [np.broadcast_to(x, batch + x.shape[x.ndim - d:]) for x, d in zip(arrays, dims, strict=True)]
    return batch, [function(*[x[at] for x in wide]) for at in np.ndindex(*batch)]


def _no_derivative(name, *tensors):
    """PyTorch says so when the gradient is asked for; here at once, since what is computed on the host has no history."""
    if LOCAL.grad_enabled and any(t.requires_grad for t in tensors):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")


@op(name="linalg_ldl_factor_ex.raw", sync="slices", nondiff=("self",), **RAW,
    layout=lambda specs, outputs, statics: [columns(outputs[0].shape), None, None])
def ldl_factor_raw(self: Tensor, hermitian):
    """(L and D, pivots, the first zero on D's diagonal or 0) of each matrix."""
    hermitian = hermitian and np.iscomplexobj(self)
    batch, made = _each(lambda a: _factored(a, hermitian), self, dims=(2,))
    n = self.shape[-1]
    return (np.array([m[0] for m in made], self.dtype).reshape(*batch, n, n), np.array([m[1] for m in made], np.int32).reshape(*batch, n),
            np.array([m[2] for m in made], np.int32).reshape(batch))


def _solved(a, pivots, b, hermitian):
    turned = np.conj if hermitian else lambda x: x
    b, n, k, blocks = b.copy(), len(a), 0, []
    while k < n:
        width = 1 if pivots[k] > 0 else 2
        last, after = k + width - 1, k + width
        row = abs(int(pivots[k])) - 1
        b[[last, row]] = b[[row, last]]
        b[after:] -= a[after:, k:after] @ b[k:after]
        b[k:after] = b[k:after] / a[k, k] if width == 1 else np.linalg.solve(_block(a, k, turned), b[k:after])
        blocks.append((k, last, after, row))
        k = after
    for k, last, after, row in reversed(blocks):
        b[k:after] -= turned(a[after:, k:after]).T @ b[after:]
        b[[last, row]] = b[[row, last]]
    return b


@op(name="linalg_ldl_solve.raw", sync="slices", nondiff=("LD", "pivots", "B"), **RAW,
    layout=lambda specs, outputs, statics: [columns(outputs[0].shape)])
def ldl_solve_raw(LD: Tensor, pivots: Tensor, B: Tensor, hermitian):
    """The solution for matrices of which the factors are given."""
    hermitian = hermitian and np.iscomplexobj(LD)
    batch, made = _each(lambda a, p, b: _solved(a, p, b, hermitian), LD, pivots, B, dims=(2, 1, 2))
    return np.array(made, B.dtype).reshape(*batch, *B.shape[-2:])


def _symmetric(A):
    s, name = A._spec, "torch.linalg.ldl_factor_ex"
    _no_derivative("linalg_ldl_factor_ex", A)
    if s.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if s.size[-1] != s.size[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {s.size[-2]} by {s.size[-1]} matrices")
    floats(name, s)
    if s.dtype.itemsize < 4:
        raise not_implemented("ldl_factor_kernel_cpu", s.dtype)


def _looked_at(name, info):
    from ...tensor.lifted.batching import whole
    bad = next((n for n in whole(info).flatten().tolist() if n), 0)
    if bad:
        raise RuntimeError(f"torch.linalg.{name}: Unknown error code: {bad}.")


@composite("linalg_ldl_factor_ex", **RAW, asked=True)
def linalg_ldl_factor_ex(input, *, hermitian=False, check_errors=False, out=None):
    """(L and D in one matrix, pivots, info) of symmetric matrices, or ``hermitian`` ones, of which the lower triangle is read.

    ``info`` is the first zero on the diagonal of D, from 1, or 0. Looks at the matrices.

    >>> torch.linalg.ldl_factor_ex(torch.tensor([[4., 2.], [2., 3.]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    _symmetric(input)
    made = ldl_factor_raw(input, hermitian)
    if check_errors:
        _looked_at("ldl_factor_ex", made[2])
    return put_out("linalg_ldl_factor_ex", named("linalg_ldl_factor_ex", ("LD", "pivots", "info"), made), out)


@composite("linalg_ldl_factor", **RAW, asked=True)
def linalg_ldl_factor(input, *, hermitian=False, out=None):
    """(L and D in one matrix, pivots) of symmetric matrices; RuntimeError for a singular one.

    >>> torch.linalg.ldl_factor(torch.tensor([[0., 1.], [1., 0.]])).pivots
    tensor([-2, -2], dtype=torch.int32)
    """
    _symmetric(input)
    made = ldl_factor_raw(input, hermitian)
    _looked_at("ldl_factor", made[2])
    return put_out("linalg_ldl_factor", named("linalg_ldl_factor", ("LD", "pivots"), made[:2]), out)


@composite("linalg_ldl_solve", **RAW, asked=True)
def linalg_ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    """The solution of ``A X = B`` for the matrix that `linalg.ldl_factor` factored.

    >>> LD, pivots = torch.linalg.ldl_factor(torch.tensor([[4., 2.], [2., 3.]]))
    >>> torch.linalg.ldl_solve(LD, pivots, torch.tensor([[8.], [8.]]))
    tensor([[1.],
            [2.]])
    """
    if LD._spec.ndim < 2:
        raise RuntimeError("torch.linalg.ldl_solve: The input tensor A must have at least 2 dimensions.")
    if B._spec.ndim < 2:
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has {B._spec.ndim} dimensions "
                           "instead")
    _no_derivative("linalg_ldl_solve", LD, B)
    if pivots._spec.dtype.category != 1:
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {dtypes.scalar_name(pivots._spec.dtype)}")
    fitting("torch.linalg.ldl_solve", B, LD)
    if tuple(pivots._spec.size) != tuple(LD._spec.size[:-1]):
        raise RuntimeError("torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(pivots._spec.size)} instead")
    return put_out("linalg_ldl_solve", ldl_solve_raw(LD, pivots, B, hermitian), out)
