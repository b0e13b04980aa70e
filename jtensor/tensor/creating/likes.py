"""Tensors like another: ``zeros_like`` and so on, the ``new_`` methods, and the constructor of `Tensor` and its subclasses.

Owns: what is taken over from the tensor that is given (size, dtype, device, strides). How a tensor is made: `create`, `from_data`.
"""
import numpy as np

from ...base import devices, dtypes, geometry
from ...base.below import Layer
from ...base.errors import missing
from ...base.naming import type_name
from ...base.size import Size
from ...ops.families import create as ops
from ...ops.families.composing import number_fits
from ...ops.layout import like as like_strides
from ...storage import cell
from ...trace import spec as specs
from ..core import Tensor, make_tensor
from ..lifted.batching import as_batched_as
from ..viewing import shapes
from .create import UNWRITTEN, _device, _finish, _type, empty, empty_strided, full, ones, zeros
from .from_data import copied, laid, tensor, wrap_storage

# -- like another tensor ----------------------------------------------------------------------------------------------


def _like(name, fill, unwritten=False):
    def like(input, *args, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False, **kw):
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        kind = _type(dtype, input.dtype)
        where = input.device if device is None else _device(device)
        size = tuple(input._spec.size)
        if layout is not None and layout.name != "strided":
            return _sparse_like(name, size, kind, layout, where, requires_grad)
        value = fill(*args, **kw)
        if isinstance(value, Tensor):
            value = value.item()
        if value is None:
            made = UNWRITTEN.make(size, kind, where) if unwritten else ops.zeros_of.record(size, kind, where)
        else:
            made = ops.full_of.record(size, number_fits(value, kind, alone=input._spec.numel == 1), kind, where)
        stride = geometry.strides_in_format(size, memory_format) or like_strides(size, input._spec.stride)
        if stride != made._spec.stride:
            made._spec = made._storage.spec = made._storage.layout = specs.spec(size, stride, kind, where)
        if input._storage.host is not None:
            made = as_batched_as(made, input)
        return _finish(made, requires_grad)
    like.__name__ = like.__qualname__ = name
    return like


def _sparse_like(name, size, dtype, layout, device, requires_grad):
    """Nothing but zeros can be had in another layout than a dense tensor's own."""
    if name != "zeros_like":
        kind = "SparseCPU" if layout.name == "sparse_coo" else "SparseCsrCPU"
        raise NotImplementedError(f"Could not run 'aten::empty_strided' with arguments from the '{kind}' backend.")
    made = zeros(size, dtype=dtype, layout=layout, device=device)
    return _finish(made.coalesce() if layout.name == "sparse_coo" else made, requires_grad)


zeros_like = _like("zeros_like", lambda: None)
ones_like = _like("ones_like", lambda: 1)
empty_like = _like("empty_like", lambda: None, unwritten=True)
full_like = _like("full_like", lambda fill_value: fill_value)
zeros_like.__doc__ = (
    "Zeros of the input's size, dtype, device and strides.\n\n    >>> torch.zeros_like(torch.ones(2))\n    tensor([0., 0.])\n"
)
ones_like.__doc__ = (
    "Ones of the input's size, dtype, device and strides.\n\n    >>> torch.ones_like(torch.zeros(2))\n    tensor([1., 1.])\n"
)
empty_like.__doc__ = "A tensor like the input whose values mean nothing."
full_like.__doc__ = "A tensor like the input filled with a number.\n\n    >>> torch.full_like(torch.zeros(2), 7)\n    tensor([7., 7.])\n"

def filled_like(input, number):
    """Full of a number, in the size, type and layout of a tensor, without an operation on the tape.

    For what is made once and changed at every step after that: a tape that makes it would be another one than the next step's.
    """
    own = input._spec
    if own.device.type == "meta" or input._storage.host is not None:
        return full_like(input, number)
    return laid(wrap_storage(cell.filled(own.size, number, own.dtype, own.device)), like_strides(own.size, own.stride))


# -- methods ----------------------------------------------------------------------------------------------------------


def _new(name, factory, doc):
    def method(self, *args, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **kw):
        if layout is not None:
            kw["layout"] = layout
        made = factory(
            *args, dtype=_type(dtype, self.dtype), device=self.device if device is None else device, requires_grad=requires_grad, **kw
        )
        return as_batched_as(made, self) if self._storage.host is not None else made
    method.__doc__ = doc
    method.__name__ = method.__qualname__ = name
    return method


def _of_data(data, dtype, device, requires_grad):
    if isinstance(data, Tensor):
        return copied(data, dtype, device, requires_grad, "tensor.new_tensor")
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


def new(self, *args, size=None, device=None):
    """The constructor of old, of this tensor's type: sizes, a sequence of numbers, another tensor of that type, whose memory it takes.

    ``TypeError`` for a tensor of another type or what is no sequence.

    >>> torch.ones(2, dtype=torch.int64).new([1, 2])
    tensor([1, 2])
    """
    own = self.device
    if device is not None and _device(device).type != own.type:
        raise RuntimeError(f"legacy constructor expects device type: {own.type} but device type: {_device(device).type} was passed")
    given = args[0] if len(args) == 1 and size is None else None
    if isinstance(given, Tensor):
        if given.dtype is not self.dtype or given.device.type != own.type:
            raise TypeError(f"expected {options_of(self.dtype, self.device)} (got {options_of(given.dtype, given.device)})")
        return given.detach()
    if given is None or isinstance(given, (int, Size)):
        return empty(*(args or (0,)) if size is None else size, dtype=self.dtype, device=own)
    if isinstance(given, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(given, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(given).__name__})")
    return tensor(given, dtype=self.dtype, device=own)


def options_of(dtype, device):
    """A tensor's type as that error tells it."""
    return (f"TensorOptions(dtype={dtypes.cpp_name(dtype)}, device={device}, layout=Strided, requires_grad=false (default), "
            "pinned_memory=false (default), memory_format=(nullopt))")


_DOC = """{}, of this tensor's dtype and on its device unless others are given.

    >>> torch.ones(1, dtype=torch.float64).{}
    {}
    """
METHODS = {"new": new, **{name: _new(name, factory, _DOC.format(what, call, shown)) for name, factory, what, call, shown in (
    ("new_zeros", zeros, "Zeros of a size", "new_zeros(2)", "tensor([0., 0.], dtype=torch.float64)"),
    ("new_ones", ones, "Ones of a size", "new_ones(2)", "tensor([1., 1.], dtype=torch.float64)"),
    ("new_empty", empty, "A tensor of a size whose values mean nothing", "new_empty(2, 3).dtype", "torch.float64"),
    ("new_full", full, "A tensor of a size, filled with a number", "new_full((2,), 7)", "tensor([7., 7.], dtype=torch.float64)"),
    ("new_empty_strided", empty_strided, "A tensor of a size and strides whose values mean nothing",
     "new_empty_strided((2, 3), (1, 2)).stride()", "(1, 2)"),
    ("new_tensor", _of_data, "A tensor of copied data", "new_tensor([1, 2])", "tensor([1., 2.], dtype=torch.float64)"))}}

# -- subclasses -------------------------------------------------------------------------------------------------------


def _flat(data):
    for one in data:
        if isinstance(one, (list, tuple)):
            yield from _flat(one)
        else:
            yield one


def is_size(given):
    """Whether the constructor of old takes its one argument for a size."""
    return isinstance(given, (int, np.integer, Size)) and not isinstance(given, bool)


def check_sequence(data):
    """The constructor of old makes tensors of sequences alone, not of numbers."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, (dict, np.generic)) or not hasattr(data, "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {type_name(type(data))})")


def legacy_arguments(args, kwargs):
    """(arguments by position, device) of a constructor of old, whose one argument may have a name. ``TypeError`` for any other name."""
    device, named = kwargs.get("device"), {name: given for name, given in kwargs.items() if name != "device"}
    if not named:
        return args, device
    name, given = next(iter(named.items()))
    kind = {"size": (tuple, list), "data": object, "other": Tensor}.get(name)
    if args or len(named) > 1 or kind is None or not isinstance(given, kind):
        from ..calling.refusals import described
        raise TypeError(f"new() received an invalid combination of arguments - got {described(args, named)}, but expected one of:")
    if name == "data" and is_size(given):
        check_sequence(given)
    return (Size(given) if name == "size" else given,), device


def legacy_constructor(cls, args, kwargs):
    """``torch.Tensor(2, 3)``, ``torch.Tensor([1, 2])``: the constructor of old, always of the default type, whatever device was chosen."""
    args, device = legacy_arguments(args, kwargs)
    device = devices.cpu if device is None else device
    if not args:
        made = empty(0, device=device)
    elif len(args) == 1 and isinstance(args[0], Tensor):
        made = shapes.alias(args[0])                           # with its history
    elif len(args) == 1 and not is_size(args[0]):
        check_sequence(args[0])
        try:
            made = tensor(args[0], dtype=dtypes.get_default_dtype(), device=device)
        except AttributeError:
            wrong = next((one for one in _flat(args[0]) if isinstance(one, (str, bytes)) or one is None), None)
            raise TypeError(f"must be real number, not {type_name(type(wrong))}") from None
    else:
        made = empty(*args, device=device)
    return made if cls is Tensor else of_class(made, cls)


NO_SUBCLASS = ("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class inherits "
               "from Tensor.")


def as_subclass(t, cls):
    """The same tensor (memory, history) as an object of a subclass. ``TypeError`` for what is none."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, Tensor):
        raise TypeError(NO_SUBCLASS)
    return of_class(shapes.alias(t), cls)


def of_class(fresh, cls):
    """A tensor that nobody else holds, as an object of a subclass."""
    if hasattr(cls, "__torch_dispatch__"):
        Layer.wanted()
        Layer.admit(cls)
    made = make_tensor(fresh._storage, fresh._spec, fresh._offset, cls)
    for field in ("_cached", "_counter", "_requires_grad", "_edge", "_info", "_auto"):
        setattr(made, field, getattr(fresh, field))
    return made


def make_subclass(cls, data, require_grad=False, *, dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False,
                  device_for_backend_keys=None):
    """`Tensor._make_subclass`."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type_name(type(data))}")
    if not issubclass(cls, Tensor):
        raise TypeError(NO_SUBCLASS)
    if dispatch_sizes_strides_policy is not None or dispatch_device or dispatch_layout or device_for_backend_keys is not None:
        raise missing("subclasses that answer for their size, device or layout themselves", "__torch_function__")
    made = of_class(data.detach(), cls)
    if require_grad:
        if not made._spec.dtype.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made._require(True)
    return made
