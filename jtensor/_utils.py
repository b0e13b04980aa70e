"""The names of ``torch._utils`` that programs use, and those by which PyTorch's pickles put tensors together again."""
import warnings as _warnings

import jtensor as _jtensor

from .serialization.rebuilding import rebuild_parameter as _rebuild_parameter  # noqa: F401
from .serialization.rebuilding import rebuild_parameter as _rebuild_parameter_with_state  # noqa: F401
from .serialization.rebuilding import rebuild_sparse as _rebuild_sparse_tensor  # noqa: F401
from .serialization.rebuilding import rebuild_tensor as _rebuild_tensor_v2  # noqa: F401


def _flatten_dense_tensors(tensors):
    """One tensor of one dimension, of the elements of all."""
    return _jtensor.cat([one.reshape(-1) for one in tensors]) if tensors else _jtensor.zeros(0)


def _unflatten_dense_tensors(flat, tensors):
    """Views of such a tensor, of the shapes of those that it was made of."""
    return tuple([piece.view_as(one) for piece, one in zip(flat.split([one.numel() for one in tensors]), tensors, strict=True)])


class classproperty:
    """A property of a class, which it and its instances have: what a function of the class answers.

    >>> class Layer:
    ...     width = 3
    ...     @torch._utils.classproperty
    ...     def area(cls):
    ...         return cls.width**2
    >>> Layer.area
    9
    """

    def __init__(self, func):
        self.fget = func.__func__ if isinstance(func, (classmethod, staticmethod)) else func

    def __get__(self, instance, owner=None):
        return self.fget(type(instance) if owner is None else owner)


def _element_size(dtype):
    """How many bytes an element takes."""
    return dtype.itemsize


def _get_device_index(device, optional=False, allow_cpu=False):
    """The index of a device: a number, a name or a device; with ``optional``, that of the current one where none is told."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = _jtensor.device(device)
    if isinstance(device, _jtensor.device):
        if device.type == "cpu":
            if not allow_cpu:
                raise ValueError(f"Expected a non cpu device, but got: {device}")
            return -1 if device.index is None else device.index
        if device.index is not None:
            return device.index
    if optional:
        return _jtensor.accelerator.current_device_index() if _jtensor.accelerator.is_available() else None
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def _get_available_device_type():
    """The kind of accelerator that there is; None without one."""
    found = _jtensor.accelerator.current_accelerator() if _jtensor.accelerator.is_available() else None
    return None if found is None else found.type


def _get_device_module(device_type):
    """The module of a kind of device: `torch.cpu`, `torch.cuda`, ..."""
    found = getattr(_jtensor, device_type, None)
    if found is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.")
    return found


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type, in their order, each of at most so many bytes in all, or of a single tensor.

    >>> [len(some) for some in torch._utils._take_tensors([torch.ones(3), torch.ones(1), torch.ones(2).double(), torch.ones(2)], 16)]
    [2, 1, 1]
    """
    gathered = {}                                        # {type: [the tensors, their bytes]}
    for tensor in tensors:
        parts = (tensor._indices(), tensor._values()) if tensor.is_sparse else (tensor,)
        size, kind = sum(part.numel() * part.element_size() for part in parts), tensor.type()
        some = gathered.setdefault(kind, [[], 0])
        if some[1] and some[1] + size > size_limit:
            yield some[0]
            some = gathered[kind] = [[], 0]
        some[0].append(tensor)
        some[1] += size
    yield from [some for some, _ in gathered.values() if some]


def _get_all_device_indices():
    """The numbers of all devices of the accelerator's kind; None without one."""
    return list(range(_jtensor.accelerator.device_count())) if _jtensor.accelerator.is_available() else None


def is_compiling():
    """The older name of `torch.compiler.is_compiling`."""
    _warnings.warn("`torch._utils.is_compiling` is deprecated. Use `torch.compiler.is_compiling` instead.", stacklevel=2)
    return _jtensor.compiler.is_compiling()
