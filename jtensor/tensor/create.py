"""Factory functions: tensors from data, from NumPy, from numbers, and like other tensors.

Owns: PyTorch's argument forms of the factories and the reading of nested Python data. What is computed is recorded by the operators of
`ops.families.create`.
"""
import math
import numbers

import numpy as np

from ..base import devices, dtypes
from ..ops.families import create as ops
from ..ops.families.composing import number_fits
from ..storage import cell, host
from ..trace import spec as specs
from .core import Tensor, make_tensor
from .dispatch import call

_dtype = dtypes.dtype


def _device(device):
    return devices.place(devices.current() if device is None else devices.device(device))


def _type(dtype, default=None):
    if dtype is None:
        return default or dtypes.get_default_dtype()
    if isinstance(dtype, _dtype):
        return dtype
    if dtype in (float, int, bool, complex):
        return {float: dtypes.get_default_dtype(), int: dtypes.int64, bool: dtypes.bool, complex: dtypes.default_complex()}[dtype] \
            if dtype is not float else dtypes.float64
    raise TypeError(f"zeros(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")


def size_of(args, name="zeros"):
    """A size from PyTorch's forms: ``f(2, 3)``, ``f((2, 3))``, ``f([2, 3])``, ``f(torch.Size)``."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    size = tuple([_int(n, name, at) for at, n in enumerate(args)])
    for n in size:
        if n < 0 and name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{', '.join(map(str, size))}]")
    return size


def _int(n, name, at):
    if type(n) is int:
        return n
    if isinstance(n, bool):
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not bool")
    if isinstance(n, (numbers.Integral, np.integer)):
        return int(n)
    if isinstance(n, Tensor) and n.ndim == 0 and n.dtype.category == 1:
        return int(n.item())
    kind = type(n).__name__
    if at:
        raise TypeError(
            f"{name}(): argument 'size' failed to unpack the object at pos {at + 1} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kind}")


def _finish(tensor, requires_grad):
    if requires_grad:
        if not tensor._spec.dtype.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        tensor.requires_grad_()
    return tensor


# -- from data --------------------------------------------------------------------------------------------------------


def from_host(array, dtype=None, device=devices.cpu):
    """A tensor with a private copy of an ndarray."""
    dtype = dtype or dtypes.of_numpy(array.dtype)
    if array.dtype != dtype.numpy:
        array = array.astype(dtype.numpy)
    storage = cell.of_numpy(array, dtype, device)
    return wrap_storage(storage)


def wrap_storage(storage):
    from ..trace.tape import LOCAL
    return make_tensor(storage, storage.layout, inference=LOCAL.inference)


def host_array(data, dtype):
    """Nested Python data (or anything array-like) as an ndarray of PyTorch's inferred type."""
    if isinstance(data, np.ndarray):
        array = data
    elif isinstance(data, (bool, int, float, complex)) and not isinstance(data, np.generic):
        kind = _inferred(data, dtype)
        return _whole([data], dtype).reshape(()) if np.dtype(kind).kind in "iu" and dtype is not None else np.array(data, kind)
    else:
        array = _nested(data, dtype)
    if dtype is not None and array.dtype != dtype.numpy:
        if array.dtype.kind == "c" and dtype.category < 3:
            raise TypeError("must be real number, not complex")
        array = array.astype(dtype.numpy)
    return array


def _inferred(number, dtype):
    if type(number) is int and not -(1 << 63) <= number < (1 << 63):
        if dtype is dtypes.uint64 and 0 <= number < (1 << 64):
            return np.uint64
        raise ValueError("Overflow when unpacking long long")
    return (
        (dtype or dtypes.of_scalar(number)).numpy
        if dtype is None or not isinstance(number, complex) or dtype.is_complex
        else _complex_error()
    )


def _complex_error():
    raise TypeError("must be real number, not complex")


def _nested(data, dtype):
    if hasattr(data, "__array__") and not isinstance(data, (list, tuple)):
        return np.asarray(data)
    if isinstance(data, (str, bytes)) or data is None or not hasattr(data, "__len__") and not hasattr(data, "__array_interface__"):
        if hasattr(data, "__index__"):
            return np.array(data.__index__(), np.int64)
        if hasattr(data, "__float__"):
            return np.array(float(data), dtypes.get_default_dtype().numpy)
        if isinstance(data, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    shape, flat = _walk(data)
    if not flat:
        return np.empty(shape, (dtype or dtypes.get_default_dtype()).numpy)
    kinds = set(map(type, flat))
    if not kinds <= {bool, int, float, complex}:
        flat = [_number(x) for x in flat]
        found = {d.numpy for x in flat if isinstance(x, np.generic) for d in [dtypes.of_numpy(x.dtype)]}
        if len(found) == 1 and all(isinstance(x, np.generic) for x in flat):
            return np.array(flat).reshape(shape)
        flat = [x.item() if isinstance(x, np.generic) else x for x in flat]
        kinds = set(map(type, flat))
    kind = complex if complex in kinds else float if float in kinds else int if int in kinds else bool
    target = (dtype or dtypes.of_scalar(kind(0))).numpy
    if kind is complex and dtype is not None and not dtype.is_complex:
        raise TypeError("must be real number, not complex")
    if target.kind in "iu" and dtype is not None:
        return _whole(flat, dtype).reshape(shape)
    if kind is float and target.kind == "b":
        return np.array(flat, np.float64).astype(target).reshape(shape)
    try:
        return np.array(flat, np.float64 if target.kind not in "iubfc" else target).astype(target).reshape(shape)
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
            if type(x) is int and not -(1 << 63) <= x < (1 << 64):
                raise ValueError("Overflow when unpacking long long")
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
        made.append(int(x) % size if not dtype.is_signed else int(x))
    return np.array(made, kind)


def _number(x):
    if isinstance(x, Tensor):
        if x._spec.numel != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return x.item()
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x[()]
    if isinstance(x, str):
        raise TypeError("new(): invalid data type 'str'")
    if hasattr(x, "__index__"):
        return x.__index__()
    if hasattr(x, "__float__"):
        return float(x)
    raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")


def _walk(data):
    """(shape, flat list of numbers) of nested sequences; PyTorch's ValueError for ragged ones."""
    shape, probe = [], data
    while isinstance(probe, (list, tuple, range)) or (hasattr(probe, "__len__") and hasattr(probe, "__getitem__")
                                                      and not isinstance(probe, (str, bytes, dict))
                                                      and not (isinstance(probe, (Tensor, np.ndarray)) and probe.ndim == 0)):
        shape.append(len(probe))
        if not len(probe):
            break
        probe = probe[0]
    flat = [data]
    for depth, n in enumerate(shape):
        expanded = []
        for item in flat:
            if isinstance(item, (Tensor, np.ndarray)):
                item = item.tolist()
            if not hasattr(item, "__len__"):
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
    return tuple(shape), flat


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf tensor with a copy of the data: a number, nested sequences, a NumPy array, a tensor.

    Integers become int64, floats the default dtype, unless ``dtype`` says otherwise. Ragged data raises ``ValueError``.

    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        import warnings
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        made = data.detach().to(device=data.device if device is None else device, dtype=_type(dtype, data.dtype), copy=True)
        made = make_tensor(made._storage, made._spec, offset=made._offset)
        return _finish(made, requires_grad)
    wanted = None if dtype is None else _type(dtype)
    where = _device(device)
    if isinstance(data, np.ndarray) and any(s < 0 for s in data.strides):
        raise ValueError(NEGATIVE_STRIDES)
    array = host_array(data, wanted)
    made = from_host(array, wanted, devices.cpu if where is devices.meta else where)
    if data is array or isinstance(data, np.ndarray):
        _lay_like(made, data)
    if where is devices.meta:
        made = made.to("meta")
    return _finish(made, requires_grad)


def _lay_like(made, array):
    """The strides of an ndarray, for a tensor that copied it: PyTorch keeps them where they are dense."""
    from ..ops.layout import like
    if array.size < 2 or not array.itemsize or any(s < 0 or s % array.itemsize for s in array.strides):
        return made
    stride = like(array.shape, tuple(s // array.itemsize for s in array.strides))
    if stride != made._spec.stride:
        made._spec = made._storage.spec = made._storage.layout = specs.spec(array.shape, stride, made._spec.dtype, made._spec.device)
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
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtype = dtypes.of_numpy(array.dtype)
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently "
            "not supported."
        )
    item = array.itemsize
    if any(s < 0 for s in array.strides):
        raise ValueError(NEGATIVE_STRIDES)
    if any(s % item for s in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory."
        )
    if not array.flags.writeable:
        import warnings
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this "
            "tensor will result in undefined behavior. You may want to copy the array to protect its data or make it writable before "
            "converting it to a tensor. This type of warning will be suppressed for the rest of this program.",
            UserWarning,
            stacklevel=2,
        )
    strides = tuple(s // item for s in array.strides)
    from ..views.geometry import extent
    count = extent(array.shape, strides, 0) if array.size else 0
    flat = np.lib.stride_tricks.as_strided(array, (count,), (item,), writeable=array.flags.writeable)
    view = specs.spec(array.shape, strides, dtype, devices.cpu)
    layout = view if view.dense else specs.spec((count,), None, dtype, devices.cpu)
    storage = cell.new(None, layout)
    host.adopt(storage, flat, array)
    return make_tensor(storage, view)


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
    return tensor(data, dtype=dtype, device=device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """Converts to a tensor, sharing memory unless ``copy`` is true or a conversion is needed."""
    made = as_tensor(obj, dtype, device)
    if copy and (made is obj or isinstance(obj, np.ndarray)):
        made = made.clone()
    if copy is False and not isinstance(obj, (Tensor, np.ndarray)):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    return made if isinstance(obj, Tensor) and made.requires_grad else _finish(made, requires_grad)


# -- from numbers -----------------------------------------------------------------------------------------------------


def _out(made, out):
    from .dispatch import write_out
    write_out(made, out)
    return out


def _size_alone(kw, name):
    """The size given by name only."""
    if "size" not in kw:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return (kw.pop("size"),)


def _checked(layout, pin_memory=False, unknown=(), name=""):
    """Refuses what a factory does not take, or does not have."""
    for argument in unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{argument}'")
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this system."
        )
    if layout is not None and repr(layout) != "torch.strided":
        from ..base.errors import missing
        raise missing(f"the layout {layout!r}", "torch.strided")


def zeros(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **kw):
    """A tensor of zeros.

    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    size = size_of(size or _size_alone(kw, "zeros"), "zeros")
    _checked(layout, pin_memory, kw, "zeros")
    made = call(ops.zeros_of, (size, _type(dtype, out.dtype if out is not None else None), _device(device)))
    return _finish(made, requires_grad) if out is None else _out(made, out)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor filled with a number; its type follows the number's.

    >>> torch.full((2,), 3)
    tensor([3, 3])
    """
    size = size_of((size,) if isinstance(size, (tuple, list)) else (size,), "full")
    _checked(layout, pin_memory)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    kind = _type(dtype, out.dtype if out is not None else dtypes.of_scalar(fill_value))
    made = call(ops.full_of, (size, number_fits(fill_value, kind), kind, _device(device)))
    return _finish(made, requires_grad) if out is None else _out(made, out)


def ones(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **kw):
    """A tensor of ones.

    >>> torch.ones(2)
    tensor([1., 1.])
    """
    size = size_of(size or _size_alone(kw, "ones"), "ones")
    _checked(layout, pin_memory, kw, "ones")
    made = call(ops.full_of, (size, 1, _type(dtype, out.dtype if out is not None else None), _device(device)))
    return _finish(made, requires_grad) if out is None else _out(made, out)


def empty(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None, **kw):
    """A tensor of this size whose values mean nothing (here they are zeros).

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    size = size_of(size or _size_alone(kw, "empty"), "empty")
    _checked(layout, pin_memory, kw, "empty")
    made = call(ops.zeros_of, (size, _type(dtype, out.dtype if out is not None else None), _device(device)))
    if str(memory_format).endswith("channels_last"):
        from ..views.geometry import channels_last_strides
        made = zeros_like_spec(specs.spec(size, channels_last_strides(size), made.dtype, made.device))
    return _finish(made, requires_grad) if out is None else _out(made, out)


def zeros_like_spec(s):
    """A fresh tensor of zeros with this geometry (dense, or as much memory as the strides need)."""
    if s.dense:
        made = call(ops.zeros_of, (tuple(s.size), s.dtype, s.device))
        made._spec = made._storage.spec = made._storage.layout = specs.spec(s.size, s.stride, s.dtype, s.device)
        return made
    from ..views.geometry import extent
    count = extent(tuple(s.size), s.stride, 0)
    made = call(ops.zeros_of, ((count,), s.dtype, s.device))
    return make_tensor(made._storage, specs.spec(s.size, s.stride, s.dtype, s.device))


def empty_strided_like(s, source):
    """A fresh copy of ``source`` (no history) with the strides of the spec ``s`` if that is dense."""
    from .values import read
    layout = specs.spec(s.size, s.stride if s.dense else None, source._spec.dtype, s.device)
    value = read(source)
    return make_tensor(cell.new(value, layout), layout)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with these sizes and strides whose values mean nothing."""
    made = zeros_like_spec(specs.spec(tuple(size), tuple(stride), _type(dtype), _device(device)))
    return _finish(made, requires_grad)


def arange(start, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Values from ``start`` (0) up to, not including, ``end``.

    >>> torch.arange(1, 6, 2)
    tensor([1, 3, 5])
    """
    if end is None:
        start, end = 0, start
    start, end, step = (x.item() if isinstance(x, (Tensor, np.generic)) else x for x in (start, end, step))
    for at, x in enumerate((start, end, step)):
        if isinstance(x, str) or not isinstance(x, (int, float, complex)):
            raise TypeError(f"arange(): argument '{('start', 'end', 'step')[at]}' must be Number, not {type(x).__name__}")
    if dtype is None:
        dtype = out.dtype if out is not None else dtypes.get_default_dtype() if any(isinstance(x, float) for x in (start, end, step)) \
            else dtypes.int64
    dtype = _type(dtype)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (step > 0) != (end >= start) and start != end:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype.category == 1:
        count = max(0, -((int(start) - int(end)) // int(step)))
        start, step = int(start), int(step)
    else:
        count = max(0, math.ceil((end - start) / step))
        start, step = float(start), float(step)
    made = call(ops.arange_of, (count, start, step, dtype, _device(device)))
    return _finish(made, requires_grad) if out is None else _out(made, out)


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones on the diagonal, zeros elsewhere.

    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is None else m
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    made = call(ops.eye_of, (int(n), int(m), _type(dtype, out.dtype if out is not None else None), _device(device)))
    return _finish(made, requires_grad) if out is None else _out(made, out)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A 0-d tensor of the number."""
    return full((), s, dtype=_type(dtype), device=device, requires_grad=requires_grad)


# -- like another tensor ----------------------------------------------------------------------------------------------


def _like(name, fill):
    def like(input, *args, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False, **kw):
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        kind = _type(dtype, input.dtype)
        where = input.device if device is None else _device(device)
        size = tuple(input._spec.size)
        value = fill(*args, **kw)
        if isinstance(value, Tensor):
            value = value.item()
        made = call(ops.zeros_of, (size, kind, where)) if value is None else call(ops.full_of, (size, value, kind, where))
        from ..ops.layout import like as like_strides
        if memory_format is None or str(memory_format).endswith("preserve_format"):
            stride = like_strides(size, input._spec.stride)
            if stride != made._spec.stride:
                made._spec = made._storage.spec = made._storage.layout = specs.spec(size, stride, kind, where)
        return _finish(made, requires_grad)
    like.__name__ = like.__qualname__ = name
    return like


zeros_like = _like("zeros_like", lambda: None)
ones_like = _like("ones_like", lambda: 1)
empty_like = _like("empty_like", lambda: None)
full_like = _like("full_like", lambda fill_value: fill_value)
zeros_like.__doc__ = (
    "Zeros of the input's size, dtype, device and strides.\n\n    >>> torch.zeros_like(torch.ones(2))\n    tensor([0., 0.])\n"
)
ones_like.__doc__ = (
    "Ones of the input's size, dtype, device and strides.\n\n    >>> torch.ones_like(torch.zeros(2))\n    tensor([1., 1.])\n"
)
empty_like.__doc__ = "A tensor like the input whose values mean nothing."
full_like.__doc__ = "A tensor like the input filled with a number.\n\n    >>> torch.full_like(torch.zeros(2), 7)\n    tensor([7., 7.])\n"


def _new(name, factory):
    def method(self, *args, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **kw):
        return factory(
            *args, dtype=_type(dtype, self.dtype), device=self.device if device is None else device, requires_grad=requires_grad, **kw
        )
    method.__name__ = method.__qualname__ = name
    return method


METHODS = {"new_zeros": _new("new_zeros", zeros), "new_ones": _new("new_ones", ones), "new_empty": _new("new_empty", empty),
           "new_full": _new("new_full", full), "new_empty_strided": _new("new_empty_strided", empty_strided),
           "new_tensor": _new("new_tensor", tensor)}


def legacy_constructor(cls, args, kwargs):
    """``torch.Tensor(2, 3)``, ``torch.Tensor([1, 2])``: the constructor of old, always of the default type."""
    device = kwargs.get("device")
    if not args:
        made = empty(0, device=device)
    elif len(args) == 1 and isinstance(args[0], Tensor):
        made = args[0].detach()
    elif len(args) == 1 and not isinstance(args[0], int) and not type(args[0]).__name__ == "Size":
        made = tensor(args[0], dtype=dtypes.get_default_dtype(), device=device)
    else:
        made = empty(*args, device=device)
    return made if cls is Tensor else as_subclass(made, cls)


def as_subclass(t, cls):
    """The same tensor (memory, history) as an object of a subclass."""
    made = make_tensor(t._storage, t._spec, t._offset, cls)
    made._cached, made._counter = t._cached, t._counter
    made._requires_grad, made._edge, made._info = t._requires_grad, t._edge, t._info
    return made
