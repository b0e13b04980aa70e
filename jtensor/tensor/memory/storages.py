"""`set_`, `resize_`: the methods that give a tensor other memory or another size of it. May not know: operators."""
import math

import numpy as np

from ...autograd import engine
from ...autograd.gradmode_checks import before_inplace, counting_allowed
from ...base import devices, dtypes, geometry
from ...base.naming import type_name
from ...storage import host
from ...trace import spec as specs
from ...trace.tape import LOCAL, ready
from ..core import Tensor
from ..history import edge_of, rebase
from ..underivable import Underivable
from .storage_types import Memory, UntypedStorage
from .storage_types import is_storage as is_storage
from .typed_storages import BY_NAME as BY_NAME
from .typed_storages import TypedStorage as TypedStorage


def resize_storage(storage, elements, dtype=None):
    """More (or less) memory in the same cell: what was there stays, the rest is zeros. Memory that NumPy has ever seen stays as it is.

    ``dtype``: what the elements are counted in, and the memory is of from then on; the storage's own by default.
    """
    layout = storage.layout
    dtype = dtype or layout.dtype
    if elements * dtype.itemsize == layout.numel * layout.dtype.itemsize:
        return
    if storage.host is not None:
        storage.current()                       # ends host mode where it was no more than an address
    if storage.host is not None or storage in host.EXPORTED:
        raise RuntimeError("Trying to resize storage that is not resizable")
    made = specs.spec((elements,), None, dtype, layout.device)
    if layout.device is devices.meta:
        storage.rebase(made, ready(None, made.aval))
        return
    old = UntypedStorage._on(storage)._bytes()
    new = np.zeros(elements * dtype.itemsize, np.uint8)
    new[:min(len(new), len(old))] = old[:len(new)]
    from ...storage.cell import put
    storage.rebase(made, ready(put(new.view(dtype.numpy), layout.device), made.aval))


def resize_(self, sizes, memory_format=None):
    """``tensor.resize_(*sizes)``: another shape, laid out as the format says; the storage grows if it must."""
    from ..creating.create import UNWRITTEN, size_of
    size = size_of(sizes, "resize_")
    if self.requires_grad and not LOCAL.inference:
        raise RuntimeError("cannot resize variables that require grad")
    if str(memory_format).endswith("preserve_format"):
        raise RuntimeError("Unsupported memory formatPreserve")
    _addressable(size, self._spec.dtype)
    stride = geometry.strides_in_format(size, memory_format)
    before = self._storage.nbytes()
    resize(self, size)
    grown = self._storage.nbytes() - before
    if grown > 0 and UNWRITTEN.filled:
        step = self.element_size()
        self._share().as_strided((grown // step,), (1,), before // step).fill_(UNWRITTEN.number(self.dtype))     # counts as no change
    if stride is not None and stride != self._spec.stride:
        _shaped(self, size, stride)
    counting_allowed(self)
    return self


def _addressable(size, dtype):
    """PyTorch's errors for a size of which no tensor can be."""
    if math.prod(size) >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    if math.prod([n or 1 for n in size[1:]]) >= 1 << 63:
        raise RuntimeError("Stride calculation overflowed")
    if math.prod(size) * dtype.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)}")


def resize(self, size):
    """The resizing itself, without asking autograd (`out=` resizes its target)."""
    if size == tuple(self._spec.size):
        return self
    _hold(self._storage, geometry.extent(size, geometry.contiguous_strides(size), self._offset), self._spec.dtype)
    self._counter.version += 1
    _shaped(self, size)
    return self


def _shaped(self, size, stride=None):
    """Gives a tensor another shape and nothing else: a conjugate or negative view stays one."""
    spec = self._spec
    self._spec, self._cached = specs.spec(size, stride, spec.dtype, spec.device, spec.conj, spec.neg), None


def _hold(storage, elements, dtype):
    """The storage, which may be of another type, grows if it has less memory than that."""
    if elements * dtype.itemsize > storage.layout.numel * storage.dtype.itemsize:
        if dtype is dtypes.bool and storage.dtype.itemsize == 1:       # somebody sees its bytes: truth values cannot hold them all
            dtype = storage.dtype
        resize_storage(storage, max(elements, storage.nbytes() // dtype.itemsize), dtype)


def _no_way_to_set(*given):
    names = ", ".join("Tensor" if isinstance(one, Tensor) else f"torch.storage.{type(one).__name__}" if is_storage(one)
                      else type_name(type(one)) for one in given)
    rest = "int storage_offset, tuple of ints size, tuple of ints stride = None"
    ways = "".join(f" * ({way})\n" for way in ("", "torch.Storage source", f"torch.Storage source, {rest}", "Tensor source",
                                              f"Tensor source, {rest}"))
    return TypeError(f"set_() received an invalid combination of arguments - got ({names}), but expected one of:\n{ways}")


def set_(self, source=None, storage_offset=None, size=None, stride=None):
    """``tensor.set_(...)``: takes over another tensor's (or storage's) memory, from ``storage_offset`` on, as ``size`` and ``stride``
    say; the memory grows if it must."""
    emptied = source is None
    if emptied:
        from ..creating.create import empty
        source = empty(0, dtype=self.dtype, device=self.device)
    concerned = (self, source) if isinstance(source, Tensor) and not emptied and size is None else (self,)     # memory alone has no history
    recording = LOCAL.grad_enabled and any(t.requires_grad for t in concerned)
    if isinstance(source, Memory):
        cell = source._cell
        dtype = getattr(source, "dtype", self._spec.dtype)
        if dtype is not self._spec.dtype:
            raise RuntimeError(f"Expected a Storage of type {dtypes.cpp_name(self._spec.dtype)} or an UntypedStorage, but got type "
                               f"{dtypes.scalar_name(dtype)} for argument 1 'storage'")
        if size is None:
            if storage_offset is not None:
                raise _no_way_to_set(source, storage_offset)
            size = (cell.nbytes() // dtype.itemsize,)
        storage_offset = storage_offset or 0
    else:
        if not isinstance(source, Tensor):
            raise _no_way_to_set(source)
        cell, dtype = source._storage, source._spec.dtype
        if size is None:
            if storage_offset is not None:
                raise _no_way_to_set(source, storage_offset)
            size, stride, storage_offset = tuple(source._spec.size), source._spec.stride, source._offset
        else:
            if not source._spec.contiguous:
                raise RuntimeError("passed in tensor to be used as storage must be contiguous")
            storage_offset, dtype = source._offset + (storage_offset or 0), self._spec.dtype           # its memory, not its type
    if dtype is not self._spec.dtype:
        raise RuntimeError(f"Could not set tensor of type {dtypes.cpp_name(dtype)} to a tensor of type {dtypes.cpp_name(self._spec.dtype)}")
    before_inplace(self, recording)
    edges = tuple([edge_of(t) if t.requires_grad else None for t in concerned]) if recording else ()
    size, given = tuple(size), tuple(stride or ())
    stride = _strides_taken(size, given, storage_offset)
    if size == self._spec.size and not given:
        stride = self._spec.stride                                 # where PyTorch finds nothing to resize, all stays as it lies
    needed = geometry.extent(size, stride, storage_offset)
    if size == self._spec.size and (not given or given == self._spec.stride):         # then PyTorch resizes nothing, but looks
        if needed * dtype.itemsize > cell.nbytes():
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(given)}, storage offset {storage_offset}, and itemsize {dtype.itemsize} "
                f"requiring a storage size of {needed * dtype.itemsize} are out of bounds for storage of size {cell.nbytes()}")
    else:
        _hold(cell, needed, dtype)
    from ..copying import keep_counter
    keep_counter(self)
    self._storage, self._offset, self._cached = cell, storage_offset, None
    if self.requires_grad and size != tuple(self._spec.size):
        engine.RESHAPED[0] = True
    if self._auto is not None:
        self._auto.accumulator = None                              # the one of another size stays with the graphs that lead to it
    self._spec = specs.spec(size, stride, dtype, self._spec.device)
    self._counter.version += 1
    counting_allowed(self)
    if recording:
        rebase(self, Underivable(edges, "derivative for set_ is not implemented"))
    return self


def _strides_taken(size, stride, offset):
    """The strides that ``set_`` takes: none given means dense ones."""
    if min(size, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if not stride:
        return geometry.contiguous_strides(size)
    if len(stride) != len(size):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if min(stride) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    return stride
