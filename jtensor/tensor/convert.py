"""From tensors to everything else and back: NumPy, JAX, other dtypes and devices, pickles.

Owns: these methods, and what of them shares memory and what is a copy. Numbers and lists are in `looking`, copies in `copying`.
May not know: how memory is shared (`storage.host`).
"""
import numpy as np

from ..base import compat, devices, dtypes, geometry
from ..base.errors import missing
from ..base.naming import type_name
from ..ops.families import create as ops
from ..ops.families.bounds import bounded
from ..storage import cell, host
from ..trace import spec as specs
from ..trace.executor import on_host, seen, value_of
from ..trace.tape import LOCAL, hosted, ready
from ..utils.hooks import warn_if_has_hooks
from .core import Tensor, make_tensor
from .looking import host_copy
from .states import is_wrapper, set_state, state_of
from .values import read

_dtype, _device = dtypes.dtype, devices.device

# -- NumPy ------------------------------------------------------------------------------------------------------------


def numpy(self, *, force=False):
    """An ndarray on the tensor's memory: each side sees the other's writes. ``force=True`` detaches and copies as needed.

    >>> t = torch.zeros(2)
    >>> t.numpy()[0] = 1
    >>> t
    tensor([1., 0.])
    """
    if force is not False:
        if force is not True:
            raise TypeError(f"numpy(): argument 'force' must be bool, not {type_name(type(force))}")
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
    if not spec.numel:
        return np.lib.stride_tricks.as_strided(flat[self._offset:], tuple(spec.size), (0,) * spec.ndim)
    return host.part(flat, spec, self._offset)


def array_protocol(self, dtype=None, copy=None):
    array = numpy(self)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return array.copy("K") if copy else array


def array_wrap(self, array, context=None, return_scalar=False):
    """What NumPy's functions answer for tensors: a tensor on the result's memory; booleans as PyTorch has them here, uint8."""
    from .creating.from_data import from_numpy
    array = np.asarray(array)
    return from_numpy(array.astype(np.uint8) if array.dtype == bool else array)


def jax_array(self):
    """The tensor's value as a `jax.Array` (immutable: later writes to the tensor do not show)."""
    return compat.own(value_of(read(self), "jax()"))


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


_OF_NUMBERS = {bool: dtypes.bool, float: dtypes.float64, complex: dtypes.complex128}


def to(self, *args, **kwargs):
    """The tensor in another dtype or on another device: ``to(dtype)``, ``to(device, dtype)``, ``to(other)``; itself if nothing changes.

    >>> torch.ones(1).to(torch.int64)
    tensor([1])
    """
    dtype, device, _, copy, memory_format = to_arguments(args, kwargs)
    spec = self._spec
    device = spec.device if device is None else devices.place(devices.device(device))
    return converted(self, dtype or spec.dtype, device, copy, memory_format)


def to_arguments(args, kwargs):
    """(dtype, device, non_blocking, copy, memory_format) of the three forms of ``to``, None for what is not given; or PyTorch's error."""
    rest, named = list(args), set(kwargs)
    dtype, device, memory_format = kwargs.get("dtype"), kwargs.get("device"), kwargs.get("memory_format")
    flags = [kwargs.get("non_blocking", False), kwargs.get("copy", False)]
    taken = _OPTIONS | {"dtype", "device"}                             # by name
    if "tensor" in named:
        rest.insert(0, kwargs["tensor"])
        named.discard("tensor")
    if rest:
        first = rest.pop(0)
        if isinstance(first, Tensor):
            dtype, device, taken = first.dtype, first.device, _OPTIONS
        elif isinstance(first, _dtype) or isinstance(first, type) and first in dtypes.OF_PYTHON:
            dtype, taken = first, _OPTIONS
        elif isinstance(first, (bool, float, complex)):                # PyTorch takes a number for its own type
            dtype, taken = _OF_NUMBERS[type(first)], _OPTIONS
        elif first is None or isinstance(first, (str, int, _device)):
            device, taken = first, _OPTIONS | {"dtype"}
            if rest and _is_type(rest[0]):
                dtype, taken = rest.pop(0), _OPTIONS
            elif rest:
                raise _no_form(args, kwargs)
        else:
            raise _no_form(args, kwargs)
        flags[:len(rest)] = rest
    if not (len(flags) == 2 and named <= taken and _is_type(dtype) and type(device) not in _NO_DEVICES and _is_format(memory_format)
            and all(type(flag) is bool for flag in flags)):
        raise _no_form(args, kwargs)
    return dtypes.OF_PYTHON[dtype] if isinstance(dtype, type) else dtype, device, *flags, memory_format


_OPTIONS = frozenset(("non_blocking", "copy", "memory_format"))
_NO_DEVICES = frozenset((float, complex, bool, list, tuple))


def _is_type(given):
    return given is None or isinstance(given, _dtype) or isinstance(given, type) and given in dtypes.OF_PYTHON


def _is_format(given):
    return given is None or str(given).removeprefix("torch.").endswith(("_format", "_last", "_last_3d"))


def _no_form(args, kwargs):
    """PyTorch's TypeError for arguments that are of none of the three forms."""
    from .calling.refusals import described
    return TypeError(f"to() received an invalid combination of arguments - got {described(args, kwargs)}, but expected one of:\n"
                     f"{_FORMS_OF_TO}")


_FLAGS_OF_TO = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None"
_FORMS_OF_TO = f""" * (torch.device device = None, torch.dtype dtype = None, {_FLAGS_OF_TO})
 * (torch.dtype dtype, {_FLAGS_OF_TO})
 * (Tensor tensor, {_FLAGS_OF_TO})
"""


def converted(self, dtype, device, copy=False, memory_format=None):
    spec = self._spec
    if device is not spec.device and device != spec.device:
        return _to_device(self, dtype, device, memory_format)
    if memory_format is not None and _lies_otherwise(spec, memory_format, copy or dtype is not spec.dtype):
        return ops.to_copy.record(self, dtype, memory_format)
    if dtype is spec.dtype:
        return ops.to_copy.record(self, dtype) if copy else self
    return ops.to_copy.record(self, dtype)


def _lies_otherwise(spec, memory_format, copied):
    """Whether the strides suggest another format than the one asked for; what is copied anyway is laid out so in any case."""
    name, size = str(memory_format).rpartition(".")[2], tuple(spec.size)
    if copied and name == "contiguous_format" and not spec.contiguous:
        return True
    suggested = {4: "channels_last", 5: "channels_last_3d"}[spec.ndim] if geometry.looks_channels_last(size, spec.stride) else \
        "contiguous_format"
    return name not in ("preserve_format", suggested)


def _to_device(self, dtype, device, memory_format=None):
    """A copy on another device: the value is looked at, sent over, and the gradient comes back the same way."""
    source, size = self, tuple(self._spec.size)
    stride = geometry.strides_in_format(size, memory_format) or geometry.infer_dense_strides(size, self._spec.stride)
    if dtype is not self._spec.dtype:
        recording, LOCAL.grad_enabled = LOCAL.grad_enabled, False
        try:
            source = converted(self, dtype, self._spec.device)
        finally:
            LOCAL.grad_enabled = recording
    layout = specs.spec(size, stride, dtype, device)
    if device is devices.meta:
        made = make_tensor(cell.new(ready(None, layout.aval), layout), layout, inference=LOCAL.inference)
    elif source._spec.device is devices.meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    else:
        value = read(source)
        if device is devices.cpu:
            sent = hosted(on_host(value, "to(device)"), layout.aval)
        else:
            sent = ready(compat.sent(seen(value, "to(device)"), devices.jax_device(device)), layout.aval)
        if dtype.category == 1 and dtype.itemsize > 2 and source._spec.device is devices.cpu:
            sent.bounds = bounded(value)                     # an index there need not be looked at to be within bounds
        made = make_tensor(cell.new(sent, layout), layout, inference=LOCAL.inference)
    if LOCAL.grad_enabled and self.requires_grad and dtype.differentiable:
        from ..autograd.transfer import transfer_node
        made._edge, made._requires_grad = (transfer_node(self), 0), True
    return made


def _cast(dtype, name):
    def method(self, *, memory_format=None):
        return converted(self, dtype() if callable(dtype) and not isinstance(dtype, _dtype) else dtype, self._spec.device, False,
                         memory_format)
    method.__name__ = name
    method.__doc__ = f"The tensor as ``{dtype}``."
    return method


CASTS = {name: _cast(d, name) for name, d in (
    ("float", dtypes.float32), ("double", dtypes.float64), ("half", dtypes.float16), ("bfloat16", dtypes.bfloat16), ("int", dtypes.int32),
    ("long", dtypes.int64), ("short", dtypes.int16), ("char", dtypes.int8), ("byte", dtypes.uint8), ("bool", dtypes.bool),
    ("cfloat", dtypes.complex64), ("cdouble", dtypes.complex128))}


def cpu(self, *, memory_format=None):
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
    if isinstance(dtype, (str, type)):
        return converted(self, *_of_type_of_old(dtype, self._spec.device))
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return converted(self, dtype, self._spec.device)


def _of_type_of_old(kind, device):
    """(dtype, device) of `torch.LongTensor` and its like, or of their names; ValueError for other types and texts."""
    if kind is Tensor:
        return dtypes.get_default_dtype(), devices.cpu
    space, _, name = (kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}").rpartition(".")
    dtype = next((d for d, n in _TYPE_NAMES.items() if n == name), None)
    if dtype is None or space.partition(".")[0] != "torch":
        raise ValueError(f"invalid type: '{kind if isinstance(kind, str) else kind.__name__}'")
    return dtype, devices.place(devices.device("cuda")) if space == "torch.cuda" else device if space == "torch.sparse" else devices.cpu


def type_as(self, other):
    """The tensor cast to the other's dtype and device."""
    return converted(self, other._spec.dtype, other._spec.device)


# -- pickles ----------------------------------------------------------------------------------------------------------


def reduce(self, protocol):
    """Pickled by the values it shows (on the meta device, by its size), dtype, flag, attributes and strides."""
    warn_if_has_hooks(self)
    spec = self._spec
    if is_wrapper(self):
        return rebuild_wrapper, (*wrapper_parts(self), state_of(self) or None)
    array = tuple(spec.size) if spec.device is devices.meta else np.array(host_copy(self.detach().resolve_conj().resolve_neg(), "pickle"))
    return rebuild, (
        None if type(self) is Tensor else type(self),
        array,
        self._spec.dtype,
        self.requires_grad,
        str(self._spec.device),
        state_of(self) or None,
        tuple(spec.stride) if spec.dense else None,
    )


def wrapper_parts(self):
    """What a wrapper is made of, but for what its class has put in it."""
    spec = self._spec
    return type(self), spec.dtype, tuple(spec.size), tuple(spec.stride), self._offset, str(spec.device), self.requires_grad


def rebuild_wrapper(cls, dtype, size, stride, offset, device, requires_grad, state=None):
    """The wrapper again."""
    made = Tensor._make_wrapper_subclass(cls, size, strides=stride, storage_offset=offset, dtype=dtype, device=device,
                                         requires_grad=requires_grad)
    if state:
        set_state(made, state)
    return made


def rebuild(cls, array, dtype, requires_grad, device, state, stride=None):
    from .creating.from_data import from_host, laid
    from .creating.likes import as_subclass
    if device == "meta":
        from .creating.create import empty
        made = empty(array, dtype=dtype, device=device)
    else:
        made = from_host(array, dtype)
    if stride is not None:
        laid(made, stride)
    if device not in ("cpu", "meta"):
        made = made.to(device)
    if cls is not None:
        made = as_subclass(made, cls)
    made._requires_grad, made._counter.version = requires_grad, int(device != "meta")        # PyTorch makes it empty and calls `set_`
    if state:
        set_state(made, state)
    return made
