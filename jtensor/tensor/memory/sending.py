"""How tensors get to other processes by `multiprocessing`: what goes through a queue, a pipe or the arguments of a process lies in memory
that both have from then on, as in PyTorch.

Owns: the reductions that `multiprocessing`'s pickler asks for. Plain pickles, and tensors that have no memory on a CPU, are copies
(`convert.reduce`). May not know: storages' insides.
"""
from multiprocessing import reduction

from ...storage import shared
from ...trace import spec as specs
from ...utils.hooks import warn_if_has_hooks
from ..core import Tensor, make_tensor
from .storage_types import UntypedStorage
from .typed_storages import TypedStorage

_COWARDLY = ("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
             "boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting it on "
             "the queue).")


def refuse_history(tensor):
    """RuntimeError for what was computed of tensors that require a gradient: the graph stays here."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(_COWARDLY)


def reduce_tensor(tensor):
    """What is sent of a tensor: its memory's descriptor and how it lies there."""
    refuse_history(tensor)
    spec = tensor._spec
    if tensor.device.type != "cpu" or spec.conj or spec.neg:
        return tensor.__reduce_ex__(2)
    warn_if_has_hooks(tensor)
    return _RECEIVERS[type(tensor)], (*_sent(tensor._storage), spec.dtype, tuple(spec.size), tuple(spec.stride), tensor._offset,
                                      tensor.requires_grad)


def receive_tensor(memory, held, count, dtype, size, stride, offset, requires_grad):
    """The tensor of what `reduce_tensor` sends."""
    made = make_tensor(_received(memory, held, count), specs.spec(size, stride, dtype), offset)
    made._requires_grad = requires_grad
    return made


def reduce_storage(storage):
    """What is sent of a storage: its memory's descriptor."""
    if storage.device.type != "cpu":
        kind = {"cuda": "CUDA"}.get(storage.device.type, storage.device.type)
        raise RuntimeError(f"Cannot pickle {kind} storage; try pickling a {kind} tensor instead")
    return _storage, _sent(storage._cell)


def _storage(memory, held, count):
    return UntypedStorage._on(_received(memory, held, count))


def _reduce_typed(storage):
    return _typed, (storage.untyped(), storage.dtype)


def _typed(untyped, dtype):
    return TypedStorage._on(untyped._cell, dtype)


def _sent(cell):
    return reduction.DupFd(shared.share(cell).descriptor), cell.layout.dtype, cell.layout.numel


def _received(memory, held, count):
    return shared.received(memory.detach(), specs.spec((count,), None, held))


_RECEIVERS = {}


def send(cls, receive):
    """Has `multiprocessing`'s pickler, which knows classes one by one, send what is of this class by its memory, for ``receive``."""
    _RECEIVERS[cls] = receive
    reduction.register(cls, reduce_tensor)


send(Tensor, receive_tensor)
reduction.register(UntypedStorage, reduce_storage)
reduction.register(TypedStorage, _reduce_typed)
