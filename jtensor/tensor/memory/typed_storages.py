"""`torch.TypedStorage`, `torch.FloatStorage` and its kind: memory as elements of a dtype.

Owns: these classes, and by which names files know them. May not know: operators.
"""
import functools

import numpy as np

from ...base import dtypes
from ..core import Tensor
from .storage_types import Memory, UntypedStorage, _cell_of, say_deprecated


def _taken(told, args, wrap_storage, refused):
    """PyTorch's errors for what a typed storage cannot be made of; ``told``: which ways there are. ``refused`` may not come with bytes."""
    if len(args) > 1:
        raise RuntimeError(f"{told}Too many positional arguments")
    if wrap_storage is not None:
        if args:
            raise RuntimeError(f"{told}No positional arguments should be given when using 'wrap_storage'")
        refused()
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"{told}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
    elif args and (isinstance(args[0], Tensor) or not isinstance(args[0], (int, np.integer))
                   and not (hasattr(args[0], "__len__") and hasattr(args[0], "__getitem__"))):
        raise TypeError(f"{told}Argument type not recognized: {type(args[0])}")


_WAYS = ("TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
         " * (*, torch.device device, torch.dtype dtype)\n * (int size, *, torch.device device, torch.dtype dtype)\n"
         " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
         " * (*, UntypedStorage wrap_storage, torch.dtype dtype)\n")


class TypedStorage(Memory):
    """Memory as elements of one dtype: ``TypedStorage(size or numbers, dtype=...)``, or ``wrap_storage=`` for bytes that there are."""

    __module__ = "torch.storage"

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if not _internal:
            say_deprecated()

        def refused():
            if dtype is None:
                raise RuntimeError(f"{_WAYS}Argument 'dtype' must be specified")
            if not isinstance(dtype, dtypes.dtype):
                raise TypeError(f"{_WAYS}Argument 'dtype' must be torch.dtype, not {type(dtype)}")
            if device is not None:
                raise RuntimeError(f"{_WAYS}Argument 'device' should not be specified when 'wrap_storage' is given")
        _taken(_WAYS, args, wrap_storage, refused)
        if dtype is not None and not isinstance(dtype, dtypes.dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        self.dtype = dtype or dtypes.get_default_dtype()
        self._cell = _cell_of(args[0] if args else 0, self.dtype, device) if wrap_storage is None else wrap_storage._cell

    @classmethod
    def _on(cls, cell, dtype):
        self = object.__new__(TypedStorage)
        self._cell, self.dtype = cell, dtype
        return self

    def _with(self, cell):
        return TypedStorage._on(cell, self.dtype)

    def pin_memory(self, device="cuda"):
        """A copy, as `Tensor.pin_memory` makes it; ``RuntimeError`` where there is no accelerator."""
        return self._with(self._tensor().pin_memory()._storage)

    @classmethod
    def from_buffer(cls, *args, dtype=None, **others):
        """A copy of the bytes of an object with Python's buffer protocol, as `UntypedStorage.from_buffer` takes them."""
        say_deprecated()
        dtype = dtype or getattr(cls, "_dtype", None) or dtypes.get_default_dtype()
        return TypedStorage._on(UntypedStorage.from_buffer(*args, dtype=dtype, **others)._cell, dtype)

    @classmethod
    def from_file(cls, filename, shared, size):
        """The elements of the memory that a file is mapped to: of a class as `torch.FloatStorage` alone."""
        say_deprecated()
        if cls is TypedStorage:
            raise RuntimeError("from_file can only be called on derived classes")
        return TypedStorage._on(UntypedStorage.from_file(filename, shared, size * cls._dtype.itemsize)._cell, cls._dtype)

    @property
    def _unit(self):
        return self.dtype

    def _name(self):
        return f"torch.{_NAMES[self.dtype]}Storage"

    def get_device(self):
        return None if self.device.type == "cpu" else self.device.index

    def _described(self):
        return f"dtype={self.dtype}, device={self.device}"

    def pickle_storage_type(self):
        """The name of the class for its type, which files hold."""
        return f"{_NAMES[self.dtype]}Storage"

    _pickle_storage_type = pickle_storage_type

    @property
    def _untyped_storage(self):
        return self.untyped()

    def fill_(self, value):
        """Writes a number to every element."""
        self[:] = value
        return self

    def resize_(self, size):
        """More elements, or fewer; what was there stays."""
        UntypedStorage.resize_(self, size * self.dtype.itemsize)

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return self._number(index)

    def __setitem__(self, index, value):
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if isinstance(value, Memory):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._tensor()[index] = value

    def cpu(self):
        return self._made(self._tensor().cpu())

    def __reduce__(self):
        return _pickled, (self._tensor().clone(), self.dtype)


def _pickled(tensor, dtype):
    return TypedStorage._on(tensor._storage, dtype)


_NAMES = {dtypes.float32: "Float", dtypes.float64: "Double", dtypes.float16: "Half", dtypes.bfloat16: "BFloat16", dtypes.uint8: "Byte",
          dtypes.int8: "Char", dtypes.int16: "Short", dtypes.int32: "Int", dtypes.int64: "Long", dtypes.bool: "Bool",
          dtypes.complex64: "ComplexFloat", dtypes.complex128: "ComplexDouble"}


def _as(self, dtype):
    """The numbers in a typed storage of another type."""
    say_deprecated()
    return TypedStorage._on(self._tensor().to(dtype)._storage, dtype)


for _dtype, _name in _NAMES.items():
    _short = {"ComplexFloat": "complex_float", "ComplexDouble": "complex_double"}.get(_name, _name.lower())
    setattr(Memory, _short, functools.partialmethod(_as, _dtype))


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
        _taken(told, args, wrap_storage, lambda: None)
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls._dtype)


CLASSES = {dtype: _Kind(f"{name}Storage", (TypedStorage,),
                        {"__module__": "torch", "_dtype": dtype, "__doc__": f"Typed storages of {dtype}."})
           for dtype, name in _NAMES.items()}
BY_NAME = {"UntypedStorage": UntypedStorage, "TypedStorage": TypedStorage, **{kind.__name__: kind for kind in CLASSES.values()}}


def typed(tensor):
    """``tensor.storage()``; that it is out of date is said once."""
    say_deprecated()
    return TypedStorage._on(tensor._storage, tensor._spec.dtype)
