"""`Storage`: the one mutable cell, holding the current value of a base array, with its version counter.

The base array lies densely in memory in the layout that ``spec`` names; every tensor on the storage is a geometry over that memory.
Writing means: compute a new value, put it in the cell, bump the version. May not know: tensors, views, autograd.

Host mode: once NumPy shares the memory (`jtensor.storage.host`), a writable ndarray is the truth, ``spec`` is None so that the fast
paths step aside, and `current` takes a snapshot.
"""
import itertools

import numpy as np

from ..base import compat, devices
from ..trace import spec
from ..trace.tape import LIFTED, hosted, ready
from . import lifted

_addresses = itertools.count(1)


def told(storage):
    """The address of a storage's bytes (`host.told`, which puts itself here: it imports this room)."""
    raise NotImplementedError


class VersionCounter:
    """Counts in-place modifications; shared by a tensor, its views and `detach()`. A storage is the counter of its first tensor."""

    __slots__ = ("version", "site")

    def __init__(self, version=0):
        self.version, self.site = version, None


class Storage:
    """``value`` (of the whole base), ``spec`` (its layout; None in host mode), ``layout`` (the same, always), ``version``, ``site`` (the
    user's line of the last write in place, where anybody wants to know), ``host`` (in host mode what has the memory: `host.HostMemory`).

    ``_address``: the bytes whose address somebody has been told (`host.told`), or a number that stands for one where there are none.
    """

    __slots__ = ("value", "spec", "layout", "version", "site", "host", "_address", "__weakref__")

    def set(self, value, spec=None, offset=0):
        """Puts a new value of the whole base in the cell; in host mode whoever has the memory takes it (`host`, `lifted`).

        ``spec`` and ``offset``: the part that has been written to, which is for those to know who share the memory.
        """
        if self.host is not None:
            self.host.put(self, value, spec, offset)
        elif value.position is LIFTED:
            lifted.put_first(self, value)
        else:
            self.value = value

    def current(self):
        """The value of the whole base now."""
        if self.host is not None:
            return self.host.current(self)
        return self.value

    @property
    def device(self):
        return self.layout.device

    @property
    def dtype(self):
        return self.layout.dtype

    def size(self):
        """Elements of the base."""
        return self.layout.notes.get("memory", self.layout.numel)

    def nbytes(self):
        return self.size() * self.layout.dtype.itemsize

    def data_ptr(self):
        """The address of the memory: equal for the same, different for different memory. On a CPU what lies there is what the tensor
        holds (`host.told`), on other devices it is no more than a name."""
        if self.host is not None:
            return self.host.address()
        if self.layout.numel == 0 or self.layout.device is devices.meta:
            return 0
        if self.layout.device is devices.cpu:
            return told(self)
        if self._address is None:
            self._address = next(_addresses) * (1 << 40) + (1 << 60)
        return self._address

    def rebase(self, layout, value):
        """Another memory in the same cell (`resize_`), or the same as another type: every tensor on it must read anew."""
        self.layout, self.value = layout, value
        self.spec = layout if self.host is None else None
        if self.host is not None:
            self.host.rebase(layout)


def new(value, layout):
    """A storage of its own for a value that lies as ``layout`` says."""
    self = Storage.__new__(Storage)
    self.value, self.spec, self.layout, self.version = value, layout, layout, 0
    self.host = self._address = self.site = None
    if value is not None and value.position is LIFTED:
        lifted.lift(self)
    return self


def of_numpy(array, dtype, device, copy=True):
    """A storage with a private copy of an ndarray (C order); without one where the caller has no more use for it."""
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array).reshape(array.shape)
    layout = spec.spec(array.shape, None, dtype, device)
    if device is devices.cpu:
        return new(hosted(compat.copied(array) if copy else array, layout.aval), layout)
    return new(ready(put(array, device, copy), layout.aval), layout)


def filled(size, number, dtype, device):
    """A storage full of a number, which is no operation on the tape."""
    layout = spec.spec(size, None, dtype, device)
    if device is devices.cpu or layout.numel * dtype.itemsize <= _SENT:
        return of_numpy(np.full(size, number, dtype.numpy), dtype, device, copy=False)
    return new(ready(compat.filled(size, number, dtype.numpy, devices.jax_device(device)), layout.aval), layout)


_SENT = 1 << 22         # bytes that are sent to a device sooner (3 ms) than a program is made that fills an array there (60 ms)


def put(array, device, copy=True):
    """An ndarray as a `jax.Array` with 64-bit types kept. The bytes are copied, since a later write must not show."""
    if device is devices.meta:
        return array
    if copy:
        array = np.array(array, copy=True, order="C")
    return compat.put(array, devices.jax_device(device))
