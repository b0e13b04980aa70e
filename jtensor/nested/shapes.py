"""Nested tensors of another shape, in pieces, and put together. Dimensions that are not ragged are those of the values.

Owns: these entries of the table, and which dimension of the values a dimension of the nested tensor is.
"""
import math

import jtensor

from ..base.errors import missing
from ..tensor.core import Tensor
from .answering import answers, unknown
from .common import indexed
from .graph import as_nested, followed, joined, recorded, refusing
from .jagged import _wrapped, is_jagged, nested
from .lengths import NestedInt, numbers, told
from .pointwise import matches


def contiguous_only(x, said, name="input"):
    """PyTorch's refusal of nested tensors that are transposed or have holes, where an operator wants none of these."""
    if not is_jagged(x) or x._lengths is not None or x._ragged_idx != 1:
        raise ValueError(f"NestedTensor {said}: expected {name} to be a contiguous jagged layout NestedTensor")


def inner(x, dim, operator, *, more=0, ragged=False):
    """Which dimension of the values one is; PyTorch's error for the batch, and for the ragged one unless that is allowed."""
    dim = _wrapped(dim, x.dim() + more)
    if dim == x._ragged_idx and not ragged:
        raise RuntimeError(f"{operator}(): not supported for NestedTensor on ragged dim")
    if dim == 0:
        raise RuntimeError(f"{operator}(): not supported for NestedTensor on dim=0")
    return dim - 1


# -- parts -------------------------------------------------------------------------------------------------------------


def _pieces(values, x):
    """The parts of a nested tensor as views of its values."""
    at = x._ragged_idx - 1
    starts, lengths = numbers(x._offsets), x._all_lengths()
    total = values.shape[at]
    if any(start + length > total for start, length in zip(starts, lengths, strict=False)):
        raise RuntimeError("unbind(): nested tensor offsets and lengths do not match ragged_idx dimension")
    return [values.narrow(at, start, length) for start, length in zip(starts, lengths, strict=False)]


def _gathered(grads, pieces, x):
    """The gradient of the values, given those of the parts; None for some."""
    at, found, end = x._ragged_idx - 1, [], 0
    like = x._values
    for grad, piece, start in zip(grads, pieces, numbers(x._offsets), strict=False):
        if start > end:
            found.append(like.new_zeros((*like.shape[:at], start - end, *like.shape[at + 1:])))
        found.append(piece.new_zeros(piece.shape) if grad is None else grad)
        end = start + piece.shape[at]
    if end < like.shape[at]:
        found.append(like.new_zeros((*like.shape[:at], like.shape[at] - end, *like.shape[at + 1:])))
    return jtensor.cat(found, at)


@answers("unbind")
def unbind(input, dim=0):
    if _wrapped(dim, input.dim()) != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    pieces = tuple(_pieces(input._values, input))
    like = input._structure()

    def pull(*grads):
        return (as_nested(_gathered(grads, pieces, input), *like),)
    recorded("UnbindBackwardAutogradNestedTensor0", pieces, [input], pull)
    return tuple([refusing(piece, input, "multi") for piece in pieces])


@answers("__iter__")
def iterate(self):
    return iter(unbind(self))


def _select_part(x, index):
    pieces = _pieces(x._values, x)
    if not -len(pieces) <= index < len(pieces):
        raise IndexError("tuple index out of range")
    like = x._structure()

    def pull(grad):
        grads = [None] * len(pieces)
        grads[index] = grad
        return (as_nested(_gathered(grads, pieces, x), *like),)
    return refusing(recorded("SelectBackwardAutogradNestedTensor0", pieces[index], [x], pull), x, "nested")


@answers("select")
def select(input, dim, index):
    dim = _wrapped(dim, input.dim())
    if dim == 0:
        return _select_part(input, index)
    at = inner(input, dim, "select")
    if input._lengths is not None:
        raise ValueError("select(): not yet supported on dim != 0 for non-contiguous nested tensor with holes")
    return followed(joined(input).select(at, index), input, input._ragged_idx - (dim < input._ragged_idx),
                    name="SelectBackwardAutogradNestedTensor0")


@answers("__getitem__")
def getitem(self, index):
    return indexed(self, index, _sliced, lambda: unknown("__getitem__"))


def _sliced(x, dim, one):
    if not is_jagged(x):
        return x[(slice(None),) * dim + (one,)]
    contiguous_only(x, "slice_tensor(self: jt, dim: any?, start: any?, end: any?, step: any?)", "self")
    at = inner(x, dim, "slice")
    return followed(joined(x)[(slice(None),) * at + (one,)], x)


@answers("__setitem__")
def setitem(self, index, value):
    index = index if isinstance(index, tuple) else (index,)
    if self.requires_grad or any(isinstance(one, Tensor | list) for one in index):
        raise missing("writes by index to a nested tensor that requires a gradient, or by tensors of indices", "writes to x.unbind()")
    target = getitem(self, index)
    target.copy_(value if isinstance(value, Tensor) else jtensor.tensor(value, dtype=target.dtype))


@answers("narrow")
def narrow(input, dim, start, length):
    contiguous_only(input, "narrow(self: jt, dim: any, start: any, length: any)", "self")
    return followed(joined(input).narrow(inner(input, dim, "narrow"), start, length), input)


def _each(made, x, name=None):
    known = {}
    return tuple([followed(one, x, known=known, name=name) for one in made])


@answers("chunk")
def chunk(input, chunks, dim=0):
    contiguous_only(input, "chunk_default(self: jt, chunks: any, dim: any?)", "self")
    if _wrapped(dim, input.dim()) != 0:
        return _each(joined(input).chunk(chunks, inner(input, dim, "chunk")), input, "ChunkBackwardAutogradNestedTensor0")
    bounds, batch, values = numbers(input._offsets), input._size[0], joined(input)
    step = -(-batch // chunks)
    made = []
    for first in range(0, batch, step):
        last = min(first + step, batch)
        own = [bound - bounds[first] for bound in bounds[first:last + 1]]
        offsets = told(jtensor.tensor(own, dtype=jtensor.int64, device=input.device), own)
        made.append(as_nested(values[bounds[first]:bounds[last]], offsets, None, input._ragged_idx))
    return tuple(made)


@answers("split", "split_with_sizes")
def split(self, split_size_or_sections=None, dim=0, split_size=None, split_sizes=None):
    size = next(one for one in (split_size_or_sections, split_size, split_sizes) if one is not None)
    several = isinstance(size, (list, tuple))
    said = "split_with_sizes_default(self: jt, split_sizes" if several else "split_tensor(self: jt, split_size"
    contiguous_only(self, said + ": any, dim: any?)", "self")
    return _each(joined(self).split(size, inner(self, dim, "split_with_sizes" if several else "split")), self)


@answers("tensor_split")
def tensor_split(input, indices_or_sections, dim=0):
    at = inner(input, dim, "slice")
    return tuple([followed(one, input) for one in joined(input).tensor_split(indices_or_sections, at)])


# -- another order -----------------------------------------------------------------------------------------------------


@answers("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    a, b = _wrapped(dim0, input.dim()), _wrapped(dim1, input.dim())
    ragged = input._ragged_idx
    if ragged in (a, b):
        if 0 in (a, b):
            raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
        ragged = b if a == ragged else a
        return followed(joined(input).transpose(a - 1, b - 1), input, ragged)
    return followed(joined(input).transpose(inner(input, a, "transpose"), inner(input, b, "transpose")), input)


@answers("mT")
def mT(self):
    return transpose(self, -2, -1)


@answers("permute")
def permute(input, *dims):
    dims = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (list, tuple)) else dims
    count = input.dim()
    if count != len(dims):
        raise ValueError(f"permute(): number of dimensions in the tensor input ({count}) does not match the length of the desired ordering "
                         f"of dimensions ({len(dims)}).")
    dims = [_wrapped(dim, count) for dim in dims]
    if len(set(dims)) != count:
        raise ValueError("permute(): duplicate dims are not allowed.")
    if input._lengths is not None:
        raise ValueError("permute(): not supported on jagged layout nested tensor with holes")
    if dims[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return followed(joined(input).permute([dim - 1 for dim in dims[1:]]), input, dims.index(input._ragged_idx))


@answers("movedim", "moveaxis")
def movedim(input, source, destination):
    order = jtensor.empty(tuple(range(2, input.dim() + 2)), device="meta").movedim(source, destination).shape
    return permute(input, *[length - 2 for length in order])


@answers("T")
def reversed_dims(self):
    return permute(self, *range(self.dim())[::-1])


@answers("t")
def t(input):
    if input.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.dim()}D")
    return transpose(input, 0, 1)


@answers("unsqueeze")
def unsqueeze(input, dim):
    at = inner(input, dim, "unsqueeze", more=1, ragged=True)
    return followed(joined(input).unsqueeze(at), input, input._ragged_idx + (at <= input._ragged_idx - 1))


@answers("squeeze")
def squeeze(input, dim=None):
    if dim is None:
        raise unknown("squeeze")
    contiguous_only(input, "squeeze_dim(self: jt, dim: any)", "self")
    return followed(joined(input).squeeze(inner(input, dim, "squeeze")), input)


# -- another shape -----------------------------------------------------------------------------------------------------


def _size_given(size):
    return list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)


def _inner_size(x, size, operator):
    if x._ragged_idx != 1 and tuple(x._size) != tuple(size):
        raise RuntimeError(f"view(): does not support ragged_idx != 1 except when inp._size == size. inp._size is ({x._size}) and size is "
                           f"({size}).")
    if len(size) < 3 or not matches(x, size):
        raise RuntimeError(f"{operator}(): cannot view shape {x._size} as {size}")
    at = x._ragged_idx
    return [x._values.shape[at - 1] if place == at else length for place, length in enumerate(size)][1:]


@answers("view")
def view(self, *size):
    if len(size) == 1 and not isinstance(size[0], (list, tuple, int, NestedInt)):
        raise missing("nested tensors whose memory is read as another type", "x.values().view(dtype)")
    size = _inner_size(self, _size_given(size), "view")
    return followed(joined(self).view(size), self, name="ViewBackwardAutogradNestedTensor0")


@answers("reshape")
def reshape(input, *shape):
    size = _inner_size(input, _size_given(shape), "view")
    return followed(joined(input).reshape(size), input, name="ViewBackwardAutogradNestedTensor0")


@answers("view_as")
def view_as(self, other):
    return view(self, *(other._size if is_jagged(other) else other.shape))


@answers("reshape_as")
def reshape_as(self, other):
    return reshape(self, *(other._size if is_jagged(other) else other.shape))


@answers("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    start, end = inner(input, start_dim, "flatten") + 1, inner(input, end_dim, "flatten") + 1
    if start == end:
        return input
    size = input._size
    return input.reshape(*size[:start], math.prod(size[start:end + 1]), *size[end + 1:])


@answers("unflatten")
def unflatten(self, dim, sizes):
    at = _wrapped(dim, self.dim())
    if isinstance(self._size[at], NestedInt):
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {at} ({self._size[at]}) in the "
                           "input tensor")
    known = math.prod(n for n in sizes if n != -1)
    sizes = [self._size[at] // known if n == -1 else n for n in sizes]
    return self.view(*self._size[:at], *sizes, *self._size[at + 1:])


@answers("expand", "broadcast_to")
def expand(self, *size):
    size = _size_given(size)
    if len(size) > self.dim():
        raise ValueError("broadcast_to(): broadcasting to a higher-dim shape is currently not supported for nested tensors with the jagged "
                         "layout")
    if not matches(self, size):
        raise RuntimeError(f"expand(): cannot expand shape {self._size} -> {size}")
    return followed(joined(self).expand([-1 if at == self._ragged_idx else size[at] for at in range(1, self.dim())]), self)


@answers("expand_as")
def expand_as(self, other):
    if is_jagged(self):
        return expand(self, *(other._size if is_jagged(other) else other.shape))
    return followed(self.expand_as(other._values), other)


# -- put together ------------------------------------------------------------------------------------------------------


@answers("cat", "concat", "concatenate")
def cat(tensors, dim=0, *, out=None):
    first = next(x for x in tensors if is_jagged(x))
    at = inner(first, dim, "cat")
    values = [joined(x) if is_jagged(x) else x.expand_as(first._values) for x in tensors]
    return followed(jtensor.cat(values, at), first)


@answers("stack")
def stack(tensors, dim=0, *, out=None):
    first = tensors[0]
    for one in tensors:
        if not is_jagged(one):
            raise RuntimeError("stack(): expected all nested tensors inputs")
        if one.dim() != first.dim():
            raise RuntimeError("stack(): expected all nested tensors to have the same dim")
        if not matches(one, first._size):
            raise RuntimeError("stack(): expected all nested tensors to have the same nested structure")
    at = inner(first, dim, "stack", more=1)
    return followed(jtensor.stack([joined(x) for x in tensors], at), first)


@answers("masked_select")
def masked_select(input, mask):
    contiguous_only(input, "masked_select_default(self: jt, mask: any)", "self")
    if input.dim() > 2:
        raise RuntimeError("masked_select only support 2-D selections currently")
    if not is_jagged(mask) or input._size != mask._size:
        raise RuntimeError(f"Mask with shape {mask.shape} is not compatible with input's shape {input.shape}")
    made = joined(input).masked_select(mask._values)
    counted = jtensor.nn.functional.pad(mask._values.cumsum(0), (1, 0))
    like = nested(made.detach(), counted[input._offsets], cache=input._metadata_cache)
    return followed(made, like)

