"""Methods that scripts seldom call: what is asked of sparse layouts and streams, older names, loading by a module.

Owns: these methods, with PyTorch's errors, and the refusal to set what is read-only. May not know: operators' declarations.
"""
from ..base import sites
from ..storage import shared
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

    def is_distributed(self):
        """Whether the tensor is part of another, spread over machines: never."""
        return False

    def const_data_ptr(self):
        """`data_ptr`, for who only reads."""
        return self.data_ptr()

    def share_memory_(self):
        """Moves the tensor's memory to where other processes can have it, and answers the tensor; on an accelerator it is there already.

        What one process writes, the others see. Processes that are forked have the memory by themselves, others where the tensor is an
        argument of theirs, or goes through a queue. `<https://docs.pytorch.org/docs/stable/multiprocessing.html>`_

        >>> x = torch.zeros(2).share_memory_()
        >>> x.is_shared()
        True
        """
        if self.device.type != "cuda":
            shared.share(self._storage)
        return self

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

    def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
        """The tensor with only its elements other than zero, in the order of their places.

        ``sparse_dim``: how many dimensions are sparse; what lies along the others is kept as a whole. ``layout``: one of PyTorch's sparse
        ones, with ``blocksize`` and ``dense_dim`` for those in rows or columns. RuntimeError where these do not fit.

        >>> torch.tensor([[0., 2.], [3., 0.]]).to_sparse()
        tensor(indices=tensor([[0, 1],
                               [1, 0]]),
               values=tensor([2., 3.]),
               size=(2, 2), nnz=2, layout=torch.sparse_coo)
        """
        from ..sparse.keeping import to_sparse
        return to_sparse(self, sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim)

    def to_sparse_coo(self):
        """`to_sparse`: the tensor's elements other than zero, and their indices."""
        return self.to_sparse()

    def sspaddmm(self, mat1, mat2, *, beta=1, alpha=1):
        """RuntimeError: the tensor is dense. Of a sparse one: `torch.sspaddmm`."""
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")

    def smm(self, mat2):
        """NotImplementedError: the tensor is dense. Of a sparse matrix: `torch.smm`."""
        raise NotImplementedError(_NO_KERNEL.format("sspaddmm"))

    def resize_as_sparse_(self, the_template):
        """NotImplementedError: the tensor is dense. A sparse one gets another's size."""
        raise NotImplementedError(_NO_KERNEL.format("resize_as_sparse_"))

    def to_sparse_csr(self, dense_dim=None):
        """The matrix by rows: where each row's elements begin, their columns and values."""
        return _in_layout(self, "sparse_csr", None, dense_dim)

    def to_sparse_csc(self, dense_dim=None):
        """The matrix by columns: where each column's elements begin, their rows and values."""
        return _in_layout(self, "sparse_csc", None, dense_dim)

    def to_sparse_bsr(self, blocksize, dense_dim=None):
        """The matrix by rows of blocks of the size ``(height, width)``, which divides the matrix's."""
        return _in_layout(self, "sparse_bsr", blocksize, dense_dim)

    def to_sparse_bsc(self, blocksize, dense_dim=None):
        """The matrix by columns of blocks of the size ``(height, width)``, which divides the matrix's."""
        return _in_layout(self, "sparse_bsc", blocksize, dense_dim)

    def crow_indices(self):
        """RuntimeError: the tensor is dense. Of a matrix by rows: where each row's elements begin."""
        raise RuntimeError(_SPARSE.format("crow_indices", " row compressed"))

    def col_indices(self):
        """RuntimeError: the tensor is dense. Of a matrix by rows: the elements' columns."""
        raise RuntimeError(_SPARSE.format("col_indices", " row compressed"))

    def ccol_indices(self):
        """RuntimeError: the tensor is dense. Of a matrix by columns: where each column's elements begin."""
        raise RuntimeError(_SPARSE.format("ccol_indices", " column compressed"))

    def row_indices(self):
        """RuntimeError: the tensor is dense. Of a matrix by columns: the elements' rows."""
        raise RuntimeError(_SPARSE.format("row_indices", " column compressed"))

    def sparse_mask(self, mask):
        """The elements at the places where the sparse tensor ``mask`` has some; the gradient is zero elsewhere.

        RuntimeError where the sizes differ.

        >>> torch.tensor([[1., 2.], [3., 4.]]).sparse_mask(torch.eye(2).to_sparse()).values()
        tensor([1., 4.])
        """
        from ..sparse.keeping import sparse_mask
        return sparse_mask(self, mask)

    def to_padded_tensor(self, padding, output_size=None):
        """NotImplementedError: the tensor is dense already. Of a nested one: `torch.nested.to_padded_tensor`."""
        raise NotImplementedError(_NO_KERNEL.format("to_padded_tensor"))

    def sparse_resize_(self, size, sparse_dim, dense_dim):
        """NotImplementedError: the tensor is dense. A sparse one gets another size, with its elements."""
        raise NotImplementedError(_NO_KERNEL.format("sparse_resize_"))

    def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
        """NotImplementedError: the tensor is dense. A sparse one gets another size, without its elements."""
        raise NotImplementedError(_NO_KERNEL.format("sparse_resize_and_clear_"))

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


_NO_KERNEL = "Could not run 'aten::{}' with arguments from the 'CPU' backend."
_SPARSE = "{} expected sparse{} tensor layout but got Strided"


def _in_layout(self, name, blocksize, dense_dim):
    from ..sparse.compressing import in_layout
    return in_layout(self, name, blocksize, dense_dim)


def _storage_class(dtype):
    from .memory.typed_storages import CLASSES
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
            if hasattr(part, "__code__"):
                part.__qualname__ = name             # which is how Python's errors about the arguments call it, and PyTorch's
            setattr(Tensor, name, part)


def __getattr__(name):
    """A method by the name that it bears: so pickles find it, which name this room."""
    if name[:1] != "_" and name in vars(Seldom):
        return vars(Seldom)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


READ_ONLY = """_base _version device dtype grad_fn is_cpu is_cuda is_ipu is_leaf is_maia is_meta is_mkldnn is_mps is_mtia is_nested
               is_quantized is_sparse is_sparse_csr is_vulkan is_xla is_xpu itemsize layout name nbytes ndim output_nr retains_grad shape
               H T mH mT""".split()


def refuse_writes():
    """The read-only properties, once all are there, with PyTorch's refusal to be set or deleted."""
    for name in READ_ONLY:
        def refuse(self, *value, name=name):
            raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")
        setattr(Tensor, name, Tensor.__dict__[name].setter(refuse).deleter(refuse))
