"""`x[...]` and `x[...] = v`: PyTorch's indexing, canonicalised once.

An index is taken apart into views (ints, slices, None, Ellipsis, 0-d booleans) and, if there are any, index tensors over the dimensions of
what the views leave; a read is then a view or the operator `index`, a write a copy into the view or `index_put_`.
"""

import numpy as np

from ..autograd import gradmode_checks as checks
from ..autograd.graph import CopySlices, OperatorNode, node_class
from ..base import dtypes, sites
from ..base.naming import type_name
from ..ops.families import index as family
from ..ops.families.composing import check_expand, number_fits
from ..trace.tape import LOCAL
from . import picking
from .core import Tensor
from .lifted.batching import is_batch
from .viewing import shapes, views

NO_TUPLE = ("Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use x[tuple(seq)] "
            "instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], which will result either in "
            "an error or a different result")
INVALID = ("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})")


def getitem(self, index):
    """``self[index]``."""
    if type(index) is int:
        return _select(self, index, 0)
    if index.__class__ is Tensor:
        found = picking.pick(self, index)
        if found is not None:
            return found
    elif index.__class__ is tuple and len(index) > 1 and index[-1].__class__ is Tensor:
        found = picking.pick_along(self, index)
        if found is not None:
            return found
    view, tensors = _basic(self, index), None
    if view is None:
        view, tensors = resolve(self, index)
    if tensors is None:
        return shapes.alias(view) if view is self else view
    return _index(view, tensors)


def _basic(self, index, always=True):
    """The view that one integer, slice, None or Ellipsis names; None for any other index."""
    kind = type(index)
    if kind is int:
        return _select(self, index, 0)
    if kind is slice:
        if not self._spec.ndim:
            _bounds(index)
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        return _slice(self, index, 0, always)
    if index is None:
        return shapes.unsqueeze(self, 0)
    if index is Ellipsis:
        return self
    if isinstance(index, np.integer):
        return _select(self, index.__index__(), 0)
    return None


def setitem(self, index, value):
    """``self[index] = value``: broadcast, cast, written through."""
    if index.__class__ is Tensor and picking.put(self, index, value):
        return
    if not isinstance(value, (Tensor, bool, int, float, complex)):
        value = _foreign(self, value)
    if index is False:
        return
    if not isinstance(value, Tensor):
        if value.__class__ is int:
            _countable(value)
        value = number_fits(value, self._spec.dtype, alone=True)
    view, tensors = shapes.unsqueeze(self, 0) if index is True else _basic(self, index, False), None
    if view is None:
        view, tensors = resolve(self, index)
    if tensors is None:
        if not isinstance(value, Tensor):
            checks.before_inplace(view, LOCAL.grad_enabled and view.requires_grad)
            checks.no_internal_overlap(view)
            fill(view, value)
        elif value._spec.ndim or value._spec.size == view._spec.size:
            view.copy_(_trimmed(view, value))
        else:
            view.fill_(value)
        return
    _index_put(view, tensors, value)


class WrittenNumber(OperatorNode):
    """The node of a number that an index has written. PyTorch makes it a tensor first, for which its node has a place."""

    __slots__ = ()

    def places_shown(self):
        return (*range(len(self.edges)), None)


def fill(view, value):
    """Writes a number to what an index names."""
    view.fill_(value)
    if LOCAL.grad_enabled:
        info = view._info
        of_view = info is not None and info.differentiable
        edge = info.base._edge if of_view else view._edge
        node = None if edge is None else edge[0].fn if of_view and isinstance(edge[0], CopySlices) else edge[0]
        if node.__class__ is _FILLED:
            node.__class__ = node_class("FillBackward3" if view._spec.ndim else "CopyBackwards", WrittenNumber)


_FILLED = node_class("FillBackward2")


def _foreign(self, value):
    if isinstance(value, np.integer):
        return value.item()
    raise TypeError(f"can't assign a {type_name(type(value))} to a torch.{dtypes.scalar_name(self.dtype)}Tensor")


def _trimmed(view, value):
    """The value as it is copied into the view: without leading dimensions of size 1, expanded."""
    size, wanted = tuple(value._spec.size), tuple(view._spec.size)
    if size == wanted:
        return value
    lead = 0
    while lead < len(size) and size[lead] == 1:
        lead += 1
    check_expand(value._spec if not lead else views.specs.spec(size[lead:], None, value._spec.dtype, value._spec.device), wanted)
    if not value.requires_grad and value._storage is not view._storage:          # which memory is shared, the expanded value tells
        return value if not lead else views.view_of(value, lambda s, st, o: (s[lead:], st[lead:], o), "ViewBackward0")
    trimmed = value.view(size[lead:])
    return trimmed if size[lead:] == wanted else shapes.expand(trimmed, wanted)


# -- taking an index apart --------------------------------------------------------------------------------------------


def resolve(self, index):
    """(the view that basic indexing leaves, index tensors per dimension or None)."""
    items = index if index.__class__ is tuple else _listed_items(index)
    takes = 0
    for item in items:
        takes += 1 if item.__class__ in _BASIC else _taken(item)
    if takes > self._spec.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._spec.ndim}")
    view, dim, tensors = self, 0, {}
    for at, item in enumerate(items):
        if item.__class__ not in _BASIC:
            item = _item(item)
        kind = type(item)
        if kind is int:
            view = _select(view, item, dim, at)
        elif kind is slice:
            view = _slice(view, item, dim)
            dim += 1
        elif item is Ellipsis:
            dim += self._spec.ndim - takes
        elif item is None:
            view = shapes.unsqueeze(view, dim)
            dim += 1
        elif kind is bool:
            view = shapes.unsqueeze(view, dim)
            tensors[dim] = _bool_index(item, self)
            dim += 1
        else:
            if item._spec.dtype in _MASKS and item._spec.ndim == 0:
                view = shapes.unsqueeze(view, dim)
                tensors[dim] = item.clone().reshape((1,))           # PyTorch looks at it now: a later write to it changes nothing
                tensors[dim].zero_dim = True
                dim += 1
            else:
                tensors[dim] = item
                dim += item._spec.ndim if item._spec.dtype in _MASKS else 1
    return view, tensors or None


_MASKS = (dtypes.bool, dtypes.uint8)


_BASIC = frozenset((int, slice))


def _taken(item):
    """How many dimensions an item takes up."""
    if item is Ellipsis or item is None or item is True or item is False:
        return 0
    return item._spec.ndim if isinstance(item, Tensor) and item._spec.dtype in _MASKS else 1


def _bool_index(flag, self):
    from .creating.from_data import tensor
    return tensor([flag], device=self.device)


def _listed_items(index):
    """The items of an index: a tuple's, or those of a list that PyTorch takes for a tuple; else the index is the only one."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32 and any(
            isinstance(i, (slice, type(None), type(Ellipsis), Tensor, list, tuple, str, np.ndarray)) for i in index):
        sites.warn(NO_TUPLE)
        return index
    if isinstance(index, str) and 0 < len(index) < 32:          # a sequence of texts, none of which is an index
        sites.warn(NO_TUPLE)
        return list(index)
    return (index,)


def _item(item):
    kind = type(item)
    if kind is int or kind is slice or item is None or item is Ellipsis or kind is bool:
        return item
    if isinstance(item, Tensor):
        if item._spec.ndim == 0 and item._spec.dtype.category == 1 and item._spec.dtype is not dtypes.uint8:
            return item if is_batch(item) else int(item.item())
        if item._spec.dtype is dtypes.uint8 and item._spec.ndim:
            sites.warn(family.BYTES)
        return item
    if isinstance(item, np.ndarray) and not item.ndim and item.dtype.kind in "iu":
        return int(item)
    if isinstance(item, (list, tuple, np.ndarray, range)):
        return _sequence(item)
    if isinstance(item, np.bool_):
        raise IndexError(INVALID.format(type_name(kind)))
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, (str, bytes)):
        raise _no_text(item)
    raise IndexError(INVALID.format(type_name(kind)))


def _no_text(item):
    return TypeError(f"new(): invalid data type '{'str' if isinstance(item, str) else 'bytes'}'")


def _sequence(item):
    """An index tensor of a list or an array: booleans are a mask, all other numbers become integers."""
    from .creating.from_data import from_host, tensor
    if isinstance(item, np.ndarray):
        made = from_host(item)
    else:
        try:
            made = tensor(list(item)) if len(item) else tensor([], dtype=dtypes.int64)
        except (ValueError, RuntimeError):                 # `tensor` has other words for what is no number
            while isinstance(item, (list, tuple)) and item:
                item = item[0]
            if isinstance(item, (str, bytes)):
                raise _no_text(item) from None
            raise
    if made._spec.dtype not in _MASKS and made._spec.dtype is not dtypes.int64:
        made = made.long()
    return _item(made) if made._spec.ndim else made


def _select(self, index, dim, at=0):
    size = self._spec.size
    if not size:
        if index:
            raise IndexError(f"index {index} is out of bounds for dimension {at} with size 0")
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor "
            "to a number"
        )
    n = size[dim] if dim < len(size) else 0                  # each of several `...` counts as all dimensions that are left
    if not -n <= index < n:
        _countable(index)
        raise IndexError(f"index {index} is out of bounds for dimension {at} with size {n}")
    return shapes.select(self, dim, index)


def _countable(n):
    """Raises for an integer that has more than 64 bits."""
    if not -_BEYOND <= n < _BEYOND:
        raise ValueError("Overflow when unpacking long long")


_BEYOND = 1 << 63


def _slice(self, item, dim, always=False):
    """A slice along a dimension; the tensor itself for a slice of everything, but where PyTorch makes a view of that too (``always``)."""
    start, stop, step = _bounds(item)
    if not always and not start and step == 1 and (stop is None or dim < self._spec.ndim and stop >= self._spec.size[dim]):
        return self
    return shapes.slice_(self, dim, start, stop, step)


def _bounds(item):
    start, stop, step = (_bound(x) for x in (item.start, item.stop, item.step))
    if step is None:
        step = 1
    elif step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    return start, stop, step


def _bound(x):
    if x is None or type(x) is int:
        return x
    if hasattr(type(x), "__index__"):                # of tensors, those with one whole number
        return x.__index__()
    raise TypeError("slice indices must be integers or None or have an __index__ method")


# -- index tensors ----------------------------------------------------------------------------------------------------


def _index(view, tensors):
    return family.index_read(view, _listed(view, tensors))


def _index_put(view, tensors, value):
    family.index_write(view, _listed(view, tensors), value)


def _listed(view, tensors):
    count = max(tensors) + 1
    if count > view._spec.ndim:                              # behind several `...`
        raise IndexError(f"too many indices for tensor of dimension {view._spec.ndim} (got {count})")
    return [tensors.get(d) for d in range(count)]


__all__ = ["getitem", "setitem"]
