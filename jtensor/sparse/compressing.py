"""From other layouts to the compressed ones: of coordinates, of dense tensors, in blocks.

Owns: `to_layout`, the methods that go by it, and the histories of what it makes. May not know: other operations.
"""
import numpy as np

import jtensor

from ..base.errors import missing
from ..tensor.creating.from_data import from_host
from . import conversions
from .answering import answers
from .compressed import KINDS, by_rows, in_blocks, is_compressed, put_together, twin
from .graph import at_places, recorded, refuse_complex_history
from .patterns import host_copy
from .tensors import is_sparse, of_the_cpu


def to_layout(x, layout, blocksize=None, dense_dim=None, asked=None):
    """A tensor, dense or sparse, in a compressed layout, which it has (`conversions.check`).

    ``asked``: PyTorch's function, where a user has called it: it has no gradient for complex numbers.
    """
    name, blocks = layout.name, in_blocks(layout)
    if name == "strided":
        return x.to_dense()
    if is_compressed(x):
        if x._layout is layout and (blocksize is None or x._elements.shape[1:3] == _pair(blocksize)):
            return x
        if x.in_blocks and not blocks:
            raise RuntimeError(f"sparse_compressed_to_{name}: expected SparseCsr or SparseCsc layout but got {KINDS[x._layout.name]}")
    elif not blocks and not is_sparse(x):
        _check_dims(x, x.ndim - (dense_dim or 0), layout)
    if asked is not None:
        refuse_complex_history(x, asked)
    if blocks:
        return _to_blocks(x, layout, _pair(blocksize), dense_dim or 0 if x.layout.name == "strided" else x.dense_dim())
    return _of_coordinates(twin(x) if is_compressed(x) else x if is_sparse(x) else x.to_sparse(2), layout)


def _pair(blocksize):
    return (blocksize,) * 2 if isinstance(blocksize, int) else tuple(blocksize)


def _check_dims(x, count, layout):
    """Whether a dense tensor with so many dimensions that become sparse is a matrix."""
    if count > 2:
        raise missing("batches of compressed matrices", "a list of matrices")
    if count < 2:
        raise IndexError(f"select(): index 1 out of range for tensor of size {[*x.shape, 1]} at dimension 1" if by_rows(layout) else
                         f"Dimension out of range (expected to be in range of [{-max(x.ndim, 1)}, {max(x.ndim, 1) - 1}], but got 1)")


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
    height, width = blocksize
    dense = x.to_dense()
    if dense.ndim != 2 + dense_dim:
        raise missing("batches of compressed matrices", "a list of matrices")
    rows, columns, *tail = dense.shape
    order = [0, 2, 1, 3, *range(4, 4 + dense_dim)]
    blocks = dense.reshape(rows // height, height, columns // width, width, *tail).permute(order)
    there = np.asarray(host_copy(of_the_cpu(blocks).detach().contiguous(), "to_sparse") != 0).any(tuple(range(2, 4 + dense_dim)))
    rowwise = by_rows(layout)
    line, across = np.nonzero(there if rowwise else there.T)
    numbers = line * there.shape[1] + across if rowwise else across * there.shape[1] + line
    values = blocks.detach().reshape(-1, height, width, *tail).index_select(0, from_host(numbers.astype(np.int64)))
    made = _of_lines(layout, line, across, there.shape[0 if rowwise else 1], values, dense.shape)
    return recorded("ToSparseBackward1", made, [dense], lambda grad: (grad.to_dense() if is_compressed(grad) else grad,))


def in_layout(self, name, blocksize, dense_dim):
    """A tensor, dense or sparse, in the layout of this name."""
    layout = getattr(jtensor, name)
    conversions.check("to_" + name, self, layout, blocksize, dense_dim)
    return to_layout(self, layout, blocksize, dense_dim, "_to_" + name)


def _converting(name, blocks):
    def by_lines(self, dense_dim=None):
        return in_layout(self, name, None, dense_dim)

    def by_blocks(self, blocksize, dense_dim=None):
        return in_layout(self, name, blocksize, dense_dim)
    made = by_blocks if blocks else by_lines
    made.__name__ = made.__qualname__ = "to_" + name                  # which Python's errors about the arguments show
    answers("to_" + name)(made)


for _name in ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"):
    _converting(_name, _name[7] == "b")
