"""What the names in PyTorch's files stand for: tensors put together of their memory, parameters, layouts, and others by `names`.

Owns: the functions that files call (`found_name`, `WRITTEN`) and the memory that they read. May not know: how a file is laid out.
"""
import math
import pickle

import numpy as np

from ..base import dtypes, geometry
from ..tensor import convert, states
from ..tensor.core import Tensor
from ..tensor.creating import create, from_data
from ..tensor.memory import storages
from ..trace import spec as specs
from . import careful, names


class Storage:
    """A record of bytes, read once; tensors of the file that refer to it share one storage."""

    def __init__(self, data, device):
        self.data, self.device, self.cell = data, device, None

    def on(self, dtype, size=None, stride=None):
        """The storage's cell, made with the dtype of whoever asks first, and lying as that tensor does if it takes all of the memory:
        then its values are read as they are, where a line of elements would have to be given its shape in every program."""
        if self.cell is None:
            whole = len(self.data) // dtype.itemsize * dtype.itemsize
            elements = np.frombuffer(self.data[:whole], dtype.numpy)
            if size is None or math.prod(size) != len(elements) or not geometry.is_non_overlapping_and_dense(size, stride):
                size, stride = (len(elements),), (1,)
            elements = np.ndarray(size, elements.dtype, elements, strides=[step * dtype.itemsize for step in stride]).copy(order="C")
            made = from_data.laid(from_data.from_host(elements, dtype, ours=True).to(self.device), stride)
            self.cell = made._storage
        return self.cell


class Memory(storages.TypedStorage):
    """Memory of the file, which is read when a tensor has said how it lies there; ``dtype`` None: that too is left to the tensor, and
    where none says so, it is bytes."""

    __module__, __qualname__ = "torch.storage", "TypedStorage"

    def __init__(self, record, dtype):
        self.record, self.dtype = record, dtype or dtypes.uint8

    @property
    def _cell(self):
        return self.record.on(self.dtype)


Memory.__name__ = "TypedStorage"


def rebuild_tensor(storage, offset, size, stride, requires_grad, backward_hooks=None, metadata=None):
    """A tensor in a typed storage."""
    return of_dtype(storage, offset, size, stride, requires_grad, backward_hooks, storage.dtype, metadata)


def of_dtype(storage, offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    unknown = set(metadata or ()) - {"conj", "neg"}
    if unknown:
        raise pickle.UnpicklingError(f"unknown marks of a tensor: {sorted(unknown)}")
    if isinstance(storage, Memory):
        whole = offset == 0 and not metadata
        cell = storage.record.on(dtype, *(tuple(size), tuple(stride)) if whole else ())
    else:
        cell = storage._cell
    made = create.empty(0, dtype=dtype, device=cell.device).set_(storages.UntypedStorage._on(cell), offset, tuple(size), tuple(stride))
    if metadata:
        s = made._spec
        made._spec = specs.spec(tuple(s.size), s.stride, dtype, s.device, bool(metadata.get("conj")), bool(metadata.get("neg")))
    return made.requires_grad_() if requires_grad else made


def rebuild_parameter(data, requires_grad, backward_hooks=None, state=None):
    """A parameter of a tensor's data."""
    import jtensor
    made = jtensor.nn.Parameter(data, requires_grad)
    if state:
        states.set_state(made, state)
    return made


def rebuild_from_type(function, kind, arguments, state):
    """A tensor of a subclass, or with attributes."""
    made = function(*arguments)
    if not isinstance(made, Tensor):                       # a file may ask for anything
        raise pickle.UnpicklingError(f"{careful.REFUSED}A tensor is made of what is none: {made!r}")
    if kind is not Tensor and type(made) is not kind:
        made = made.as_subclass(kind)
    states.set_state(made, state)
    return made


def rebuild_meta(dtype, size, stride, requires_grad):
    """A tensor on the meta device, of which a file has the geometry only."""
    import jtensor
    return jtensor.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def rebuild_sparse(layout, parts):
    """A sparse tensor of its parts, which are looked at where invariants are checked."""
    from ..sparse.keeping import rebuild
    return rebuild(layout.name, *parts, check=True)


def rebuild_nested(values, sizes, strides, offsets):
    """A nested tensor of the layout strided of its parts."""
    from ..nested.strided import rebuilt
    return rebuilt(values, sizes, strides, offsets)


def _of_nested(name):
    """The class of nested tensors, or the function that makes one of its parts."""
    from ..nested._internal import nested_tensor
    return getattr(nested_tensor, name)


def rebuild_layout(name):
    """`torch.strided` and its kind by name."""
    import jtensor
    found = getattr(jtensor, name.removeprefix("torch."), None)
    if not isinstance(found, jtensor.layout):              # a file may ask for anything
        raise KeyError(name)
    return found


def rebuild_wrapper(kind, dtype, size, stride, offset, layout, device, requires_grad):
    """A tensor of a class that is asked below autograd, to which its state is still to be given."""
    return convert.rebuild_wrapper(kind, dtype, size, stride, offset, device, requires_grad)


_REBUILT = {("torch._utils", "_rebuild_wrapper_subclass"): rebuild_wrapper,
            ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor, ("torch._utils", "_rebuild_tensor_v3"): of_dtype,
            ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
            ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter,
            ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta,
            ("torch._tensor", "_rebuild_from_type_v2"): rebuild_from_type, ("torch.serialization", "_get_layout"): rebuild_layout,
            ("torch._utils", "_rebuild_sparse_tensor"): rebuild_sparse, ("torch._utils", "_rebuild_nested_tensor"): rebuild_nested}
WRITTEN = {function: name for name, function in reversed(_REBUILT.items())}            # for who names these functions in a file


def found_name(module, name):
    """What a file of weights may name so, or None."""
    if (module, name) == ("torch.nn.parameter", "Parameter"):
        import jtensor
        return jtensor.nn.Parameter
    if module == "torch.nested._internal.nested_tensor" and name in ("NestedTensor", "_rebuild_njt"):
        return _of_nested(name)
    if (module, name) == ("torch._dynamo.decorators", "_DimRange"):        # a note of PyTorch's compiler at a nested tensor: read, not used
        return careful.Ignored
    return _REBUILT.get((module, name)) or names.allowed(module, name)
