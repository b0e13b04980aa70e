"""Nested Python data as ndarrays: numbers, sequences of them, and of whatever else says what number it is.

Owns: the types that PyTorch infers, which numbers fit which type, and the errors. May not know: how a tensor is made.
"""
import functools
import itertools
import math

import numpy as np

from ...base import dlpack, dtypes, sites
from ...base.naming import type_name
from ..core import Tensor
from ..looking import warn_of_history

OF_ARRAYS = ("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single "
             "numpy.ndarray with numpy.array() before converting to a tensor.")


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
        array = cast(array, dtype.numpy)
    return array


def _array(numbers, kind):
    """The ndarray of numbers, of which one too great for its type is infinite, without NumPy's warning."""
    if kind is dtypes.float8_e4m3fn.numpy:
        return cast(np.array(numbers, np.float64), kind)
    with np.errstate(all="ignore"):
        return np.array(numbers, kind)


def cast(array, kind):
    """The ndarray in another type; without NumPy's warning of numbers that it cannot hold."""
    if kind is dtypes.float8_e4m3fn.numpy:
        array = np.clip(array, -dtypes.LARGEST_E4M3FN, dtypes.LARGEST_E4M3FN)
    with np.errstate(all="ignore"):
        return array.astype(kind)


def row(data, dtype):
    """A list of numbers of one kind, or of rows of them, as an ndarray, where nothing is to be asked but their kind; else None."""
    kinds = set(map(type, data))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind is list or kind is tuple:
        width = len(data[0])
        if not width or type(data[0][0]) not in _ALIKE or set(map(len, data)) != {width}:
            return None
        array = row(list(itertools.chain.from_iterable(data)), dtype)
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
    shape, flat, kind = _walk(data, dtype)
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
        return cast(_array(flat, np.float64 if target.kind not in "iubfc" else target), target).reshape(shape)
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
    if isinstance(x, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
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
        warn_of_history(x)
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


def _walk(data, dtype=None):
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
        if not len(probe):                                  # so there is no number to write: PyTorch does not look at other lengths
            return tuple(shape), [], dtype or functools.reduce(dtypes.promote_types, dict.fromkeys(_types_in(data)), kind)
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


def _types_in(data):
    """The dtypes of what is in nested sequences, where an empty one counts as numbers of the default type."""
    for item in data:
        if isinstance(item, (list, tuple, range)):
            yield from _types_in(item) if len(item) else (dtypes.get_default_dtype(),)
        elif isinstance(item, np.ndarray):
            yield dtypes.of_numpy(item.dtype)
        else:
            yield _type_of(item)
