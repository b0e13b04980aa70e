"""Methods that scripts seldom call: what is asked of sparse layouts and streams, older names, loading by a module.

Owns: these methods, with PyTorch's errors. May not know: operators' declarations.
"""
from ..base import sites
from ..base.errors import missing
from .core import Tensor


class Seldom:
    """The methods and properties; `install` gives them to the Tensor."""

    @property
    def name(self):
        """A name that only other engines give: None."""
        return None

    @property
    def volatile(self):
        """What `torch.no_grad` took the place of: False, with a warning."""
        sites.warn("volatile was removed (Variable.volatile is always False)")
        return False

    @volatile.setter
    def volatile(self, value):
        sites.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")

    @property
    def grad_dtype(self):
        """The dtype that the gradient of a leaf has: the leaf's own. Another cannot be chosen here. RuntimeError for what is no leaf."""
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return self.dtype

    @grad_dtype.setter
    def grad_dtype(self, dtype):
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if dtype is not self.dtype:
            raise missing("gradients of another dtype than their leaf", "a hook: x.register_post_accumulate_grad_hook(...)")

    def is_distributed(self):
        """Whether the tensor is part of another, spread over machines: never."""
        return False

    def const_data_ptr(self):
        """`data_ptr`, for who only reads."""
        return self.data_ptr()

    def share_memory_(self):
        """Refuses: XLA's memory belongs to one process."""
        raise missing("tensors in memory that processes share", "torch.utils.data.DataLoader, whose workers send arrays, or files")

    def module_load(self, other, assign=False):
        """What a module's parameter becomes when ``other`` is loaded into it: itself with ``other``'s values, or ``other``, detached."""
        return other.detach() if assign else self.copy_(other).detach()

    def record_stream(self, stream):
        """Nothing: memory is given back when all that uses it is done, on any stream. RuntimeError for what is no stream."""
        if not hasattr(stream, "stream_id"):
            raise RuntimeError("unknown parameter type")

    def storage_type(self):
        """The class of its typed storage, as `torch.FloatStorage`."""
        return _storage_class(self.storage().dtype)

    def resize(self, *sizes):
        """A tensor of another shape with as many elements: `reshape` by an older name, with a warning."""
        sites.warn("non-inplace resize is deprecated")
        return _as_many(self, sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)

    def resize_as(self, tensor):
        """`resize` to another tensor's shape, with a warning."""
        sites.warn("non-inplace resize_as is deprecated")
        return _as_many(self, tensor.size())

    def dense_dim(self):
        """How many dimensions are dense: all."""
        return self.ndim

    def sparse_dim(self):
        """How many dimensions are sparse: none."""
        return 0

    def to_dense(self, dtype=None, *, masked_grad=None):
        """The tensor itself, which is dense, in another dtype if one is given."""
        return self if dtype is None else self.to(dtype)

    def is_coalesced(self):
        """RuntimeError: the tensor is dense."""
        raise RuntimeError(_SPARSE.format("is_coalesced", " coordinate"))

    def coalesce(self):
        """RuntimeError: the tensor is dense."""
        raise RuntimeError(_SPARSE.format("coalesce", " coordinate"))

    def indices(self):
        """RuntimeError: the tensor is dense."""
        raise RuntimeError(_SPARSE.format("indices", " coordinate"))

    def values(self):
        """RuntimeError: the tensor is dense."""
        raise RuntimeError(_SPARSE.format("values", ""))


_SPARSE = "{} expected sparse{} tensor layout but got Strided"


def _storage_class(dtype):
    from .storage_types import CLASSES
    return CLASSES[dtype]


def _as_many(self, sizes):
    count = 1
    for n in sizes:
        count *= n
    if count != self.numel():
        wanted, there = "x".join(map(str, sizes)), "x".join(map(str, self.shape))
        raise RuntimeError(f"requested resize to {wanted} ({count} elements in total), but the given tensor has a size of {there} "
                           f"({self.numel()} elements). autograd's resize can only change the shape of a given tensor, while preserving "
                           "the number of elements. ")
    return self.reshape(*sizes)


def install():
    for name, part in vars(Seldom).items():
        if not name.startswith("__"):
            setattr(Tensor, name, part)
