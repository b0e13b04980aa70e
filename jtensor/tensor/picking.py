"""An index that is one tensor, in the ordinary case: ``x[rows]``, ``x[rows] = y``, ``x[mask] = 0``.

What `indexing` and the family `index` ask of any index is settled here by a few comparisons: numbers along the first dimension or a mask of
the leading ones, values that need neither broadcasting nor a cast. Everything else is left to them. May not know: other kinds of index.
"""
import numpy as np

from ..base import devices, dtypes
from ..ops.families import index as family
from ..ops.families.bounds import check_bounds, out_of_bounds
from ..ops.families.create import full_of
from ..storage.host import HostMemory
from ..storage.lifted import LIFTED_MEMORY
from ..trace.tape import LOCAL
from .core import Tensor
from .creating.from_data import from_host
from .looking import host_copy
from .recording.overwriting import FLOAT_MAX

_FIRST = (0,)


def _numbers(self, index):
    """Whether an index names places along the first dimension by number; they are then within bounds, or PyTorch's error is raised."""
    spec, own = self._spec, index._spec
    if own.dtype is not dtypes.int64 or not own.ndim or not spec.ndim or own.device is not spec.device:
        return False
    n = spec.size[0]
    if not spec.numel:
        return False
    check_bounds(index, n, out_of_bounds(0, n), negative=True)
    return True


def pick(self, index):
    """``self[index]``, or None where the index is not an ordinary one."""
    if index._spec.dtype is dtypes.bool:
        return chosen(self, index)
    if self._storage.host.__class__ is HostMemory and (rows := _rows_of_numpys(self, index)) is not None:
        return rows
    return family.index_raw.record(self, (index,), _FIRST, ()) if _numbers(self, index) else None


def _rows_of_numpys(self, index):
    """``self[index]`` of memory that NumPy has, too, without a look at the rest of it; None where all of it may as well be read."""
    spec, own = self._spec, index._spec
    if not spec.contiguous or LOCAL.grad_enabled and self.requires_grad or LOCAL.lesson is not None \
            or index._storage.host is LIFTED_MEMORY or not _numbers(self, index):
        return None
    elements = self._storage.host.elements(spec, self._offset, own.numel * (spec.numel // spec.size[0]))
    return None if elements is None else from_host(elements[host_copy(index, "rows of shared memory")], spec.dtype, ours=True)


def pick_along(self, items):
    """``self[:, i, j]``: tensors of one size, along dimensions that follow each other; None where the index is any other."""
    spec, lead, size = self._spec, 0, None
    if len(items) > spec.ndim or 0 in spec.size:
        return None
    for item in items:
        if item.__class__ is Tensor:
            own = item._spec
            if own.dtype is not dtypes.int64 or own.device is not spec.device or not own.ndim or own.size != (size or own.size):
                return None
            size = own.size
        elif item.__class__ is slice and size is None and item.start is item.stop is item.step is None:
            lead += 1
        else:
            return None
    tensors, dims = items[lead:], _DIMS[lead:len(items)]
    for at, (dim, index) in enumerate(zip(dims, tensors, strict=True)):
        n = spec.size[dim]
        check_bounds(index, n, out_of_bounds(at, n), negative=True)
    return family.index_raw.record(self, tensors, dims, ()) if tensors else None


_DIMS = tuple(range(64))


def chosen(self, mask):
    """The elements that a mask of the leading dimensions chooses, or None in the less ordinary cases.

    How many they are decides a shape, so that the mask is looked at. Then the elements might as well be: what is there is not computed
    again, and no program is compiled for each number of them.
    """
    spec, own = self._spec, mask._spec
    if not own.ndim or own.size != spec.size[:own.ndim] or not spec.contiguous or spec.device is not devices.cpu \
            or own.device is not devices.cpu or LOCAL.grad_enabled and self.requires_grad or spec.conj or spec.neg \
            or self._storage.host is LIFTED_MEMORY:
        return None
    where = host_copy(mask, "mask_positions")
    return from_host(host_copy(self, "mask_positions")[where], spec.dtype, ours=True)


def put(self, index, value):
    """``self[index] = value`` without gradients; answers whether it was an ordinary case."""
    spec, own, kind = self._spec, index._spec, value.__class__
    if LOCAL.grad_enabled and self.requires_grad or own.device is not spec.device:
        return False
    if kind is float:
        number = spec.dtype.category > 1 and -FLOAT_MAX <= value <= FLOAT_MAX
    else:
        number = kind is int and -0x80000000 <= value < 0x80000000
    if number and spec.dtype.itemsize < 4:
        return False
    if own.dtype is dtypes.bool:
        if kind is Tensor:
            return _put_chosen(self, index, value)
        if not number or not own.ndim or own.size != spec.size[:own.ndim]:
            return False
        family.index_put_mask_number.write(self, index, value, 0)
        return True
    if index._storage is self._storage:
        return False
    if not number:
        if kind is not Tensor or value._storage is self._storage or LOCAL.grad_enabled and value.requires_grad:
            return False
        given = value._spec
        if given.dtype is not spec.dtype or given.device is not spec.device or not given.ndim or given.size[0] == 1 \
                or given.size != own.size + spec.size[1:]:
            return False
    if not _numbers(self, index):
        return False
    if number:
        value = full_of.record((), value, spec.dtype, spec.device)
    family.index_put_raw.write(self, (index,), value, _FIRST, False)
    return True


def _put_chosen(self, mask, values):
    """``self[mask] = values``, one for each element that is chosen, on the host, as `chosen` reads them; answers whether it was done."""
    spec, own, given = self._spec, mask._spec, values._spec
    if not own.ndim or own.size != spec.size[:own.ndim] or not spec.contiguous or spec.numel > _FEW or given.dtype is not spec.dtype \
            or not given.ndim or given.size[0] == 1 or tuple(given.size[1:]) != tuple(spec.size[own.ndim:]) \
            or not spec.device is own.device is given.device is devices.cpu or spec.conj or spec.neg or given.conj or given.neg:
        return False
    storages = self._storage, mask._storage, values._storage
    if storages[0] in storages[1:] or any(s.host is LIFTED_MEMORY for s in storages) or LOCAL.grad_enabled and values.requires_grad:
        return False
    where = host_copy(mask, "mask_positions")
    if np.count_nonzero(where) != given.size[0]:
        return False
    made = host_copy(self, "mask_positions").copy()
    made[where] = host_copy(values, "mask_positions")
    self.copy_(from_host(made, spec.dtype, ours=True))
    return True


_FEW = 1 << 20          # elements: to copy more of them takes longer than a program that writes to some
