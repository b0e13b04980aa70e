"""Matrix products in which a matrix is sparse.

Owns: these entries of the table and ``torch.sparse.mm`` and its like, with their gradients. Of a dense matrix the rows that a sparse one
names are read, multiplied and added up, element after element in the order in which the sparse one keeps them.
"""
import numpy as np

import jtensor

from ..base import dtypes
from ..tensor.creating.from_data import from_host
from .answering import answers
from .graph import assembled, coalesced, conjugate, elements_of, recorded, wants
from .patterns import Pattern, added_at, of_numbers
from .refusals import refused
from .replacing import given
from .tensors import is_sparse, sparse


def _rows_times(x, dense, turned=False):
    """``x @ dense`` of a sparse matrix and a dense one without history; ``turned``: of the sparse one's transpose."""
    rows, columns = x._pattern.lines()
    if turned:
        rows, columns = columns, rows
    count = x.shape[1 if turned else 0]
    made = jtensor.zeros((count, dense.shape[1]), dtype=dense.dtype, device=dense.device)
    if not x._pattern.nnz:
        return made
    return made.index_add(0, rows, x._elements[:, None] * dense.index_select(0, columns))


def _times(x, dense, turned=False):
    """The same with a history that leads into the dense matrix and the sparse one's values: what gradients are made of."""
    made = _rows_times(x.detach(), dense.detach(), turned)

    def pull(grad):
        of_x = None
        if wants(x):
            of_x = jtensor.mm(dense.conj(), grad.t()) if turned else jtensor.mm(grad, dense.t().conj())
        return of_x, _times(conjugate(x), grad, not turned) if wants(dense) else None
    return recorded("MmBackward0", made, [x, dense], pull, [x, dense])


def _check(name, x, y):
    for one in (x, y):
        if one.ndim < 2:
            raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
        if one.ndim > 2:
            raise RuntimeError(f"{name}: expected matrices, got {x.ndim}D and {y.ndim}D tensors")
    if is_sparse(x) and is_sparse(y):
        _refuse_dense_dims(x, y, name)
        refuse_unlike_sizes(x, y)
    elif is_sparse(x) and y.layout is not jtensor.strided:
        raise RuntimeError(f"addmm: computation on CPU is not implemented for Sparse + Sparse @ {kind_of(y)}")
    _refuse_dense_dims(x, y, name)
    if x.shape[1] != y.shape[0]:                                        # a dense matrix before a sparse one: the other way round
        wanted, found = (x.shape[1], y.shape[0]) if is_sparse(x) else (y.shape[0], x.shape[1])
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {wanted}, got {found}")
    if x.dtype is not y.dtype:
        if is_sparse(x) and is_sparse(y):
            raise RuntimeError(f"mat1 dtype {_cpp(x.dtype)} does not match mat2 dtype {_cpp(y.dtype)}")
        raise RuntimeError(f"expected scalar type {_cpp(x.dtype)} but found {_cpp(y.dtype)}")


def _refuse_dense_dims(x, y, name="addmm"):
    """The elements of a matrix are numbers, not rows."""
    if is_sparse(x) and is_sparse(y):
        if dense := x.dense_dim() or y.dense_dim():
            raise RuntimeError(f"sparse_sparse_matmul_cpu: scalar values expected, got {dense}D values")
    elif is_sparse(x) and x.dense_dim():
        name = {"hspmm": "hspmm: Argument #2", "smm": "sspaddmm: Argument #2"}.get(name, "addmm")
        raise RuntimeError(f"{name}: matrices expected, got {x.sparse_dim()}D tensor")
    elif is_sparse(y) and y.dense_dim():
        y.transpose(0, 1)                                                                  # which refuses it


def refuse_unlike_sizes(x, y):
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({x.shape[0]}x{x.shape[1]} and {y.shape[0]}x{y.shape[1]})")


def _cpp(dtype):
    return dtypes.scalar_name(dtype)


def spmm(input, mat2):
    """`torch.mm` by the name that is used where a matrix is sparse.

    >>> import jtensor as torch
    >>> torch.spmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return jtensor.mm(input, mat2)


def dsmm(input, mat2):
    """`torch.mm`, by an older name."""
    return jtensor.mm(input, mat2)


def hsmm(mat1, mat2):
    """`torch.hspmm`, by an older name."""
    return hspmm(mat1, mat2)


@answers("mm")
def mm(input, mat2, *, out=None):
    """The product of two matrices; of two sparse ones a sparse one."""
    _check("mm", input, mat2)
    if is_sparse(input) and is_sparse(mat2):
        made = sparse_times_sparse(input, mat2, "MmBackward0")
    elif is_sparse(input):
        made = _times(input, mat2)
    else:
        made = _dense_times(input, mat2)
    return given(out, made)


def _dense_times(dense, x):
    """``dense @ x``: the transpose of ``x.t() @ dense.t()``."""
    made = _rows_times(x.detach(), dense.detach().t(), True).t()

    def pull(grad):
        return (_times(conjugate(x), grad.t()).t() if wants(dense) else None,
                jtensor.mm(dense.t().conj(), grad) if wants(x) else None)
    return recorded("MmBackward0", made, [dense, x], pull, [dense, x])


def sparse_times_sparse(x, y, name):
    """The product of two sparse matrices: an element for each place that a pair of elements contributes to."""
    x, y = coalesced(x), coalesced(y)
    a, b = x._pattern.host(), y._pattern.host()
    begins = np.searchsorted(b[0], np.arange(y.shape[0] + 1))
    lengths = (begins[1:] - begins[:-1])[a[1]]
    left = np.repeat(np.arange(a.shape[1]), lengths)
    right = np.arange(len(left)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(begins[a[1]], lengths)
    places = Pattern(from_host(np.stack([a[0][left], b[1][right]])), (x.shape[0], y.shape[1]))
    values = elements_of(x).index_select(0, from_host(left)) * elements_of(y).index_select(0, from_host(right))
    order = places.order()
    return assembled(places.merged(), order.values(values) if hasattr(order, "values") else values, True, name)


@answers("matmul", "__matmul__")
def matmul(input, other, *, out=None):
    """`torch.matmul` of a matrix and a vector, of two batches, and of anything dense times a matrix."""
    if input.ndim == 2 and other.ndim == 1:
        made = mv(input, other)
    elif other.ndim == 2 != input.ndim and not is_sparse(input):
        made = mm(input.reshape(-1, input.shape[-1]), other).reshape(*input.shape[:-1], other.shape[1])
    elif {input.ndim, other.ndim} == {2, 3}:
        raise RuntimeError(f"expand is unsupported for {kind_of(input if is_sparse(input) else other)} tensors")
    elif input.ndim == 3 or other.ndim == 3:
        made = bmm(input, other)
    else:
        made = mm(input, other)
    return given(out, made)


@answers("mv")
def mv(input, vec, *, out=None):
    """A sparse matrix times a dense vector."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {input.ndim}Tensor Dim: {vec.ndim}")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    _refuse_dense_dims(input, vec)
    made = _rows_times(input.detach(), vec.detach()[:, None])[:, 0].contiguous()

    def pull(grad):
        return (grad[:, None] * vec.conj() if wants(input) else None,
                _times(conjugate(input), grad[:, None], True)[:, 0] if wants(vec) else None)
    made = recorded("MvBackward0", made, [input, vec], pull, [input, vec])
    return given(out, made)


@answers("bmm")
def bmm(input, mat2, *, out=None):
    """A batch of sparse matrices times a batch of dense ones."""
    if not is_sparse(input) or is_sparse(mat2):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    for mine, theirs in ((0, 0), (2, 1)):
        if input.shape[mine] != mat2.shape[theirs]:
            raise RuntimeError(f"bmm_sparse: 'self.size({mine})' and 'mat2.size({theirs})' must match")
    if input.dense_dim():
        raise RuntimeError(f"bmm_sparse: Tensor 'self' must have 0 dense dims, but has {input.dense_dim()}")
    batch, rows, columns = input.shape
    x, dense = coalesced(input.detach()), mat2.detach()
    at, i, j = x._pattern.lines()
    values = x._elements[:, None] * dense.reshape(batch * columns, dense.shape[2]).index_select(0, at * columns + j)
    flat = jtensor.zeros((batch * rows, dense.shape[2]), dtype=dense.dtype).index_add(0, at * rows + i, values)

    def pull(grad):
        return (jtensor.bmm(grad, mat2.mT.conj()) if wants(input) else None,
                bmm(conjugate(input.transpose(1, 2)), grad) if wants(mat2) else None)
    made = recorded("BmmBackward0", flat.reshape(batch, rows, dense.shape[2]), [input, mat2], pull, [input, mat2])
    return given(out, made)


@answers("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """``beta * input + alpha * mat1 @ mat2`` with a sparse ``mat1``, and with a gradient of all of it."""
    return _addmm(input, mat1, mat2, beta, alpha, "AddmmBackward0")


def _addmm(input, mat1, mat2, beta, alpha, name):
    if is_sparse(input):
        raise RuntimeError("expand is unsupported for Sparse tensors")
    _check("addmm", mat1, mat2)
    if not is_sparse(mat1):
        return _sum_of(input, _dense_times(mat1, mat2), beta, alpha)
    if is_sparse(mat2):
        raise RuntimeError("addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got 'mat1' "
                           "with layout Sparse and 'mat2' with layout Sparse")
    size = (mat1.shape[0], mat2.shape[1])
    product = _rows_times(mat1.detach(), mat2.detach())
    product = product if alpha == 1 else product * alpha
    made = product + (input.detach().expand(size) if beta == 1 else input.detach().expand(size) * beta)

    def pull(grad):
        own = (grad if beta == 1 else grad * conjugate(beta)).sum_to_size(input.shape) if wants(input) else None
        grad = grad if alpha == 1 else grad * conjugate(alpha)
        if not wants(mat1):
            of_x = None
        elif name == "SparseAddmmBackward0":
            of_x = sampled(coalesced(mat1)._pattern, grad, mat2)
        else:
            of_x = jtensor.mm(grad, mat2.t().conj())
        return own, of_x, _times(conjugate(mat1), grad, True) if wants(mat2) else None
    return recorded(name, made, [input, mat1, mat2], pull, [mat1, mat2])


def _sum_of(input, product, beta, alpha):
    return beta * input + alpha * product


def sampled(pattern, grad, dense):
    """``grad @ dense.mH`` at the places of a pattern: the gradient of a sparse factor."""
    rows, columns = pattern.lines()
    values = (grad.index_select(0, rows) * dense.conj().index_select(0, columns)).sum(1)
    return assembled(pattern, values, True)


@answers("addmm_")
def addmm_(input, mat1, mat2, *, beta=1, alpha=1):
    return input.copy_(addmm(input, mat1, mat2, beta=beta, alpha=alpha))


@answers("linear")
def linear(input, weight, bias=None):
    """`torch.nn.functional.linear` where the input or the weight is sparse."""
    made = matmul(input, weight.t())
    return made if bias is None else made + bias


@answers("smm")
def smm(input, mat2):
    """The product as a sparse tensor that has all elements of the rows that are not empty. It has no gradient."""
    if not is_sparse(input):
        raise RuntimeError(f"sspaddmm: expected 'mat1' to have sparse layout, got 'mat1' with layout {kind_of(input)}")
    made = _by_rows(input, mat2, "smm")
    rows, width = made._pattern.host()[0], mat2.shape[1]
    places = of_numbers((rows[:, None] * width + np.arange(width)).reshape(-1), (input.shape[0], width))
    return _without_gradient(sparse(places, made._elements.reshape(-1)), input, mat2)


@answers("hspmm")
def hspmm(mat1, mat2, *, out=None):
    """The product as a tensor with one sparse dimension: the rows that are not empty. It has no gradient."""
    return given(out, _by_rows(mat1, mat2, "hspmm"))


def _by_rows(mat1, mat2, name):
    if not is_sparse(mat1):
        raise refused("hspmm", (mat1,))
    _check(name, mat1, mat2)
    x = coalesced(mat1.detach())
    rows, lines = np.unique(x._pattern.host()[0], return_inverse=True)
    values = x._elements[:, None] * mat2.detach().index_select(0, x._pattern.lines()[1])
    values = added_at(jtensor.zeros((len(rows), mat2.shape[1]), dtype=mat2.dtype), from_host(lines), values)
    return _without_gradient(sparse(of_numbers(rows, (mat1.shape[0],)), values), mat1, mat2)


@answers("sspaddmm")
def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """``beta * input + alpha * mat1 @ mat2`` of sparse ``input`` and ``mat1`` as a sparse tensor, not coalesced: the elements of ``input``,
    then all of the product's rows that are not empty. It has no gradient. RuntimeError for other layouts and shapes that do not fit.

    >>> import jtensor as torch
    >>> x = torch.eye(2).to_sparse()
    >>> torch.sspaddmm(x, x, torch.ones(2, 2), beta=3).to_dense()
    tensor([[4., 1.],
            [1., 4.]])
    """
    if not any(map(is_sparse, (input, mat1, mat2))):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    for name, x in (("input", input), ("mat1", mat1)):
        if not is_sparse(x):
            raise RuntimeError(f"sspaddmm: expected '{name}' to have sparse layout, got '{name}' with layout {kind_of(x)}")
    if mat2.layout is not jtensor.strided:
        raise RuntimeError(f"sspaddmm: expected 'mat2' to have strided layout, got 'mat2' with layout {kind_of(mat2)}")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"sspaddmm: Argument #3: Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        raise RuntimeError(f"sspaddmm: Argument #1: Expected size {(mat1.shape[0], mat2.shape[1])}, got {tuple(input.shape)}")
    product = smm(mat1.detach(), mat2.detach())
    values = jtensor.cat([input._elements.detach() * beta, product._elements * alpha])
    places = jtensor.cat([input._pattern.indices, product._pattern.indices], 1)
    made = _without_gradient(sparse(Pattern(places, input.shape), values), input, mat1, mat2, name="sspaddmm")
    return given(out, made)


saddmm = sspaddmm


def kind_of(x):
    """A tensor's layout as errors name it."""
    return "".join(part.title() for part in x.layout.name.split("_")).replace("SparseCoo", "Sparse")


def _without_gradient(made, *inputs, name="hspmm"):
    def pull(grad):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")
    return recorded("NotImplemented", made, list(inputs), lambda g: pull(g))


@answers("sparse_mm")
def sparse_mm(mat1, mat2, reduce=None):
    """The product of two matrices of which at least one is sparse; the gradient of a sparse one is sparse, at its places.

    ``(n, m) @ (m, k)``: dense ``(n, k)``, or sparse if both are. ``reduce``: how the terms of an element are put together, "sum", "mean",
    "amax" or "amin", for a matrix by rows (CSR) and a dense one; zeros where there are none. RuntimeError where the shapes do not fit.

    >>> import jtensor as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[1., 2.],
            [3., 4.]])
    >>> torch.sparse.mm(torch.tensor([[1., 2.], [0., 3.]]).to_sparse_csr(), torch.ones(2, 1), "mean")
    tensor([[1.5000],
            [3.0000]])
    """
    if reduce is not None:
        from .reduced import mm_reduce
        return mm_reduce(mat1, mat2, reduce)
    if is_sparse(mat1) or is_sparse(mat2) or mat1.layout is mat2.layout is jtensor.strided:
        return of_coordinates(mat1, mat2)
    from .compressed_products import sparse_mm as of_compressed
    return of_compressed(mat1, mat2)


def of_coordinates(mat1, mat2):
    """`sparse_mm` of matrices in coordinates, or dense."""
    if is_sparse(mat1) and is_sparse(mat2):
        _check("mm", mat1, mat2)
        return sparse_times_sparse(mat1, mat2, "SparseSparseMatmulBackward0")
    if is_sparse(mat2):
        _check("addmm", mat1, mat2)
        return sparse_mm(mat2.t(), mat1.t()).transpose(0, 1)
    if not is_sparse(mat1):
        return jtensor.mm(mat1, mat2)
    zeros = jtensor.zeros((), dtype=mat2.dtype)
    return _addmm(zeros, mat1, mat2, 0, 1, "SparseAddmmBackward0")


@answers("sparse_addmm")
def sparse_addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """``beta * mat + alpha * mat1 @ mat2`` of a sparse ``mat1``, whose gradient is sparse, at its places.

    >>> import jtensor as torch
    >>> torch.sparse.addmm(torch.ones(2, 2), torch.eye(2).to_sparse(), torch.ones(2, 2), alpha=3)
    tensor([[4., 4.],
            [4., 4.]])
    """
    if is_sparse(mat1):
        return _addmm(mat, mat1, mat2, beta, alpha, "SparseAddmmBackward0")
    return jtensor.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
