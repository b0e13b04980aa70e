"""How sparse tensors are made of indices and values, and PyTorch's checks of both.

Owns: `sparse_coo_tensor`, whether invariants are checked, the types of old (``torch.sparse.FloatTensor``).
"""
import jtensor

from ..base import sites
from .graph import assembled
from .patterns import Pattern
from .tensors import sparse

IMPLICIT = ("Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur when operating on a sparse tensor "
            "which violates the invariants, but checks incur performance overhead. To silence this warning, explicitly opt in or out. See "
            "`torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance.  ")
NEW = ("new() received an invalid combination of arguments - got (Tensor), but expected one of:\n * (*, torch.device device = None)\n"
       " * (Tensor indices, Tensor values, *, torch.device device = None)\n"
       " * (Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None)\n"
       " * (tuple of ints size, *, torch.device device = None)\n")


class Checks:
    """Whether new sparse tensors are checked: None as long as nobody has said."""

    wanted, warned = None, False


def checked(asked):
    """Whether this one is to be checked; warns once where nobody has said."""
    if asked is not None:
        return asked
    if Checks.wanted is None and not Checks.warned:
        Checks.warned = True
        sites.warn(IMPLICIT)
    return bool(Checks.wanted)


def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None, is_coalesced=None):
    """A sparse tensor of ``values`` ``(nnz, *dense sizes)`` at ``indices`` ``(sparse_dim, nnz)``; elements at one place add up.

    ``size``: inferred from the indices if it is not given; alone, an empty tensor of that size. ``check_invariants``: whether the indices
    are compared with the size; RuntimeError where they do not fit. ``is_coalesced``: a promise that the indices are in order, each once.

    >>> import jtensor as torch
    >>> x = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3., 4., 5.], (2, 3), check_invariants=True)
    >>> x
    tensor(indices=tensor([[0, 1, 1],
                           [2, 0, 2]]),
           values=tensor([3., 4., 5.]),
           size=(2, 3), nnz=3, layout=torch.sparse_coo)
    >>> x.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    if values is None:
        size, indices = (indices, None) if size is None else (size, None)
        size = tuple(size)
        made = sparse(Pattern(jtensor.zeros((len(size), 0), dtype=jtensor.int64, device=device), size),
                      jtensor.zeros((0,), dtype=dtype, device=device))
        checked(check_invariants)
        made._requires_grad = requires_grad
        return made
    values = _values(values, dtype, device)
    indices = jtensor.as_tensor(indices, device=values.device).to(jtensor.int64).detach()
    check = checked(check_invariants)
    if size is None:
        size = _inferred(indices, values)
    _fitting(indices, values, tuple(size))
    pattern = Pattern(indices, tuple(size)[:indices.shape[0]])
    if check:
        _check(pattern, is_coalesced)
    made = assembled(pattern, values, bool(is_coalesced))
    if requires_grad:
        made.requires_grad_()
    return made


def _values(values, dtype, device):
    if not isinstance(values, jtensor.Tensor):
        values = jtensor.as_tensor(values, dtype=dtype, device=device)
    elif dtype is not None or device is not None:
        values = values.to(device=device or values.device, dtype=dtype or values.dtype)
    return values if values.ndim else values.expand(1)


def _inferred(indices, values):
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    host = Pattern(indices, ()).host()
    if not host.shape[1]:
        return (*[0] * host.shape[0], *values.shape[1:])
    for dim, line in enumerate(host):
        if line.min() < 0:
            raise RuntimeError(f"found negative index {line.min()} for dim {dim}")
    return (*[int(line.max()) + 1 for line in host], *values.shape[1:])


def _fitting(indices, values, size):
    """PyTorch's errors for parts whose shapes do not go together."""
    if indices.ndim == 1 and values.ndim <= 1 and len(size) != indices.shape[0]:          # as if each were a dimension of one element
        sparse_dim = indices.shape[0]
        raise RuntimeError(_DIMS.format(len(size), sparse_dim, max(values.ndim - 1, 0)))
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    sparse_dim, nnz = indices.shape
    if len(size) != sparse_dim + values.ndim - 1:
        raise RuntimeError(_DIMS.format(len(size), sparse_dim, values.ndim - 1))
    if nnz != values.shape[0]:
        raise RuntimeError("indices and values must have same nnz, but got nnz from indices: "
                           f"{nnz}, nnz from values: {values.shape[0]}")
    if list(values.shape[1:]) != list(size[sparse_dim:]):
        raise RuntimeError(f"values has incorrect size, expected {[nnz, *size[sparse_dim:]]}, got {list(values.shape)}")


_DIMS = "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {}, sparse_dim = {}, dense_dim = {}"


def check_parts(indices, values, size, is_coalesced):
    """PyTorch's errors for parts that violate an invariant."""
    _fitting(indices, values, tuple(size))
    _check(Pattern(indices, tuple(size)[:indices.shape[0]]), is_coalesced)


def _check(pattern, is_coalesced):
    _within(pattern)
    if is_coalesced and pattern.nnz > 1 and (pattern.numbers()[1:] <= pattern.numbers()[:-1]).any():
        raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


def _within(pattern):
    for dim, (line, length) in enumerate(zip(pattern.host(), pattern.size, strict=True)):
        if len(line) and line.min() < 0:
            raise RuntimeError(f"found negative index {line.min()} for dim {dim}")
        if len(line) and line.max() >= length:
            raise RuntimeError(f"size is inconsistent with indices: for dim {dim}, size is {length} but found index {line.max()}")


def empty(layout, size, dtype, device, requires_grad=False):
    """``torch.zeros(size, layout=...)``, and ``torch.empty``."""
    if layout is not jtensor.sparse_coo:
        from .compressed_making import empty as empty_compressed
        return empty_compressed(layout, size, dtype, device, requires_grad)
    pattern = Pattern(jtensor.zeros((len(size), 0), dtype=jtensor.int64, device=device), size, sorted_already=True)
    made = sparse(pattern, jtensor.zeros((0,), dtype=dtype, device=device), False)
    made._requires_grad = requires_grad
    return made


# -- the types of old --------------------------------------------------------------------------------------------------


class _OfOld(type):
    """The type of ``torch.sparse.FloatTensor`` and its like: an instance is any sparse tensor of the dtype."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, jtensor.Tensor) and instance.is_sparse and instance.dtype is cls.dtype

    def __call__(cls, *args, device=None):
        if len(args) >= 2 and isinstance(args[0], jtensor.Tensor):
            shown = "indices, values, *, " if len(args) == 2 else "indices, values, shape, *, "
            sites.warn(f"torch.sparse.SparseTensor({shown}device=) is deprecated.  Please use torch.sparse_coo_tensor("
                       f"{shown.replace('*, ', '')}dtype=, device=). ")
            return sparse_coo_tensor(*args, device=device, check_invariants=False)
        sites.warn("torch.sparse.SparseTensor(shape, *, device=) is deprecated.  Please use torch.sparse_coo_tensor(shape, dtype=, "
                   "device=). ")
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        return sparse_coo_tensor(tuple(size or (0,)), dtype=cls.dtype, device=device, check_invariants=False)


def of_old(name):
    """``torch.sparse.FloatTensor`` by its name, or None."""
    from .._legacy import CPU
    kind = CPU.get(name)
    if kind is None:
        return None
    return _OfOld(name, (), {"__module__": "torch.sparse", "dtype": kind.dtype, "is_sparse": True, "is_cuda": False})
