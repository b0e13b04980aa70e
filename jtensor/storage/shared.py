"""Memory that processes share: a file without a name that each of them maps; who is given its descriptor can map it, too.

Owns: `Region`; a storage's way into one (`share`) and its stay there, in host mode; which storage of this process lies on a region, so that
memory that comes twice, or comes back, is one storage. May not know: tensors, how descriptors get to another process
(`tensor.memory.sending`).
"""
import mmap
import os
import tempfile
import weakref

import numpy as np

from ..base import devices
from ..base.errors import missing
from ..trace import executor
from . import cell, host, lifted


class Region:
    """``count`` elements that lie at the beginning of a file; ``descriptor`` is this process's, closed when nobody needs the region."""

    __slots__ = ("descriptor", "key", "elements", "__weakref__")

    def __init__(self, descriptor, dtype, count):
        self.descriptor = descriptor                        # first: whatever fails below, it is closed
        size = max(count * dtype.itemsize, 1)               # of nothing nothing can be mapped
        found = os.fstat(descriptor)
        if found.st_size < size:
            os.ftruncate(descriptor, size)
        self.key = found.st_dev, found.st_ino
        self.elements = np.frombuffer(mmap.mmap(descriptor, size), np.uint8)[:count * dtype.itemsize].view(dtype)

    def __del__(self):
        if os is not None and hasattr(self, "descriptor"):
            os.close(self.descriptor)


def new_file():
    """The descriptor of a file that is gone with the last process that has it, in memory alone where the system has such files.

    MissingFeature where no descriptor can be sent.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("jtensor")
    if os.name != "posix":
        raise missing("tensors in memory that processes share, on this system", "torch.save and torch.load")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


_regions = weakref.WeakValueDictionary()        # key: the storage that lies on it


def region_of(storage):
    """The region that a storage lies on, or None."""
    memory = storage.host
    return memory.region if memory.__class__ is host.HostMemory else None


def share(storage):
    """Moves a storage to memory that other processes can have, unless it is there; answers its region.

    ndarrays that had its memory keep what they had. RuntimeError where the memory is not the CPU's.
    """
    found = region_of(storage)
    if found is not None:
        return found
    if storage.device is not devices.cpu:
        raise RuntimeError("_share_fd_: only available on CPU")
    if storage.host is lifted.LIFTED_MEMORY:
        lifted.settle(storage)
    array = executor.on_host(storage.current(), "share_memory_()")
    region = Region(new_file(), storage.layout.dtype.numpy, storage.layout.numel)
    _move(storage, region)
    storage.host.logical()[...] = array
    return region


def received(descriptor, layout):
    """The storage on a region that came from another process, or from this one. ``layout``: of all of its elements."""
    found = os.fstat(descriptor)
    known = _regions.get((found.st_dev, found.st_ino))
    if known is not None:
        os.close(descriptor)
        return known
    storage = cell.new(None, layout)
    _move(storage, Region(descriptor, layout.dtype.numpy, layout.numel))
    return storage


def _move(storage, region):
    host.adopt(storage, region.elements, region.elements)
    storage.host.region = region
    host.EXPORTED.add(storage)
    _regions[region.key] = storage
