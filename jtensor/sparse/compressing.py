"""From other layouts to the compressed ones: of coordinates, of dense tensors, in blocks.

Owns: `to_layout` and the histories of what it makes. May not know: operations.
"""
import numpy as np

from ..base.errors import missing
from ..tensor.creating.from_data import from_host
from .compressed import KINDS, by_rows, in_blocks, is_compressed, put_together, twin
from .graph import at_places, recorded
from .patterns import host_copy
from .tensors import is_sparse, of_the_cpu


def to_layout(x, layout, blocksize=None, dense_dim=None):
    """A tensor, dense or sparse, in a compressed layout."""
    name = layout.name
    if name == "strided":
        return x.to_dense()
    if is_compressed(x) and x._layout is layout and blocksize is None:
        return x
    if in_blocks(layout):
        return _to_blocks(x, layout, blocksize, dense_dim or 0)
    if is_compressed(x) and x.in_blocks:
        raise RuntimeError(f"sparse_compressed_to_{name}: expected SparseCsr or SparseCsc layout but got {KINDS[x._layout.name]}")
    if is_compressed(x):
        x = twin(x)
    elif not is_sparse(x):
        if x.ndim - (dense_dim or 0) != 2:
            if x.ndim - (dense_dim or 0) > 2:
                raise missing("batches of compressed matrices", "a list of matrices")
            raise IndexError(f"select(): index 1 out of range for tensor of size {[*x.shape, 1]} at dimension 1")
        x = x.to_sparse(2)
    if x._pattern.sparse_dim != 2:
        raise RuntimeError(f"Only tensors with two sparse dimensions can be converted to the {KINDS[name]} layout, got self with "
                           f"{x._pattern.sparse_dim} sparse dimensions.")
    return _of_coordinates(x, layout)


def _of_coordinates(x, layout):
    """The elements of a tensor in coordinates, by rows or columns."""
    merged = x._pattern.merged()
    host, values = merged.host(), at_places(x.detach(), merged)
    line, across = host if by_rows(layout) else host[::-1]
    if not by_rows(layout):
        order = np.lexsort((across, line))
        line, across, values = line[order], across[order], values.index_select(0, from_host(order))
    made = _of_lines(layout, line, across, x.shape[0 if by_rows(layout) else 1], values, x.shape)

    def pull(grad):
        return (twin(grad) if is_compressed(grad) else grad,)
    return recorded("ToSparseBackward1", made, [x], pull)


def _of_lines(layout, line, across, count, values, size):
    """The tensor of elements, or blocks, in order: the one of ``count`` rows or columns in which each lies, and its index in there."""
    begins = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))]).astype(np.int64)
    return put_together(layout, from_host(begins), from_host(across.astype(np.int64)), values, size)


def _to_blocks(x, layout, blocksize, dense_dim):
    if blocksize is None:
        raise RuntimeError(f"to_{layout.name}: blocksize is required when converting to a layout of blocks")
    name, blocksize = layout.name, (blocksize,) * 2 if isinstance(blocksize, int) else tuple(blocksize)
    if len(blocksize) != 2:
        raise RuntimeError(f"dense_to_{name}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}")
    height, width = blocksize
    dense = x.to_dense()
    if dense.ndim != 2 + dense_dim:
        raise missing("batches of compressed matrices", "a list of matrices")
    rows, columns, *tail = dense.shape
    if rows % height or columns % width:
        raise RuntimeError(f"dense_to_{name}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize "
                           f"({height},{width})")
    order = [0, 2, 1, 3, *range(4, 4 + dense_dim)]
    blocks = dense.reshape(rows // height, height, columns // width, width, *tail).permute(order)
    there = np.asarray(host_copy(of_the_cpu(blocks).detach().contiguous(), "to_sparse") != 0).any(tuple(range(2, 4 + dense_dim)))
    rowwise = by_rows(layout)
    line, across = np.nonzero(there if rowwise else there.T)
    numbers = line * there.shape[1] + across if rowwise else across * there.shape[1] + line
    values = blocks.detach().reshape(-1, height, width, *tail).index_select(0, from_host(numbers.astype(np.int64)))
    made = _of_lines(layout, line, across, there.shape[0 if rowwise else 1], values, dense.shape)
    return recorded("ToSparseBackward1", made, [dense], lambda grad: (grad.to_dense() if is_compressed(grad) else grad,))
