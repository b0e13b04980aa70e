"""Sparse matrices whose rows, or columns, are told by where they begin: the layouts CSR, CSC, and of blocks BSR and BSC.

Owns: their class, batches of them, how one is put together, and its `twin`, the same elements in coordinates, by which most is done. How
users make one is in `compressed_making`, what public functions do in `compressed_answers`. May not know: operations.
"""
import math

import numpy as np

import jtensor

from ..base import sites
from ..storage import VersionCounter
from ..tensor.calling.overriding import install
from ..tensor.core import LAYOUTS, make_tensor
from ..tensor.creating.from_data import from_host
from ..trace import spec as specs
from ..trace.tape import LOCAL
from .graph import at_places, recorded
from .patterns import REASON, Pattern, host_copy
from .refusals import refused
from .tensors import NOWHERE, SparseTensor, is_sparse, of_the_cpu, sparse

BETA = ("Sparse {} tensor support is in beta state. If you miss a functionality in the sparse tensor support, please submit a feature "
        "request to https://github.com/pytorch/pytorch/issues.")
WARNED = []
KINDS = {"sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc", "sparse_bsr": "SparseBsr", "sparse_bsc": "SparseBsc"}


class CompressedTensor(SparseTensor):
    """A sparse matrix by rows or columns. ``_begins`` ``(*batch, lines + 1)``: where each begins among the elements; ``_others``
    ``(*batch, nnz)``: the elements' index in the other dimension; ``_elements`` ``(*batch, nnz, *dense sizes)``: their values, blocks
    ``(*batch, nnz, height, width, ...)`` in the layouts of blocks; ``_layout``. Matrices of a batch have equally many elements."""

    __slots__ = ("_begins", "_others", "_layout", "_places")
    _parts = "_begins", "_others", "_elements", "_layout", "_places"

    @property
    def is_sparse(self):
        return False

    @property
    def is_sparse_csr(self):
        return self._layout is jtensor.sparse_csr

    @property
    def layout(self):
        return self._layout

    @property
    def nbytes(self):
        return self.numel() * self.itemsize

    @property
    def by_rows(self):
        return by_rows(self._layout)

    @property
    def in_blocks(self):
        return in_blocks(self._layout)

    @property
    def batch(self):
        """How many dimensions the matrices are a batch of."""
        return self._begins.ndim - 1

    @property
    def blocksize(self):
        """The height and the width of the blocks, None where there are none."""
        return tuple(self._elements.shape[self.batch + 1:self.batch + 3]) if self.in_blocks else None

    def _nnz(self):
        return self._others.shape[-1]

    def _values(self):
        return self._elements.detach()

    def _indices(self):
        raise refused("_indices", (self,))

    def _dimI(self):
        raise refused("_dimI", (self,))

    def _dimV(self):
        raise refused("_dimV", (self,))

    def _parts_shown(self):
        begins, others = ("crow_indices", "col_indices") if self.by_rows else ("ccol_indices", "row_indices")
        return (begins, self._begins), (others, self._others), ("values", self._elements)

    def _share(self):
        return compressed_of(self, self._elements)

    def _moved(self, device, dtype):
        return self._with(self._begins.to(device), self._others.to(device), self._elements.to(device, dtype, copy=True))

    def _copied(self):
        return self._with(self._begins.clone(), self._others.clone(), self._elements.clone())

    def _with(self, begins, others, elements):
        """The tensor of other parts that say the same places."""
        made = put_together(self._layout, begins, others, elements, self.shape)
        made._places = self._places
        return made

    def _pickled(self):
        return self._layout.name, self._begins, self._others, self._values(), self.shape

    def _pattern_in_coordinates(self):
        """The `Pattern` of the elements, in the order in which they are kept; worked out once."""
        if self._places is None:
            self._places = self._worked_out()
        return self._places

    def _worked_out(self):
        begins, others = (np.asarray(host_copy(x, REASON)).astype(np.int64) for x in (self._begins, self._others))
        many, nnz = math.prod(others.shape[:-1]), others.shape[-1]
        begins, others = begins.reshape(many, begins.shape[-1]), others.reshape(-1)
        lines = [np.repeat(np.arange(len(one) - 1), np.diff(one)) for one in begins]
        lines = np.concatenate([*lines, np.zeros(0, np.int64)])
        rows, columns = (lines, others) if self.by_rows else (others, lines)
        of_batch = np.unravel_index(np.repeat(np.arange(many), nnz), self.shape[:self.batch]) if self.batch else ()
        if self.in_blocks:
            height, width = self.blocksize
            rows = (rows[:, None, None] * height + np.arange(height)[:, None] + np.zeros((1, width), np.int64)).reshape(-1)
            columns = (columns[:, None, None] * width + np.arange(width) + np.zeros((height, 1), np.int64)).reshape(-1)
            of_batch = [np.repeat(one, height * width) for one in of_batch]
        return Pattern(from_host(np.stack([*of_batch, rows, columns]).astype(np.int64)), self.shape[:self.batch + 2])

    def _flat(self, values):
        """Values as they lie along that pattern."""
        kept = self.batch + (3 if self.in_blocks else 1)
        return values if kept == 1 else values.reshape(self._pattern_in_coordinates().nnz, *values.shape[kept:])


CompressedTensor.__name__ = CompressedTensor.__qualname__ = "Tensor"
CompressedTensor.__module__ = "torch"


def by_rows(layout):
    """Whether a layout tells where rows begin, or rows of blocks; the others tell it of columns."""
    return layout.name in ("sparse_csr", "sparse_bsr")


def in_blocks(layout):
    """Whether the elements of a layout are blocks."""
    return layout.name in ("sparse_bsr", "sparse_bsc")


def is_compressed(x):
    """Whether something is a sparse matrix by rows or columns."""
    return type(x) is CompressedTensor


def put_together(layout, begins, others, elements, size):
    """The tensor of these parts, without history."""
    if CompressedTensor not in LAYOUTS:
        from .compressed_answers import COMPRESSED
        LAYOUTS[CompressedTensor] = COMPRESSED
        install()
    if not WARNED:
        WARNED.append(True)
        sites.warn(BETA.format(layout.name[-3:].upper()))
    known = of_the_cpu(elements)._spec
    made = make_tensor(NOWHERE, specs.spec(tuple(map(int, size)), None, known.dtype, known.device), 0, CompressedTensor, LOCAL.inference)
    made._counter, made._layout, made._places = VersionCounter(), layout, None
    made._begins, made._others, made._elements = begins.detach(), others.detach(), elements.detach()
    return made


def compressed_of(x, elements):
    """Other values at the places of a tensor."""
    return x._with(x._begins, x._others, elements)


# -- history -----------------------------------------------------------------------------------------------------------


def with_elements(x, values, name):
    """The tensor of values that may have a history at the places of ``x``."""
    return recorded(name, compressed_of(x, values), [values], lambda grad: (elements_at(grad, x),))


def elements_at(grad, x):
    """What a gradient, dense or sparse, has at the places of ``x``, in the shape of its values."""
    if is_compressed(grad):
        if grad._places is not None and grad._places is x._places or grad._begins is x._begins and grad._others is x._others:
            return elements_of(grad)
        grad = twin(grad)
    return at_places(grad, x._pattern_in_coordinates()).reshape(x._elements.shape)


def elements_of(x):
    """The values, on the tensor's memory, as part of the graph."""
    return recorded("ValuesBackward0", x._elements.detach(), [x], lambda grad: (with_elements(x, grad, "SparseCompressedTensorBackward0"),))


def twin(x):
    """The same elements in coordinates, in the order in which they are kept. A dense gradient goes through as it is."""
    made = sparse(x._pattern_in_coordinates(), x._flat(x._elements.detach()), x._layout.name == "sparse_csr")
    return recorded("ToSparseBackward1", made, [x], lambda grad: (masked(grad, x) if is_sparse(grad) else grad,))


def masked(grad, x):
    """A gradient at the places of ``x``, in its layout."""
    return with_elements(x, elements_at(grad, x), "SparseMaskBackward0")
