"""Putting samples together to a batch: tensors are stacked, numbers become tensors, containers are gone through."""
import copy
import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

import jtensor

np_str_obj_array_pattern = re.compile("[SaUO]")         # what other libraries ask of an array's type
_BAD = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def _is_text(array):
    return array.dtype.kind in "SUO"


def _rebuilt_mapping(original, pairs):
    """A mapping of the same type with new values; a plain dictionary where the type cannot be made."""
    pairs = dict(pairs)
    try:
        if isinstance(original, MutableMapping):
            clone = copy.copy(original)
            clone.update(pairs)
            return clone
        return type(original)(pairs)
    except TypeError:
        return pairs


def _rebuilt_sequence(original, values):
    values = list(values)
    try:
        if isinstance(original, MutableSequence):
            clone = copy.copy(original)
            for i, value in enumerate(values):
                clone[i] = value
            return clone
        return type(original)(values)
    except TypeError:
        return values


def default_convert(data):
    """NumPy arrays and scalars inside ``data`` as tensors; everything else as it is.

    >>> import jtensor as torch
    >>> torch.utils.data.default_convert([0, "a"])
    [0, 'a']
    """
    if isinstance(data, jtensor.Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (np.str_, np.bytes_)):
        return data if isinstance(data, np.ndarray) and _is_text(data) else jtensor.as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt_mapping(data, ((key, default_convert(data[key])) for key in data))
    if isinstance(data, tuple):
        converted = [default_convert(d) for d in data]
        return type(data)(*converted) if hasattr(data, "_fields") else converted
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt_sequence(data, map(default_convert, data))
    return data


def collate(batch, *, collate_fn_map=None):
    """A batch by the functions of a table from types to functions; containers are gone through. TypeError for other types."""
    first = batch[0]
    kind = type(first)
    table = collate_fn_map or {}
    if kind in table:
        return table[kind](batch, collate_fn_map=collate_fn_map)
    for known, function in table.items():
        if isinstance(first, known):
            return function(batch, collate_fn_map=collate_fn_map)

    def together(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _rebuilt_mapping(first, ((key, together([sample[key] for sample in batch])) for key in first))
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*map(together, zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [together(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _rebuilt_sequence(first, columns)
    raise TypeError(_BAD.format(kind))


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Tensors of one shape, stacked."""
    return jtensor.stack(tuple(batch), 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Arrays as tensors, stacked."""
    if _is_text(batch[0]):
        raise TypeError(_BAD.format(batch[0].dtype))
    kind, shape = batch[0].dtype, batch[0].shape
    alike = all(type(a) is np.ndarray and a.dtype == kind and a.shape == shape and a.flags.c_contiguous for a in batch)
    if alike and kind.isnative and batch[0].size:
        return jtensor.as_tensor(np.stack(batch))               # with the errors of one array
    return collate([jtensor.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """NumPy's scalars as one tensor."""
    return jtensor.as_tensor(np.asarray(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """Python floats as a tensor of float64."""
    return jtensor.tensor(batch, dtype=jtensor.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """Python integers (and booleans) as a tensor."""
    return jtensor.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Text stays a sequence of texts."""
    return batch


default_collate_fn_map = {
    jtensor.Tensor: collate_tensor_fn, np.ndarray: collate_numpy_array_fn, (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn,
}


def default_collate(batch):
    """A batch of samples as tensors with one dimension more.

    >>> import jtensor as torch
    >>> torch.utils.data.default_collate([(1, 2.), (3, 4.)])
    [tensor([1, 3]), tensor([2., 4.], dtype=torch.float64)]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
