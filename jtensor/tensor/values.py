"""The value of a tensor: reading it, putting another in its place, and the tensor that a fresh value makes.

Owns: `read` (the `Value` of a tensor, through its geometry where it is a view), `assign` (mutation: a new value in the storage, a version
counted), `wrap`, and the plans that read and write a geometry. May not know: operators, gradients.
"""
import weakref

import numpy as np
from numpy import ndarray

from ..base import devices, sites
from ..base.bounded import MANY, Bounded
from ..storage import cell
from ..storage.host import HostMemory, Seen
from ..trace import tape
from ..trace.executor import on_host
from ..trace.lifted import Lifted
from ..trace.plan import Plan
from ..trace.tape import LIFTED, LOCAL, TRIE, Value, hosted, ready, record, slot
from ..views import access as accesses
from .changing import kind_of
from .core import make_tensor

reference = weakref.ref
cpu = devices.cpu

# -- reading ----------------------------------------------------------------------------------------------------------


def read(tensor):
    """The `Value` of a tensor: its storage's base, or the view's part of it (recorded, and kept while the base stays).

    A geometry and offset over a layout seen before is one look-up and one node.
    """
    storage, spec = tensor._storage, tensor._spec
    layout = storage.spec
    if spec is layout:
        return storage.value
    if layout is None or spec.device is not cpu:
        return _read_elsewhere(tensor, storage, spec)
    base, cached = storage.value, tensor._cached
    if cached is not None and cached[0]() is base:
        return cached[1]
    if base.array is None and base.segment.__class__ is ndarray and (value := _reshaped(base, spec, layout)) is not None:
        tensor._cached = (reference(base), value)
        return value
    where = layout, spec, tensor._offset
    place = places.get(where) or place_of(*where)
    if place.kind.apart and place.kind.on_host(layout):
        value = _read_on_host(base, spec, tensor._offset)
        tensor._cached = (reference(base), value)
        return value
    segment, plan, starts = LOCAL.segment, place.read, place.starts
    positions = (base.position if base.segment is segment else segment.slots.get(id(base)) or slot(segment, base),)
    key = plan, positions
    state = segment.state.children.get(key)
    if state is None:
        state = TRIE.grow(segment.state, key, plan)
    taken = ()
    if starts:
        taken = taken_from[len(segment.integers), len(starts)]
        segment.integers += starts
    value = Value()
    value.array, value.segment, value.aval = None, segment, spec.aval
    node = plan, positions, taken, reference(value)
    value.position = count = segment.count                  # from here on at once: see `tape.append`
    segment.count, segment.state = count + 1, state
    segment.nodes.append(node)
    tensor._cached = (reference(base), value)
    if state.cut or LOCAL.eager:
        tape.over_cap()
    return value


def _read_elsewhere(tensor, storage, spec):
    """`read` of what shares its memory with NumPy, or is not on the CPU."""
    cached = tensor._cached
    if storage.host.__class__ is HostMemory and spec is not storage.layout:
        seen = storage.host.seen(spec, tensor._offset, None if cached is None or cached[0].__class__ is not Seen else cached[0])
        if seen is not None:
            tensor._cached = seen, seen.value
            return seen.value
    base = storage.current()
    if spec is storage.layout:
        return base
    if cached is not None and cached[0]() is base:
        return cached[1]
    value = _reshaped(base, spec, storage.layout) if base.array is None and base.segment.__class__ is ndarray else None
    if value is None:
        value = read_at(storage, spec, tensor._offset, base)
    tensor._cached = (reference(base), value)
    return value


def _reshaped(base, spec, layout):
    """All of a memory that is on the host, in another shape, which costs nothing there; None where it lies otherwise."""
    if spec.contiguous and spec.numel == layout.numel and layout.contiguous and spec.dtype is layout.dtype \
            and not spec.conj and not spec.neg:
        return hosted(base.segment.reshape(spec.size), spec.aval)
    return None


def _read_on_host(base, spec, offset):
    """A copy of the elements where they lie in a base's memory, which is run first if it is pending."""
    array, size = on_host(base, "a view of changing memory"), spec.dtype.itemsize
    return hosted(np.ndarray(spec.size, array.dtype, array, offset * size, [n * size for n in spec.stride]).copy(), spec.aval)


class Place:
    """Where a view lies in a layout: the ``program`` for it with its ``starts``, the plan that reads it there, and its `changing.Kind`."""

    __slots__ = ("program", "starts", "read", "kind")


def place_of(layout, spec, offset):
    """The `Place` of a geometry and offset over a layout."""
    key = layout, spec, offset
    found = places.get(key)
    if found is None:
        program, starts = _access(layout, spec, offset)
        identity = (program, layout, spec)
        plan = _reads.get(identity)
        if plan is None:
            plan = _reads[identity] = _read_plan(program, layout, spec, len(starts))
        found = places[key] = Place()
        found.program, found.starts, found.read, found.kind = program, tuple(starts), plan, kind_of(layout, spec)
    return found


class _Taken(Bounded):
    """{(first, how many): what a node says of integers that it takes}."""

    def __missing__(self, key):
        first, count = key
        found = self[key] = tuple([("i", at) for at in range(first, first + count)])
        return found


taken_from = _Taken(1 << 14)
places = Bounded(MANY)
_reads, _writes = Bounded(1 << 14), Bounded(1 << 14)


def _access(layout, spec, offset):
    if layout.dtype is spec.dtype:
        return accesses.access(layout.size, layout.stride, spec.size, spec.stride, offset)
    return accesses.access(layout.size, layout.stride, spec.size, spec.stride, offset, layout.dtype.numpy, spec.dtype.numpy)


def read_at(storage, spec, offset, base=None):
    """The value of a geometry over a storage."""
    if base is None:
        base = storage.current()
    layout = storage.layout
    if spec is layout:
        return base
    if spec.device is devices.meta:
        return meta_value(spec.aval)
    program, starts = _access(layout, spec, offset)
    key = (program, layout, spec)
    plan = _reads.get(key)
    if plan is None:
        plan = _reads[key] = _read_plan(program, layout, spec, len(starts))
    return record(plan, (base,), starts)[0]


def _flip(spec):
    import jax.numpy as jnp

    def flip(x):
        if spec.conj:
            x = jnp.conj(x)
        return -x if spec.neg else x
    return flip


def _read_plan(program, layout, spec, count):
    flip = _flip(spec) if spec.conj or spec.neg else None

    def function(base, *starts):
        x = program.read(base, *starts)
        return (flip(x) if flip else x,)
    made = Plan(("read", program.key, spec.conj, spec.neg), function, (layout.aval,), (spec.aval,), ("i",) * count, moves=True)
    if flip is None and program.is_plain:
        made.on_host = function
    return made


def any_lifted(tensors):
    """Whether one of the tensors has a value that stands for more than an array (`trace.lifted`)."""
    return Lifted in [type(t._storage.value) for t in tensors]


# -- operands that lie transposed -------------------------------------------------------------------------------------


class _Turned(Bounded):
    """{(Spec of a storage or None, Spec of a tensor on it): None, or what stands in keys for a matrix that is the transpose of all that the
    storage holds}."""

    def __missing__(self, key):
        found = self[key] = object() if _is_transpose(*key) else None
        return found


turned_of = _Turned(MANY)


def settle(storage):
    """Ends host mode if nobody shares the memory any more: a read would, and has to find it as it was when it was asked how it lies."""
    if storage.host.__class__ is HostMemory and not storage.host.is_shared():
        storage.current()


def lies_flipped(tensor):
    """Whether a matrix is the transpose of all that its storage holds."""
    storage = tensor._storage
    if storage.spec is None:
        settle(storage)
    return turned_of[storage.spec, tensor._spec] is not None


def _is_transpose(layout, spec):
    return (layout is not None and spec.ndim == 2 and spec is not layout and layout.ndim == 2 and layout.contiguous
            and spec.size == layout.size[::-1] and spec.stride == layout.stride[::-1] and not spec.conj and spec.dtype is layout.dtype
            and spec.numel > 0)


def read_flipped(tensor):
    """The value of a matrix as it lies in memory; transposed for that if it has come to lie otherwise since."""
    if lies_flipped(tensor):
        return tensor._storage.value
    turned = tensor.detach().t()
    return read(turned)


# -- mutation ---------------------------------------------------------------------------------------------------------


def assign(tensor, value):
    """Puts a value of the tensor's own shape and dtype in its place, and bumps the version."""
    storage, spec = tensor._storage, tensor._spec
    if spec is storage.spec:
        if value.position is LIFTED:
            storage.set(value)
        else:
            storage.value = value
    elif spec.device is devices.meta:
        pass
    elif not (has_pieces(storage, spec) and storage.host.put_piece(spec, tensor._offset, value)):
        base = write_at(storage, spec, tensor._offset, value)
        storage.set(base, spec, tensor._offset)
        if storage.host is None and spec is not storage.layout and (spec.dense or _elements_apart(spec)):
            tensor._cached = (reference(base), value)
    bump(tensor)


def has_pieces(storage, spec):
    """Whether a view may be written to in memory that NumPy has, too, without a look at the rest."""
    return storage.host.__class__ is HostMemory and not spec.conj and not spec.neg and (spec.dense or _elements_apart(spec))


def _elements_apart(spec):
    """Whether no two elements are one cell of the memory, so that what has been written is what is read."""
    found = spec.notes.get("apart")
    if found is None:
        found, reach = True, 1
        for step, n in sorted((s, n) for s, n in zip(spec.stride, spec.size, strict=True) if n > 1):
            found = found and step >= reach
            reach += step * (n - 1)
        spec.notes["apart"] = found
    return found


def write_at(storage, spec, offset, value):
    """The storage's base with a geometry's elements replaced: a new value, not yet in the cell."""
    layout = storage.layout
    if spec is layout:
        return value
    place = place_of(layout, spec, offset)
    identity = (place.program, layout, spec)
    plan = _writes.get(identity)
    if plan is None:
        plan = _writes[identity] = _write_plan(place.program, layout, spec, len(place.starts))
    return record(plan, (storage.current(), value), place.starts)[0]


def _write_plan(program, layout, spec, count):
    flip = _flip(spec) if spec.conj or spec.neg else None
    apart = spec.dense or _elements_apart(spec)
    write = program.write if apart else program.write_changed

    def function(base, new, *starts):
        return (write(base, flip(new) if flip else new, *starts),)
    return Plan(("write" if apart else "write changed", program.key, spec.conj, spec.neg), function, (layout.aval, spec.aval),
                (layout.aval,), ("i",) * count, moves=apart)


def bump(tensor):
    counter = tensor._counter
    counter.version += 1
    if counter.site is not None:                     # somebody saved it for a gradient: the line may be wanted in an error
        counter.site = sites.user_site()


# -- fresh values -----------------------------------------------------------------------------------------------------


def wrap(value, spec):
    """A fresh tensor with a storage of its own."""
    storage = cell.new(value, spec)
    if LOCAL.inference:
        return make_tensor(storage, spec, inference=True)
    return make_tensor(storage, spec)


def meta_value(aval):
    """The value of a tensor without data."""
    return ready(None, aval)


LOOKING = []                   # functions that are told of the operations on tensors without data, which no tape has


def meta_values(plan):
    """What an operation gives on tensors without data."""
    for look in LOOKING:
        look(plan)
    return [meta_value(aval) for aval in plan.outputs]
