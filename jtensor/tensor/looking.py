"""A tensor's values as Python has them: numbers, lists, truth; and its one copy on the host, which printing and others look at.

Owns: these methods, with PyTorch's errors; what can be seen where it lies, without a program that fetches it.
May not know: how a tape runs.
"""
import numpy as np
from numpy import ndarray

from ..base import compat, devices, dtypes, sites
from ..trace.arrival import awaited
from ..trace.executor import on_host, seen
from ..trace.op_by_op.hand import FORMATS
from ..trace.tape import LIFTED, LOCAL
from .values import read


def host_copy(tensor, reason="read"):
    """The tensor's values as an ndarray that is not to be written to."""
    storage, spec = tensor._storage, tensor._spec
    if spec is storage.spec and spec.device is not devices.meta:
        return on_host(storage.value, reason)
    if spec.device is devices.meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    array = seen_in_place(storage, spec, tensor._offset, reason)
    return on_host(read(tensor), reason) if array is None else array


def seen_in_place(storage, spec, offset, reason):
    """A view's elements where they lie in its base's memory, without a program that fetches them; None where they lie otherwise."""
    layout = storage.layout
    if storage.spec is None or not layout.contiguous or spec.dtype is not layout.dtype or spec.conj or spec.neg \
            or spec.device is not devices.cpu and (spec.device is devices.meta or layout.numel * layout.dtype.itemsize > compat.LITTLE):
        return None
    if not spec.numel:
        return np.empty(spec.size, spec.dtype.numpy)
    if not layout.numel:                # memory that was resized to nothing: NumPy does not check the bounds of an empty buffer
        return None
    base, size = on_host(storage.value, reason), spec.dtype.itemsize
    try:
        return np.ndarray(spec.size, base.dtype, base, offset * size, [n * size for n in spec.stride])
    except ValueError:                  # it was cut short
        return None


def item(self):
    """The only element, as a Python number.

    >>> torch.tensor([2.5]).item()
    2.5
    """
    storage, spec = self._storage, self._spec
    if spec.numel != 1:
        _refused_inside(storage.value, "item()")
        raise RuntimeError(f"a Tensor with {spec.numel} elements cannot be converted to Scalar")
    layout, form = storage.spec, FORMATS.get(spec.dtype)
    if form is not None and spec.device is devices.cpu and (
            spec is layout or layout is not None and layout.contiguous and layout.dtype is spec.dtype and not spec.neg):
        value = storage.value
        array = value.array
        if array is None:
            array = seen(value, "item()")
        if array.__class__ is not ndarray and not array.is_ready():
            awaited(array)
        if spec is layout:
            return form.unpack(array)[0]                                # its bytes: half of what an ndarray of it costs
        if layout.numel:
            return form.unpack_from(array, self._offset * form.size)[0]
    if spec.device is devices.meta:
        raise RuntimeError(_OF_META)
    return python_number(host_copy(self, "item()"))


def _refused_inside(value, reason):
    """The error of a level in which nobody may look, however many elements there are."""
    if value is not None and value.position is LIFTED:
        seen(value, reason)


_OF_META = "Tensor.item() cannot be called on meta tensors"


def python_number(array):
    number = array.item()
    if type(number) is not float and not isinstance(number, (bool, int, complex)) or array.dtype.kind == "V":
        number = float(array.reshape(()))
    return number


def tolist(self):
    """Nested lists of Python numbers (a number for a 0-d tensor)."""
    dtype = self._spec.dtype
    if self._spec.conj or self._spec.neg:
        self = self.resolve_conj().resolve_neg()                   # PyTorch records that, which a stale view may refuse
    array = host_copy(self, "tolist()")
    if dtype not in FORMATS and not dtype.is_complex:              # a type that NumPy does not know
        array = array.astype(np.float32)
    return array.tolist()


def to_bool(self):
    if self._spec.numel != 1:
        _refused_inside(self._storage.value, "bool()")
        if self._spec.numel == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    storage, spec = self._storage, self._spec
    if spec is storage.spec and spec.dtype is dtypes.bool and spec.device is devices.cpu:
        value = storage.value
        array = value.array
        if array is None:
            array = seen(value, "bool()")
            if array.__class__ is not np.ndarray:
                awaited(array)
        return FORMATS[dtypes.bool].unpack(array)[0]
    if spec.device is devices.meta:
        raise RuntimeError(_OF_META)
    return bool(host_copy(self, "bool()").reshape(())[()])


def _only(self):
    if self._spec.numel != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return item(self)


def to_int(self):
    number = _only(self)
    if isinstance(number, complex):
        if number.imag != 0:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        number = number.real
    return int(number)


def warn_of_history(self):
    """Says that a number does not carry a gradient, where there would be one."""
    if self.requires_grad and LOCAL.grad_enabled:
        sites.warn_once("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
                        "tensor.detach() first.")


def to_float(self):
    number = _only(self)
    warn_of_history(self)
    if isinstance(number, complex):
        if number.imag != 0:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return number.real
    return float(number)


def to_complex(self):
    warn_of_history(self)
    return complex(_only(self))


def to_index(self):
    if self._spec.dtype.category > 1 or self._spec.numel != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))
