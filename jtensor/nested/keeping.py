"""What keeps a nested tensor or turns it into another one of the same lengths: copies, types, devices, tensors like it.

Owns: these entries of the table, and what is refused of Python's objects and memory.
"""
import jtensor

from ..base.errors import missing
from ..tensor.core import Tensor
from .answering import answers
from .graph import followed, joined
from .jagged import NO_STORAGE, alike, is_contiguous, is_jagged, nested
from .lengths import same_length

# -- copies ------------------------------------------------------------------------------------------------------------


@answers("clone")
def clone(input, *, memory_format=None):
    if input._lengths is not None and memory_format is jtensor.contiguous_format:
        from .making import from_list
        return from_list(input.unbind())
    return followed(joined(input).clone(**({} if memory_format is None else {"memory_format": memory_format})), input)


@answers("contiguous")
def contiguous(self, memory_format=None):
    if is_contiguous(self):
        return self
    return clone(self, memory_format=jtensor.contiguous_format if memory_format is None else memory_format)


@answers("is_contiguous")
def contiguous_already(self, memory_format=None):
    if self._lengths is not None:
        return False
    return self._values.is_contiguous(**({} if memory_format is None else {"memory_format": memory_format}))


@answers("detach")
def detach(input):
    made = input._share()
    made._counter, made._values._counter = input._counter, input._values._counter
    return made


@answers("real", "positive", "resolve_conj", "resolve_neg", "conj")
def itself(input):
    return input


@answers("imag")
def imag(self):
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


# -- types and devices -------------------------------------------------------------------------------------------------


@answers("to", "type_as")
def to(self, *args, **kwargs):
    if kwargs.get("layout") not in (None, jtensor.jagged):
        raise missing("another layout for a nested tensor", "x.to_padded_tensor(0.)")
    args = [x._values if is_jagged(x) else x for x in args]
    values = joined(self)
    made = values.to(*args, **{name: x._values if is_jagged(x) else x for name, x in kwargs.items()})
    if made is values:
        return self
    if made.device == self.device:
        return followed(made, self)
    offsets, lengths = (None if x is None else x.to(made.device) for x in (self._offsets, self._lengths))
    same_length(offsets if lengths is None else lengths, self._offsets if lengths is None else self._lengths)
    there = nested(made.detach(), offsets, lengths, self._ragged_idx, self._metadata_cache)
    return followed(made, there)


def _as_type(name):
    @answers(name)
    def typed(self, memory_format=None):
        return to(self, getattr(jtensor, name))


for _name in ("double", "float", "half", "bfloat16", "int", "long", "short", "bool", "cfloat", "cdouble"):
    _as_type(_name)
answers("char")(lambda self: to(self, jtensor.int8))
answers("byte")(lambda self: to(self, jtensor.uint8))


@answers("cpu")
def cpu(self, memory_format=None):
    return to(self, "cpu")


@answers("cuda")
def cuda(self, *args, **kwargs):
    return to(self, "cuda")


@answers("type")
def kind(self, dtype=None, non_blocking=False, **kwargs):
    return self._values.type() if dtype is None else self.to(dtype)


# -- others like it ----------------------------------------------------------------------------------------------------


def _like(name):
    @answers(name)
    def like(input, *args, **kwargs):
        if kwargs.pop("layout", None) not in (None, jtensor.jagged, jtensor.strided):
            raise missing("another layout for a nested tensor", "x.to_padded_tensor(0.)")
        wanted = kwargs.pop("requires_grad", False)
        made = alike(getattr(jtensor, name)(input._values, *args, **kwargs), input)
        return made.requires_grad_() if wanted else made


for _name in ("empty_like", "ones_like", "zeros_like", "rand_like", "randn_like", "full_like", "randint_like"):
    _like(_name)


def _new(name):
    @answers(name)
    def new(self, size, *more, **kwargs):
        size = (size, *more) if isinstance(size, int) else tuple(size)
        if size:
            raise RuntimeError("new_empty() not supported for NJT with shape != ()")
        return getattr(self._values, name)((), **kwargs)


for _name in ("new_empty", "new_zeros", "new_ones"):
    _new(_name)


@answers("new_tensor")
def new_tensor(self, *args, **kwargs):
    return self._values.new_tensor(*args, **kwargs)


@answers("is_same_size")
def is_same_size(input, other):
    return is_jagged(input) and is_jagged(other) and input._size == other._size


# -- Python's objects and memory ---------------------------------------------------------------------------------------


@answers("tolist")
def tolist(self):
    raise RuntimeError(".tolist() is not supported for tensor subclasses, got NestedTensor")


@answers("numpy", "__array__", "jax", "__dlpack__")
def numpy(self, *args, **kwargs):
    raise RuntimeError(".numpy() is not supported for tensor subclasses.")


@answers("map_")
def map_(self, *args):
    raise RuntimeError(".map_ is not supported for tensor subclasses.")


@answers("item", "__float__", "__int__", "__index__", "__complex__")
def item(self):
    raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")


@answers("__bool__", "is_nonzero")
def truth(self):
    raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")


@answers("__contains__")
def contains(self, element):
    return bool((joined(self) == element).any().item()) if not isinstance(element, Tensor) else bool((self == element).any().item())


@answers("untyped_storage", "_typed_storage", "storage", "storage_type")
def storage(self):
    raise RuntimeError(NO_STORAGE)


@answers("share_memory_")
def share_memory_(self):
    for part in (self._values, self._offsets, self._lengths):
        if part is not None:
            part.share_memory_()
    return self


@answers("is_shared")
def is_shared(self):
    return all(part is None or part.is_shared() for part in (self._values, self._offsets, self._lengths))


@answers("pin_memory")
def pin_memory(self, device=None):
    return alike(self._values.pin_memory(), self)


@answers("is_pinned")
def is_pinned(self, device=None):
    return self._values.is_pinned()
