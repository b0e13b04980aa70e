"""The nested tensor of PyTorch's older layout: its parts one after the other in one dense vector, and the geometry of each of them.

Owns: the class, which calls itself Tensor as PyTorch's does, geometries, how one is made. Every dimension may differ from part to part.
May not know: operations, which are in `strided_answers` and `strided_shapes`.
"""
import functools
import math
from typing import NamedTuple

import numpy as np

import jtensor

from ..base import sites
from ..base.geometry import contiguous_strides
from ..tensor.calling.overriding import disabled, install
from ..tensor.core import LAYOUTS, Tensor, make_tensor
from ..tensor.creating.from_data import from_host
from ..tensor.printing import _gradient
from ..trace import spec as specs
from ..trace.tape import LOCAL
from .common import SharedParts
from .graph import current, joined, recorded, viewed, wants
from .jagged import NOWHERE, of_no_level

_NO_SIZES = "Internal error: NestedTensorImpl doesn't support {}. Please file an issue."


class Geometry(NamedTuple):
    """Where the parts lie in the vector: a size, a stride and a start for each; ``total``: how long the vector is."""

    sizes: tuple
    strides: tuple
    starts: tuple
    total: int

    @property
    def contiguous(self):
        """Whether the parts lie one after the other, each as its size says."""
        return self == in_order(self.sizes)

    def index(self):
        """For each element, in order, its place in the vector."""
        return _index(self)


@functools.lru_cache(64)
def _index(geometry):
    found = [np.zeros(0, np.int64)]
    for size, stride, start in zip(geometry.sizes, geometry.strides, geometry.starts, strict=True):
        at = np.full(size, start, np.int64)
        for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
            at += (np.arange(length) * step).reshape(-1, *[1] * (len(size) - dim - 1))
        found.append(at.reshape(-1))
    return np.concatenate(found)


@functools.lru_cache(256)
def in_order(sizes):
    """The geometry of parts of these sizes, one after the other."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += math.prod(size)
    return Geometry(sizes, tuple(tuple(contiguous_strides(size)) for size in sizes), tuple(starts), end)


class StridedNested(SharedParts, Tensor):
    """A batch of tensors of any sizes. ``_values``: a vector, without history; ``_geometry``: where the parts lie in it."""

    __slots__ = "_values", "_geometry", "_origin"
    _parts = "_values", "_geometry"
    _node_of_view = "NestedViewFromBufferBackward0"
    __torch_function__ = staticmethod(disabled)

    is_nested = property(lambda self: True)
    nbytes = property(lambda self: self.numel() * self.itemsize)
    _base = property(lambda self: None)

    @property
    def shape(self):
        raise RuntimeError(_NO_SIZES.format("sizes"))

    @property
    def ndim(self):
        return len(self._geometry.sizes[0]) + 1 if self._geometry.sizes else 1

    def dim(self):
        return self.ndim

    ndimension = dim

    def size(self, dim=None):
        """The length of a dimension in which all parts agree. ``RuntimeError`` for others, and for the size as a whole."""
        if dim is None:
            raise RuntimeError(_NO_SIZES.format("sizes"))
        found = self._length(wrapped(dim, self.ndim))
        if found is None:
            raise RuntimeError(f"Given dimension {wrapped(dim, self.ndim)} is irregular and does not have a size.")
        return found

    def _length(self, dim):
        """The length of a dimension, or None where the parts differ."""
        if not dim:
            return len(self._geometry.sizes)
        found = {size[dim - 1] for size in self._geometry.sizes}
        return found.pop() if len(found) == 1 else None

    def stride(self, dim=None):
        raise RuntimeError(_NO_SIZES.format("strides"))

    def numel(self):
        """How many elements all parts have."""
        return sum(map(math.prod, self._geometry.sizes))

    nelement = numel

    def __len__(self):
        raise RuntimeError(_NO_SIZES.format("sizes"))

    def _is_view(self):
        return False

    def storage_offset(self):
        return 0

    def data_ptr(self):
        return self._values.data_ptr()

    def _nested_tensor_size(self):
        """The sizes of the parts, ``(B, dims)``."""
        return jtensor.tensor(self._geometry.sizes, dtype=jtensor.int64)

    def _nested_tensor_strides(self):
        """The strides of the parts, ``(B, dims)``."""
        return jtensor.tensor(self._geometry.strides, dtype=jtensor.int64)

    def _nested_tensor_storage_offsets(self):
        """Where the parts begin, ``(B,)``."""
        return jtensor.tensor(self._geometry.starts, dtype=jtensor.int64)

    def _again(self):
        geometry = self._geometry
        return lambda values: strided(values, geometry)

    @staticmethod
    def _in_order(grad):
        return grad.contiguous()

    def _current(self):
        """See `graph.current`."""
        current(self)

    @property
    def _fitted(self):
        geometry = self._geometry

        def fitted(grad):
            if grad._geometry == geometry:
                return joined(grad)
            index = from_host(geometry.index()).to(grad.device)
            return jtensor.zeros(geometry.total, dtype=grad.dtype, device=grad.device).index_put((index,), flat(grad))
        return fitted

    def _share(self):
        return strided(self._values, self._geometry)

    def __repr__(self, *, tensor_contents=None):
        parts = [part.detach().requires_grad_() if self.requires_grad else part.detach() for part in pieces(self)]
        lines = ["\n".join("  " + line for line in repr(part).split("\n")) for part in parts]
        history = _gradient(self)
        lead = "Parameter containing:\n" if getattr(self, "_is_param", False) else ""
        return lead + "nested_tensor([\n" + ",\n".join(lines) + "\n]" + (f", {history})" if history else ")")

    def __reduce_ex__(self, protocol):
        if getattr(self, "_is_param", False):
            return jtensor.nn.Parameter, (self.detach(), self.requires_grad)
        if self._edge is not None:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.")
        return rebuilt, (self._values, self._nested_tensor_size(), self._nested_tensor_strides(), self._nested_tensor_storage_offsets())

    def __copy__(self):
        made = self._share()
        made._requires_grad = self.requires_grad
        return made

    def __deepcopy__(self, memo):
        raise refused("new_empty")


StridedNested.__name__ = StridedNested.__qualname__ = "Tensor"
StridedNested.__module__ = "torch"


def rebuilt(values, sizes, strides, offsets):
    """A nested tensor of a vector and the integers of its geometry, as files have them."""
    sizes, strides = (tuple(map(tuple, x.tolist())) for x in (sizes, strides))
    return strided(values, Geometry(sizes, strides, tuple(offsets.tolist()), values.shape[0]))


def refused(name):
    """PyTorch's error for an operator that nested tensors of this layout do not have."""
    return NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend. This could be because the "
                               "operator doesn't exist for this backend; layout=torch.jagged has more of them.")


def wrapped(dim, count):
    """A dimension counted from the front."""
    if not -count <= dim < count:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim % count


_PROTOTYPE = ("The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend specifying "
              "layout=torch.jagged when constructing a nested tensor, as this layout receives active development, has better operator "
              "coverage, and works with torch.compile.")


def strided(values, geometry):
    """A nested tensor without history of a vector and a geometry, on the memory of the vector."""
    sites.warn_once(_PROTOTYPE)
    of_no_level(values)
    if StridedNested not in LAYOUTS:
        from .strided_answers import STRIDED
        LAYOUTS[StridedNested] = STRIDED
        install()
    held = values.detach() if values.requires_grad or values._info is not None else values
    layout = held._spec
    made = make_tensor(NOWHERE, specs.spec((len(geometry.sizes), geometry.total), None, layout.dtype, layout.device), 0, StridedNested,
                       LOCAL.inference)
    made._counter, made._values, made._geometry, made._origin = held._counter, held, geometry, None
    return made


def is_strided(x):
    """Whether something is a nested tensor of this layout."""
    return type(x) is StridedNested


def flat(x):
    """The elements in order, a vector, as part of the graph."""
    return joined(x) if x._geometry.contiguous else joined(x).index_select(0, from_host(x._geometry.index()).to(x.device))


def pieces(x):
    """The parts as views of the vector, without history."""
    return [x._values.as_strided(*where) for where in zip(*x._geometry[:3], strict=True)]


# -- how they are made -------------------------------------------------------------------------------------------------


def of_list(tensors, dtype=None, device=None):
    """The nested tensor of a list, with history."""
    for at, x in enumerate(tensors):
        if x.is_nested:
            raise RuntimeError("We do not accept nested tensors as input to nested tensors")
        if x.dim() != tensors[0].dim():
            raise RuntimeError("All Tensors given to nested_tensor must have the same dimension. Found dimension "
                               f"{x.dim()} for Tensor at index {at} and dimension {tensors[0].dim()} for Tensor at index 0.")
    kind = dtype or (tensors[0].dtype if tensors else jtensor.get_default_dtype())
    sizes = tuple(tuple(x.shape) for x in tensors)
    with jtensor.no_grad():
        parts = [x.detach().to(device=device or x.device, dtype=kind).reshape(-1) for x in tensors]
        values = jtensor.cat(parts) if parts else jtensor.empty(0, dtype=kind)

    def pull(grad):
        return [part.to(x.dtype) if wants(x) else None for part, x in zip(grad.unbind(), tensors, strict=True)]
    return recorded("NestedTensorFromTensorListBackward0", strided(values, in_order(sizes)), tensors, pull)


def of_dense(x, dtype=None, device=None):
    """The nested tensor of the rows of a dense tensor, on its memory where that is contiguous."""
    vector = x.reshape(-1)
    vector = vector.to(device=device or x.device, dtype=dtype or x.dtype)
    return viewed(vector, strided(vector, in_order((tuple(x.shape[1:]),) * x.shape[0])))


def from_data(data, dtype, device, requires_grad, pin_memory):
    """`torch.nested.nested_tensor` of this layout: a leaf with a copy of the data."""
    if not isinstance(data, list):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    with jtensor.no_grad():
        made = of_list([x if isinstance(x, Tensor) else jtensor.tensor(x, dtype=dtype) for x in data], dtype, device)
    made.requires_grad_(requires_grad)
    return made
