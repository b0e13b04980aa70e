"""Products of a sparse matrix by rows and a dense one whose terms are not only summed: their mean, the largest, the smallest.

Owns: ``torch.sparse.mm(..., reduce)`` and its gradient. May not know: other products.
"""
import jtensor

from ..base import dtypes
from ..ops.families.select import index_reduce_raw
from .compressed import elements_of as values_of
from .compressed import is_compressed, with_elements
from .graph import recorded, wants
from .products import kind_of
from .refusals import refused
from .tensors import is_sparse


def mm_reduce(mat1, mat2, reduce):
    """``mat1 @ mat2`` with another way to put the terms of a sum together; zeros where there are none. See `products.sparse_mm`."""
    _check(mat1, mat2, reduce)
    pattern = mat1._pattern_in_coordinates()
    rows, columns = pattern.lines()
    count = rows.shape[0]
    terms = mat1._elements[:, None] * mat2.detach().index_select(0, columns)
    made = jtensor.zeros((mat1.shape[0], mat2.shape[1]), dtype=mat2.dtype)
    share = chosen = None
    if reduce in ("sum", "mean"):
        made = made.index_add(0, rows, terms)
        if reduce == "mean":
            lengths = jtensor.zeros(mat1.shape[0], dtype=mat2.dtype).index_add(0, rows, jtensor.ones(count, dtype=mat2.dtype))
            share = lengths.clamp(min=1)[:, None]
            made = made / share
    elif count:
        made = index_reduce_raw(made, 0, rows, terms, reduce, False)
        # of equal terms the first is the one that the gradient goes to
        places = jtensor.arange(count)[:, None]
        hits = jtensor.where((terms == made.index_select(0, rows)) | terms.isnan(), places, count)
        first = index_reduce_raw(jtensor.full(made.shape, count), 0, rows, hits, "amin", True)
        chosen = first.index_select(0, rows) == places

    def pull(grad):
        grad = grad if share is None else grad / share
        of_terms = grad.index_select(0, rows)
        if chosen is not None:
            of_terms = of_terms.masked_fill(~chosen, 0)
        of_values = of_dense = None
        if wants(mat1):
            of_values = with_elements(mat1, (of_terms * mat2.index_select(0, columns)).sum(1), "SparseMaskBackward0")
        if wants(mat2):
            scaled = values_of(mat1)[:, None] * of_terms
            of_dense = jtensor.zeros(mat2.shape, dtype=mat2.dtype).index_add(0, columns, scaled)
        return of_values, of_dense
    return recorded("SparseMmReduceImplBackward0", made, [mat1, mat2], pull, [mat1, mat2])


def _check(mat1, mat2, reduce):
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if is_sparse(mat1) or mat1.layout is mat2.layout is jtensor.strided:
        raise refused("_sparse_mm_reduce_impl", (mat1,))
    if not is_compressed(mat1) or mat1.layout is not jtensor.sparse_csr:
        raise RuntimeError(f"sparse_mm_reduce: expect self to be SparseCsr, got {kind_of(mat1)}")
    if mat2.layout is not jtensor.strided:
        raise RuntimeError(f"Expected tensor to have Strided Layout, but got tensor with {kind_of(mat2)} Layout (while checking arguments "
                           "for sparse_mm_reduce)")
    if mat2.ndim != 2 or mat2.shape[0] != mat1.shape[1]:
        raise RuntimeError(f"Expected a tensor of dimension 2 and tensor.size[0] == {mat1.shape[1]} but got: dimension {mat2.ndim} and "
                           f"tensor.size[0] = {mat2.shape[0] if mat2.ndim else 1}")
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(f"Expected tensor for argument #1 'other' to have scalar type {dtypes.scalar_name(mat1.dtype)}; but got "
                           f"torch.{dtypes.scalar_name(mat2.dtype)}Tensor instead (while checking arguments for sparse_mm_reduce)")
    if reduce == "prod":
        raise RuntimeError("sparse_mm_reduce: reduce type of prod has not been enabled.")
    if not mat1.dtype.is_floating_point:
        raise NotImplementedError(f"\"spmm_reduce_kernel\" not implemented for '{dtypes.scalar_name(mat1.dtype)}'")
