"""`torch.UntypedStorage`, `torch.TypedStorage`, `torch.FloatStorage` and its kind: memory by itself, as bytes and as elements.

Owns: these classes. What is written to one is written by way of a tensor on the same memory. May not know: operators.
"""
import functools

import numpy as np

from ..base import devices, dtypes, sites
from ..base.errors import missing
from ..storage.host import HostMemory
from ..trace import executor
from . import from_data
from .core import Tensor

_SAID = []


def say_deprecated():
    """That typed storages are out of date is said once."""
    if not _SAID:
        _SAID.append(True)
        sites.warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
                   "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
                   "tensor.untyped_storage() instead of tensor.storage()")


class UntypedStorage:
    """Memory as bytes: ``UntypedStorage(size)``, ``UntypedStorage(bytes as integers)``, or that of a tensor.

    >>> x = torch.tensor([1, 2], dtype=torch.int16)
    >>> x.untyped_storage()[0] = 5
    >>> x
    tensor([5, 2], dtype=torch.int16)
    """

    __module__ = "torch.storage"
    is_sparse = is_sparse_csr = False
    _unit = dtypes.uint8

    def __init__(self, data=0, *, device=None):
        self._cell = _cell_of(data, dtypes.uint8, device)

    @classmethod
    def _on(cls, cell):
        self = object.__new__(UntypedStorage)
        self._cell = cell
        return self

    @classmethod
    def from_buffer(cls, buffer, byte_order="native", *, dtype=None):
        """A copy of the bytes of an object with Python's buffer protocol."""
        found = np.frombuffer(buffer, np.uint8)
        dtype = dtype or dtypes.uint8
        if byte_order == "big" and dtype.itemsize > 1:
            found = found.reshape(-1, dtype.itemsize)[:, ::-1].reshape(-1)
        return cls._on(_cell_of(found.copy(), dtypes.uint8, None))

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The memory that a file is mapped to (`torch.from_file`): where it is not ``shared``, the file stays as it is.

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(bytes([1, 2, 3])), file.flush()
        ...     torch.UntypedStorage.from_file(file.name, nbytes=2).tolist()
        [1, 2]
        """
        memory = mapped(filename, shared, nbytes)
        return cls._on(cls(0)._cell if memory is None else from_data.from_numpy(memory)._storage)

    filename = property(lambda self: None, doc="None: a storage does not remember its file.")

    def data_ptr(self):
        return self._cell.data_ptr()

    def nbytes(self):
        """The number of bytes."""
        return self._cell.nbytes()

    def size(self):
        """The number of elements."""
        return self._cell.nbytes() // self._unit.itemsize

    def __len__(self):
        return self.size()

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    @property
    def device(self):
        return self._cell.device

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def get_device(self):
        return -1 if self.device.index is None else self.device.index

    def element_size(self):
        return self._unit.itemsize

    def type(self, dtype=None, non_blocking=False):
        """The class's name; another type's storage of a tensor on this one is asked for with ``tensor.to``."""
        if dtype is None:
            return self._name()
        raise missing("storages that change their type", "a tensor: torch.empty(0).set_(storage).to(dtype)")

    def _name(self):
        return "torch.storage.UntypedStorage"

    def is_pinned(self, device="cuda"):
        return False

    def resizable(self):
        """Whether `resize_` can change its size: unless it is shared with NumPy."""
        return self._cell.host is None

    def is_shared(self):
        """Whether processes share the memory: never, on this engine."""
        return False

    def share_memory_(self):
        """Refuses: XLA's memory belongs to one process."""
        return Tensor.share_memory_(self)

    def pin_memory(self, device="cuda"):
        """Refuses, as `Tensor.pin_memory` does."""
        return self._tensor().pin_memory()

    def untyped(self):
        return UntypedStorage._on(self._cell)

    def _tensor(self):
        """A tensor on all of the memory."""
        from . import create
        return create.empty(0, dtype=self._unit, device=self.device).set_(self)

    def _made(self, tensor):
        """A storage of the same kind on a tensor's memory."""
        return UntypedStorage._on(tensor._storage)

    def fill_(self, value):
        """Writes a number to every element."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Takes over the numbers of another storage with as many bytes."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError(f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes")
        self.untyped()._tensor().copy_(source.untyped()._tensor())
        return self

    def clone(self):
        """A copy."""
        return self._made(self._tensor().clone())

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        memo = memo.setdefault("torch", {})
        if self._cdata not in memo:
            memo[self._cdata] = self.clone()
        return memo[self._cdata]

    def cpu(self):
        """Itself on the CPU."""
        return self if self.device.type == "cpu" else self._made(self._tensor().cpu())

    def cuda(self, device=None, non_blocking=False):
        """A copy on a GPU."""
        return self._made(self._tensor().cuda(device))

    def to(self, *, device, non_blocking=False):
        """A copy on a device, itself if it is there."""
        moved = self._tensor().to(device)
        return self if moved.device == self.device else self._made(moved)

    def resize_(self, nbytes):
        """More memory, or less; what was there stays."""
        from .storages import resize_storage
        resize_storage(self._cell, nbytes // self._cell.dtype.itemsize if nbytes % self._cell.dtype.itemsize == 0 else nbytes,
                       None if nbytes % self._cell.dtype.itemsize == 0 else dtypes.uint8)
        return self

    def __repr__(self):
        numbers = "\n ".join(map(str, self.tolist())) if self.device is not devices.meta else "..."
        return f" {numbers}\n[torch.storage.{type(self).__name__}({self._described()}) of size {len(self)}]"

    def _described(self):
        return f"device={self.device}"

    def _bytes(self):
        value = executor.value_of(self._cell.current(), "storage")
        layout = self._cell.layout
        flat = np.empty(layout.numel, layout.dtype.numpy)
        step = layout.dtype.itemsize
        np.lib.stride_tricks.as_strided(flat, tuple(layout.size), [s * step for s in layout.stride])[...] = np.asarray(value)
        return flat.view(np.uint8)

    def tolist(self):
        """The elements as Python's numbers."""
        return self._bytes().view(self._unit.numpy).tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._made(self._part(index))
        return self._number(index)

    def _part(self, index):
        """A copy of some of the elements. Of memory that is shared, as a mapped file's, only these are looked at."""
        if isinstance(self._cell.host, HostMemory):
            return from_data.from_numpy(self._cell.host.flat.view(np.uint8)[index].copy())
        return self._tensor()[index].clone()

    def _number(self, index):
        size = self.size()
        if not isinstance(index, int):
            raise TypeError(f"can't index a {self._name()} with {type(index).__name__}")
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return self._bytes().view(self._unit.numpy)[index].item()

    def __setitem__(self, index, value):
        self._tensor()[index] = value

    def _as(self, dtype):
        """The numbers in a typed storage of another type."""
        say_deprecated()
        return TypedStorage._on(self._tensor().to(dtype)._storage, dtype)

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and other._cell is self._cell

    def __hash__(self):
        return id(self._cell)

    def __reduce__(self):
        return _pickled, (self._tensor().clone(), None)

    @property
    def _cdata(self):
        return id(self._cell)


def mapped(filename, shared, length):
    """The bytes that a file begins with, as an ndarray on the memory that it is mapped to; None of no bytes.

    ``shared``: what is written there is written to the file, which is made, or made longer, where it must be.
    """
    try:
        there = open(filename, "a+b" if shared else "rb")
    except OSError as error:
        raise RuntimeError(f"unable to open file <{filename}> in {'read-write' if shared else 'read-only'} mode: {error.strerror} "
                           f"({error.errno})") from None
    with there:
        found = there.seek(0, 2)
        if length < 0:
            raise RuntimeError(f"unable to mmap {length} bytes from file <{filename}>: Cannot allocate memory (12)")
        if length > found:
            if not shared:
                raise RuntimeError(f"file <{filename}> size <{found}> is smaller than the required mapping size <{length}>")
            there.truncate(length)
    return np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(length,)) if length else None


def _pickled(tensor, dtype):
    return UntypedStorage._on(tensor._storage) if dtype is None else TypedStorage._on(tensor._storage, dtype)


def _cell_of(data, dtype, device):
    """New memory: so many elements, of which nothing is known, or with the numbers of a sequence."""
    from . import create
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    made = create.empty(data, dtype=dtype, device=device) if isinstance(data, int) else from_data.tensor(data, dtype=dtype, device=device)
    return made._storage


class TypedStorage(UntypedStorage):
    """Memory as elements of one dtype: ``TypedStorage(size or numbers, dtype=...)``, or ``wrap_storage=`` for bytes that there are."""

    __module__ = "torch.storage"

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None):
        from . import create
        say_deprecated()
        self.dtype = dtype or dtypes.get_default_dtype()
        if wrap_storage is not None:
            self._cell = wrap_storage._cell
        else:
            self._cell = _cell_of(args[0], self.dtype, device) if args else create.empty(0, dtype=self.dtype, device=device)._storage

    @classmethod
    def _on(cls, cell, dtype):
        self = object.__new__(TypedStorage)
        self._cell, self.dtype = cell, dtype
        return self

    @classmethod
    def from_buffer(cls, buffer, byte_order="native", *, dtype=None):
        say_deprecated()
        dtype = dtype or cls.dtype
        return TypedStorage._on(UntypedStorage.from_buffer(buffer, byte_order, dtype=dtype)._cell, dtype)

    @property
    def _unit(self):
        return self.dtype

    def _name(self):
        return f"torch.{_NAMES[self.dtype]}Storage"

    def get_device(self):
        return None if self.device.type == "cpu" else self.device.index

    def _described(self):
        return f"dtype={self.dtype}, device={self.device}"

    def _made(self, tensor):
        return TypedStorage._on(tensor._storage, self.dtype)

    def resize_(self, size):
        """More elements, or fewer; what was there stays."""
        UntypedStorage.resize_(self, size * self.dtype.itemsize)

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return self._number(index)

    def cpu(self):
        return self._made(self._tensor().cpu())

    def __reduce__(self):
        return _pickled, (self._tensor().clone(), self.dtype)


_NAMES = {dtypes.float32: "Float", dtypes.float64: "Double", dtypes.float16: "Half", dtypes.bfloat16: "BFloat16", dtypes.uint8: "Byte",
          dtypes.int8: "Char", dtypes.int16: "Short", dtypes.int32: "Int", dtypes.int64: "Long", dtypes.bool: "Bool",
          dtypes.complex64: "ComplexFloat", dtypes.complex128: "ComplexDouble"}
for _dtype, _name in _NAMES.items():
    _short = {"ComplexFloat": "complex_float", "ComplexDouble": "complex_double"}.get(_name, _name.lower())
    setattr(UntypedStorage, _short, functools.partialmethod(UntypedStorage._as, _dtype))


class _Kind(type):
    """The class of these classes: an instance is any typed storage of the dtype."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype is cls._dtype

    @property
    def dtype(cls):
        """The dtype of the elements."""
        say_deprecated()
        return cls._dtype

    def __call__(cls, *args, wrap_storage=None, **others):
        say_deprecated()
        told = (f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n * (int size)\n"
                " * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n")
        if others:
            raise RuntimeError(f"{told}Keyword argument '{next(iter(others))}' cannot be specified")
        if len(args) > 1:
            raise RuntimeError(f"{told}Too many positional arguments")
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls._dtype)

    def from_buffer(cls, buffer, byte_order="native"):
        """A copy of the bytes of an object with Python's buffer protocol."""
        return TypedStorage.from_buffer(buffer, byte_order, dtype=cls._dtype)


CLASSES = {dtype: _Kind(f"{name}Storage", (), {"__module__": "torch", "_dtype": dtype, "__doc__": f"Typed storages of {dtype}."})
           for dtype, name in _NAMES.items()}
BY_NAME = {"UntypedStorage": UntypedStorage, "TypedStorage": TypedStorage, **{kind.__name__: kind for kind in CLASSES.values()}}


def typed(tensor):
    """``tensor.storage()``; that it is out of date is said once."""
    say_deprecated()
    return TypedStorage._on(tensor._storage, tensor._spec.dtype)


def is_storage(obj, /):
    """Whether an object is a storage."""
    return isinstance(obj, UntypedStorage)
