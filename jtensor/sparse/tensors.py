"""The sparse tensor: a pattern (which places have an element) and the elements' values, an ordinary tensor.

Owns: its class, which calls itself Tensor as PyTorch's does, what it says of itself, and how one is made. It has no memory of its own: a
room that does not know of sparse tensors and asks for a storage gets an error. What is done to sparse tensors is in the tables of the rooms
beside this one, which `answering` looks things up in. May not know: operations.
"""
import math

import jtensor

from ..base.errors import missing
from ..storage import VersionCounter
from ..tensor.calling.overriding import disabled, install
from ..tensor.copying import INCOMPATIBLE
from ..tensor.core import COUNTED, LAYOUTS, Tensor, make_tensor
from ..trace import spec as specs
from ..trace.tape import LOCAL
from .patterns import Pattern


class NoMemory:
    """What stands in the place of a sparse tensor's storage. Its fields have every fast path step aside; asked for anything else it
    raises."""

    spec, version, site = None, 0, None

    @property
    def host(self):
        return self

    def __getattr__(self, name):
        raise missing("this of sparse tensors", "dense ones, as x.to_dense() gives them")


NOWHERE = NoMemory()


class SparseTensor(Tensor):
    """A tensor most of whose elements are zero and are not kept.

    ``_pattern``: where the others are; ``_elements``: their values, without history; ``_coalesced``: whether the places are known to be in
    order, each once.
    """

    __slots__ = ("_pattern", "_elements", "_coalesced")
    _parts = "_pattern", "_elements", "_coalesced"
    __torch_function__ = staticmethod(disabled)

    @property
    def is_sparse(self):
        return True

    @property
    def layout(self):
        return jtensor.sparse_coo

    @property
    def nbytes(self):
        raise RuntimeError("nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the nbytes of "
                           "the indices and values.  If you want the size of the  equivalent dense tensor, multiply numel() by "
                           "element_size()")

    @property
    def names(self):
        raise AttributeError("'Tensor' object has no attribute 'names'")

    def _nnz(self):
        return self._pattern.nnz

    def _indices(self):
        return self._pattern.indices.detach()

    def _values(self):
        return self._elements.detach()

    def _dimI(self):
        return self._pattern.sparse_dim

    def _dimV(self):
        return self._elements._spec.ndim - 1

    def _parts_shown(self):
        return ("indices", self._pattern.indices), ("values", self._elements)

    def _coalesced_(self, coalesced):
        self._coalesced = bool(coalesced)
        return self

    def _share(self):
        made = sparse(self._pattern, self._elements, self._coalesced)
        if self._inference_tensor():
            made._autograd_meta().inference = True if LOCAL.inference else COUNTED
        return made

    @property
    def data(self):
        return self._share()

    @data.setter
    def data(self, other):
        if type(other) is not type(self):
            raise RuntimeError(INCOMPATIBLE)
        become(self, other)

    def __repr__(self, *, tensor_contents=None):
        from .printing import text
        return ("Parameter containing:\n" if getattr(self, "_is_param", False) else "") + text(self)

    __str__ = __repr__

    def __format__(self, specification):
        return object.__format__(self, specification)

    def __reduce_ex__(self, protocol):
        if getattr(self, "_is_param", False):
            return jtensor.nn.Parameter, (self.detach(), self.requires_grad)
        from .keeping import rebuild
        return rebuild, self._pickled()

    def _pickled(self):
        return "sparse_coo", self._indices(), self._values(), self.shape, self._coalesced

    def __copy__(self):
        made = self.detach()
        made._counter = VersionCounter()
        made._requires_grad = self.requires_grad
        return made

    def _moved(self, device, dtype):
        """A copy without history, elsewhere or of another type."""
        pattern = self._pattern if device == self.device else Pattern(self._pattern.indices.to(device), self._pattern.size)
        return sparse(pattern, self._elements.to(device, dtype, copy=True), self._coalesced)

    def _copied(self):
        """A copy of all parts, without history."""
        return sparse(Pattern(self._pattern.indices.clone(), self._pattern.size), self._elements.clone(), self._coalesced)


SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"
SparseTensor.__module__ = "torch"


def sparse(pattern, elements, coalesced=False):
    """A sparse tensor without history of a `Pattern` and values ``(nnz, *dense sizes)``, whose memory it shares."""
    if SparseTensor not in LAYOUTS:
        from .answering import COORDINATES
        LAYOUTS[SparseTensor] = COORDINATES
        install()
    layout = of_the_cpu(elements)._spec
    made = make_tensor(NOWHERE, _spec_of((*pattern.size, *layout.size[1:]), layout), 0, SparseTensor, LOCAL.inference)
    made._counter = VersionCounter()
    made._pattern, made._coalesced = pattern, coalesced or layout.size[0] < 2
    made._elements = elements.detach() if elements._requires_grad or elements._info is not None else elements
    return made


def of_the_cpu(tensor):
    """The tensor, of which a sparse one is made; MissingFeature on a GPU: where the elements lie is worked out on the host."""
    if tensor._spec.device.type == "cuda":
        raise missing("sparse tensors on a GPU", "sparse tensors on the CPU, or dense ones on the GPU")
    return tensor


def _spec_of(size, layout):
    if math.prod(size) >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    return specs.spec(tuple(map(int, size)), None, layout.dtype, layout.device)


def become(tensor, other):
    """Has a sparse tensor be what another one of its class is, but for its history and its versions."""
    for name in (*tensor._parts, "_spec"):
        setattr(tensor, name, getattr(other, name))


def is_sparse(x):
    """Whether something is a sparse tensor in coordinates."""
    return type(x) is SparseTensor

