"""Tensors from data: numbers, nested sequences, NumPy arrays, other tensors.

Owns: the reading of nested Python data, with PyTorch's inferred types and errors, and what memory a tensor shares with an ndarray. May not
know: operators.
"""
import functools
import itertools
import math

import numpy as np

from ..base import devices, dlpack, dtypes, geometry, sites
from ..base.naming import type_name
from ..ops.layout import like
from ..storage import cell, host
from ..trace import spec as specs
from ..trace.tape import LOCAL, hosted
from .core import Tensor, make_tensor
from .create import _device, _finish, _type

# -- from the host's memory -------------------------------------------------------------------------------------------


def from_host(array, dtype=None, device=devices.cpu, ours=False):
    """A tensor with a private copy of an ndarray; ``ours``: nobody else has it, so that it need not be copied."""
    dtype = dtype or dtypes.of_numpy(array.dtype)
    if array.dtype != dtype.numpy:
        array, ours = _cast(array, dtype.numpy), True
    storage = cell.of_numpy(array, dtype, device, not ours)
    return wrap_storage(storage)


def wrap_storage(storage):
    return make_tensor(storage, storage.layout, inference=LOCAL.inference)


def _lay_like(made, array):
    """The strides of an ndarray, for a tensor that copied it: PyTorch keeps them where they are dense."""
    item = array.itemsize
    if not item:
        return made
    stride = tuple([s // item for s in array.strides])
    if stride == made._spec.stride or any(s < 0 or s % item for s in array.strides):
        return made
    return laid(made, like(array.shape, stride))


def laid(made, stride):
    """A tensor that has just been made, lying in memory otherwise: its value does not know how."""
    own = made._spec
    if stride != own.stride:
        made._spec = made._storage.spec = made._storage.layout = specs.spec(own.size, stride, own.dtype, own.device)
    return made


NEGATIVE_STRIDES = ("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
                    "supported. (You can probably work around this by making a copy of your array  with array.copy().) ")


def from_numpy(array):
    """A tensor on the ndarray's memory: each side sees the other's writes.

    >>> a = np.zeros(2)
    >>> t = torch.from_numpy(a)
    >>> a[0] = 1
    >>> t
    tensor([1., 0.], dtype=torch.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(type(array))})")
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently "
            "not supported."
        )
    dtype = dtypes.of_numpy(array.dtype)
    item, flags, strides = array.itemsize, array.flags, array.strides
    for step in strides:
        if step < 0:
            raise ValueError(NEGATIVE_STRIDES)
    for step in strides:
        if step % item:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory."
            )
    if not flags.writeable:
        sites.warn_once("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to "
                        "this tensor will result in undefined behavior. You may want to copy the array to protect its data or make it "
                        "writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program.")
    view = specs.spec(array.shape, tuple([step // item for step in strides]), dtype, devices.cpu)
    count = array.size if flags.c_contiguous else geometry.extent(array.shape, view.stride, 0) if array.size else 0
    if not flags.writeable:
        flat = _writable(array, count)
    elif flags.c_contiguous:
        flat = np.ndarray((count,), array.dtype, array)
    else:
        flat = np.lib.stride_tricks.as_strided(array, (count,), (item,))
    layout = view if view.dense else specs.spec(flat.shape, None, dtype, devices.cpu)
    storage = cell.new(None, layout)
    host.adopt(storage, flat, array)
    return make_tensor(storage, view, inference=LOCAL.inference)


def _writable(array, count):
    """The memory of a read-only array: PyTorch writes there all the same, once it has warned. The storage keeps the array."""
    import ctypes
    memory = (ctypes.c_char * (count * array.itemsize)).from_address(array.ctypes.data)
    return np.ndarray((count,), array.dtype, memory)


# -- nested Python data -----------------------------------------------------------------------------------------------


def host_array(data, dtype):
    """Nested Python data (or anything array-like) as an ndarray of PyTorch's inferred type."""
    if isinstance(data, np.generic) and dtype is not None and dtype.category == 1 and (data.dtype.kind in "iu" or isinstance(data, float)):
        data = data.item()                                  # which is asked whether it fits, as an array's are not
    if isinstance(data, np.ndarray):
        array = data
    elif isinstance(data, (bool, int, float, complex)) and not isinstance(data, np.generic):
        kind = _inferred(data, dtype)
        return _whole([data], dtype).reshape(()) if np.dtype(kind).kind in "iu" and dtype is not None else _array(data, kind)
    else:
        array = _nested(data, dtype)
    if dtype is not None and array.dtype != dtype.numpy:
        if array.dtype.kind == "c" and dtype.category < 3:
            raise TypeError("must be real number, not complex")
        array = _cast(array, dtype.numpy)
    return array


def _array(numbers, kind):
    """The ndarray of numbers, of which one too great for its type is infinite, without NumPy's warning."""
    if kind is dtypes.float8_e4m3fn.numpy:
        return _cast(np.array(numbers, np.float64), kind)
    with np.errstate(all="ignore"):
        return np.array(numbers, kind)


def _cast(array, kind):
    if kind is dtypes.float8_e4m3fn.numpy:
        array = np.clip(array, -dtypes.LARGEST_E4M3FN, dtypes.LARGEST_E4M3FN)
    with np.errstate(all="ignore"):
        return array.astype(kind)


def _row(data, dtype):
    """A list of numbers of one kind, or of rows of them, as an ndarray, where nothing is to be asked but their kind; else None."""
    kinds = set(map(type, data))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind is list or kind is tuple:
        width = len(data[0])
        if not width or type(data[0][0]) not in _ALIKE or set(map(len, data)) != {width}:
            return None
        array = _row(list(itertools.chain.from_iterable(data)), dtype)
        return None if array is None else array.reshape(len(data), width)
    if kind is float and (dtype is None or dtype.category == 2):
        return _array(data, (dtype or dtypes.get_default_dtype()).numpy)
    if kind is int and (dtype is None or dtype is dtypes.int64):
        try:
            return np.array(data, np.int64)
        except OverflowError:
            return None
    if kind is bool and (dtype is None or dtype is dtypes.bool):
        return np.array(data, np.bool_)
    return None


_ALIKE = frozenset((float, int, bool))


def _inferred(number, dtype):
    if type(number) is int and not -(1 << 63) <= number < (1 << 63) and (dtype is None or dtype.category == 1):
        if dtype is dtypes.uint64 and 0 <= number < (1 << 64):
            return np.uint64
        raise ValueError("Overflow when unpacking long long")
    return (
        (dtype or dtypes.of_scalar(number)).numpy
        if dtype is None or not isinstance(number, complex) or dtype.is_complex or dtype is dtypes.bool
        else _no_complex(dtype)
    )


def _no_complex(dtype):
    raise TypeError("'complex' object cannot be interpreted as an integer" if dtype.category < 2 else "must be real number, not complex")


def _nested(data, dtype):
    if hasattr(data, "__array__") and not isinstance(data, (list, tuple)):
        return np.asarray(data)
    if hasattr(data, "__dlpack__"):
        array, stranger = dlpack.elements(data)
        return array.view(stranger.numpy) if stranger else array
    if isinstance(data, (str, bytes)) or data is None or not hasattr(data, "__len__") and not hasattr(data, "__array_interface__"):
        if dtype is not None and (hasattr(data, "__index__") or hasattr(data, "__float__")):
            return _array(_number(data, dtype), dtype.numpy)
        if isinstance(data, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
        raise RuntimeError(f"Could not infer dtype of {type_name(type(data))}")
    if _stackable(data, dtype):
        sites.warn_once(OF_ARRAYS)
        return np.stack(data)
    shape, flat, kind = _walk(data)
    if not flat:
        return np.empty(shape, (dtype or kind).numpy)
    kinds, wanted = set(map(type, flat)), dtype
    if not kinds <= _PLAIN:
        wanted = dtype or functools.reduce(dtypes.promote_types, dict.fromkeys(map(_type_of, flat)))
        flat = [_number(x, wanted) for x in flat]
        kinds = set(map(type, flat))
    kind = complex if complex in kinds else float if float in kinds else int if int in kinds else bool
    target = (wanted or dtypes.of_scalar(kind(0))).numpy
    if kind is complex and dtype is dtypes.bool:
        return np.array([x != 0 for x in flat], bool).reshape(shape)
    if kind is complex and dtype is not None and not dtype.is_complex:
        _no_complex(dtype)
    if target.kind in "iu" and dtype is not None:
        return _whole(flat, dtype).reshape(shape)
    if kind is float and target.kind == "b":
        return np.array(flat, np.float64).astype(target).reshape(shape)
    try:
        return _cast(_array(flat, np.float64 if target.kind not in "iubfc" else target), target).reshape(shape)
    except OverflowError:
        if kind is int and target.kind in "iu":
            big = [x for x in flat if not -(1 << 63) <= x < (1 << 64)]
            if big or target.itemsize == 8:
                raise ValueError("Overflow when unpacking long long") from None
            raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow") from None
        raise


def _whole(flat, dtype):
    """Numbers as an integer type: floats lose their fraction, unsigned types wrap negative numbers, anything beyond is refused."""
    kind, size = dtype.numpy, 1 << 8 * dtype.itemsize
    low, high = (-size // 2, size // 2) if dtype.is_signed else (1 - size, size)
    made = []
    for x in flat:
        if type(x) is float and not math.isfinite(x) or not low <= x < high:
            if type(x) is int and not -(1 << 63) <= x < (1 << 64 if dtype is dtypes.uint64 else 1 << 63):
                raise ValueError("Overflow when unpacking long long")
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
        made.append(int(x) % size if not dtype.is_signed else int(x))
    return np.array(made, kind)


_PLAIN = frozenset((bool, int, float, complex))


def _stackable(data, dtype):
    """Whether these are arrays of one shape and one type, whose numbers need not be looked at one by one."""
    if not isinstance(data, (list, tuple)) or not data or type(data[0]) is not np.ndarray or not data[0].size or not data[0].ndim:
        return False
    shape, kind = data[0].shape, data[0].dtype
    return all(type(x) is np.ndarray and x.shape == shape and x.dtype == kind for x in data) and (
        kind.kind in "iufc" and (dtype is None or dtype.category >= dtypes.of_numpy(kind).category))


def _type_of(x):
    """The dtype that a number counts as: tensors and NumPy's numbers have one of their own."""
    if isinstance(x, Tensor):
        return x._spec.dtype
    if isinstance(x, np.generic) or isinstance(x, np.ndarray) and x.ndim == 0:
        return dtypes.of_numpy(x.dtype)
    if isinstance(x, str):
        raise TypeError("new(): invalid data type 'str'")
    for plain in (bool, int, float, complex):
        if isinstance(x, plain):
            return dtypes.of_scalar(plain(0))
    if hasattr(x, "__array__"):
        return dtypes.int64 if hasattr(x, "__index__") else dtypes.get_default_dtype()
    raise RuntimeError(f"Could not infer dtype of {type_name(type(x))}")


def _number(x, wanted):
    """A number of whatever kind as one of Python's; where a whole one is wanted, only Python's own floats lose their fraction."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    whole = wanted.category < 2
    if isinstance(x, Tensor):
        if x._spec.numel != 1 and whole:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        if x._spec.numel != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if whole and x._spec.dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        if wanted.category == 2 and x._spec.dtype.is_complex:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return x.item()
    if isinstance(x, np.generic):
        if whole and x.dtype.kind not in "iu" and not isinstance(x, float) and (
                wanted is not dtypes.bool or not isinstance(x, (np.bool_, complex))):
            raise TypeError(f"'{type_name(type(x))}' object cannot be interpreted as an integer")
        x = x.item()
        return x.real if type(x) is complex and wanted.category == 2 else x if type(x) in _PLAIN else float(x)
    for plain in (bool, int, float, complex):
        if isinstance(x, plain):
            return plain(x)
    if whole and not hasattr(x, "__index__"):
        raise TypeError(f"'{type_name(type(x))}' object cannot be interpreted as an integer")
    return x.__index__() if whole or not hasattr(x, "__float__") else float(x)


def _walk(data):
    """(shape, flat list of numbers, dtype if there are none) of nested sequences; PyTorch's ValueError for ragged ones.

    An array is a sequence, a tensor a number.
    """
    shape, probe, kind = [], data, dtypes.get_default_dtype()
    while isinstance(probe, (list, tuple, range)) or (hasattr(probe, "__len__") and hasattr(probe, "__getitem__")
                                                      and not isinstance(probe, (str, bytes, dict, Tensor))):
        shape.append(len(probe))
        if isinstance(probe, np.ndarray):
            if not len(probe):
                kind = dtypes.of_numpy(probe.dtype)
            elif len(shape) > 1:
                sites.warn_once(OF_ARRAYS)
        if not len(probe):
            break
        probe = probe[0]
    flat = [data]
    for depth, n in enumerate(shape):
        expanded = []
        for item in flat:
            if not hasattr(item, "__len__") or isinstance(item, Tensor) or isinstance(item, np.ndarray) and not item.ndim:
                raise TypeError("not a sequence")
            if len(item) != n:
                raise ValueError(f"expected sequence of length {n} at dim {depth} (got {len(item)})")
            expanded.extend(item)
        flat = expanded
    if flat and isinstance(flat[0], str):
        raise ValueError("too many dimensions 'str'")
    for item in flat:
        if isinstance(item, (list, tuple)):
            whole = type(flat[0]) is int
            raise TypeError(f"'{type(item).__name__}' object cannot be interpreted as an integer" if whole else
                            f"must be real number, not {type(item).__name__}")
    return tuple(shape), flat, kind

_layouts = {}                # {(shape, strides, type, default device): the Spec of a tensor on the CPU that copies such an ndarray}

OF_ARRAYS = ("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
             "numpy.ndarray with numpy.array() before converting to a tensor.")

COPIED = ("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
          "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor).")


# -- factories --------------------------------------------------------------------------------------------------------


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf tensor with a copy of the data: a number, nested sequences, a NumPy array, a tensor.

    Integers become int64, floats the default dtype, unless ``dtype`` says otherwise. Ragged data raises ``ValueError``.

    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        return copied(data, dtype, device, requires_grad, "torch.tensor")
    if data.__class__ is np.ndarray and dtype is device is None:
        layout = _layouts.get((data.shape, data.strides, data.dtype, devices.current()))
        if layout is not None:
            made = wrap_storage(cell.new(hosted(data.copy(), layout.aval), layout))
            return _finish(made, True) if requires_grad else made
    wanted = None if dtype is None else _type(dtype)
    where = _device(device)
    if (data.__class__ is list or data.__class__ is tuple) and where is devices.cpu:
        array = _row(data, wanted)
        if array is not None:
            return _finish(from_host(array, wanted, where, True), requires_grad)
    if isinstance(data, np.ndarray):
        if not data.dtype.isnative:
            raise ValueError("given numpy array has byte order different from the native byte order. Conversion between byte orders is "
                             "currently not supported.")
        if not data.flags.c_contiguous and any(s < 0 for s in data.strides):
            raise ValueError(NEGATIVE_STRIDES)
    elif type(data).__module__ == "torch.storage":
        return _finish(on_storage(data, wanted).to(where), requires_grad)
    array = host_array(data, wanted)
    made = from_host(array, wanted, devices.cpu if where is devices.meta else where, isinstance(data, (list, tuple, int, float, complex)))
    if data is array or isinstance(data, np.ndarray):
        _lay_like(made, data)
        if wanted is None and where is devices.cpu and data.flags.c_contiguous and made._spec is made._storage.spec:
            if len(_layouts) >= 1 << 12:
                _layouts.clear()
            _layouts[data.shape, data.strides, data.dtype, devices.current() if device is None else device] = made._spec
    if where is devices.meta:
        made = made.to("meta")
    return _finish(made, requires_grad)


def on_exported(array, stranger):
    """A tensor on what `dlpack.elements` gives."""
    made = from_numpy(array)
    return made.view(stranger).detach() if stranger else made


def on_storage(storage, dtype=None):
    """A tensor on all of a storage's memory; of bytes it takes as many whole elements as there are."""
    held = getattr(storage, "dtype", None)
    if dtype is not None and held is not None and held is not dtype:
        raise RuntimeError(f"Expected a Storage of type {dtypes.scalar_name(dtype)} or an UntypedStorage, but got "
                           f"{dtypes.scalar_name(held)}")
    dtype = held or dtype or dtypes.int64
    layout = specs.spec((storage.nbytes() // dtype.itemsize,), None, dtype, storage.device)
    return make_tensor(storage._cell, layout, inference=LOCAL.inference)


def copied(data, dtype, device, requires_grad, by):
    """A new leaf with a tensor's data; warns that there is a better way than the function named ``by``."""
    sites.warn(COPIED.format(by))
    made = data.detach().to(device=data.device if device is None else device, dtype=_type(dtype, data.dtype), copy=True)
    made = make_tensor(made._storage, made._spec, offset=made._offset)
    return _finish(made, requires_grad)


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor, sharing memory where it can: a tensor as it is, an ndarray through `from_numpy`, else a copy.

    >>> x = torch.ones(1)
    >>> torch.as_tensor(x) is x
    True
    """
    if isinstance(data, Tensor):
        if dtype is None and device is None:
            return data
        return data.to(device=data.device if device is None else device, dtype=_type(dtype, data.dtype))
    if isinstance(data, np.ndarray):
        made = from_numpy(data)
        if dtype is None and device is None:
            return made
        return made.to(device=_device(device), dtype=_type(dtype, made.dtype))
    if not isinstance(data, _BUILTIN) and hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        made = on_exported(*dlpack.elements(data))
        return made if dtype is None and device is None else made.to(device=_device(device), dtype=_type(dtype, made.dtype))
    return tensor(data, dtype=dtype, device=device)


_BUILTIN = (list, tuple, int, float, complex)
