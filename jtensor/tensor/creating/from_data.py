"""Tensors from data: numbers, nested sequences, NumPy arrays, other tensors.

Owns: what memory a tensor shares with an ndarray. May not know: operators, how nested Python data is read (`nested`).
"""
import numpy as np

from ...base import devices, dlpack, dtypes, geometry, sites
from ...base.bounded import Bounded
from ...base.naming import type_name
from ...ops.layout import like
from ...storage import cell, host
from ...trace import spec as specs
from ...trace.tape import LOCAL, hosted
from ..core import Tensor, make_tensor
from .create import _device, _finish, _type
from .nested import cast, host_array, row

# -- from the host's memory -------------------------------------------------------------------------------------------


def from_host(array, dtype=None, device=devices.cpu, ours=False):
    """A tensor with a private copy of an ndarray; ``ours``: nobody else has it, so that it need not be copied."""
    dtype = dtype or dtypes.of_numpy(array.dtype)
    if array.dtype != dtype.numpy:
        array, ours = cast(array, dtype.numpy), True
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


_layouts = Bounded(1 << 12)  # {(shape, strides, type, default device): the Spec of a tensor on the CPU that copies such an ndarray}

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
        array = row(data, wanted)
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
    device = devices.chosen() if device is None else device
    made = data.detach().to(device=data.device if device is None else device, dtype=_type(dtype, data.dtype), copy=True)
    made = make_tensor(made._storage, made._spec, offset=made._offset)
    return _finish(made, requires_grad)


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor, sharing memory where it can: a tensor as it is, an ndarray through `from_numpy`, else a copy.

    >>> x = torch.ones(1)
    >>> torch.as_tensor(x) is x
    True
    """
    device = devices.chosen() if device is None else device
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
