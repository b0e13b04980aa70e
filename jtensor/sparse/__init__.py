"""``torch.sparse``: functions of sparse tensors, and whether new ones are checked.

A sparse tensor is two ordinary tensors, the indices and the values of its elements, and what is done to it is written with these: the rooms
are `tensors` (what it is), `patterns` (its places), `graph` (its history), `answering` (how public functions come here) and those of the
operations. Nothing is imported from here before the first sparse tensor is made.
"""
import functools

from ..base.dtypes import scalar_name
from . import making
from .compressed import KINDS
from .compressed_products import sampled_addmm
from .gradchecking import as_sparse_gradcheck
from .products import sparse_addmm as addmm
from .products import sparse_mm as mm
from .reducing import log_softmax, softmax
from .reducing import sparse_sum as sum

__all__ = ["addmm", "check_sparse_tensor_invariants", "mm", "sum", "softmax", "log_softmax", "as_sparse_gradcheck", "sampled_addmm",
           "spdiags"]


class check_sparse_tensor_invariants:
    """Whether the parts of new sparse tensors are checked: a context manager, a decorator, and static switches.

    >>> import jtensor as torch
    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse_coo_tensor([[0, 3]], [1., 2.], (3,))
    Traceback (most recent call last):
    RuntimeError: size is inconsistent with indices: for dim 0, size is 3 but found index 3
    """

    @staticmethod
    def is_enabled():
        """Whether checks are on."""
        return bool(making.Checks.wanted)

    @staticmethod
    def enable():
        """Has all new sparse tensors checked."""
        making.Checks.wanted = True

    @staticmethod
    def disable():
        """Has none checked, unless ``check_invariants=True`` asks for it."""
        making.Checks.wanted = False

    def __init__(self, enable=True):
        self.state, self.saved_state = enable, None

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager instance for context "
                               "nesting.")
        self.saved_state = (making.Checks.wanted,)
        making.Checks.wanted = self.state

    def __exit__(self, type, value, traceback):
        making.Checks.wanted, = self.saved_state
        self.saved_state = None

    def __call__(self, mth):
        @functools.wraps(mth)
        def test_mth(*args, **kwargs):
            with type(self)(self.state):
                return mth(*args, **kwargs)
        return test_mth


def spdiags(diagonals, offsets, shape, layout=None):
    """A sparse matrix of the given shape with these diagonals.

    ``diagonals`` ``(d, n)``: the rows, of which column ``j`` goes to column ``j`` of the matrix; ``offsets`` ``(d,)``: which diagonals.

    >>> import jtensor as torch
    >>> torch.sparse.spdiags(torch.tensor([[1., 2.]]), torch.tensor([0]), (2, 2)).to_dense()
    tensor([[1., 0.],
            [0., 2.]])
    """
    import jtensor
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if not 0 < diagonals.ndim < 3:
        raise RuntimeError("Diagonals must be vector or matrix")
    if offsets.ndim > 1:
        raise RuntimeError("Offsets must be scalar or vector")
    diagonals, offsets = (diagonals[None] if diagonals.ndim == 1 else diagonals), offsets.reshape(-1)
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError(f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.shape[0]})")
    if layout not in (None, jtensor.sparse_coo, jtensor.sparse_csr, jtensor.sparse_csc):
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {KINDS.get(layout.name, 'Strided')}")
    if offsets.dtype is not jtensor.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {scalar_name(offsets.dtype)}")
    named = offsets.tolist()
    if len(set(named)) != len(named):
        raise RuntimeError("Offset tensor contains duplicate values")
    rows, columns, taken = [], [], []
    for at, offset in enumerate(named):
        for column in range(max(offset, 0), min(shape[1], shape[0] + offset, diagonals.shape[1])):
            rows.append(column - offset)
            columns.append(column)
            taken.append(at * diagonals.shape[1] + column)
    values = diagonals.reshape(-1).index_select(0, jtensor.tensor(taken, dtype=jtensor.int64))
    made = making.sparse_coo_tensor(jtensor.tensor([rows, columns], dtype=jtensor.int64).reshape(2, -1), values, tuple(shape),
                                    check_invariants=False)
    return made if layout is None or layout is jtensor.sparse_coo else made.to_sparse(layout=layout)


@functools.cache
def __getattr__(name):
    kind = making.of_old(name)
    if kind is None:
        raise AttributeError(f"module 'jtensor.sparse' has no attribute '{name}'")
    return kind
