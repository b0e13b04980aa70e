"""Lists of tensors that lie on the host: put together there, as where a batch is made of samples (`torch.stack([x[i] for i in rows])`).

On the tape each tensor of a list is an input, and each view one more operation, some ten microseconds apiece; a copy takes a tenth of
one. Owns: when it is done, and the copying. May not know: recorders, which ask here first; gradients.
"""
import numpy as np

from ..base import compat, devices
from ..storage.host import HostMemory, part
from ..trace.tape import LIFTED, LOCAL, there
from .core import Tensor
from .from_data import from_host

FEW = 8                 # tensors of a list: of fewer a program is as quick


def put_together(operator, *args):
    """What ``operator`` (`stack`, `cat`) makes of plain tensors of one geometry whose numbers are there; None where it is recorded."""
    if operator.on_host is None or LOCAL.inference or LOCAL.lesson is not None:
        return None
    tensors, dim = args
    first = tensors[0]
    if dim.__class__ is not int or not isinstance(first, Tensor):
        return None
    spec, tracked, new = first._spec, LOCAL.grad_enabled, operator.on_host is np.stack
    if not spec.contiguous or not spec.numel or spec.device is not devices.cpu or spec.conj or spec.neg or not 0 <= dim < spec.ndim + new:
        return None
    memories, lying, offsets = {}, [], []
    for t in tensors:
        if not isinstance(t, Tensor) or t._spec is not spec or tracked and (t._requires_grad or t._info is not None and t.requires_grad):
            return None
        memory = _known(memories, t._storage, spec)
        if memory is None:
            return None
        lying.append(memory)
        offsets.append(t._offset)
    rows = _rows(lying[0], offsets, spec.numel) if dim == 0 and len(memories) == 1 else None
    if rows is None:
        made = operator.on_host([part(memory, spec, at) for memory, at in zip(lying, offsets, strict=True)], dim)
    else:
        made = rows.reshape((len(offsets), *spec.size) if new else (len(offsets) * spec.size[0], *spec.size[1:]))
    return from_host(made, spec.dtype, ours=True)


def elements_of(tensors):
    """What plain tensors of one type hold, each an ndarray where it lies, not to be written to; None unless all of it is there."""
    kind, memories, found = tensors[0]._spec.dtype, {}, []
    for t in tensors:
        spec = t._spec
        if spec.dtype is not kind or not spec.numel or spec.device is not devices.cpu or spec.conj or spec.neg \
                or LOCAL.grad_enabled and t.requires_grad:
            return None
        memory = _known(memories, t._storage, spec)
        if memory is None:
            return None
        found.append(part(memory, spec, t._offset))
    return None if LOCAL.inference or LOCAL.lesson is not None else found


def _known(memories, storage, spec):
    memory = memories.get(storage)
    if memory is None:
        memory = memories[storage] = _memory(storage, spec)
    return memory


def _memory(storage, spec):
    """All of a storage's elements as they lie, in one dimension; None where they are not there, or are of another type."""
    layout = storage.layout
    if layout.dtype is not spec.dtype:
        return None
    if storage.spec is None:
        return storage.host.flat if storage.host.__class__ is HostMemory and storage.host.is_shared() else None
    value = storage.value
    if not layout.contiguous or value.position is LIFTED:
        return None
    array = there(value)
    if array.__class__ is not np.ndarray:
        if array is None or not array.is_ready():
            return None
        array = np.asarray(array)
    return array.reshape(-1)


def _rows(memory, offsets, n):
    """Stretches of ``n`` elements of one memory, if they lie as rows of a table do; else None."""
    begin = offsets[0] % n
    numbers = [(at - begin) // n for at in offsets]
    if any((at - begin) % n for at in offsets):
        return None
    table = memory[begin:begin + (memory.size - begin) // n * n].reshape(-1, n)
    made = compat.empty((len(offsets), n), table.dtype)
    if table.dtype.isbuiltin != 1:                          # NumPy moves what it has a name for several times as quickly
        plain = f"u{table.itemsize}"
        np.take(table.view(plain), numbers, 0, made.view(plain), "clip")
    else:
        np.take(table, numbers, 0, made, "clip")
    return made
