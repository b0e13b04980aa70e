"""Nested tensors of the layout strided: in pieces, of another shape, as dense ones, copies and others like them.

Owns: these entries of their table. Views have another geometry on the same vector; their gradients are written with the parts.
"""
import math

import jtensor

from ..base.errors import missing
from .common import indexed
from .graph import Origin, again, joined, recorded, refusing, seen_through
from .strided import Geometry, flat, in_order, is_strided, of_list, pieces, refused, strided, wrapped
from .strided_answers import answers, of_parts, whole

# -- parts -------------------------------------------------------------------------------------------------------------


@answers("unbind")
def unbind(input, dim=0):
    at = wrapped(dim, input.ndim)
    if at:
        raise RuntimeError(f"NestedTensor can only be unbound along dimension 0 got dimension {at} instead.")
    parts = tuple(pieces(input))

    def pull(*grads):
        return (of_list([part.new_zeros(part.shape) if grad is None else grad for grad, part in zip(grads, parts, strict=True)]),)
    recorded("UnbindBackwardAutogradNestedTensor0", parts, [input], pull)
    return tuple([refusing(part, input, "multi") for part in parts])


@answers("__iter__")
def iterate(self):
    return iter(unbind(self))


@answers("values")
def values(self):
    return seen_through(self)


def _moved(x, geometry):
    made = strided(x._values, geometry)
    made._counter, made._origin = x._counter, Origin(x)
    return made


def _each(x, function):
    """The geometry whose parts are these views ``function(size, stride, start)`` of the parts."""
    found = [function(*where) for where in zip(*x._geometry[:3], strict=True)]
    return Geometry(*[tuple(one) for one in zip(*found, strict=True)], x._geometry.total)


@answers("select")
def select(input, dim, index):
    at = wrapped(dim, input.ndim)
    if not at:
        parts = pieces(input)
        if not -len(parts) <= index < len(parts):
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {len(parts)}")
        index %= len(parts)

        def pull(grad):
            return (of_list([grad if place == index else part.new_zeros(part.shape) for place, part in enumerate(parts)]),)
        return refusing(recorded("SelectBackwardAutogradNestedTensor0", parts[index], [input], pull), input, "nested")
    at -= 1

    for place, size in enumerate(input._geometry.sizes):
        if not -size[at] <= index < size[at]:
            raise IndexError(f"index {index} is out of bounds for dimension {at} of the {place}th constituent tensor with size {size[at]}")

    def one(size, stride, start):
        return (*size[:at], *size[at + 1:]), (*stride[:at], *stride[at + 1:]), start + index % size[at] * stride[at]
    sizes = input._geometry.sizes

    def pull_all(grad):
        return (of_list([jtensor.select_scatter(part.new_zeros(size), part, at, index) for part, size in
                         zip(grad.unbind(), sizes, strict=True)]),)
    return recorded("SelectBackwardAutogradNestedTensor0", _moved(input, _each(input, one)), [input], pull_all)


@answers("__getitem__")
def getitem(self, index):
    return indexed(self, index, _sliced, lambda: refused("index.Tensor"))


def _sliced(x, dim, one):
    if is_strided(x):
        raise refused("slice.Tensor")
    return x[(slice(None),) * dim + (one,)]


@answers("narrow")
def narrow(input, dim, start, length):
    at = wrapped(dim, input.ndim)
    if at:
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {at}")
    if input.requires_grad:
        raise missing("gradients of narrow of strided nested tensors", "x.unbind()[a:b]")
    geometry = input._geometry
    kept = slice(start, start + length)
    values = input._values[geometry.starts[start]:geometry.starts[start] + in_order(geometry.sizes[kept]).total]
    return strided(values, in_order(geometry.sizes[kept]))


def _pieces_of_last(x, lengths, name):
    made, begin = [], 0
    for length in lengths:
        def one(size, stride, start, begin=begin, length=length):
            return (*size[:-1], length), stride, start + begin * stride[-1]
        made.append(_moved(x, _each(x, one)))
        begin += length

    def pull(*grads):
        parts = [[p.new_zeros(p.shape) for p in pieces(one)] if grad is None else grad.unbind() for grad, one in
                 zip(grads, made, strict=True)]
        return (of_list([jtensor.cat(row, -1) for row in zip(*parts, strict=True)]),)
    return recorded(name, tuple(made), [x], pull)


@answers("chunk")
def chunk(input, chunks, dim=0):
    if wrapped(dim, input.ndim) != input.ndim - 1:
        raise RuntimeError("Chunk for nested tensors is currently only supported for the last dimension.")
    last = input.size(-1)
    if last % chunks:
        raise RuntimeError("Chunk for nested tensors is only supported for nested tensors with trailing dimension divisible by chunks, "
                           f"got: {last} % {chunks} != 0")
    return _pieces_of_last(input, [last // chunks] * chunks, "ChunkBackwardAutogradNestedTensor0")


@answers("split_with_sizes", "split")
def split_with_sizes(self, split_size_or_sections=None, dim=0, split_sizes=None):
    sizes = split_sizes if split_size_or_sections is None else split_size_or_sections
    if isinstance(sizes, int):
        raise refused("split.Tensor")
    if wrapped(dim, self.ndim) != self.ndim - 1:
        raise RuntimeError("split_with_sizes for nested tensors is currently only supported for the last dimension.")
    last = self.size(-1)
    if sum(sizes) != last:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {last} (input tensor's size at dimension "
                           f"{self.ndim - 1}), but got split_sizes={list(sizes)}")
    return _pieces_of_last(self, sizes, "SplitWithSizesBackwardAutogradNestedTensor0")


# -- another shape -----------------------------------------------------------------------------------------------------


@answers("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    a, b = wrapped(dim0, input.ndim), wrapped(dim1, input.ndim)
    if not a or not b:
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")

    def swapped(given):
        given = list(given)
        given[a - 1], given[b - 1] = given[b - 1], given[a - 1]
        return tuple(given)
    geometry = _each(input, lambda size, stride, start: (swapped(size), swapped(stride), start))
    return recorded("TransposeBackward0", _moved(input, geometry), [input], lambda grad: (grad.transpose(a, b).contiguous(),))


def _as_sizes(x, sizes, name):
    """The same elements in parts of other sizes: a view where they lie in order, else a copy."""
    made = _moved(x, in_order(sizes)) if x._geometry.contiguous else strided(flat(x).detach(), in_order(sizes))
    before = x._geometry.sizes
    return recorded(name, made, [x], lambda grad: (_as_sizes(grad, before, name),))


@answers("unsqueeze")
def unsqueeze(input, dim):
    at = wrapped(dim, input.ndim + 1)
    if not at:
        raise RuntimeError("unsqueeze(): For nested tensors, unsqueezing dimension 0 is not supported at the moment if you need this "
                           "feature, please open an issue on github describing your use case.")

    def one(size, stride, start):
        step = stride[at - 1] * size[at - 1] if at <= len(size) else 1
        return (*size[:at - 1], 1, *size[at - 1:]), (*stride[:at - 1], step, *stride[at - 1:]), start
    return recorded("UnsqueezeBackward0", _moved(input, _each(input, one)), [input], lambda grad: (grad.squeeze(at),))


@answers("squeeze")
def squeeze(input, dim=None):
    if dim is None:
        raise RuntimeError("squeeze(): For nested tensors, squeeze without the dim argument is not supported at the moment, however you "
                           "can use squeeze(Tensor self, int dim) instead if you need this feature, please open an issue on github "
                           "describing your use case.")
    at = wrapped(dim, input.ndim)
    if not at:
        raise RuntimeError("squeeze(): For nested tensors, squeezing dimension 0 is not supported at the moment if you need this feature, "
                           "please open an issue on github describing your use case.")
    if input._length(at) != 1:
        return input

    def one(size, stride, start):
        return (*size[:at - 1], *size[at:]), (*stride[:at - 1], *stride[at:]), start
    return recorded("SqueezeBackwardAutogradNestedTensor0", _moved(input, _each(input, one)), [input], lambda grad: (grad.unsqueeze(at),))


def _sizes_for(x, size, operator):
    """The sizes of the parts of a view: -1 is inherited where there was a dimension, else worked out."""
    size = list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)
    if not size or size[0] not in (len(x._geometry.sizes),):
        raise RuntimeError(f"{operator}: For now nested view cannot change or infer the implicit batch dimension")
    found = []
    for before in x._geometry.sizes:
        wanted, unknown = [], None
        for at, length in enumerate(size[1:]):
            if length == -1 and at < len(before):
                length = before[at]
            elif length == -1:
                unknown, length = at, 1
            wanted.append(length)
        if unknown is not None:
            wanted[unknown] = math.prod(before) // max(1, math.prod(wanted))
        if math.prod(wanted) != math.prod(before):
            raise RuntimeError(f"shape '{size}' is invalid for input of size {math.prod(before)}")
        found.append(tuple(wanted))
    return tuple(found)


@answers("view")
def view(self, *size):
    sizes = _sizes_for(self, size, "view")
    if not self._geometry.contiguous:
        raise missing("views of nested tensors that are no longer contiguous", "x.reshape(...)")
    return _as_sizes(self, sizes, "ViewBackwardAutogradNestedTensor0")


@answers("reshape")
def reshape(input, *shape):
    return _as_sizes(input, _sizes_for(input, shape, "reshape"), "ViewBackwardAutogradNestedTensor0")


@answers("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    return input.shape


@answers("cat", "concat", "concatenate")
def cat(tensors, dim=0, *, out=None):
    if not all(map(is_strided, tensors)):
        raise RuntimeError("Expected each tensor in given list to be nested.")
    if not wrapped(dim, tensors[0].ndim):
        parts = [part for x in tensors for part in unbind(x)]
        return of_list(parts)
    return whole("CatBackward0", lambda *all_: of_parts([jtensor.cat(row, dim if dim < 0 else dim - 1)
                                                         for row in zip(*[one.each() for one in all_], strict=True)]), *tensors)


# -- as dense ones -----------------------------------------------------------------------------------------------------


@answers("to_padded_tensor", "nested.to_padded_tensor")
def to_padded_tensor(self, padding, output_size=None, out=None):
    sizes = self._geometry.sizes
    if not self._geometry.contiguous:
        raise RuntimeError("for now to_padded_tensor only supports contiguous nested tensor")
    longest = [len(sizes), *[max(lengths) for lengths in zip(*sizes, strict=True)]]
    if output_size is not None:
        if len(output_size) != len(longest):
            raise RuntimeError("Length of output_size does not match NestedTensor dims. Broadcasting is not supported.")
        if any(given < needed for given, needed in zip(output_size, longest, strict=True)):
            raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
        longest = list(output_size)

    def function(parts):
        rows = []
        for part, size in zip(parts.each(), sizes, strict=True):
            room = [(0, have - need) for have, need in zip(longest[1:], size, strict=True)]
            rows.append(jtensor.nn.functional.pad(part, [n for pair in reversed(room) for n in pair], value=padding))
        return jtensor.stack(rows)
    return whole("ToPaddedTensorBackward0", function, self)


# -- copies, types, others like it -------------------------------------------------------------------------------------


@answers("is_contiguous")
def is_contiguous(self, memory_format=None):
    return self._geometry.contiguous


@answers("contiguous")
def contiguous(self, memory_format=None):
    return self if self._geometry.contiguous else clone(self, memory_format=jtensor.contiguous_format)


@answers("clone")
def clone(input, *, memory_format=None):
    if memory_format is jtensor.contiguous_format and not input._geometry.contiguous:
        values, geometry = flat(input), in_order(input._geometry.sizes)
    else:
        values, geometry = joined(input).clone(), input._geometry
    return again(values, strided(values, geometry), name="CloneBackward0")


@answers("detach")
def detach(input):
    made = input._share()
    made._counter = input._counter
    return made


@answers("to")
def to(self, *args, **kwargs):
    held = joined(self)
    made = held.to(*args, **kwargs)
    return self if made is held else again(made, strided(made, self._geometry))


def _as_type(name, dtype):
    @answers(name)
    def typed(self, memory_format=None):
        return to(self, dtype)


for _name in ("double", "float", "half", "bfloat16", "int", "long", "short", "bool"):
    _as_type(_name, getattr(jtensor, _name))


@answers("cpu")
def cpu(self, memory_format=None):
    return self


def _like(name):
    @answers(name)
    def like(input, *args, **kwargs):
        wanted = kwargs.pop("requires_grad", False)
        kwargs.pop("layout", None)
        made = strided(getattr(jtensor, name)(input._values, *args, **kwargs), input._geometry)
        return made.requires_grad_() if wanted else made


for _name in ("empty_like", "ones_like", "zeros_like", "randn_like"):
    _like(_name)


@answers("is_same_size")
def is_same_size(input, other):
    if not (is_strided(input) and is_strided(other)):
        said = [f"{name} is {'' if is_strided(x) else 'not '}nested." for name, x in (("Self", input), ("Other", other))]
        raise RuntimeError(f"Expected both self and other to be nested tensors. {said[0]} While {said[1]}")
    return input._geometry.sizes == other._geometry.sizes


# -- Python's objects --------------------------------------------------------------------------------------------------


@answers("tolist")
def tolist(self):
    raise RuntimeError("Internal error: NestedTensorImpl doesn't support strides. Please file an issue.")


@answers("numpy", "__array__", "jax", "__dlpack__")
def numpy(self, *args, **kwargs):
    raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")


@answers("item", "__float__", "__int__", "__index__", "__complex__")
def item(self):
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return flat(self).item()


@answers("__bool__", "is_nonzero")
def truth(self):
    if self.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(flat(self).item())


@answers("untyped_storage", "_typed_storage", "storage")
def storage(self):
    return self._values.untyped_storage()
