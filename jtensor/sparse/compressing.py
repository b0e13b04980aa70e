"""From other layouts to the compressed ones: of coordinates, of dense tensors, in blocks; matrices, and batches of them.

Owns: `to_layout`, the methods that go by it, and the histories of what it makes. May not know: other operations.
"""
import math

import numpy as np

import jtensor

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
        if x._layout is layout and (blocksize is None or x.blocksize == _pair(blocksize)):
            return x
        if x.in_blocks and not blocks:
            raise RuntimeError(f"sparse_compressed_to_{name}: expected SparseCsr or SparseCsc layout but got {KINDS[x._layout.name]}")
        if blocks and not x.in_blocks and x.batch:
            raise RuntimeError(f"sparse_compressed_to_{name}: conversion from {KINDS[x._layout.name]} to {KINDS[name]} for batched inputs "
                               "is not supported")
    elif not is_sparse(x):
        _check_dims(x, x.ndim - (dense_dim or 0), layout)
    if asked is not None:
        refuse_complex_history(x, asked)
    if blocks:
        return _to_blocks(x, layout, x.blocksize if blocksize is None else _pair(blocksize),
                          dense_dim or 0 if x.layout.name == "strided" else x.dense_dim())
    if is_compressed(x):
        return _of_coordinates(twin(x), layout, x._begins.dtype)
    return _of_coordinates(x if is_sparse(x) else x.to_sparse(x.ndim - (dense_dim or 0)), layout)


def _pair(blocksize):
    return (blocksize,) * 2 if isinstance(blocksize, int) else tuple(blocksize)


def _check_dims(x, count, layout):
    """Whether a dense tensor with so many dimensions that become sparse is a matrix, or a batch of them."""
    if count < 2:
        raise IndexError(f"select(): index 1 out of range for tensor of size {[*x.shape, 1]} at dimension 1" if by_rows(layout) else
                         f"Dimension out of range (expected to be in range of [{-max(x.ndim, 1)}, {max(x.ndim, 1) - 1}], but got 1)")
    if 0 in x.shape[:count - 2]:
        raise RuntimeError(f"to_{layout.name}: Expected product of batch dimensions to be non-zero.")


def _of_coordinates(x, layout, kind=None):
    """The elements of a tensor in coordinates, by rows or columns; the first dimensions but two are those of a batch.

    ``kind``: the type of the indices where the tensor is the twin of a compressed one, whose elements stay as many as they are.
    """
    pattern, rowwise = x._pattern if kind else x._pattern.merged(), by_rows(layout)
    batch, host = tuple(pattern.size[:-2]), pattern.host()
    line, across = host[-2:] if rowwise else host[:-3:-1]
    values, count = x._elements if kind else at_places(x.detach(), pattern), pattern.size[-2 if rowwise else -1]
    if batch:
        line = np.ravel_multi_index(tuple(host[:-2]), batch) * count + line
    if kind or not rowwise:
        order = np.lexsort((across, line))
        line, across, values = line[order], across[order], values.index_select(0, from_host(order))
    made = _of_lines(layout, line, across, count, batch, values, x.shape, kind)

    def pull(grad):
        return (twin(grad) if is_compressed(grad) else grad,)
    return recorded("ToSparseBackward1", made, [x], pull)


def _of_lines(layout, line, across, count, batch, values, size, kind=None):
    """The tensor of elements, or blocks, in order: the one of ``count`` rows or columns in which each lies, counted through the whole
    ``batch``, and its index in there."""
    many = math.prod(batch)
    begins = np.zeros((many, count + 1), np.int64)
    begins[:, 1:] = np.cumsum(np.bincount(line, minlength=many * count).reshape(many, count), 1)
    nnz = int(begins[0, -1])
    if (begins[:, -1] != nnz).any():
        raise RuntimeError("Expect the same number of specified elements per batch.")
    begins, across = (from_host(x.astype(np.int64).reshape(*batch, n)).to(kind or jtensor.int64)
                      for x, n in ((begins, count + 1), (across, nnz)))
    return put_together(layout, begins, across, values.reshape(*batch, nnz, *values.shape[1:]), size)


def _to_blocks(x, layout, blocksize, dense_dim):
    """A tensor in any layout, in blocks: those that are not zero, or in which a sparse one has an element."""
    height, width = blocksize
    dense, rowwise = x.to_dense(), by_rows(layout)
    count = dense.ndim - dense_dim - 2
    *batch, rows, columns = dense.shape[:count + 2]
    tail, counts = dense.shape[count + 2:], (rows // height, columns // width)
    order = [*range(count + 1), count + 2, count + 1, *range(count + 3, count + 4 + dense_dim)]
    blocks = dense.detach().reshape(*batch, counts[0], height, counts[1], width, *tail).permute(order)
    if x.layout.name == "strided":
        host = np.asarray(host_copy(of_the_cpu(blocks).contiguous(), "to_sparse") != 0)
        places = np.stack(np.nonzero(host.any(tuple(range(count + 2, host.ndim)))))
    else:
        places = np.array((x if is_sparse(x) else twin(x.detach()))._pattern.host())
        places[-2:] //= np.array([[height], [width]])
        places = np.unique(places, axis=1)
    numbers = np.ravel_multi_index(tuple(places), (*batch, *counts))
    of_batch = np.ravel_multi_index(tuple(places[:-2]), batch) if batch else 0
    line, across = places[-2:] if rowwise else places[:-3:-1]
    line = of_batch * counts[0 if rowwise else 1] + line
    if not rowwise:
        by_column = np.lexsort((across, line))
        line, across, numbers = line[by_column], across[by_column], numbers[by_column]
    values = blocks.reshape(-1, height, width, *tail).index_select(0, from_host(numbers.astype(np.int64)))
    made = _of_lines(layout, line, across, counts[0 if rowwise else 1], tuple(batch), values, dense.shape,
                     x._begins.dtype if is_compressed(x) else None)
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
