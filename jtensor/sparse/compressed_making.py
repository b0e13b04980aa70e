"""How users make sparse matrices by rows or columns, and batches of them: the functions, and PyTorch's checks of the parts.

Owns: these, ``torch.zeros`` in these layouts, and the tensor of pickled parts. May not know: operations.
"""
import jtensor

from .compressed import KINDS, by_rows, elements_at, in_blocks, put_together
from .compressed_checks import check, check_form, inferred
from .graph import recorded
from .making import checked


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None, device=None,
                             pin_memory=False, requires_grad=False, check_invariants=None):
    """A sparse matrix in one of the compressed layouts, which ``layout`` names.

    ``compressed_indices`` ``(*batch, n + 1)``: where the elements of each row (or column, or row of blocks) begin among all;
    ``plain_indices`` ``(*batch, nnz)``: the other index of each; ``values`` ``(*batch, nnz, ...)``. ``size``: inferred if it is not given.
    RuntimeError for parts that do not fit, where invariants are checked.

    >>> import jtensor as torch
    >>> torch.sparse_compressed_tensor([0, 1, 2], [1, 0], [3., 4.], (2, 2), layout=torch.sparse_csr, check_invariants=True).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    if layout is None or layout.name not in KINDS:
        got = "none" if layout is None else {"strided": "Strided", "sparse_coo": "Sparse"}.get(layout.name, layout)
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {got}")
    values = _tensor(values, dtype, device)
    begins, others = (jtensor.as_tensor(x, device=values.device).detach() for x in (compressed_indices, plain_indices))
    wanted = checked(check_invariants)
    size = inferred(layout, begins, others, values) if size is None else tuple(size)
    (check if wanted else check_form)(layout, begins, others, values, size)
    begins, others = (x if x.dtype is jtensor.int32 else x.to(jtensor.int64) for x in (begins, others))
    made = put_together(layout, begins, others, values, size)
    made = recorded("SparseCompressedTensorBackward0", made, [values], lambda grad: (elements_at(grad, made),))
    if requires_grad:
        made.requires_grad_()
    return made


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A sparse matrix by rows: ``crow_indices`` ``(rows + 1,)``, ``col_indices`` ``(nnz,)``, ``values`` ``(nnz,)``.

    >>> import jtensor as torch
    >>> torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3., 4., 5.], (2, 3), check_invariants=True).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, dtype=dtype, layout=jtensor.sparse_csr, device=device,
                                    requires_grad=requires_grad, check_invariants=check_invariants)


def sparse_csc_tensor(ccol_indices, row_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A sparse matrix by columns: ``ccol_indices`` ``(columns + 1,)``, ``row_indices`` ``(nnz,)``, ``values`` ``(nnz,)``.

    >>> import jtensor as torch
    >>> torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], [4., 3., 5.], (2, 3), check_invariants=True).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, dtype=dtype, layout=jtensor.sparse_csc, device=device,
                                    requires_grad=requires_grad, check_invariants=check_invariants)


def sparse_bsr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A sparse matrix of blocks, by rows of them: ``crow_indices``, ``col_indices`` ``(nnz,)``, ``values`` ``(nnz, height, width)``.

    >>> import jtensor as torch
    >>> torch.sparse_bsr_tensor([0, 1], [1], [[[1., 2.]]], (1, 4), check_invariants=True).to_dense()
    tensor([[0., 0., 1., 2.]])
    """
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, dtype=dtype, layout=jtensor.sparse_bsr, device=device,
                                    requires_grad=requires_grad, check_invariants=check_invariants)


def sparse_bsc_tensor(ccol_indices, row_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A sparse matrix of blocks, by columns of them: ``ccol_indices``, ``row_indices`` ``(nnz,)``, ``values`` ``(nnz, height, width)``.

    >>> import jtensor as torch
    >>> torch.sparse_bsc_tensor([0, 0, 1], [0], [[[1., 2.]]], (1, 4), check_invariants=True).to_dense()
    tensor([[0., 0., 1., 2.]])
    """
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, dtype=dtype, layout=jtensor.sparse_bsc, device=device,
                                    requires_grad=requires_grad, check_invariants=check_invariants)


def _tensor(values, dtype, device):
    if isinstance(values, jtensor.Tensor):
        return values if dtype is None and device is None else values.to(device=device or values.device, dtype=dtype or values.dtype)
    return jtensor.as_tensor(values, dtype=dtype, device=device)


def empty(layout, size, dtype, device, requires_grad=False, name="zeros"):
    """``torch.zeros(size, layout=torch.sparse_csr)``, and ``torch.empty``: a matrix, or a batch of them, without elements."""
    size = tuple(size)
    if in_blocks(layout):
        raise RuntimeError(f"{name}_sparse_compressed expected sparse compressed (non-block) tensor layout but got {KINDS[layout.name]}")
    if len(size) < 2:
        raise RuntimeError(f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, but got size {list(size)}")
    batch, lines = size[:-2], size[-2 if by_rows(layout) else -1]
    begins = jtensor.zeros((*batch, lines + 1), dtype=jtensor.int64, device=device)
    others = jtensor.zeros((*batch, 0), dtype=jtensor.int64, device=device)
    made = put_together(layout, begins, others, jtensor.zeros((*batch, 0), dtype=dtype, device=device), size)
    made._requires_grad = requires_grad
    return made


def compressed(layout, begins, others, values, size, wanted=False):
    """The tensor of pickled parts, which are looked at where that is ``wanted``."""
    layout = getattr(jtensor, layout)
    if wanted:
        check(layout, begins, others, values, tuple(size))
    return put_together(layout, begins, others, values, size)
