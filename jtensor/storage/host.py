"""Memory shared with NumPy, both ways: a writable ndarray is the truth while anybody on the NumPy side may write to it.

Owns: `HostMemory`, entering host mode (`export`, `adopt`) and leaving it when the last exported array has died; addresses (`told`), at
which the bytes really lie. JAX arrays are never handed out writable. May not know: tensors.
"""
import collections
import contextlib
import functools
import mmap
import sys
import weakref

import numpy as np

from ..base import comparing, compat
from ..trace import asides, executor
from ..trace.tape import LIFTED, LOCAL, hosted
from . import cell, lifted


class _Owner:
    """Keeps the memory alive for the arrays exported from it; when the last of them dies, so does this, and host mode ends."""

    __slots__ = ("flat", "__array_interface__", "__weakref__")

    def __init__(self, flat):
        self.flat = flat
        self.__array_interface__ = _plain(flat).__array_interface__


def part(flat, spec, offset=0):
    """What a geometry shows of memory: the elements themselves, not a copy."""
    if not spec.numel:
        return np.empty(spec.size, flat.dtype)
    item = flat.itemsize
    if flat.size:                       # NumPy does not check the bounds of an empty buffer
        with contextlib.suppress(TypeError, ValueError):                                        # it leaves the memory
            return np.ndarray(spec.size, flat.dtype, flat, offset * item, [s * item for s in spec.stride])
    raise ValueError(f"a view of size {tuple(spec.size)}, stride {spec.stride} and offset {offset} leaves a memory of {flat.size} elements")


def _plain(flat):
    """An array as one of a type that NumPy has a name for."""
    return flat if flat.dtype.isbuiltin == 1 else flat.view(f"u{flat.itemsize}")


_FEW = 1 << 12            # bytes up to which a copy of all of them is the quickest way to compare them
_MANY = 1 << 24           # bytes from which on nothing is kept that can be had again
_LARGE = 1 << 16          # bytes from which on it pays not to go through all of them: views are read alone, nothing is compared at the
                          # end, and memory whose address is told is asked of the system, which takes it back but for that


class Glance:
    """Within it what this thread looks at twice is compared once: no code but ours runs there, which does not write to the memory."""

    __slots__ = ()

    def __enter__(self):
        LOCAL.glance = object()

    def __exit__(self, *error):
        LOCAL.glance = None


class Seen:
    """The elements of a view as they were found, in the place of a base's reference in what tensors keep of their reading."""

    __slots__ = ("array", "value")

    def __call__(self):
        return self                             # which is no storage's value


def seen_again(storage, spec, offset, cached):
    """The value of a view that was read without a look at the rest of the memory, as long as it lies there; else None."""
    if storage.host.__class__ is not HostMemory or cached is None or cached[0].__class__ is not Seen:
        return None
    return cached[1] if storage.host.seen(spec, offset, cached[0]) is cached[0] else None


class HostMemory:
    """``flat`` is the 1-D ndarray over the whole storage in memory order; ``owner`` is alive while exported arrays are.

    ``taken`` is the value of the last look at it, ``bytes`` what it found, ``differ`` says whether that is no longer so, ``glance`` in
    which `Glance` it was asked; ``pointed`` says that somebody has the address, ``used`` that the memory was written to by it, ``region``
    what other processes share it by (`storage.shared`).
    """

    __slots__ = ("flat", "owner", "taken", "bytes", "differ", "glance", "aval", "layout", "foreign", "pointed", "used", "region",
                 "__weakref__")

    def __init__(self, flat, layout, owner=None, foreign=None):
        self.flat, self.layout, self.aval, self.owner, self.foreign = flat, layout, layout.aval, owner, foreign
        self.taken = self.bytes = self.differ = self.glance = self.region = None
        self.pointed = self.used = False

    def address(self):
        self.pointed = True
        return self.flat.ctypes.data if self.flat.size or self.foreign is not None else 0

    def is_exported(self):
        """Whether arrays of NumPy's share the memory."""
        return self.foreign is not None or self.owner is not None and self.owner() is not None

    def is_shared(self):
        """Whether it is known, without a look at the memory, that host mode goes on."""
        return self.region is not None or self.is_exported() and (self.foreign is None or not self._alone())

    def logical(self):
        """The base as the ndarray of its layout's shape (shared memory)."""
        return self.flat if self.layout.ndim == 1 else part(self.flat, self.layout)

    def snapshot(self):
        """A value of the bytes as they are now; the last one again if they have not changed."""
        if self.taken is not None and self._as_found():
            return self.taken
        array = compat.copied(self.logical())
        self._keep(array if self.layout.contiguous else self.flat.copy())
        self.taken = hosted(array, self.aval)
        return self.taken

    def _keep(self, array):
        """What was found is kept, to tell whether anybody has written to the memory: an array of as many bytes, which nobody writes to."""
        if self.flat.nbytes <= _FEW:
            self.bytes = self.flat.tobytes()
        else:
            self.bytes, self.differ = array, comparing.difference(self.flat, array)

    def _as_found(self):
        if self.bytes.__class__ is bytes:
            return self.flat.tobytes() == self.bytes
        glance = LOCAL.glance
        if glance is not None and self.glance is glance and not asides.is_interrupted():       # a signal's handler may have written
            return True
        if self.differ():
            return False
        self.glance = glance
        return True

    def elements(self, spec, offset, wanted):
        """A view's elements where they lie, of which so many are ``wanted``; None where one may as well look at all of the memory."""
        size = self.flat.size
        if self.flat.nbytes <= _LARGE or 2 * wanted > size or not self._has_pieces(spec):
            return None
        return part(self.flat, spec, offset)

    def seen(self, spec, offset, before=None):
        """A view's elements as they are now, `Seen`, or None as `elements`; ``before`` again if it has the same."""
        elements = self.elements(spec, offset, spec.numel)
        if elements is None:
            return None
        array = elements if before is not None and spec.contiguous else compat.copied(elements)
        if before is not None and not comparing.difference(array, before.array)():
            return before
        if array is elements:
            array = compat.copied(elements)
        found = Seen()
        found.array, found.value = array, hosted(array, spec.aval)
        return found

    def _has_pieces(self, spec):
        """Whether somebody shares the memory, and a view shows its elements as they lie there."""
        return spec.dtype is self.layout.dtype and not spec.conj and not spec.neg and self.is_shared()

    def current(self, storage):
        """The value of the storage whose memory this is. If nobody is left who could write to it, host mode ends."""
        if self.foreign is not None and self._alone():
            value = self.taken if self.taken is not None and self._as_found() else hosted(self.logical(), self.aval)
            storage.host, storage.spec, storage.value = None, storage.layout, value
            EXPORTED.add(storage)
            return value
        before = self.taken
        value = self.snapshot()
        if self.pointed and not self.used and not self.is_exported():
            if before is None or value is before:
                self.leave(storage, value)
            else:
                self.used = True
        return value

    def leave(self, storage, value):
        """Ends host mode. An address that was told stays the memory's; of a large one the system gets back what lies there."""
        storage.host, storage.spec, storage.value = None, storage.layout, value
        if not self.pointed:
            storage._address = None
        elif storage._address.base.__class__ is memoryview:
            _emptied(storage._address.base.obj)

    def _alone(self):
        """Whether the memory belongs to an ndarray that nobody has any more, nor a view of it."""
        held = self._held()                    # before there are names for them here
        array = self.foreign
        base = array if array.base is None else array.base
        return (type(base) is type(array) is np.ndarray and base.flags.owndata and self.layout.contiguous and not self.pointed
                and not weakref.getweakrefcount(base) and held == _when_alone()[base is not array])

    def _held(self):
        """How often the array that came in is referred to, and who owns its memory."""
        array = self.foreign
        return sys.getrefcount(array), sys.getrefcount(array if array.base is None else array.base)

    def put(self, storage, value, spec, offset):
        """The value's bytes go to the shared memory; if it is shared with an address alone that nobody has written by, host mode ends.

        Where other processes have the memory, only those go there that lie as ``spec`` and ``offset`` say: others write beside them.
        """
        if self.pointed and not self.used and not self.is_exported():
            self.leave(storage, value)
            return
        array = np.asarray(executor.value_of(value, "write to shared memory"))
        if self.region is None or spec is None or spec is self.layout or spec.dtype is not self.layout.dtype:
            self.logical()[...] = array
            return
        made = np.empty_like(self.flat)
        part(made, self.layout)[...] = array
        part(self.flat, spec, offset)[...] = part(made, spec, offset)

    def put_piece(self, spec, offset, value):
        """Writes to a view's elements alone; answers whether that could be: the view shows no element twice, as the caller knows."""
        if value.position is LIFTED or not self._has_pieces(spec):
            return False
        array = np.asarray(executor.value_of(value, "write to shared memory"))
        part(self.flat, spec, offset)[...] = array
        return True

    def rebase(self, layout):
        """The same memory as another type of as many bytes."""
        self.flat, self.layout, self.aval, self.taken = self.flat.view(layout.dtype.numpy), layout, layout.aval, None


@functools.cache
def _when_alone():
    """What `_held` says of memory that nobody else has: an array's own, and a view's. It is tried, since interpreters count differently."""
    found = []
    for array in (np.zeros(1), np.zeros(2)[1:]):
        memory = HostMemory.__new__(HostMemory)
        memory.foreign, memory.flat = array, np.ndarray((1,), array.dtype, array)
        found.append(memory)
    del array, memory
    return tuple([memory._held() for memory in found])


EXPORTED = weakref.WeakSet()                              # storages that NumPy has seen: PyTorch does not resize them ever after


def _entered(storage, reason, keep=_MANY):
    """Host mode, entered unless it is on. Up to ``keep`` bytes are kept to tell whether anybody has written to them."""
    memory = storage.host
    if memory is None:
        array, pointed = executor.on_host(storage.value, reason), storage._address is not None
        memory = HostMemory(_memory_of(storage, reason), storage.layout)
        memory.pointed = pointed                                        # an address that was told stays this memory's
        memory.logical()[...] = array
        flat = memory.flat
        if flat.nbytes <= keep and storage.layout.contiguous:           # if nobody writes to it, it is the value that it was
            memory.taken = storage.value
            memory._keep(array.reshape(-1))
        storage.host, storage.spec, storage.value = memory, None, None
    return memory


def _memory_of(storage, reason):
    """Memory for the whole storage as a 1-D ndarray: where an address was told, that. Pages of the system's are new each time, which takes
    several times as long as to fill them: so they are for addresses alone."""
    count, dtype = storage.layout.numel, storage.layout.dtype.numpy
    size = count * dtype.itemsize
    memory = storage._address
    if memory is None or memory.nbytes < size:
        if size < _LARGE:
            system = memory = np.empty(size, np.uint8)
            kept = None
        elif reason != _ADDRESS:
            storage._address = memory = compat.empty((size,), np.dtype(np.uint8))
            return memory.view(dtype)
        else:
            system = mmap.mmap(-1, size)
            memory = np.frombuffer(system, np.uint8)
            kept = weakref.ref(memory, lambda _, emptied=_emptied: emptied(system))
        storage._address = memory
        _LATEST.append((kept, system))
    return memory[:size].view(dtype)


_ADDRESS = "data_ptr()"
_LATEST = collections.deque(maxlen=64)
"""Memory whose addresses are not given away again yet: in `x.contiguous().data_ptr() == x.data_ptr()` the copy has died when x is asked."""


def _emptied(system):
    """What the system has given is empty, and takes up no room, but for its address."""
    if hasattr(mmap, "MADV_DONTNEED"):
        system.madvise(mmap.MADV_DONTNEED)


def told(storage):
    """The address of a storage on the CPU. What lies there is the tensor's elements, and what is written there is written to the tensor,
    until an operation looks at the tensor or writes to it and finds that nobody has done so."""
    memory = _entered(storage, _ADDRESS, keep=sys.maxsize)
    if memory.taken is None:
        memory.snapshot()
    return memory.address()


cell.told = told


def export(storage):
    """Enters host mode and answers a writable 1-D ndarray over the whole storage; its death ends host mode again."""
    if storage.host is lifted.LIFTED_MEMORY:
        lifted.settle(storage)
    memory = _entered(storage, "numpy()")
    EXPORTED.add(storage)
    if memory.foreign is not None:
        return memory.flat
    owner = memory.owner() if memory.owner is not None else None
    if owner is None:
        owner = _Owner(memory.flat)
        cell = weakref.ref(storage)
        memory.owner = weakref.ref(owner, lambda _, leave=_leave: leave(cell, memory))      # its name may be gone by then
    array = np.array(owner, copy=False)
    return array if array.dtype == memory.flat.dtype else array.view(memory.flat.dtype)


def _leave(cell, memory):
    """The last exported array has died: the value is the truth again. At the end of the process nobody will ask for it."""
    if sys is None or sys.is_finalizing():                 # modules are being emptied
        return
    storage = cell()
    if storage is not None and storage.host is memory and not memory.used and (memory.owner is None or memory.owner() is None):
        if memory.flat.nbytes > _LARGE and memory.layout.contiguous and not memory.pointed:
            memory.leave(storage, hosted(memory.logical(), memory.aval))            # nobody writes there any more: no need to compare
        else:
            memory.leave(storage, memory.snapshot())


def adopt(storage, flat, keep):
    """Host mode over somebody else's memory (`from_numpy`); ``keep`` is the array that owns it."""
    storage.host = HostMemory(flat, storage.layout, foreign=keep)
    storage.spec = storage.value = None
