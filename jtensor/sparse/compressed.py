"""Sparse matrices whose rows, or columns, are told by where they begin: the layouts CSR, CSC, and of blocks BSR and BSC.

Owns: their class, how one is made and checked, and its `twin`, the same elements in coordinates, by which most is done. Batches of them
are not there. What public functions do is in `compressed_answers`. May not know: operations.
"""
import numpy as np

import jtensor

from ..base import sites
from ..base.errors import missing
from ..storage import VersionCounter
from ..tensor.calling.overriding import install
from ..tensor.core import LAYOUTS, make_tensor
from ..tensor.creating.from_data import from_host
from ..trace import spec as specs
from ..trace.tape import LOCAL
from .graph import at_places, recorded
from .making import checked
from .patterns import REASON, Pattern, host_copy
from .tensors import NOWHERE, SparseTensor, is_sparse, of_the_cpu, sparse

BETA = ("Sparse {} tensor support is in beta state. If you miss a functionality in the sparse tensor support, please submit a feature "
        "request to https://github.com/pytorch/pytorch/issues.")
WARNED = []
KINDS = {"sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc", "sparse_bsr": "SparseBsr", "sparse_bsc": "SparseBsc"}


class CompressedTensor(SparseTensor):
    """A sparse matrix by rows or columns. ``_begins``: where each begins among the elements; ``_others``: the elements' index in the other
    dimension; ``_elements``: their values, blocks ``(nnz, height, width)`` in the layouts of blocks; ``_layout``."""

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

    def _nnz(self):
        return self._others.shape[0]

    def _values(self):
        return self._elements.detach()

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
        lines = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
        rows, columns = (lines, others) if self.by_rows else (others, lines)
        if self.in_blocks:
            height, width = self._elements.shape[1:3]
            rows = (rows[:, None, None] * height + np.arange(height)[:, None] + np.zeros((1, width), np.int64)).reshape(-1)
            columns = (columns[:, None, None] * width + np.arange(width) + np.zeros((height, 1), np.int64)).reshape(-1)
        return Pattern(from_host(np.stack([rows, columns]).astype(np.int64)), self.shape[:2])

    def _flat(self, values):
        """Values as they lie along that pattern."""
        return values.reshape(-1, *values.shape[3:]) if self.in_blocks else values


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


# -- making ------------------------------------------------------------------------------------------------------------


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None, device=None,
                             pin_memory=False, requires_grad=False, check_invariants=None):
    """A sparse matrix in one of the compressed layouts, which ``layout`` names.

    ``compressed_indices`` ``(n + 1,)``: where the elements of each row (or column, or row of blocks) begin among all; ``plain_indices``
    ``(nnz,)``: the other index of each; ``values`` ``(nnz, ...)``. ``size``: inferred if it is not given. RuntimeError for parts that do
    not fit, where invariants are checked.

    >>> import jtensor as torch
    >>> torch.sparse_compressed_tensor([0, 1, 2], [1, 0], [3., 4.], (2, 2), layout=torch.sparse_csr, check_invariants=True).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    if layout is None or layout.name not in KINDS:
        raise RuntimeError(f"sparse_compressed_tensor: expected compressed sparse tensor layout but got {layout}")
    values = _tensor(values, dtype, device)
    begins, others = _index(compressed_indices, values), _index(plain_indices, values)
    check = checked(check_invariants)
    if begins.ndim != 1 or others.ndim != 1:
        raise missing("batches of compressed matrices", "a list of matrices, or batches in coordinates (torch.stack of them)")
    size = _inferred(layout, begins, others, values) if size is None else tuple(size)
    if check:
        _fitting(layout, begins, others, values, size)
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


def _index(indices, values):
    made = jtensor.as_tensor(indices, device=values.device).detach()
    return made if made.dtype is jtensor.int32 else made.to(jtensor.int64)


def _inferred(layout, begins, others, values):
    lines, across = begins.shape[0] - 1, int(others.max()) + 1 if others.numel() else 0
    blocks = in_blocks(layout)
    height, width = values.shape[1:3] if blocks else (1, 1)
    rows, columns = (lines, across) if by_rows(layout) else (across, lines)
    return (rows * height, columns * width, *values.shape[3 if blocks else 1:])


def _fitting(layout, begins, others, values, size):
    """PyTorch's errors for parts that do not go together."""
    rows, blocks = by_rows(layout), in_blocks(layout)
    first, second = ("crow_indices", "col_indices") if rows else ("ccol_indices", "row_indices")
    line, across = ("row", "col") if rows else ("column", "row")
    height, width = values.shape[1:3] if blocks else (1, 1)
    counts = size[0] // height, size[1] // width
    lines, other = counts if rows else counts[::-1]
    what = f"{line} block" if blocks else line
    if begins.shape[0] != lines + 1:
        raise RuntimeError(f"{first}.shape[-1] must be equal to the number of {what}s + 1 (={lines + 1}), but got {begins.shape[0]}")
    if others.shape[0] != values.shape[0]:
        raise RuntimeError(f"{second}.shape[-1] must be equal to nnz (={values.shape[0]}) as defined by values.shape[0], but got "
                           f"{others.shape[0]}")
    at, index = (np.asarray(host_copy(x, REASON)) for x in (begins, others))
    n, wide = ("nrows", "ncols") if rows else ("ncols", "nrows")
    if at[0] != 0:
        raise RuntimeError(f"`{first}[..., 0] == 0` is not satisfied.")
    if at[-1] != len(index):
        raise RuntimeError(f"`{first}[..., -1] == nnz` is not satisfied.")
    steps = np.diff(at)
    if (steps < 0).any() or (steps > other).any():
        raise RuntimeError(f"`0 <= {first}[..., 1:] - {first}[..., :-1] <= {wide}` is not satisfied.")
    if len(index) and (index.min() < 0 or index.max() >= other):
        raise RuntimeError(f"`0 <= {second} < n{across}s` is not satisfied.")
    of = np.repeat(np.arange(lines), steps)
    if ((np.diff(index) <= 0) & (np.diff(of) == 0)).any():
        raise RuntimeError(f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., {n} are sorted and distinct along the "
                           "last dimension values` is not satisfied.")


def empty(layout, size, dtype, device, requires_grad=False):
    """``torch.zeros(size, layout=torch.sparse_csr)``."""
    if len(size) != 2 or in_blocks(layout):
        raise missing(f"zeros of size {list(size)} in the layout {layout}", "torch.zeros(size).to_sparse(layout=...)")
    begins = jtensor.zeros((size[0 if by_rows(layout) else 1] + 1,), dtype=jtensor.int64, device=device)
    others = jtensor.zeros((0,), dtype=jtensor.int64, device=device)
    made = put_together(layout, begins, others, jtensor.zeros((0,), dtype=dtype, device=device), size)
    made._requires_grad = requires_grad
    return made


def compressed(layout, begins, others, values, size, check=False):
    """The tensor of pickled parts, which ``check`` looks at."""
    if check:
        _fitting(getattr(jtensor, layout), begins, others, values, tuple(size))
    return put_together(getattr(jtensor, layout), begins, others, values, size)
