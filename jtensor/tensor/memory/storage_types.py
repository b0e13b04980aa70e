"""Memory by itself, and `torch.UntypedStorage`, which sees it as bytes. The typed ones are in `typed_storages`.

Owns: these classes. What is written to one is written by way of a tensor on the same memory. May not know: operators.
"""
import numpy as np

from ...base import devices, dtypes, sites
from ...base.errors import missing
from ...base.naming import type_name
from ...storage import cell as cells
from ...storage import host, shared
from ...storage.host import HostMemory
from ...trace import executor
from ..core import Tensor
from ..creating import from_data

_SAID = []


def say_deprecated():
    """That typed storages are out of date is said once."""
    if not _SAID:
        _SAID.append(True)
        sites.warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
                   "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
                   "tensor.untyped_storage() instead of tensor.storage()")


class Memory:
    """What storages of bytes and of elements have in common: a cell, looked at in units of a dtype."""

    is_sparse = is_sparse_csr = is_hpu = False
    _unit = dtypes.uint8

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

    def is_pinned(self, device="cuda"):
        return False

    def resizable(self):
        """Whether `resize_` can change its size: unless it is or was shared with NumPy."""
        return self._cell.host is None and self._cell not in host.EXPORTED

    def is_shared(self):
        """Whether processes share the memory; on an accelerator they always do."""
        return self.device.type == "cuda" or shared.region_of(self._cell) is not None

    def share_memory_(self):
        """Moves the memory to where other processes can have it."""
        if self.device.type != "cuda":
            shared.share(self._cell)
        return self

    def pin_memory(self, device="cuda"):
        """A copy, as `Tensor.pin_memory` makes it; ``RuntimeError`` where there is no accelerator."""
        return self._on(self._tensor().pin_memory()._storage)

    def untyped(self):
        return UntypedStorage._on(self._cell)

    def _tensor(self):
        """A tensor on all of the memory."""
        from ..creating import create
        return create.empty(0, dtype=self._unit, device=self.device).set_(self)

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

    def _made(self, tensor):
        """A storage of the same kind on a tensor's memory."""
        return self._with(tensor._storage)

    def new(self):
        """An empty storage of the same kind."""
        return self._with(_cell_of(0, self._unit, self.device))

    def clone(self):
        """A copy."""
        return self._made(self._tensor().clone())

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self._with(copied(self._cell, memo))

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
        numbers = " " + "\n ".join(map(str, self.tolist())) if self.device is not devices.meta else "..."
        return f"{numbers}\n[torch.storage.{type(self).__name__}({self._described()}) of size {len(self)}]"

    def _on_a_machine(self):
        if self.device is devices.meta:
            raise NotImplementedError("Not available for 'meta' device type")

    def _bytes(self):
        self._on_a_machine()
        value = executor.value_of(self._cell.current(), "storage")
        layout = self._cell.layout
        flat = np.empty(layout.numel, layout.dtype.numpy)
        host.part(flat, layout)[...] = np.asarray(value)
        return flat.view(np.uint8)

    def tolist(self):
        """The elements as Python's numbers."""
        return self._bytes().view(self._unit.numpy).tolist() if self.size() else []

    def __iter__(self):
        return iter(self.tolist())

    def _number(self, index):
        self._on_a_machine()
        size = self.size()
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return self._bytes().view(self._unit.numpy)[index].item()

    def __eq__(self, other):
        return isinstance(other, Memory) and other._cell is self._cell and type(other) is type(self)

    def __hash__(self):
        return id(self._cell)

    @property
    def _cdata(self):
        return id(self._cell)


class StorageBase:
    """What storages of bytes are derived from, for who asks whether something is one."""

    __module__ = "torch._C"


class UntypedStorage(Memory, StorageBase):
    """Memory as bytes: ``UntypedStorage(size)``, ``UntypedStorage(bytes as integers)``, or that of a tensor.

    >>> x = torch.tensor([1, 2], dtype=torch.int16)
    >>> x.untyped_storage()[0] = 5
    >>> x
    tensor([5, 2], dtype=torch.int16)
    """

    __module__ = "torch.storage"

    def __init__(self, data=0, *, device=None):
        self._cell = _cell_of(data if type(data) is int or isinstance(data, np.integer) else _as_bytes(data), dtypes.uint8, device)

    @classmethod
    def _on(cls, cell):
        self = object.__new__(UntypedStorage)
        self._cell = cell
        return self

    _with = _on

    @classmethod
    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, *, dtype=None):
        """A copy of the bytes of an object with Python's buffer protocol: of ``count`` elements of ``dtype`` (-1: all) from a byte on."""
        dtype = dtype or dtypes.uint8
        found, size = np.frombuffer(buffer, np.uint8), dtype.itemsize
        if byte_order is None and dtype not in (dtypes.uint8, dtypes.int8):
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if byte_order not in ("big", "little", "native", None):
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        if not 0 <= offset <= len(found):
            raise ValueError(f"offset must be non-negative and no greater than buffer length ({len(found)}) , but got {offset}")
        rest = len(found) - offset
        if count < 0 and rest % size:
            raise ValueError(f"buffer size ({len(found)}) must be a multiple of element size ({size})")
        count = rest // size if count < 0 else count
        if count * size > rest:
            raise ValueError(f"buffer has only {rest} elements after offset {offset}, but specified a size of {count}")
        found = found[offset:offset + count * size]
        if dtype is dtypes.bool:
            found = (found != 0).astype(np.uint8)
        if byte_order == "big" and size > 1:
            step = size // 2 if dtype.is_complex else size
            found = found.reshape(-1, step)[:, ::-1].reshape(-1)
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

    def _name(self):
        return "torch.storage.UntypedStorage"

    def _described(self):
        return f"device={self.device}"

    def byteswap(self, dtype):
        """Turns the bytes of each element of a dtype around, of a complex one those of its parts; in place."""
        size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if self.nbytes() % size:
            raise RuntimeError(f"the length of data is not a multiple of {size}")
        whole = self._tensor().view(-1, size)
        whole.copy_(whole.flip(1))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._made(self._part(index))
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"can't index a torch.UntypedStorage with {type_name(type(index))}")
        return self._number(index)

    def _part(self, index):
        """A copy of some of the elements. Of memory that is shared, as a mapped file's, only these are looked at."""
        if isinstance(self._cell.host, HostMemory):
            return from_data.from_numpy(self._cell.host.flat.view(np.uint8)[index].copy())
        return self._tensor()[index].clone()

    def __setitem__(self, index, value):
        if isinstance(index, bool) or not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a torch.UntypedStorage with {type_name(type(index))}")
        if isinstance(value, bool) or not isinstance(value, int):
            raise RuntimeError(f"can only set storage content with a int types, but got {type_name(type(value))} instead")
        if isinstance(index, int) and not -self.nbytes() <= index < self.nbytes():
            raise RuntimeError("out of bounds")
        self._tensor()[index] = value % 256

    def __reduce__(self):
        return _pickled, (self._tensor().clone(),)


def _as_bytes(data):
    """The numbers of a sequence, of which only the last eight bits count; PyTorch's refusals."""
    if isinstance(data, UntypedStorage):
        return data._bytes()
    if isinstance(data, (bool, Tensor)) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {type_name(type(data))}")
    for one in data:
        if not isinstance(one, int):
            raise RuntimeError(f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type_name(type(data))}), but one "
                               f"of the items was of type {type_name(type(one))} instead of int")
    return np.array([one % 256 for one in data], np.uint8)


def copied(cell, memo):
    """The copy of a storage's memory that one `copy.deepcopy` makes: one for all the tensors and storages that lie on it."""
    key = "jtensor storage", id(cell)
    if key not in memo:
        memo[key] = cells.new(cell.current(), cell.layout)
    return memo[key]


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


def _pickled(tensor):
    return UntypedStorage._on(tensor._storage)


def _cell_of(data, dtype, device):
    """New memory: so many elements, of which nothing is known, or with the numbers of a sequence."""
    from ..creating import create
    device = devices.cpu if device is None else device
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(data, np.integer):
        data = int(data)
    if isinstance(data, int) and data < 0:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with "
                           f"negative number: {2**64 + data * dtype.itemsize}")
    made = create.empty(data, dtype=dtype, device=device) if isinstance(data, int) else from_data.tensor(data, dtype=dtype, device=device)
    return made._storage


def is_storage(obj, /):
    """Whether an object is a storage."""
    return isinstance(obj, Memory)
