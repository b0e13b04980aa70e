"""From tensors to everything else and back: numbers, lists, NumPy, JAX, other dtypes and devices, `.data =`, copies, pickles."""
import struct
import sys

import numpy as np

from ..autograd import engine
from ..autograd import gradmode_checks as checks
from ..base import devices, dtypes, geometry
from ..base.errors import missing
from ..base.naming import type_name
from ..ops.build import broadcast_inplace
from ..ops.families import create as ops
from ..ops.families.composing import number_fits
from ..storage import VersionCounter, cell, host
from ..trace import spec as specs
from ..trace.executor import on_host, value_of
from ..trace.tape import LOCAL, Value, ready
from . import overwriting
from .core import COUNTED, Tensor, make_tensor
from .values import bump, read

_dtype, _device = dtypes.dtype, devices.device

# -- looking at values ------------------------------------------------------------------------------------------------


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
    if storage.spec is None or spec.device is not devices.cpu or not layout.contiguous or spec.dtype is not layout.dtype or spec.conj \
            or spec.neg:
        return None
    if not spec.numel:
        return np.empty(spec.size, spec.dtype.numpy)
    base, size = on_host(storage.value, reason), spec.dtype.itemsize
    return np.ndarray(spec.size, base.dtype, base, offset * size, [n * size for n in spec.stride])


def item(self):
    """The only element, as a Python number.

    >>> torch.tensor([2.5]).item()
    2.5
    """
    storage, spec = self._storage, self._spec
    if spec.numel != 1:
        raise RuntimeError(f"a Tensor with {spec.numel} elements cannot be converted to Scalar")
    if spec is storage.spec and spec.device is devices.cpu:
        value = storage.value
        array = value.array
        unpack = _UNPACK.get(spec.dtype)
        if unpack is not None:
            if array is None:
                array = value.segment
                if array.__class__ is not np.ndarray:
                    array = value_of(value, "item()")
            return unpack(array)[0]
    elif spec.device is devices.meta:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    return python_number(host_copy(self, "item()"))


# An array's only element as a number of Python's, straight from its bytes: half of what an ndarray of it costs.
_UNPACK = {d: struct.Struct(d.numpy.char).unpack for d in dtypes.ALL if d.numpy.isbuiltin == 1 and d.numpy.kind in "iufb"}


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
    if dtype not in _UNPACK and not dtype.is_complex:              # a type that NumPy does not know
        array = array.astype(np.float32)
    return array.tolist()


def to_bool(self):
    if self._spec.numel != 1:
        if self._spec.numel == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    storage, spec = self._storage, self._spec
    if spec is storage.spec and spec.dtype is dtypes.bool and spec.device is devices.cpu:
        value = storage.value
        array = value.array
        if array is None:
            array = value.segment
            if array.__class__ is not np.ndarray:
                array = value_of(value, "bool()")
        return _UNPACK[dtypes.bool](array)[0]
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


def _warn_of_history(self):
    if self.requires_grad and LOCAL.grad_enabled:
        import warnings
        warnings.warn("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using "
                      "tensor.detach() first.", UserWarning, stacklevel=3)


def to_float(self):
    number = _only(self)
    _warn_of_history(self)
    if isinstance(number, complex):
        if number.imag != 0:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return number.real
    return float(number)


def to_complex(self):
    _warn_of_history(self)
    return complex(_only(self))


def to_index(self):
    if self._spec.dtype.category > 1 or self._spec.numel != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


# -- NumPy ------------------------------------------------------------------------------------------------------------


def numpy(self, *, force=False):
    """An ndarray on the tensor's memory: each side sees the other's writes. ``force=True`` detaches and copies as needed.

    >>> t = torch.zeros(2)
    >>> t.numpy()[0] = 1
    >>> t
    tensor([1., 0.])
    """
    if force:
        return numpy(self.detach().cpu().resolve_conj().resolve_neg())
    if self._spec.device.type != "cpu":
        raise TypeError(
            f"can't convert {self._spec.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    if self.requires_grad and LOCAL.grad_enabled:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    spec = self._spec
    if spec.conj:
        raise RuntimeError("Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.")
    if spec.neg:
        raise RuntimeError("Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy() instead.")
    if spec.dtype in (dtypes.bfloat16,) or spec.dtype.name.startswith("float8"):
        raise TypeError(f"Got unsupported ScalarType {dtypes.scalar_name(spec.dtype)}")
    flat = host.export(self._storage)
    if flat.dtype != spec.dtype.numpy:
        flat = flat.view(spec.dtype.numpy)
    step = spec.dtype.itemsize
    if not spec.numel:
        return np.lib.stride_tricks.as_strided(flat[self._offset:], tuple(spec.size), (0,) * spec.ndim)
    return np.ndarray(spec.size, flat.dtype, flat, self._offset * step, [s * step for s in spec.stride])


def array_protocol(self, dtype=None, copy=None):
    array = numpy(self)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return array.copy("K") if copy else array


def array_wrap(self, array, context=None, return_scalar=False):
    """What NumPy's functions answer for tensors: a tensor on the result's memory; booleans as PyTorch has them here, uint8."""
    from .from_data import from_numpy
    array = np.asarray(array)
    return from_numpy(array.astype(np.uint8) if array.dtype == bool else array)


def jax_array(self):
    """The tensor's value as a `jax.Array` (immutable: later writes to the tensor do not show)."""
    return value_of(read(self), "jax()")


def from_jax(array, requires_grad=False):
    """A tensor of a `jax.Array`'s value.

    >>> import jax.numpy as jnp
    >>> import jtensor
    >>> jtensor.from_jax(jnp.ones(2))
    tensor([1., 1.])
    """
    import jax
    if isinstance(array, jax.core.Tracer):
        raise missing("tensors inside JAX transformations (jax.jit, jax.grad, jax.vmap)",
                      "autograd and the tape outside them, or jax.numpy on `tensor.jax()` inside")
    dtype = dtypes.of_numpy(np.dtype(array.dtype))
    kind = next(iter(array.devices())).platform
    device = devices.cpu if kind == "cpu" else devices.device("cuda", 0)
    layout = specs.spec(tuple(array.shape), None, dtype, device)
    made = make_tensor(cell.new(ready(array, layout.aval), layout), layout)
    return made.requires_grad_() if requires_grad else made


# -- dtype and device -------------------------------------------------------------------------------------------------


def to(self, *args, **kwargs):
    """The tensor in another dtype or on another device: ``to(dtype)``, ``to(device, dtype)``, ``to(other)``; itself if nothing changes.

    >>> torch.ones(1).to(torch.int64)
    tensor([1])
    """
    dtype, device, copy, memory_format = kwargs.pop("dtype", None), kwargs.pop("device", None), kwargs.pop("copy", False), \
        kwargs.pop("memory_format", None)
    kwargs.pop("non_blocking", None)
    if "other" in kwargs:
        args = (kwargs.pop("other"), *args)
    if kwargs:
        raise TypeError(f"to() received an invalid combination of arguments - got an unexpected keyword argument '{next(iter(kwargs))}'")
    rest = list(args)
    if rest:
        first = rest.pop(0)
        if isinstance(first, Tensor):
            dtype, device = first.dtype, first.device
        elif isinstance(first, _dtype):
            dtype = first
        elif first is None or isinstance(first, (str, int, _device)):
            device = first
            if rest and (rest[0] is None or isinstance(rest[0], _dtype)):
                dtype = rest.pop(0)
        else:
            raise TypeError(f"to() received an invalid combination of arguments - got ({type(first).__name__})")
        if rest:
            rest.pop(0)
        if rest:
            copy = rest.pop(0)
    return converted(self, dtype or self._spec.dtype, self._spec.device if device is None else devices.place(devices.device(device)), copy,
                     memory_format)


def converted(self, dtype, device, copy=False, memory_format=None):
    spec = self._spec
    if device is not spec.device and device != spec.device:
        return _to_device(self, dtype, device)
    if memory_format is not None and _lies_otherwise(spec, memory_format):
        self, copy = self.clone(memory_format=memory_format), False
    if dtype is spec.dtype:
        return ops.to_copy.record(self, dtype) if copy else self
    if spec.dtype.is_complex and not dtype.is_complex:
        import warnings
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)
    return ops.to_copy.record(self, dtype)


def _lies_otherwise(spec, memory_format):
    """Whether the strides suggest another format than the one asked for."""
    name, size = str(memory_format).rpartition(".")[2], tuple(spec.size)
    suggested = {4: "channels_last", 5: "channels_last_3d"}[spec.ndim] if geometry.looks_channels_last(size, spec.stride) else \
        "contiguous_format"
    return name not in ("preserve_format", suggested)


def _to_device(self, dtype, device):
    """A copy on another device: the value is looked at, sent over, and the gradient comes back the same way."""
    source = self if dtype is self._spec.dtype else converted(self, dtype, self._spec.device)
    layout = specs.spec(source._spec.size, source._spec.stride if source._spec.dense else None, dtype, device)
    if device is devices.meta:
        made = make_tensor(cell.new(ready(None, layout.aval), layout), layout)
    elif source._spec.device is devices.meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    else:
        import jax
        array = jax.device_put(value_of(read(source), "to(device)"), devices.jax_device(device))
        made = make_tensor(cell.new(ready(array, layout.aval), layout), layout)
    if LOCAL.grad_enabled and source.requires_grad:
        from ..autograd.transfer import transfer_node
        made._edge, made._requires_grad = (transfer_node(source), 0), True
    return made


def _cast(dtype, name):
    def method(self, memory_format=None):
        return converted(self, dtype() if callable(dtype) and not isinstance(dtype, _dtype) else dtype, self._spec.device, False,
                         memory_format)
    method.__name__ = name
    method.__doc__ = f"The tensor as ``{dtype}``."
    return method


CASTS = {name: _cast(d, name) for name, d in (
    ("float", dtypes.float32), ("double", dtypes.float64), ("half", dtypes.float16), ("bfloat16", dtypes.bfloat16), ("int", dtypes.int32),
    ("long", dtypes.int64), ("short", dtypes.int16), ("char", dtypes.int8), ("byte", dtypes.uint8), ("bool", dtypes.bool),
    ("cfloat", dtypes.complex64), ("cdouble", dtypes.complex128))}


def cpu(self, memory_format=None):
    """The tensor on the CPU; itself if it is there."""
    return converted(self, self._spec.dtype, devices.cpu, False, memory_format)


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """The tensor on a GPU."""
    return converted(self, self._spec.dtype, devices.place(devices.device("cuda" if device is None else device)))


_TYPE_NAMES = {d: dtypes.scalar_name(d) + "Tensor" for d in dtypes.ALL}


def type_(self, dtype=None, non_blocking=False):
    """The type's name, such as ``torch.FloatTensor``; with an argument, the tensor cast to it."""
    if dtype is None:
        lead = "torch." if self._spec.device.type == "cpu" else f"torch.{self._spec.device.type}."
        return lead + _TYPE_NAMES[self._spec.dtype]
    if isinstance(dtype, str):
        wanted = dtype
        dtype = next((d for d, n in _TYPE_NAMES.items() if dtype.endswith("." + n)), None)
        if dtype is None:
            raise ValueError(f"invalid type: '{wanted}'")
    return converted(self, dtype, self._spec.device)


def type_as(self, other):
    """The tensor cast to the other's dtype and device."""
    return converted(self, other._spec.dtype, other._spec.device)


# -- in-place copies and rebinding ------------------------------------------------------------------------------------


def copy_(self, src, non_blocking=False):
    """Copies ``src`` (broadcast, cast) into this tensor.

    >>> torch.zeros(2).copy_(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    if not isinstance(src, Tensor):
        src = _numbers(src)
    if src._spec.device != self._spec.device and src._spec.ndim:
        src = src.to(self._spec.device)
    n, m = self._spec.size, src._spec.size
    if n != m:
        if len(m) > len(n) or any(a not in (1, b) for a, b in zip(reversed(m), reversed(n))):
            checks.before_inplace(self, LOCAL.grad_enabled and (self.requires_grad or src.requires_grad))
            checks.no_internal_overlap(self)
            if src._storage is self._storage:
                checks.no_partial_overlap(self, src)
            broadcast_inplace(self._spec, src._spec)
    elif src._storage is self._storage and src._spec is self._spec and src._offset == self._offset and not self._spec.dense \
            and not (LOCAL.grad_enabled and (self.requires_grad or src.requires_grad)):
        checks.before_inplace(self, False)                   # the same memory twice is not copied, so that it may overlap
        bump(self)
        return self
    elif overwriting.copy(self, src):
        return self
    return ops.copy.write(self, src)


def _numbers(src, name="copy_"):
    from .from_data import tensor
    if isinstance(src, (bool, int, float, complex)):
        return tensor(src)
    if isinstance(src, np.generic):
        return src.item() if name == "fill_" else tensor(src.item())
    if name == "fill_":
        raise TypeError(f"fill_() received an invalid combination of arguments - got ({type_name(type(src))}), but expected one of:")
    raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(type(src))}")


def fill_(self, value):
    """Fills the tensor with a number (or a 0-d tensor)."""
    if value is not None and overwriting.fill(self, value):
        return self
    if not isinstance(value, (Tensor, bool, int, float, complex)):
        value = _numbers(value, "fill_")
    if isinstance(value, Tensor):
        if value._spec.ndim:
            checks.before_inplace(self, LOCAL.grad_enabled and (self.requires_grad or value.requires_grad))
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._spec.ndim} dimensions.")
        return ops.fill_tensor.write(self, value)
    try:
        value = number_fits(value, self._spec.dtype)
    except RuntimeError:
        checks.before_inplace(self, LOCAL.grad_enabled and self.requires_grad)
        raise
    return ops.fill.write(self, value)


def zero_(self):
    """Fills the tensor with zeros."""
    return self if overwriting.fill(self, None) else ops.zero.write(self)


def set_data(self, other):
    """``x.data = y``: this tensor takes over the other's memory, shape and dtype; its history stays."""
    if not isinstance(other, Tensor):
        raise TypeError("Variable data has to be a tensor, but got " + type(other).__name__)
    if self._requires_grad and not other._spec.dtype.differentiable:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    if (self._spec.device is devices.meta) is not (other._spec.device is devices.meta):
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.")
    keep_counter(self)
    if self.requires_grad and self._spec.size != other._spec.size:
        engine.RESHAPED[0] = True
    if self._auto is not None and self._spec.dtype is not other._spec.dtype:
        self._auto.accumulator = None                              # the leaf gets a new node: the old one takes another dtype
    self._storage, self._spec, self._offset, self._cached = other._storage, other._spec, other._offset, None
    if other._inference_tensor() is not self._inference_tensor():
        self._autograd_meta().inference = COUNTED if other._inference_tensor() else False


def keep_counter(self):
    """For a tensor about to leave its storage: its version counter stays with it, and with its views, as in PyTorch.

    The storage is the counter; it stays so where somebody else may look at it, else a counter alone lets the storage go.
    """
    storage = self._storage
    if self._counter is storage and sys.getrefcount(storage) <= _OWN_REFERENCES:
        self._counter = VersionCounter(storage.version)
        self._counter.site = storage.site


_OWN_REFERENCES = 4          # the tensor's two fields, the local name, the argument of getrefcount


def deepcopy(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
            "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    import copy
    storage = memo.get(("jtensor storage", id(self._storage)))
    if storage is None:
        storage = cell.new(self._storage.current(), self._storage.layout)
        memo["jtensor storage", id(self._storage)] = storage
    made = make_tensor(storage, self._spec, self._offset, type(self), inference=LOCAL.inference)
    made._counter, made._requires_grad = VersionCounter(1), self.requires_grad        # PyTorch makes it empty and calls `set_`
    memo[id(self)] = made
    if self._auto is not None and self._auto.grad is not None:
        made._autograd_meta().grad = copy.deepcopy(self._auto.grad, memo)
    if self.__dict__:
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def reduce(self, protocol):
    """Pickled by its values (contiguous), dtype, flag and attributes."""
    array = np.array(host_copy(self.detach().resolve_conj().resolve_neg(), "pickle"))
    return rebuild, (
        None if type(self) is Tensor else type(self),
        array,
        self._spec.dtype,
        self.requires_grad,
        str(self._spec.device),
        dict(self.__dict__) or None,
    )


def rebuild(cls, array, dtype, requires_grad, device, state):
    from .from_data import from_host
    from .likes import as_subclass
    made = from_host(array, dtype)
    if device != "cpu":
        made = made.to(device)
    if cls is not None:
        made = as_subclass(made, cls)
    made._requires_grad = requires_grad
    if state:
        made.__dict__.update(state)
    return made


def element_size(self):
    """Bytes of one element."""
    return self._spec.dtype.itemsize


__all__ = ["Value", "checks", "missing"]
