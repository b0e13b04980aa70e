"""What a tensor says of itself by method: sizes, strides, type, where it lies and what it shares.

Owns: these methods, with PyTorch's errors. Those that change its memory are written in `storages`. May not know: values.
"""
from ..ops.families.composing import no_bools
from ..ops.families.numeric import axis_at
from ..storage import shared
from .core import Tensor
from .creating import likes


class Facts:
    """The methods; `install` gives them to the Tensor."""

    def size(self, dim=None):
        """The shape, or the length of one dimension."""
        if dim is None:
            return self._spec.size
        if dim is True or dim is False:
            no_bools(dim)
        spec = self._spec
        return spec.size[dim if -spec.ndim <= dim < spec.ndim else axis_at(spec, dim)]                # which raises

    def stride(self, dim=None):
        """Elements to step over in memory, for each dimension or for one."""
        if dim is None:
            return self._spec.stride
        if dim is True or dim is False:
            no_bools(dim)
        spec = self._spec
        return spec.stride[dim if -spec.ndim <= dim < spec.ndim else axis_at(spec, dim)]                # which raises

    def storage_offset(self):
        """Where the tensor begins in its storage, in elements."""
        return self._offset

    def numel(self):
        """The number of elements."""
        return self._spec.numel

    nelement = numel

    def element_size(self):
        """Bytes of one element."""
        return self._spec.dtype.itemsize

    def dim(self):
        """The number of dimensions."""
        return self._spec.ndim

    ndimension = dim

    def is_contiguous(self, *, memory_format="contiguous_format"):
        """Whether the elements lie in memory in their logical order."""
        if memory_format is None:
            raise TypeError("a memory format is wanted, not None")
        if memory_format != "contiguous_format" and "channels_last" in str(memory_format):
            from ..base import geometry
            test = geometry.is_channels_last_3d if str(memory_format).endswith("3d") else geometry.is_channels_last
            return test(tuple(self._spec.size), self._spec.stride)
        return self._spec.contiguous

    def data_ptr(self):
        """The address of the first element, in bytes; 0 where there is none.

        On a CPU the elements lie there, until an operation writes to the tensor (ask again then), and what a C library writes there is
        written to the tensor. On other devices it only tells memories apart.

        >>> x = torch.arange(4.0)
        >>> x[1:].data_ptr() - x.data_ptr(), x.view(2, 2).data_ptr() == x.data_ptr()
        (4, True)
        """
        if self._spec.numel == 0:
            return 0
        return self._storage.data_ptr() + self._offset * self._spec.dtype.itemsize

    def untyped_storage(self):
        """The storage as bytes."""
        from .memory.storage_types import UntypedStorage
        return UntypedStorage._on(self._storage)

    def storage(self):
        """The storage with its type."""
        from .memory.typed_storages import typed
        return typed(self)

    def is_floating_point(self):
        """Whether the dtype is a floating-point one."""
        return self._spec.dtype.is_floating_point

    def is_complex(self):
        """Whether the dtype is a complex one."""
        return self._spec.dtype.is_complex

    def is_signed(self):
        """Whether the dtype is signed."""
        return self._spec.dtype.is_signed

    def is_inference(self):
        """Whether the tensor was made in inference mode."""
        return bool(self._inference_tensor())

    def is_nonzero(self):
        """Whether the only element is not zero."""
        if self._spec.numel != 1:
            raise RuntimeError(
                "Boolean value of Tensor with " + ("more than one value" if self._spec.numel else "no values") + " is ambiguous"
            )
        return bool(self.item())

    def is_shared(self):
        """Whether the memory is shared between processes (`share_memory_`); on an accelerator it always is."""
        return self.device.type == "cuda" or shared.region_of(self._storage) is not None

    def pin_memory(self, device=None):
        """A copy, as of PyTorch's, which is in memory that an accelerator reads directly; here it is in the usual memory, and `is_pinned`
        says so: XLA has its own way to an accelerator. ``RuntimeError`` where there is none, and for what is not on the CPU."""
        from ..base import devices
        if not devices.accelerators():
            raise RuntimeError(devices.NONE_THERE)
        if self._spec.device is not devices.cpu:
            raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
        return self.clone()

    def is_pinned(self, device=None):
        """Whether an accelerator reads the memory directly: never, on this engine."""
        return False

    def get_device(self):
        """The index of the device, -1 for the CPU."""
        return -1 if self._spec.device.index is None else self._spec.device.index

    def is_same_size(self, other):
        """Whether both have the same shape."""
        return tuple(self._spec.size) == tuple(other._spec.size)

    def is_set_to(self, tensor):
        """Whether both are the same geometry on the same memory, whatever type they see there."""
        one, other = self._spec, tensor._spec
        return (self._storage is tensor._storage and self._offset == tensor._offset
                and (one is other or (one.size, one.stride) == (other.size, other.stride)))

    def dim_order(self, *, ambiguity_check=False):
        """Dimensions from the slowest to the fastest in memory. ``ambiguity_check``: refuses what can be read as several orders, but if it
        lies in exactly one of a list of memory formats."""
        spec = self._spec
        formats = ambiguity_check if isinstance(ambiguity_check, list) else []
        if not isinstance(ambiguity_check, (bool, list)) or not all(type(f).__name__ == "memory_format" for f in formats):
            raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
        if ambiguity_check is not False and (1 in spec.size or len(set(spec.stride)) < spec.ndim):
            if sum(self.is_contiguous(memory_format=f) for f in formats) != 1:
                raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
        return tuple(sorted(range(spec.ndim), key=lambda d: -spec.stride[d]))

    def set_(self, source=None, storage_offset=None, size=None, stride=None):
        """Takes over another tensor's memory and geometry."""
        from .memory.storages import set_
        return set_(self, source, storage_offset, size, stride)

    def resize_(self, *sizes, memory_format=None):
        """Another shape in the same memory, which grows as needed."""
        from .memory.storages import resize_
        if not sizes:
            raise TypeError('resize_() missing 1 required positional arguments: "size"')
        return resize_(self, sizes, memory_format)

    def resize_as_(self, other, memory_format=None):
        """The other's shape in the same memory."""
        from .memory.storages import resize_
        if str(memory_format).endswith("preserve_format"):
            from ..base import geometry
            there = geometry.looks_channels_last(tuple(other._spec.size), other._spec.stride)
            memory_format = ("channels_last" if other._spec.ndim == 4 else "channels_last_3d") if there else None
        return resize_(self, (tuple(other._spec.size),), memory_format)

    def as_subclass(self, cls):
        """The same tensor as an object of a subclass."""
        return likes.as_subclass(self, cls)

    def __cuda_array_interface__(self):
        raise AttributeError("__cuda_array_interface__")


def install():
    """Gives the Tensor these methods."""
    for name, method in vars(Facts).items():
        if not name.startswith("__"):
            method.__qualname__ = "Tensor." + name
            setattr(Tensor, name, method)
