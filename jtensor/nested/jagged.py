"""The nested tensor of the layout ``jagged``: its parts one after the other in one dense tensor, and the offsets at which they begin.

Owns: the class, what it says of itself, how one is made of its parts. It has no memory of its own: a room that does not know of nested
tensors and asks for a storage gets an error. What is done to nested tensors is in the tables of the rooms beside this one, which
`answering` looks things up in. May not know: operations.
"""
import math

import jtensor

from ..base.errors import missing
from ..base.size import size_of
from ..storage.lifted import LIFTED_MEMORY
from ..tensor.calling.overriding import disabled, install
from ..tensor.core import COUNTED, LAYOUTS, Tensor, make_tensor
from ..trace import spec as specs
from ..trace.tape import LOCAL
from .common import SharedParts
from .lengths import length_of, numbers

NO_STORAGE = "The tensor has a non-zero number of elements, but its data is not allocated yet."


class NoMemory:
    """What stands in the place of a nested tensor's storage: every fast path steps aside, and a look raises."""

    spec, version, site = None, 0, None

    @property
    def host(self):
        return self

    def __getattr__(self, name):
        raise missing("this of nested tensors", "x.values(), x.unbind() and x.to_padded_tensor(0.), which are dense tensors")


NOWHERE = NoMemory()


class NestedTensor(SharedParts, Tensor):
    """A batch of tensors that differ in the length of one dimension, ``(B, ..., j1, ...)``.

    ``_values``: the parts joined along that dimension, without history; ``_offsets`` ``(B + 1,)``: where they begin in it; ``_lengths``
    ``(B,)``: how long they are where there are holes between them, else None; ``_ragged_idx``: the dimension; ``_metadata_cache``: the
    shortest and the longest length, where they are known; ``_origin``: see `graph.Origin`.
    """

    __slots__ = "_values", "_offsets", "_lengths", "_ragged_idx", "_metadata_cache", "_size", "_origin"
    _parts = "_values", "_offsets", "_lengths", "_ragged_idx", "_metadata_cache", "_size"
    __module__ = "torch.nested._internal.nested_tensor"
    __torch_function__ = staticmethod(disabled)

    def __new__(cls, values, offsets, *, lengths=None, requires_grad=False, _ragged_idx=1, _metadata_cache=None):
        """A leaf of its parts; see `torch.nested.nested_tensor_from_jagged` for one with history."""
        made = nested(values, offsets, lengths, _ragged_idx, dict(_metadata_cache or {}))
        made._requires_grad = bool(requires_grad)
        return made

    # -- shape --------------------------------------------------------------------------------------------------------

    is_nested = property(lambda self: True)
    layout = property(lambda self: jtensor.jagged)
    shape = property(lambda self: size_of(self._size))
    ndim = property(lambda self: len(self._size))
    nbytes = property(lambda self: self.numel() * self.itemsize)
    _base = property(lambda self: None if self._origin is None else self._origin.base)

    @property
    def names(self):
        raise AttributeError("'NestedTensor' object has no attribute 'names'")

    def _is_view(self):
        return self._origin is not None

    def dim(self):
        return len(self._size)

    ndimension = dim

    def size(self, dim=None):
        """The shape, a `Size` with a symbol for the length that differs, or the length of one dimension."""
        return self.shape if dim is None else self._size[_wrapped(dim, len(self._size))]

    def stride(self, dim=None):
        """Strides of the parts; that of the batch counts in the symbol."""
        at, inner = self._ragged_idx - 1, self._values.stride()
        found = (self._size[at + 1] * inner[at], *inner)
        return found if dim is None else found[_wrapped(dim, len(found))]

    def numel(self):
        """How many elements all parts have."""
        if self._lengths is None:
            return self._values.numel()
        at = self._ragged_idx
        return sum(numbers(self._lengths)) * math.prod((*self._size[1:at], *self._size[at + 1:]))

    nelement = numel

    def __len__(self):
        return self._size[0]

    def storage_offset(self):
        return self._values.storage_offset()

    def data_ptr(self):
        return 0

    # -- parts --------------------------------------------------------------------------------------------------------

    def values(self):
        """All parts, joined along the dimension in which they differ: a dense tensor on the same memory."""
        from .graph import seen_through
        return seen_through(self)

    def offsets(self):
        """Where the parts begin in `values`, and where the last one ends: ``(B + 1,)``."""
        return self._offsets

    def lengths(self):
        """How long the parts are, ``(B,)``, where there are holes between them; else None."""
        return self._lengths

    def _all_lengths(self):
        """The lengths as Python's integers."""
        if self._lengths is not None:
            return numbers(self._lengths)
        bounds = numbers(self._offsets)
        return tuple([b - a for a, b in zip(bounds, bounds[1:], strict=False)])

    def _get_max_seqlen(self):
        return self._extreme("max_seqlen", max)

    def _get_min_seqlen(self):
        return self._extreme("min_seqlen", min)

    def _extreme(self, name, of):
        if name not in self._metadata_cache:
            self._metadata_cache[name] = of(self._all_lengths())
        return self._metadata_cache[name]

    _max_seqlen = property(_get_max_seqlen)
    _min_seqlen = property(_get_min_seqlen)
    _maybe_max_seqlen = property(lambda self: self._metadata_cache.get("max_seqlen"))
    _maybe_min_seqlen = property(lambda self: self._metadata_cache.get("min_seqlen"))

    def _structure(self):
        """What another tensor of the same lengths is made with."""
        return self._offsets, self._lengths, self._ragged_idx, self._metadata_cache

    _node_of_view = "NestedViewFromJaggedBackward0"

    def _again(self):
        """What makes a nested tensor like this one, without history, of other values."""
        like = self._structure()
        return lambda values: nested(values, *like)

    @staticmethod
    def _in_order(grad):
        """A gradient in the form in which several can be added."""
        return grad

    def _current(self):
        """See `graph.current`."""
        from .graph import current
        current(self)

    @property
    def _fitted(self):
        """What makes of a gradient of this tensor one of its values."""
        from .graph import joined
        return joined

    # -- the object ---------------------------------------------------------------------------------------------------

    def _share(self):
        made = nested(self._values, *self._structure())
        if self._inference_tensor():
            made._autograd_meta().inference = True if LOCAL.inference else COUNTED
        return made

    def __repr__(self, *, tensor_contents=None):
        history = f", grad_fn={self.grad_fn}" if self.grad_fn else f", requires_grad={self.requires_grad}" if self.requires_grad else ""
        return f"NestedTensor(size={self._size}, offsets={self._offsets}{history}, contiguous={is_contiguous(self)})"

    def __reduce_ex__(self, protocol):
        if getattr(self, "_is_param", False):
            return jtensor.nn.Parameter, (self.detach(), self.requires_grad)
        if self._edge is not None:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.")
        return _rebuild_njt, ({"values": self._values, "offsets": self._offsets, "lengths": self._lengths,
                               "_ragged_idx": self._ragged_idx, "_metadata_cache": dict(self._metadata_cache),
                               "requires_grad": self.requires_grad},)

    def detach_(self):
        if self._origin is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
                               "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
                               "detach_() cannot be called on these gradients. To fix this error, please refer to the "
                               "Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.")
        return super().detach_()

    def __setstate__(self, state):
        """Takes over the attributes that a file tells, but for the parts, of which the tensor was made."""
        self.__dict__.update({name: value for name, value in state.items() if not hasattr(self, name)})

    def __copy__(self):
        made = self._share()
        made._requires_grad = self.requires_grad
        return made

    def _copied(self):
        """A copy of all parts, without history, for `copy.deepcopy`."""
        lengths = None if self._lengths is None else self._lengths.clone()
        return nested(self._values.clone(), self._offsets.clone(), lengths, self._ragged_idx, dict(self._metadata_cache))


def _rebuild_njt(parts):
    """A nested tensor of its parts. PyTorch's files tell what is known of the lengths by the shapes of tensors."""
    known = {name: value if isinstance(value, int) else value.shape[0] for name, value in (parts.get("_metadata_cache") or {}).items()}
    return NestedTensor(**{**parts, "_metadata_cache": known})


def _wrapped(dim, count):
    if not -count <= dim < count:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim % count


def nested(values, offsets, lengths=None, ragged=1, cache=None):
    """A nested tensor without history of its parts, on the memory of the values."""
    _check(values, offsets, lengths)
    of_no_level(values)
    if NestedTensor not in LAYOUTS:
        from .answering import JAGGED
        LAYOUTS[NestedTensor] = JAGGED
        install()
    held = values.detach() if values.requires_grad or values._info is not None else values
    layout, batch = held._spec, offsets.shape[0] - 1
    inner = tuple(values.shape)
    size = (batch, *inner[:ragged - 1], length_of(offsets if lengths is None else lengths), *inner[ragged:])
    inner[ragged - 1]                                                                       # IndexError, PyTorch's too
    made = make_tensor(NOWHERE, specs.spec((batch, *layout.size), None, layout.dtype, layout.device), 0, NestedTensor, LOCAL.inference)
    made._counter, made._values, made._offsets, made._lengths = held._counter, held, offsets, lengths
    made._ragged_idx, made._metadata_cache, made._size, made._origin = ragged, {} if cache is None else cache, size, None
    return made


def of_no_level(values):
    """Refuses values that stand for a batch or have a tangent: a nested tensor's would be lost."""
    if values._storage.host is LIFTED_MEMORY:
        raise missing("nested tensors inside of vmap and of forward mode", "dense tensors and a mask")


def _check(values, offsets, lengths):
    if offsets is None:
        raise AssertionError("offsets must not be None")
    if offsets.ndim != 1:
        raise AssertionError(f"offsets must be 1D, but got {offsets.ndim}D")
    if isinstance(values, NestedTensor):
        raise AssertionError("values must not be a NestedTensor")
    if values.device != offsets.device:
        raise AssertionError(f"values and offsets must be on the same device, but got values.device={values.device} and "
                             f"offsets.device={offsets.device}")
    batch = offsets.shape[0] - 1
    if lengths is not None and batch != lengths.shape[0]:
        raise AssertionError(f"offsets and lengths batch sizes must match: offsets.shape[0] - 1 = {batch}, "
                             f"lengths.shape[0] = {lengths.shape[0]}")


def alike(values, x, ragged=None):
    """A nested tensor without history of other values, with the lengths of ``x``."""
    offsets, lengths, before, cache = x._structure()
    return nested(values, offsets, lengths, before if ragged is None else ragged, cache)


def is_jagged(x):
    """Whether something is a nested tensor of this layout."""
    return type(x) is NestedTensor


def is_contiguous(x):
    """Whether the parts lie one after the other without holes."""
    return x._lengths is None and x._values.is_contiguous()

