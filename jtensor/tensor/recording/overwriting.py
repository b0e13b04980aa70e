"""Writes that do not ask what was there: a number or a tensor put into a tensor or a part of it, as one node on the tape.

Serves the ordinary case of `fill_`, `zero_`, `copy_` and ``x[...] = y``: a whole storage or a view of one, on the CPU, no gradient, numbers
that fit. What is not ordinary is left to the general path (`inplace.overwrite`), whose plans these are. May not know: rules of indexing.
"""
import weakref

from ...autograd.gradmode_checks import apart_at
from ...base import devices, geometry
from ...base.bounded import MANY, Bounded
from ...ops import build
from ...ops.families import create as ops
from ...trace import tape
from ...trace.tape import LIFTED, LOCAL, TRIE, Value, record, slot
from ..dispatch import PLANS, plan_of
from ..values import _access, bump, read, taken_from
from . import inplace

FLOAT_MAX = 3.4e38                                 # beyond, and for infinities, PyTorch's rules are asked
ZERO = "zero"
SHARED = None, (), False                           # nothing to compute: values are immutable, so both tensors may hold it
reference, new_value, cpu = weakref.ref, Value.__new__, devices.cpu
_spots = Bounded(MANY)


def spot_of(layout, target, offset, what):
    """What puts ``what`` (a number's type, `ZERO`, the Spec of a tensor) there: (plan, starts, whether it takes the base), `SHARED`, or
    () for the general path."""
    key = layout, target, offset, what
    found = _spots.get(key)
    if found is None:
        found = _spots[key] = _spot(layout, target, offset, what)
    return found


def _spot(layout, target, offset, what):
    if not target.dense and geometry.has_internal_overlap(tuple(target.size), target.stride) == "yes" or target.conj or target.neg:
        return ()
    if what is float or what is int:
        if target.dtype.itemsize < 4 or what is float and target.dtype.category < 2:
            return ()
        operator, template, sources = ops.fill, [target, build.WRAPPED[what]], 0
    elif what is ZERO:
        operator, template, sources = ops.zero, [target], 0
    else:
        operator, template, sources = ops.copy, [target, what], 1
        if target.size != what.size or what.device is not cpu:
            return ()
        if target is layout and what.aval is layout.aval:
            return SHARED
    identity = ("in place", operator, *template)
    plan = PLANS.get(identity) or plan_of(identity, operator, template, True)
    program, starts = (None, ()) if target is layout else _access(layout, target, offset)
    made = inplace.plan_to_overwrite(plan, program, layout, target, sources, len(starts))
    return made, tuple(starts), program is not None


def put(tensor, storage, spot, value=None, kind=None):
    """Records the write of a number, of zeros, or of a Value to a spot of a storage; ``tensor`` counts it."""
    plan, starts, based = spot
    segment = LOCAL.segment
    positions = taken = ()
    if based:
        base = storage.value
        positions = (base.position if base.segment is segment else slot(segment, base),)
    if kind is Value:
        positions += (value.position if value.segment is segment else slot(segment, value)),
    key = plan, positions
    state = segment.state.children.get(key)
    if state is None:
        if LIFTED in positions:
            _put_lifted(tensor, storage, spot, value)
            return
        state = TRIE.grow(segment.state, key, plan)
    if kind is float:
        taken = ("f", len(segment.floats)),
        segment.floats.append(value)
    elif kind is int:
        taken = ("i", len(segment.integers)),
        segment.integers.append(value)
    if starts:
        taken += taken_from[len(segment.integers), len(starts)]
        segment.integers += starts
    made = new_value(Value)
    made.array, made.segment, made.aval = None, segment, storage.layout.aval
    node = plan, positions, taken, reference(made)
    made.position = count = segment.count                   # from here on at once: see `tape.append`
    segment.count, segment.state = count + 1, state
    segment.nodes.append(node)
    storage.value = made
    bump(tensor)
    if state.cut:
        base = value = None                        # what was there is nobody's any more, and the tape that ends here need not give it
        tape.over_cap()


def _put_lifted(tensor, storage, spot, value):
    """`put` of a Value that stands for more than an array."""
    plan, starts, based = spot
    storage.set(record(plan, (storage.value, value) if based else (value,), starts)[0])
    bump(tensor)


def ordinary(tensor, storage, local):
    """Whether a write to the tensor asks for no history and nothing of autograd's: its memory is its own, on the CPU."""
    auto, info = tensor._auto, tensor._info
    return storage.spec is not None and not local.eager and not local.inference and tensor._spec.device is cpu and (
        auto is None or not auto.inference) and not (local.grad_enabled and (tensor._requires_grad or info is not None
                                                                              and info.base._requires_grad))


def fill(tensor, value):
    """Fills a tensor with a number, or with zeros where that is None; answers whether it has."""
    storage, kind = tensor._storage, value.__class__
    if not ordinary(tensor, storage, LOCAL):
        return False
    if value is None:
        what = ZERO
    elif kind is float and -FLOAT_MAX <= value <= FLOAT_MAX or kind is int and -0x80000000 <= value < 0x80000000:
        what = kind
    else:
        return False
    spot = _spots.get((storage.layout, tensor._spec, tensor._offset, what)) or spot_of(storage.layout, tensor._spec, tensor._offset, what)
    if not spot:
        return False
    put(tensor, storage, spot, value, kind)
    return True


def copy(tensor, source):
    """Copies a tensor of the same shape into another; answers whether it has."""
    storage, local = tensor._storage, LOCAL
    if not ordinary(tensor, storage, local) or local.grad_enabled and (source._requires_grad or source._info is not None
                                                                        and source._info.base._requires_grad):
        return False
    spec, offset = tensor._spec, tensor._offset
    if source._storage is storage and not apart_at(spec, offset, source._spec, source._offset):
        return False
    spot = _spots.get((storage.layout, spec, offset, source._spec)) or spot_of(storage.layout, spec, offset, source._spec)
    if not spot:
        return False
    if spot is SHARED:
        value = read(source)
        if value.position is LIFTED:
            storage.set(value)
        else:
            storage.value = value
        bump(tensor)
    else:
        put(tensor, storage, spot, read(source), Value)
    return True
