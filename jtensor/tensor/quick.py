"""The hot path of indexing: a basic index seen before is one look-up, a write through it one node on the tape.

Serves indices of ints, slices, None and Ellipsis; everything else goes to `indexing`, which also works out each geometry the first time.
May not know: rules of indexing.
"""
from ..autograd.gradmode_checks import apart_at
from ..autograd.graph import sequence
from ..base import devices, geometry, sites
from ..base.bounded import MANY, Bounded
from ..trace.tape import LOCAL, Value
from . import indexing
from .core import Tensor, View, _new
from .history import edge_of
from .recording import overwriting
from .recording.overwriting import FLOAT_MAX
from .values import read

cpu = devices.cpu
_geometries, _rows, _numbers = Bounded(MANY), Bounded(MANY), Bounded(MANY)
_PARTS = frozenset((int, type(None)))
_VALUES = frozenset((float, int, Tensor))


def key_of(index):
    """A hashable form of a basic index, or None for any other. Written for windows of matrices: two slices are taken apart in one go."""
    kind = index.__class__
    if kind is int:
        return index
    if kind is tuple:
        if len(index) == 2:
            first, second = index
            if first.__class__ is slice is second.__class__:
                a, b, c = first.start, first.stop, first.step
                d, e, f = second.start, second.stop, second.step
                if (a is None or a.__class__ is int) and (b is None or b.__class__ is int) and (c is None or c.__class__ is int) and (
                        d is None or d.__class__ is int) and (e is None or e.__class__ is int) and (f is None or f.__class__ is int):
                    return slice, a, b, c, d, e, f
                return None
        parts = []
        for item in index:
            kind = item.__class__
            if kind is slice:
                start, stop, step = item.start, item.stop, item.step
                if start.__class__ not in _PARTS or stop.__class__ not in _PARTS or step.__class__ not in _PARTS:
                    return None
                parts.append((start, stop, step))
            elif kind is int or item is None or item is Ellipsis:
                parts.append(item)
            else:
                return None
        return tuple(parts)
    if kind is slice:
        start, stop, step = index.start, index.stop, index.step
        if start.__class__ in _PARTS and stop.__class__ in _PARTS and step.__class__ in _PARTS:
            return slice, start, stop, step
        return None
    return (index,) if index is None or index is Ellipsis else None


def views_by(rule, key_of):
    """``view(self, index)`` by a rule that makes views: a geometry known by ``key_of(index)`` needs no rule, nor do its graph nodes."""
    def view(self, index):
        info, local, spec = self._info, LOCAL, self._spec
        key = index if type(index) is int else key_of(index)
        if key is None or local.inference or self._auto is not None and self._auto.inference or info is not None \
                and info.replay is not None:
            return rule(self, index)
        tracked = local.grad_enabled and (self._requires_grad or info is not None and info.base._requires_grad and self.requires_grad)
        row = None if tracked or key.__class__ is not int else _rows.get(spec)
        out = _new(Tensor)
        if row is not None and 0 <= key < row[2]:               # samples of a data set: each number comes once in a while
            out._storage, out._spec, out._offset = self._storage, row[0], self._offset + key * row[1]
        else:
            where = spec, key
            found = _geometries.get(where)
            if found is None or tracked and found[2] is None:
                return _learn(rule, self, index, where, tracked)
            out._storage, out._spec, out._offset = self._storage, found[0], self._offset + found[1]
        counter = out._counter = self._counter
        out._cached = out._edge = out._auto = None
        out._requires_grad = tracked
        view = out._info = View.__new__(View)
        view.version, view.differentiable, view.replay = counter.version, True, None
        if info is None:
            view.base, view.creation = self, "default" if local.grad_enabled else "no_grad"
        else:
            view.base = info.base
            view.creation = info.creation if local.grad_enabled or info.creation == "inference" else "no_grad"
        if tracked:
            edge = self._edge
            if edge is None or info is not None and info.version != counter.version:
                edge = edge_of(self)
            for cls, plan, starts in found[2]:
                node = cls()
                node.edges, node.sequence = (edge,), sequence()
                node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
                node.plan, node.needs, node.scalars = plan, _FIRST, starts
                node.saved = ()
                edge = node, 0
            out._edge = edge
        return out
    return view


def _learn(rule, self, index, where, tracked):
    """``rule(self, index)``; what geometry that is over ``self``, and which nodes of the graph made it, is remembered."""
    out, spec = rule(self, index), self._spec
    if type(index) is int:
        _rows[spec] = out._spec, spec.stride[0], spec.size[0]
    steps = None
    if tracked:
        steps, begin, edge = [], edge_of(self), out._edge
        while edge is not None and (begin is None or edge[0] is not begin[0]):
            node = edge[0]
            if node.needs != _FIRST or node.saved or edge[1]:
                return out
            steps.insert(0, (type(node), node.plan, node.scalars))
            edge = node.edges[0]
    _geometries[where] = out._spec, out._offset - self._offset, steps
    return out


getitem = views_by(indexing.getitem, key_of)
getitem.__name__ = getitem.__qualname__ = "getitem"
getitem.__doc__ = "``self[index]``."
turned = views_by(lambda self, letter: self.t(), lambda letter: letter)
turned.__name__ = turned.__qualname__ = "turned"
turned.__doc__ = "``turned(matrix, 't')`` is ``matrix.t()``."
_FIRST = (0,)


def setitem(self, index, value):
    """``self[index] = value``."""
    storage, spec, kind, local = self._storage, self._spec, type(value), LOCAL
    key = key_of(index) if kind in _VALUES else None
    if key is None or storage.spec is None or local.inference or local.eager or spec.device is not cpu \
            or self._auto is not None and self._auto.inference:
        return indexing.setitem(self, index, value)
    if local.grad_enabled and (self._requires_grad or self._info is not None and self._info.base._requires_grad):
        return _set_with_history(self, index, key, value)
    if kind is Tensor:
        return _put_tensor(self, storage, index, key, value)
    where = storage.layout, spec, self._offset, key, kind
    spot = _numbers.get(where)
    if spot is None:
        target, offset = _place(self, index, key)
        spot = overwriting.spot_of(storage.layout, target, offset, kind)
        _numbers[where] = spot
    if spot and (-FLOAT_MAX <= value <= FLOAT_MAX if kind is float else -0x80000000 <= value < 0x80000000):
        overwriting.put(self, storage, spot, value, kind)
    else:
        indexing.setitem(self, index, value)


def _put_tensor(self, storage, index, key, value):
    """``self[index] = tensor`` where nothing of ``self`` needs a gradient."""
    found = _geometries.get((self._spec, key))
    target, offset = (found[0], found[1] + self._offset) if found is not None else _place(self, index, key)
    source, local = value._spec, LOCAL
    if local.grad_enabled and (value._requires_grad or value._info is not None and value._info.base._requires_grad):
        return _set_with_history(self, index, key, value)
    if value._storage is storage:
        if source is target and value._offset == offset:
            self._counter.version += 1                 # `x[i] += y` ends with `x[i] = x[i]`: PyTorch copies and counts, the values stay
            if self._counter.site is not None:
                self._counter.site = sites.user_site()
            return None
        if not apart_at(target, offset, source, value._offset):
            return indexing.setitem(self, index, value)
    spot = overwriting.spot_of(storage.layout, target, offset, source)
    if not spot or spot is overwriting.SHARED:
        return indexing.setitem(self, index, value)
    overwriting.put(self, storage, spot, read(value), Value)


def _set_with_history(self, index, key, value):
    """``self[index] = value`` with gradients: a view, written to, where it is a part and takes the value as it is."""
    found, kind = _geometries.get((self._spec, key)), type(value)
    if found is None or found[0] is self._spec or not found[0].dense and geometry.has_internal_overlap(
            tuple(found[0].size), found[0].stride) == "yes":
        return indexing.setitem(self, index, value)
    if kind is Tensor:
        if value._spec.size != found[0].size:
            return indexing.setitem(self, index, value)
        getitem(self, index).copy_(value)
    elif found[0].dtype.itemsize < 4 or not (-FLOAT_MAX <= value <= FLOAT_MAX):
        indexing.setitem(self, index, value)
    else:
        indexing.fill(getitem(self, index), value)


def _place(self, index, key):
    """(Spec, offset in the storage) of what a basic index names."""
    found = _geometries.get((self._spec, key))
    if found is None:
        view = indexing.getitem(self, index)
        found = view._spec, view._offset - self._offset, None
        _geometries[self._spec, key] = found
    return found[0], found[1] + self._offset


__all__ = ["getitem", "setitem", "turned"]
