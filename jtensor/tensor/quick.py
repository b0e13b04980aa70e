"""The hot path of indexing: a basic index seen before is one look-up, a write through it one node on the tape.

Serves tensors without gradients and indices of ints, slices, None and Ellipsis; everything else goes to `indexing`, which also works out
each geometry the first time. May not know: rules of indexing.
"""
from ..base import geometry, sites
from ..ops import build
from ..ops.families import create as ops
from ..trace.tape import LOCAL, record
from . import indexing, inplace
from .core import Tensor, View, _new
from .dispatch import PLANS, plan_of
from .values import _access, read

_geometries, _fills, _copies = {}, {}, {}
_LIMIT = 1 << 16
_PARTS = frozenset((int, type(None)))
_VALUES = frozenset((float, int, Tensor))
_FLOAT_MAX = 3.4e38                                # beyond, and for infinities, PyTorch's rules are asked


def key_of(index):
    """A hashable form of a basic index, or None for any other."""
    kind = type(index)
    if kind is int:
        return index
    if kind is slice:
        start, stop, step = index.start, index.stop, index.step
        if type(start) in _PARTS and type(stop) in _PARTS and type(step) in _PARTS:
            return slice, start, stop, step
        return None
    if kind is tuple:
        parts = []
        for item in index:
            kind = type(item)
            if kind is slice:
                start, stop, step = item.start, item.stop, item.step
                if type(start) not in _PARTS or type(stop) not in _PARTS or type(step) not in _PARTS:
                    return None
                parts.append((start, stop, step))
            elif kind is int or item is None or item is Ellipsis:
                parts.append(item)
            else:
                return None
        return tuple(parts)
    return None


def getitem(self, index):
    """``self[index]``."""
    info = self._info
    if self._requires_grad or self._auto is not None or LOCAL.inference or (info is not None and info.base._requires_grad):
        return indexing.getitem(self, index)
    key = key_of(index)
    if key is None:
        return indexing.getitem(self, index)
    spec = self._spec
    found = _geometries.get((spec, key))
    if found is None:
        out = indexing.getitem(self, index)
        _remember(_geometries, (spec, key), (out._spec, out._offset - self._offset))
        return out
    out = _new(Tensor)
    out._storage, out._spec, out._offset, out._cached = self._storage, found[0], self._offset + found[1], None
    counter = out._counter = self._counter
    out._requires_grad, out._edge, out._auto = False, None, None
    creation = "default" if LOCAL.grad_enabled else "no_grad"
    if info is None:
        out._info = View(self, creation, counter.version, True)
    else:
        out._info = View(info.base, creation if info.creation == "default" else info.creation, counter.version, True)
    return out


def _remember(table, key, value):
    if len(table) >= _LIMIT:
        table.clear()
    table[key] = value


def setitem(self, index, value):
    """``self[index] = value``."""
    storage, spec = self._storage, self._spec
    info = self._info
    kind = type(value)
    key = key_of(index) if kind in _VALUES else None
    if key is None or storage.spec is None or LOCAL.inference or LOCAL.eager or self._auto is not None or (LOCAL.grad_enabled and (
            self._requires_grad or (info is not None and info.base._requires_grad))) or spec.device is not build.plans.spec.devices.cpu \
            or spec.conj or spec.neg:
        return indexing.setitem(self, index, value)
    found = _geometries.get((spec, key))
    if found is None:
        view = indexing.getitem(self, index)
        found = view._spec, view._offset - self._offset
        _remember(_geometries, (spec, key), found)
    target, offset = found[0], found[1] + self._offset
    if target.dtype.itemsize >= 4 and (kind is float and -_FLOAT_MAX <= value <= _FLOAT_MAX and target.dtype.category > 1
                                       or kind is int and -0x80000000 <= value < 0x80000000):
        plan, starts = _fill_plan(storage, target, offset, kind)
        scalars = (value, *starts)
        inputs = (storage.value,)
    elif kind is Tensor and value._storage is storage and value._spec is target and value._offset == offset and not (
            LOCAL.grad_enabled and (value._requires_grad or value._info is not None and value._info.base._requires_grad)):
        self._counter.version += 1                     # `x[i] += y` ends with `x[i] = x[i]`: PyTorch copies and counts, the values stay
        if self._counter.site is not None:
            self._counter.site = sites.user_site()
        return
    elif kind is Tensor and value._storage is not storage and value._spec.device is target.device and not (
            LOCAL.grad_enabled and (value._requires_grad or value._info is not None)) and value._spec.size == target.size:
        plan, scalars = _copy_plan(storage, target, offset, value._spec)
        inputs = (storage.value, read(value))
    else:
        return indexing.setitem(self, index, value)
    if plan is None:
        return indexing.setitem(self, index, value)
    storage.value = record(plan, inputs, scalars)[0]
    counter = self._counter
    counter.version += 1
    if counter.site is not None:
        counter.site = sites.user_site()


def _fill_plan(storage, target, offset, kind):
    key = (storage.layout, target, offset, kind)
    found = _fills.get(key)
    if found is None:
        wrapped = build.WRAPPED[kind]
        found = _written(storage, target, offset, ops.fill, [target, wrapped], ("in place", ops.fill, target, wrapped), 0)
        _remember(_fills, key, found)
    return found


def _copy_plan(storage, target, offset, source):
    key = (storage.layout, target, offset, source)
    found = _copies.get(key)
    if found is None:
        found = _written(storage, target, offset, ops.copy, [target, source], ("in place", ops.copy, target, source), 1)
        _remember(_copies, key, found)
    return found


def _written(storage, target, offset, operator, template, cache_key, sources):
    """(plan of an overwriting write straight into the base, starts), or (None, ()) where it takes the general path."""
    layout = storage.layout
    if target is layout or not target.dense and geometry.has_internal_overlap(tuple(target.size), target.stride) == "yes":
        return None, ()
    plan = PLANS.get(cache_key) or plan_of(cache_key, operator, template, True)
    program, starts = _access(layout, target, offset)
    identity = (plan, program, layout)
    made = inplace._overwrites.get(identity)
    if made is None:
        made = inplace._overwrites[identity] = inplace._overwrite_plan(plan, program, layout, target, sources, len(starts))
    return made, starts


__all__ = ["getitem", "setitem"]
