"""Lists of tensors that lie on the host: put together there, as where a batch is made of samples (`torch.stack([x[i] for i in rows])`).

On the tape each tensor of a list is an input, and each view one more operation, some ten microseconds apiece; a copy takes a tenth of
one. Owns: when it is done, and the copying. May not know: recorders, which ask here first; gradients.
"""
import numpy as np

from ...base import compat, devices
from ...storage.host import HostMemory, part
from ...trace.tape import LIFTED, LOCAL, there
from ..core import Tensor
from ..creating.from_data import from_host

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
    memories, stretches, n = {}, [], spec.numel
    for t in tensors:
        if not isinstance(t, Tensor) or t._spec is not spec or tracked and (t._requires_grad or t._info is not None and t.requires_grad):
            return None
        storage = t._storage
        value, at = storage.value, t._offset
        if storage.spec is spec and value.array is None and value.segment.__class__ is np.ndarray:          # most are made of numbers
            stretches.append(value.segment.reshape(-1))
            continue
        memory = memories.get(storage)
        if memory is None:
            memory = memories[storage] = _memory(storage, spec)
            if memory is None:
                return None
        stretches.append(memory[at:at + n])
    if dim == 0:
        made = compat.empty((len(stretches) * n,), stretches[0].dtype)
        np.concatenate(stretches, out=made)
        made = made.reshape((len(stretches), *spec.size) if new else (len(stretches) * spec.size[0], *spec.size[1:]))
    else:
        made = operator.on_host([stretch.reshape(spec.size) for stretch in stretches], dim)
    return from_host(made, spec.dtype, ours=True)


def elements_of(tensors):
    """What plain tensors of one type hold, each an ndarray where it lies, not to be written to; None unless all of it is there."""
    kind, memories, found = tensors[0]._spec.dtype, {}, []
    for t in tensors:
        spec = t._spec
        if spec.dtype is not kind or not spec.numel or spec.device is not devices.cpu or spec.conj or spec.neg \
                or LOCAL.grad_enabled and t.requires_grad:
            return None
        memory = memories.get(t._storage)
        if memory is None:
            memory = memories[t._storage] = _memory(t._storage, spec)
            if memory is None:
                return None
        found.append(part(memory, spec, t._offset))
    return None if LOCAL.inference or LOCAL.lesson is not None else found


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
        array = compat.looked_at(array) if spec.dtype.numpy.isbuiltin == 1 else np.asarray(array)
    return array.reshape(-1)
