"""`torch.FloatTensor` and its kind: the tensor types from before there were dtypes. Each constructs, and recognises, tensors of one dtype
on one device.

Owns: these types, `typename`, `set_default_tensor_type`. May not know: modules.
"""
from .base import devices, dtypes, sites
from .tensor.core import Tensor
from .tensor.creating import create, from_data, likes
from .tensor.viewing import shapes

_DTYPES = {"Float": dtypes.float32, "Double": dtypes.float64, "Half": dtypes.float16, "BFloat16": dtypes.bfloat16, "Byte": dtypes.uint8,
           "Char": dtypes.int8, "Short": dtypes.int16, "Int": dtypes.int32, "Long": dtypes.int64, "Bool": dtypes.bool}


class _TensorType(type):
    """The type of these types: an instance is any tensor of the dtype on the device."""

    __module__, __qualname__ = "torch", "tensortype"

    def __new__(meta, name, bases, namespace):
        if bases:
            raise TypeError(f"type '{bases[0].__module__}.{bases[0].__name__}' is not an acceptable base type")
        return type.__new__(meta, name, bases, namespace)

    @property
    def layout(cls):
        """`torch.strided`."""
        import jtensor
        return jtensor.strided

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.device.type == cls._device

    def __call__(cls, *args, **kwargs):
        """Sizes, a sequence, or nothing, as `torch.Tensor` takes them."""
        args, device = likes.legacy_arguments(args, kwargs)
        if cls._device == "cuda" and not devices.accelerators():
            raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")
        if device is not None and devices.device(device).type != cls._device:
            raise RuntimeError(
                f"legacy constructor expects device type: {cls._device} but device type: {devices.device(device).type} was passed"
            )
        place = cls._device if device is None else device
        if len(args) == 1 and isinstance(args[0], Tensor):
            if args[0].dtype is not cls.dtype:
                raise TypeError(f"expected {likes.options_of(cls.dtype, place)} (got {likes.options_of(args[0].dtype, args[0].device)})")
            return shapes.alias(args[0])
        if len(args) == 1 and not likes.is_size(args[0]):
            likes.check_sequence(args[0])
            return from_data.tensor(args[0], dtype=cls.dtype, device=place)
        return create.empty(*(args or (0,)), dtype=cls.dtype, device=place)


def _make(name, dtype, device, module):
    return _TensorType(name + "Tensor", (), {"__module__": module, "dtype": dtype, "_device": device, "is_cuda": device == "cuda",
                                             "is_sparse": False, "__doc__": f"Tensors of {dtype} on {device}."})


_TensorType.__name__ = "tensortype"
CPU = {name + "Tensor": _make(name, dtype, "cpu", "torch") for name, dtype in _DTYPES.items()}
CUDA = {name + "Tensor": _make(name, dtype, "cuda", "torch.cuda") for name, dtype in _DTYPES.items()}


def set_default_tensor_type(t, /):
    """The default dtype and device by a type of old (or its name): ``set_default_tensor_type(torch.DoubleTensor)``."""
    sites.warn_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
                    "torch.set_default_device() as alternatives.")
    kind = t
    if isinstance(t, str):
        kind = next((k for k in (*CPU.values(), *CUDA.values()) if f"{k.__module__}.{k.__name__}" == t), None)
    if not isinstance(kind, _TensorType):
        raise TypeError("invalid type object" if not isinstance(t, str) else f"invalid type object: {t}")
    import jtensor
    jtensor.set_default_dtype(kind.dtype)
    devices.set_default(None if kind._device == "cpu" else kind._device)


def typename(obj, /):
    """The full name of an object's type; of a tensor, its type of old.

    >>> torch.typename(torch.ones(2)), torch.typename(3)
    ('torch.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None)
    return named.__qualname__ if module in (None, "", "builtins") else f"{module}.{named.__qualname__}"


__all__ = ["set_default_tensor_type", "typename"]
