"""Memory shared with NumPy, both ways: a writable ndarray is the truth while anybody on the NumPy side may write to it.

Owns: `HostMemory`, entering host mode (`export`, `adopt`) and leaving it when the last exported array has died. JAX arrays are never
handed out writable. May not know: tensors.
"""
import sys
import weakref

import numpy as np

from ..base import dtypes
from ..trace import executor
from ..trace.tape import ready
from .cell import put


class _Owner:
    """Keeps the memory alive for the arrays exported from it; when the last of them dies, so does this, and host mode ends."""

    __slots__ = ("flat", "__array_interface__", "__weakref__")

    def __init__(self, flat):
        self.flat = flat
        self.__array_interface__ = flat.__array_interface__


class HostMemory:
    """``flat`` is the 1-D ndarray over the whole storage in memory order; ``owner`` is alive while exported arrays are."""

    __slots__ = ("flat", "owner", "taken", "bytes", "aval", "layout", "foreign", "__weakref__")

    def __init__(self, flat, layout, owner=None, foreign=None):
        self.flat, self.layout, self.aval, self.owner, self.foreign = flat, layout, layout.aval, owner, foreign
        self.taken = self.bytes = None

    def address(self):
        return self.flat.ctypes.data

    def logical(self):
        """The base as the ndarray of its layout's shape (shared memory)."""
        itemsize = self.flat.itemsize
        return np.lib.stride_tricks.as_strided(self.flat, self.layout.size, [s * itemsize for s in self.layout.stride])

    def snapshot(self):
        """A value of the bytes as they are now; the last one again if they have not changed."""
        if self.taken is not None and np.array_equal(self.bytes, self.flat.view(np.uint8)):
            return self.taken
        self.bytes = self.flat.view(np.uint8).copy()
        self.taken = ready(put(self.logical(), self.layout.device), self.aval)
        return self.taken

    def write(self, array):
        """The array's bytes go to the shared memory."""
        self.logical()[...] = np.asarray(array)

    def rebase(self, layout):
        """The same memory as another type of as many bytes."""
        self.flat, self.layout, self.aval, self.taken = self.flat.view(layout.dtype.numpy), layout, layout.aval, None


EXPORTED = weakref.WeakSet()                              # storages that NumPy has seen: PyTorch does not resize them ever after


def export(storage):
    """Enters host mode and answers a writable 1-D ndarray over the whole storage; its death ends host mode again."""
    memory = storage.host
    if memory is None:
        array = np.asarray(executor.value_of(storage.value, "numpy()"))
        flat = np.empty(storage.layout.numel, storage.layout.dtype.numpy)
        memory = HostMemory(flat, storage.layout)
        memory.logical()[...] = array
        storage.host, storage.spec, storage.value = memory, None, None
        EXPORTED.add(storage)
    if memory.foreign is not None:
        return memory.flat
    owner = memory.owner() if memory.owner is not None else None
    if owner is None:
        owner = _Owner(memory.flat)
        cell = weakref.ref(storage)
        memory.owner = weakref.ref(owner, lambda _: _leave(cell, memory))
    if memory.flat.dtype in _LACKING_INTERFACE:
        return np.asarray(owner.flat)
    return np.array(owner, copy=False)


_LACKING_INTERFACE = {d.numpy for d in dtypes.ALL if d.numpy.kind == "V"}


def _leave(cell, memory):
    """The last exported array has died: the value is the truth again. At the end of the process nobody will ask for it."""
    if sys is None or sys.is_finalizing():                 # modules are being emptied
        return
    storage = cell()
    if storage is not None and storage.host is memory and (memory.owner is None or memory.owner() is None):
        value = memory.snapshot()
        storage.host, storage.spec, storage.value = None, storage.layout, value


def adopt(storage, flat, keep):
    """Host mode over somebody else's memory (`from_numpy`); ``keep`` is the array that owns it."""
    storage.host = HostMemory(flat, storage.layout, foreign=keep)
    storage.spec = storage.value = None
