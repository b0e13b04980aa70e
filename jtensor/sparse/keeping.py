"""What keeps a sparse tensor or turns it into another kind of tensor: its parts, copies, types, dense tensors and back, pickles.

Owns: these entries of the table, and `to_sparse` of a dense tensor.
"""
import numpy as np

import jtensor

from ..base import sites
from ..tensor.creating.from_data import from_host
from ..tensor.looking import host_copy
from ..tensor.memory.storage_types import say_deprecated
from . import compressing, conversions, making, moving
from .answering import PASS, answers
from .arithmetic import _onto_dense
from .graph import assembled, at_places, coalesced, elements_of, recorded, refuse_complex_history
from .patterns import Pattern
from .refusals import refused
from .replacing import before, replace
from .tensors import SparseTensor, is_sparse, of_the_cpu, sparse

# -- parts -------------------------------------------------------------------------------------------------------------


@answers("coalesce")
def coalesce(input):
    return coalesced(input)


@answers("is_coalesced")
def is_coalesced(self):
    return self._coalesced


def _only_coalesced(x, what):
    if not x._coalesced:
        raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


@answers("indices")
def indices(self):
    _only_coalesced(self, "indices")
    return self._indices()


@answers("values")
def values(self):
    _only_coalesced(self, "values")
    return elements_of(self)


@answers("sparse_dim")
def sparse_dim(self):
    return self._pattern.sparse_dim


@answers("dense_dim")
def dense_dim(self):
    return self._elements.ndim - 1


# -- without memory ----------------------------------------------------------------------------------------------------


@answers("stride")
def stride(self, dim=None):
    return (0,) * self.ndim if dim is None else 0


@answers("is_contiguous")
def is_contiguous(self, *, memory_format=None):
    return False


@answers("untyped_storage", "_typed_storage", "is_shared", "share_memory_", "storage_type")
def storage(self, *args, **kwargs):
    raise NotImplementedError("Cannot access storage of SparseTensorImpl")


is_pinned = answers("is_pinned")(lambda self, device=None: False)


@answers("storage")
def typed_storage(self):
    say_deprecated()
    return storage(self)


@answers("data_ptr", "const_data_ptr", "tolist")
def data_ptr(self):
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


@answers("__dlpack__")
def dlpack(self, *args, **kwargs):
    raise BufferError("Can't export tensors with layout other than torch.strided")


@answers("numpy", "__array__", "jax")
def numpy(self, *args, **kwargs):
    raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")


@answers("contiguous", "masked_fill")
def contiguous(self, *args, **kwargs):
    raise RuntimeError("unsupported memory format option Contiguous")


@answers("item")
def item(self):
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    total = self._elements.sum().item()
    return bool(total) if self.dtype is jtensor.bool else total


def _as_number(kind):
    def number(self):
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return kind(item(self))
    return number


for _name, _kind in (("float", float), ("int", int), ("index", int), ("complex", complex)):
    answers(f"__{_name}__")(_as_number(_kind))


@answers("__bool__", "is_nonzero")
def truth(self):
    if self.numel() != 1:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous" if not self.numel() else
                           "Boolean value of Tensor with more than one value is ambiguous")
    return bool(self._elements.sum().item())


@answers("type")
def kind(self, dtype=None, non_blocking=False, **kwargs):
    """The name of the type of old, or the tensor in another type."""
    if dtype is not None:
        return self.to(dtype)
    name = self._elements.detach().type()
    return name.replace("torch.", "torch.sparse.", 1)


# -- copies ------------------------------------------------------------------------------------------------------------


@answers("clone")
def clone(input, *, memory_format=None):
    return recorded("CloneBackward0", input._copied(), [input], lambda g: (g,))


@answers("detach")
def detach(input):
    made = input._share()
    made._counter = input._counter
    return made


@answers("to")
def to(self, *args, **kwargs):
    """`Tensor.to`; itself if nothing changes."""
    if not isinstance(self, SparseTensor):
        return PASS
    kwargs.pop("non_blocking", None)
    probe = jtensor.empty(0, dtype=self.dtype, device=self.device)
    wanted = probe.to(*[jtensor.empty(0, dtype=a.dtype, device=a.device) if isinstance(a, SparseTensor) else a for a in args], **kwargs)
    if wanted is probe:
        return self
    origin = self.dtype
    return recorded("ToCopyBackward0", self._moved(wanted.device, wanted.dtype), [self], lambda g: (g.to(origin),))


CASTS = {name: getattr(jtensor, name) for name in "float double half bfloat16 int long short bool cfloat cdouble".split()}
CASTS |= {"char": jtensor.int8, "byte": jtensor.uint8}


def _cast(name, dtype):
    def cast(self, *, memory_format=None):
        return to(self, dtype)
    cast.__name__ = cast.__qualname__ = name
    answers(name)(cast)


for _name, _dtype in CASTS.items():
    _cast(_name, _dtype)


@answers("type_as")
def type_as(self, other):
    return to(self, other.dtype) if is_sparse(self) else self.to(other.dtype)


@answers("cpu")
def cpu(self, *, memory_format=None):
    return to(self, "cpu")


@answers("cuda")
def cuda(self, device=None, non_blocking=False, memory_format=None):
    return to(self, "cuda" if device is None else device)


@answers("tensor")
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A copy without history."""
    return _constructed(data, dtype, device, requires_grad, "torch.tensor")


def _constructed(data, dtype, device, requires_grad, name):
    sites.warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
               f"sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor).")
    return clone(to(data.detach(), device or data.device, dtype or data.dtype)).requires_grad_(requires_grad)


@answers("as_tensor", "asarray")
def as_tensor(data, dtype=None, device=None):
    return to(data, device or data.device, dtype or data.dtype)


@answers("new_tensor")
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    if not isinstance(data, SparseTensor):
        return jtensor.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)
    return _constructed(data, dtype or self.dtype, device or self.device, requires_grad, "tensor.new_tensor")


@answers("copy_")
def copy_(self, src, non_blocking=False):
    if is_sparse(self) is not is_sparse(src):
        raise RuntimeError(f"copy_() between dense and sparse Tensors is not implemented! Found self type = {self.type()} and src type = "
                           f"{src.type()}")
    if self.shape != src.shape:
        raise RuntimeError(f"The size of tensor a ({self.shape[0]}) must match the size of tensor b ({src.shape[0]}) at non-singleton "
                           "dimension 0")
    return replace(self, clone(src).to(self.dtype))


@answers("zero_")
def zero_(input):
    return replace(input, nothing(input.shape, input._pattern.sparse_dim, input._elements))


def nothing(size, sparse_dim, like):
    """A tensor of this size without elements, of the type of ``like``."""
    pattern = Pattern(jtensor.zeros((sparse_dim, 0), dtype=jtensor.int64, device=like.device), size[:sparse_dim], sorted_already=True)
    return sparse(pattern, like.new_zeros((0, *size[sparse_dim:])), True)


@answers("zeros_like", "empty_like")
def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    if layout is not None and layout is not jtensor.sparse_coo:
        made = jtensor.zeros(input.shape, dtype=dtype or input.dtype, layout=layout, device=device or input.device)
        return made.contiguous(memory_format=memory_format or jtensor.preserve_format).requires_grad_(requires_grad)
    if memory_format is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    made = nothing(input.shape, input._pattern.sparse_dim, input._elements.to(dtype or input.dtype))
    made._requires_grad = requires_grad
    return made


@answers("new")
def new(self, *given, device=None):
    """A sparse tensor: of a size and this dtype, without elements; or of indices, values and perhaps a size."""
    own, kind = self.device.type, jtensor.device(self.device if device is None else device).type
    if kind != own:
        raise RuntimeError(f"legacy constructor expects device type: {own} but device type: {kind} was passed")
    if given and isinstance(given[0], jtensor.Tensor):
        if len(given) == 1:
            raise TypeError(making.NEW)
        return making.sparse_coo_tensor(*given, device=device)
    if given and not isinstance(given[0], int | jtensor.Size):
        raise TypeError("SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided "
                        "tensor and convert it to sparse via to_sparse.")
    return new_zeros(self, *given, device=device)


@answers("new_zeros", "new_empty")
def new_zeros(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    size = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size or (0,)
    made = nothing(size, len(size), self._elements.to(dtype or self.dtype))
    made._requires_grad = requires_grad
    return made


@answers("t_")
def t_(input):
    return replace(input, moving.t(before(input), "t_"))


@answers("transpose_", "swapdims_", "swapaxes_")
def transpose_(input, dim0, dim1):
    return replace(input, moving.transpose(before(input), dim0, dim1))


@answers("narrow", "split", "chunk", "squeeze")
def strided(*args, **kwargs):
    raise refused("as_strided", args)


# -- dense and sparse --------------------------------------------------------------------------------------------------


@answers("to_dense")
def to_dense(self, dtype=None, *, masked_grad=None):
    """The dense tensor; its gradient comes back at the places of the sparse one."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    zeros = jtensor.zeros(self.shape, dtype=self.dtype, device=self.device)
    made = _onto_dense(zeros, self.detach(), 1)

    def pull(grad):
        if masked_grad is not None and not masked_grad:
            return (grad.to_sparse(self._pattern.sparse_dim),)
        merged = self._pattern.merged()
        return (assembled(merged, at_places(grad, merged), True, "SparseMaskBackward0"),)
    return recorded("ToDenseBackward0", made, [self], pull)


@answers("to_sparse", "to_sparse_coo")
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """`Tensor.to_sparse`."""
    if sparse_dim is not None and not isinstance(sparse_dim, int):
        layout, sparse_dim = sparse_dim, None
    if layout is not None or blocksize is not None or dense_dim is not None:
        conversions.check("to_sparse", self, layout or jtensor.sparse_coo, blocksize, dense_dim)
    if layout is not None and layout is not jtensor.sparse_coo:
        return compressing.to_layout(self, layout, blocksize, dense_dim, "_to_sparse")
    if is_sparse(self):
        if sparse_dim not in (None, self._pattern.sparse_dim):
            raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported")
        return self
    count = self.ndim - (dense_dim or 0) if sparse_dim is None else sparse_dim
    if not 0 <= count <= self.ndim or count == 0 and self.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in " + (
            f"[0,{self.ndim}] range, but {count} is given" if count else ">0 when self.dim()>0"))
    refuse_complex_history(self, "_to_sparse")
    host = np.asarray(host_copy(of_the_cpu(self).detach(), "to_sparse"))
    there = host != 0
    if there.ndim > count:
        there = there.any(tuple(range(count, there.ndim)))
    places = np.stack(np.nonzero(there)) if count else np.zeros((0, int(there)), np.int64)
    pattern = Pattern(from_host(places.astype(np.int64)), self.shape[:count], sorted_already=True)
    made = sparse(pattern, at_places(self.detach(), pattern) if count else self.detach().reshape(1)[:int(there)], True)

    def pull(grad):
        return (grad.to_dense() if is_sparse(grad) else grad,)
    return recorded("ToSparseBackward1" if sparse_dim is None else "ToSparseBackward0", made, [self], pull)


def _of_compressed(name, kind):
    def part(self):
        raise RuntimeError(f"{name} expected sparse {kind} compressed tensor layout but got Sparse")
    answers(name)(part)


for _name, _kind in (("crow_indices", "row"), ("col_indices", "row"), ("ccol_indices", "column"), ("row_indices", "column")):
    _of_compressed(_name, _kind)


@answers("sparse_mask")
def sparse_mask(self, mask):
    """`Tensor.sparse_mask`."""
    if not is_sparse(mask):
        raise refused("sparse_mask", (mask,))
    if self.shape != mask.shape:
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has size "
                           f"{list(mask.shape)}")
    pattern, own = mask._pattern, is_sparse(self)
    made = sparse(pattern, at_places(self.detach(), pattern), mask._coalesced)

    def pull(grad):
        masked = assembled(pattern, at_places(grad, pattern), mask._coalesced)
        return (masked if own else masked.to_dense(),)
    return recorded("SparseMaskBackward0", made, [self], pull)


# -- pickles -----------------------------------------------------------------------------------------------------------


def rebuild(layout, indices, values, size, coalesced=False, check=False):
    """The sparse tensor of pickled parts; that one requires a gradient is not kept, as in PyTorch. ``check``: where the program has asked
    for invariants to be checked."""
    check = check and bool(making.Checks.wanted)
    if layout != "sparse_coo":
        from .compressed_making import compressed
        return compressed(layout, indices, values, size, coalesced, check)
    if check:
        making.check_parts(indices, values, size, coalesced)
    return sparse(Pattern(indices, size[:indices.shape[0]]), values, bool(coalesced))
