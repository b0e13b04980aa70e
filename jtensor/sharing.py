"""Memory of others as tensors, and a few functions of the namespace that are small words for methods.

Owns: `asarray`, `frombuffer`, `from_file`, DLPack, `unravel_index`, `fill`, `is_signed`, `get_device`, `is_distributed`. May not know:
modules.
"""
import warnings
from collections.abc import Sequence

import numpy as np

import jtensor

from .base import devices, sites
from .base import dlpack as capsules
from .base.dtypes import scalar_name
from .ops.families.composing import number_fits
from .tensor import raw
from .tensor.calling.guards import guarded
from .tensor.creating.from_data import on_exported, on_storage
from .tensor.memory.storage_types import mapped

_READ_ONLY = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. Its elements are copied, so that what is "
    "written to the tensor does not reach the buffer."
)


def frombuffer(buffer, *, dtype=None, count=-1, offset=0, requires_grad=False):
    """A tensor of one dimension on the memory of an object with Python's buffer protocol.

    ``count``: how many elements, -1 for all; ``offset``: where they begin, in bytes. ``ValueError`` where they do not fit. What is written
    to the tensor is written to the buffer; a read-only buffer is copied, with a warning.

    >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    if dtype is None:
        raise TypeError('frombuffer() missing 1 required positional arguments: "dtype"')
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    try:
        view = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size, length = dtype.itemsize, view.nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1")
    rest = length - offset
    if count < 0 and rest % size:
        raise ValueError(f"buffer length ({rest} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})")
    count = rest // size if count < 0 else count
    if count * size > rest:
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
                         f"actual buffer length ({length} bytes)")
    elements = np.frombuffer(view, np.uint8, count * size, offset)
    if view.readonly:
        sites.warn_once(_READ_ONLY)
        elements = elements.copy()
    if dtype.name.startswith(("bfloat", "float8")):           # NumPy has no such type of its own
        made = jtensor.from_numpy(elements).view(dtype).detach()
    else:
        made = jtensor.from_numpy(elements.view(dtype.numpy))
    return made.requires_grad_() if requires_grad else made


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False):
    """A tensor of ``size`` elements on the memory that a file is mapped to.

    ``shared``: what is written to the tensor is written to the file, which is made, or made longer, where it must be; otherwise the file
    stays as it is. ``RuntimeError`` for a file that is not there or too short.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     torch.from_file(file.name, shared=True, size=2).fill_(1)
    ...     torch.from_file(file.name, size=1)
    tensor([1., 1.])
    tensor([1.])
    """
    if not isinstance(filename, str):
        raise TypeError(f"from_file(): argument 'filename' (position 1) must be str, not {type(filename).__name__}")
    dtype = dtype or jtensor.get_default_dtype()
    length = size * dtype.itemsize
    memory = mapped(filename, shared, length)
    if not length:
        return jtensor.empty(0, dtype=dtype, device=device, requires_grad=requires_grad)
    made = frombuffer(memory, dtype=dtype)
    return _requiring(made if device is None else made.to(device), requires_grad)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """The object as a tensor, on the same memory where it is a tensor, an ndarray, a buffer or a storage and neither ``dtype`` nor
    ``device`` differ (bytes of a storage are int64 unless told otherwise).

    ``copy``: True for a copy in any case, False for ``ValueError`` where one would be needed. A tensor is set to ``requires_grad``
    if that is given, or detached if it is no leaf.

    >>> array = np.zeros(2)
    >>> torch.asarray(array)[0] = 1
    >>> array
    array([1., 0.])
    """
    device = devices.chosen() if device is None else device
    made = _on_its_memory(obj, dtype, copy, bool(requires_grad))
    if made is None and copy is None:
        return _requiring(jtensor.as_tensor(obj, dtype=dtype, device=device), bool(requires_grad))
    if made is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _requiring(jtensor.tensor(obj, dtype=dtype, device=device), bool(requires_grad))
    if copy is False and isinstance(obj, np.generic):
        raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
    if isinstance(obj, (np.ndarray, np.generic)) and not obj.ndim:
        made, copy = made.clone(), copy and False                  # PyTorch shares no array of no dimension, and takes this for the copy
    kind, place = dtype or made.dtype, made.device if device is None else jtensor.device(device)
    if copy is False and place.type != made.device.type:
        raise ValueError(f"can't alias tensor from device '{made.device}' to '{place}'.")
    if copy is False and kind is not made.dtype:
        raise ValueError(f"can't alias tensor with dtype '{scalar_name(made.dtype)}' into dtype '{scalar_name(kind)}'.")
    if place.type != made.device.type or kind is not made.dtype:
        made = made.to(place, kind)
    elif copy:
        made = made.clone()
    if requires_grad is None:
        if made.requires_grad:
            warnings.warn("torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                          "requires_grad=False explicitly to get the old behavior and silence this warning.", UserWarning, stacklevel=2)
        return made
    if not made.is_leaf and not requires_grad:
        return made.detach()
    return _requiring(made, requires_grad)


def _requiring(made, requires_grad):
    if requires_grad and not (made.is_floating_point() or made.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return made.requires_grad_(requires_grad)


def _on_its_memory(obj, dtype, copy, requires_grad):
    """The tensor on an object's own memory, None where it has none to share."""
    if isinstance(obj, jtensor.Tensor):
        return obj
    if jtensor.is_storage(obj):
        return on_storage(obj, dtype)
    if isinstance(obj, (np.ndarray, np.generic)):
        array = np.asarray(obj)
        return jtensor.from_numpy(array.copy("K") if copy and not array.flags.writeable else array)
    if type(obj).__name__ == "PyCapsule":
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=dtype or jtensor.get_default_dtype(), requires_grad=requires_grad)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor on the memory of an object with ``__dlpack__``: of another library, on the CPU. Shared unless ``copy``.

    ``ext_tensor`` may also be a capsule that such an object has given, which serves once.

    >>> array = np.zeros(2)
    >>> torch.from_dlpack(array)[0] = 1
    >>> array
    array([1., 0.])
    """
    if isinstance(ext_tensor, jtensor.Tensor):
        exported(ext_tensor)
        made = ext_tensor.detach()
    elif not hasattr(ext_tensor, "__dlpack__") and type(ext_tensor).__name__ != "PyCapsule":
        raise RuntimeError(_NO_CAPSULE)
    else:
        made = on_exported(*(_of_capsule if type(ext_tensor).__name__ == "PyCapsule" else capsules.elements)(ext_tensor))
    return (made.clone() if copy else made).to(device) if device is not None or copy else made


class _Given:
    """An object that gives what NumPy asks it for."""

    def __init__(self, **given):
        self.__dict__.update(given)

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def _of_capsule(capsule):
    """What a capsule holds, as `capsules.elements` has it. It does not say whether it may be written to: PyTorch thinks it may."""
    if '"dltensor' not in repr(capsule):
        raise RuntimeError(_NO_CAPSULE)
    array, stranger = capsules.elements(_Given(capsule=capsule))
    there = array.__array_interface__
    return np.asarray(_Given(array=array, __array_interface__={**there, "data": (there["data"][0], False)})), stranger


_NO_CAPSULE = ("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already "
               "constructed a tensor from it once.")


def exported(self):
    """Refuses a tensor that DLPack cannot describe."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")


def dlpack(self, *, stream=-1, **options):
    """``Tensor.__dlpack__``: the tensor's memory, for other libraries."""
    exported(self)
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1) and self.device.type == "cpu":
        raise AssertionError("stream should be None on cpu.")
    dtype = self.dtype
    if capsules.is_stranger(dtype):
        bits = jtensor.uint8 if dtype.itemsize == 1 else jtensor.uint16
        return capsules.renamed(self.view(bits).numpy().__dlpack__(**options), dtype)
    return self.numpy().__dlpack__(**options)


def dlpack_device(self):
    """``Tensor.__dlpack_device__``: (kind of device, index)."""
    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return capsules.DLDeviceType.kDLCPU, 0


def unravel_index(indices, shape):
    """The places of flat ``indices`` in a tensor of the given shape: a tuple of tensors, one for each dimension.

    >>> torch.unravel_index(torch.tensor([3, 5]), (2, 3))
    (tensor([1, 1]), tensor([0, 2]))
    """
    if indices.is_complex() or indices.is_floating_point() or indices.dtype is jtensor.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    indices = indices.to(jtensor.int64)
    if isinstance(shape, int):
        shape = (shape,)
    elif not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    sizes, cells = jtensor.tensor(shape, dtype=jtensor.int64, device=indices.device), [1]
    for n in reversed(shape[1:]):
        cells.insert(0, cells[0] * n)
    below = jtensor.tensor(cells[:len(shape)], dtype=jtensor.int64, device=indices.device)
    return (indices.unsqueeze(-1).floor_divide(below) % sizes).unbind(-1)


def fill(input, value):
    """A tensor like ``input`` with every element ``value``, a number or a 0-d tensor."""
    if isinstance(value, jtensor.Tensor):
        if value.ndim:
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
        return raw.fill_tensor(input, value)
    return raw.fill(input, number_fits(value, input.dtype, alone=input.numel() == 1))


def resize_as_(input, the_template, *, memory_format=None):
    """`Tensor.resize_as_`."""
    return input.resize_as_(the_template, memory_format=memory_format)


def resize_as_sparse_(input, the_template):
    """`Tensor.resize_as_sparse_`: a sparse tensor gets another's size; ``NotImplementedError`` for a dense one."""
    return input.resize_as_sparse_(the_template)


def is_signed(input):
    """Whether the dtype has negative numbers."""
    return input.is_signed()


def get_device(input):
    """The index of the tensor's device, -1 for the CPU."""
    return input.get_device()


def is_distributed(input):
    """Whether the tensor is part of another, spread over machines: never."""
    return input.is_distributed()


for _name in ("asarray", "fill", "from_file", "get_device", "is_distributed", "is_signed", "resize_as_", "resize_as_sparse_"):
    globals()[_name] = guarded(globals()[_name], _name)


__all__ = ["asarray", "fill", "from_dlpack", "from_file", "frombuffer", "get_device", "is_distributed", "is_signed",
           "resize_as_", "resize_as_sparse_", "unravel_index"]
