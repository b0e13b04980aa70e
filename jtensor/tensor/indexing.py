"""`x[...]` and `x[...] = v`: PyTorch's indexing, canonicalised once.

An index is taken apart into views (ints, slices, None, Ellipsis, 0-d booleans) and, if there are any, index tensors over the dimensions of what the
views leave; a read is then a view or the operator `index`, a write a copy into the view or `index_put_`.
"""
import numpy as np

from ..base import dtypes
from ..trace.tape import LOCAL
from . import views
from .core import Tensor
from .dispatch import call, call_inplace

INVALID = ("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})")


def getitem(self, index):
    """``self[index]``."""
    if type(index) is int:
        return _select(self, index, 0)
    view, tensors = resolve(self, index)
    if tensors is None:
        return views.alias(view) if view is self else view
    return _index(view, tensors)


def setitem(self, index, value):
    """``self[index] = value``: broadcast, cast, written through."""
    if isinstance(value, np.ndarray):
        from .create import from_host
        value = from_host(value)
    if not isinstance(value, Tensor) and not isinstance(value, (bool, int, float, complex)):
        value = _foreign(self, value)
    view, tensors = resolve(self, index, setting=True)
    if tensors is None:
        if isinstance(value, Tensor):
            view.copy_(_trimmed(view, value)) if value._spec.ndim or value.requires_grad else view.copy_(value)
        else:
            view.fill_(value)
        return
    _index_put(view, tensors, value)


def _foreign(self, value):
    from .create import tensor
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        raise TypeError(f"can't assign a {type(value).__name__} to a torch.{dtypes.scalar_name(self.dtype)}Tensor")
    if hasattr(value, "__array__"):
        return tensor(np.asarray(value))
    raise TypeError(f"can't assign a {type(value).__name__} to a torch.{dtypes.scalar_name(self.dtype)}Tensor")


def _trimmed(view, value):
    """Leading dimensions of size 1 of the value are dropped where the view has fewer dimensions."""
    size = tuple(value._spec.size)
    lead = 0
    while len(size) - lead > view._spec.ndim and lead < len(size) and size[lead] == 1:
        lead += 1
    return value if not lead else views.view_of(value, lambda s, st, o: (s[lead:], st[lead:], o), "ViewBackward0") \
        if not value.requires_grad else value.reshape(size[lead:])


# -- taking an index apart --------------------------------------------------------------------------------------------


def resolve(self, index, setting=False):
    """(the view that basic indexing leaves, index tensors per dimension or None)."""
    items = _items(index)
    takes = 0
    for item in items:
        if item is Ellipsis or item is None or item is True or item is False:
            continue
        takes += item._spec.ndim if isinstance(item, Tensor) and item._spec.dtype in _MASKS and item._spec.ndim else \
            0 if isinstance(item, Tensor) and item._spec.dtype in _MASKS else 1
    if takes > self._spec.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._spec.ndim}")
    view, dim, tensors = self, 0, {}
    for item in items:
        kind = type(item)
        if kind is int:
            view = _select(view, item, dim, at=_real_dim(items, item, dim))
        elif kind is slice:
            view = _slice(view, item, dim)
            dim += 1
        elif item is Ellipsis:
            dim += self._spec.ndim - takes
        elif item is None:
            view = views.unsqueeze(view, dim)
            dim += 1
        elif kind is bool:
            view = views.unsqueeze(view, dim)
            tensors[dim] = _bool_index(item, self)
            dim += 1
        else:
            if item._spec.dtype in _MASKS and item._spec.ndim == 0:
                view = views.unsqueeze(view, dim)
                tensors[dim] = item.reshape((1,))
                dim += 1
            else:
                tensors[dim] = item
                dim += item._spec.ndim if item._spec.dtype in _MASKS else 1
    return view, tensors or None


_MASKS = (dtypes.bool, dtypes.uint8)


def _real_dim(items, item, dim):
    return dim


def _bool_index(flag, self):
    from .create import tensor
    return tensor([flag], device=self.device)


def _items(index):
    """The index as a list of ints, slices, None, Ellipsis, bools and tensors."""
    if isinstance(index, tuple):
        return [_item(i) for i in index]
    if isinstance(index, list) and _is_sequence_of_indices(index):
        return [_item(i) for i in index]
    return [_item(index)]


def _is_sequence_of_indices(index):
    return len(index) < 32 and any(isinstance(i, (slice, type(None), type(Ellipsis))) for i in index)


def _item(item):
    kind = type(item)
    if kind is int or kind is slice or item is None or item is Ellipsis or kind is bool:
        return item
    if isinstance(item, Tensor):
        if item._spec.ndim == 0 and item._spec.dtype.category == 1 and item._spec.dtype is not dtypes.uint8:
            return int(item.item()) if not item.requires_grad else int(item.item())
        if item._spec.dtype.category > 1 or item._spec.dtype not in _INDEX_TYPES:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return item
    if isinstance(item, (list, tuple, np.ndarray, range)):
        from .create import from_host, tensor
        made = from_host(item) if isinstance(item, np.ndarray) else tensor(list(item)) if len(item) else tensor([], dtype=dtypes.int64)
        return _item(made) if made._spec.ndim else made
    if isinstance(item, np.bool_):
        return bool(item)
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(INVALID.format(kind.__name__))


_INDEX_TYPES = (dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.bool)


def _select(self, index, dim, at=0):
    size = self._spec.size
    if not size:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor "
                         "to a number")
    n = size[dim]
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {n}")
    if index < 0:
        index += n
    return views.select(self, dim, index)


def _slice(self, item, dim):
    start, stop, step = (_bound(x) for x in (item.start, item.stop, item.step))
    if start is None and stop is None and step is None:
        return self
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    n = self._spec.size[dim]
    step = step or 1
    if (start is None or start == 0) and (stop is None or stop >= n) and step == 1 and start is None and stop is None:
        return self
    return views.slice_(self, dim, start, stop, step)


def _bound(x):
    if x is None or type(x) is int:
        return x
    if isinstance(x, Tensor):
        return int(x.item())
    if hasattr(x, "__index__"):
        return x.__index__()
    raise TypeError("slice indices must be integers or None or have an __index__ method")


# -- index tensors ----------------------------------------------------------------------------------------------------


def _index(view, tensors):
    from ..ops.families import index as family
    return family.index_read(view, _listed(view, tensors))


def _index_put(view, tensors, value):
    from ..ops.families import index as family
    family.index_write(view, _listed(view, tensors), value)


def _listed(view, tensors):
    return [tensors.get(d) for d in range(max(tensors) + 1)]


__all__ = ["call", "call_inplace", "getitem", "setitem"]
