"""Views: another geometry over the same storage, with PyTorch's history.

A view records nothing by itself; it is read when it is used. For the gradient each has a plan on logical values: the same rule applied to a
contiguous input, read by the same access programs, and differentiated by replay (views are linear: nothing is saved).
Owns: `view_of` and `share`, the plans of views, `as_strided`, and the history of a view after its base was written. The operators are in
`shapes`, `pieces` and `retyped`; geometry rules are in `jtensor.views.rules`.
"""

from functools import partial

from ...autograd.graph import sequence
from ...base import dtypes, geometry
from ...base.bounded import MANY, Bounded
from ...ops.quirks import NONE, Quirks
from ...ops.registry import composite
from ...trace import spec as specs
from ...trace.plan import Plan
from ...trace.tape import LOCAL
from ...views import access as accesses
from ...views import rules
from ..calling.entries import refuse_entry, refuse_odd
from ..core import Tensor, View
from ..history import attach, edge_of, move_retained, node_type, refuse_stale

# -- operators of the graph -------------------------------------------------------------------------------------------


# What the gradient of a view ends with in PyTorch, where it is not "…BackwardBackward0".
_DOUBLE = {"AsStridedBackward0": "AsStridedBackward0", "SplitBackward0": "CatBackward0", "SplitWithSizesBackward0": "CatBackward0",
           "UnbindBackward0": "StackBackward0", "ViewBackward0": "ViewBackward0", "ReshapeAliasBackward0": "ViewBackward0",
           "ExpandBackward0": "+"}
_QUIRKS = {"AsStridedBackward0": Quirks(writes=1, constant_if=lambda plan: 0 in plan.outputs[0].shape)}


class ViewOperator:
    """Stands for a view operator in the graph: a name, and nothing to save."""

    grad = outputs = promote = node_class = None
    saves = ()
    nondiff = frozenset()

    def __init__(self, name):
        self.name, self.backward, self.key, self.double = name, name, "view." + name, _DOUBLE.get(name)
        self.quirks = _QUIRKS.get(name, NONE)


_operators, _plans = {}, Bounded(1 << 14)
_gapped = {}                    # plans of reads of tensors with gaps, one for each place: as many as come, so that the oldest go


def operator_of(name):
    found = _operators.get(name)
    if found is None:
        found = _operators[name] = ViewOperator(name)
    return found

# -- sharing a storage ------------------------------------------------------------------------------------------------


def geometry_of(t):
    spec = t._spec
    return tuple(spec.size), spec.stride, t._offset


def share(self, size, stride, offset, dtype=None, conj=None, neg=None, creation="default"):
    """A tensor with another geometry on this one's storage and version counter, without history yet."""
    spec = self._spec
    made = specs.spec(size, stride, dtype or spec.dtype, spec.device, spec.conj if conj is None else conj, spec.neg if neg is None else neg)
    return share_spec(self, made, offset, creation)


def share_spec(self, made, offset, creation="default"):
    """`share` for a geometry that is a Spec already."""
    out, counter, local = _new_tensor(Tensor), self._counter, LOCAL
    out._storage, out._spec, out._offset, out._cached, out._counter = self._storage, made, offset, None, counter
    out._requires_grad, out._edge, out._info, out._auto = False, None, None, None
    if self._auto is not None and self._auto.inference:
        out._autograd_meta().inference = True
        return out
    if local.inference:
        creation = "inference"
    elif not local.grad_enabled:
        creation = "no_grad"
    base, info = self, self._info
    if info is not None and info.base is not None and info.differentiable:
        base = info.base
        if creation == "default" or info.creation == "inference":
            creation = info.creation
    view = out._info = _new_view(View)
    view.base, view.creation, view.version, view.differentiable, view.replay = base, creation, counter.version, True, None
    if info is not None and info.replay is not None:
        view.replay = lambda base: as_strided(info.replay(base), tuple(made.size), made.stride, offset)
    return out


_new_tensor, _new_view = object.__new__, View.__new__


def replayed(self, out, function):
    """Tells a view that is no mere geometry of its base how to be made again from it: ``function`` makes it from ``self``."""
    info = self._info
    if out._info is None:
        return
    if info is None or info.base is None or not info.differentiable:
        out._info.replay = function
    elif info.replay is not None:
        out._info.replay = lambda base: function(info.replay(base))
    else:
        here = geometry_of(self)
        out._info.replay = lambda base: function(as_strided(base, *here))

# -- a view by a geometry rule ----------------------------------------------------------------------------------------


def view_of(self, rule, name, *args, inverse=None):
    """The view that a geometry rule makes of a tensor.

    ``inverse(grad, size, *args)``, where the gradient is a view of the gradient that arrives, as in PyTorch: then it is no copy.
    ``size`` is that of the tensor.
    """
    spec = self._spec
    key = (rule, name, spec, args)
    try:
        found = _geometries.get(key)
    except TypeError:                                # arguments that cannot be keys, such as lists
        refuse_odd(args)
        return _view_of(self, rule, name, args, inverse)
    if found is None:
        refuse_odd(args)
        try:
            size, stride, delta = rule(tuple(spec.size), spec.stride, 0, *args)
        except Exception:
            if rule not in CHECKED_FIRST:
                refuse_stale((self,))
            raise
        found = _geometries[key] = [specs.spec(size, stride, spec.dtype, spec.device, spec.conj, spec.neg), delta, None, ()]
    out = share_spec(self, found[0], self._offset + found[1])
    if LOCAL.grad_enabled and (self._requires_grad or self._info is not None and self.requires_grad) and out._auto is None:
        plan = found[2]
        if plan is None:
            if not spec.dtype.differentiable:                      # of integers there is no history, though those written to can have one
                raise RuntimeError(f"Autograd not support dtype: {dtypes.scalar_name(spec.dtype)}")
            size = tuple(spec.size)
            plan, starts = logical_plan(name, spec.aval, rule(size, geometry.contiguous_strides(size), 0, *args), args if inverse else None)
            _set_inverse(plan, inverse, size, args)
            found[2], found[3] = plan, starts
        out._edge, out._requires_grad = (_node(plan, self, found[3]), 0), True
    return out


def _node(plan, tensor, starts):
    """The node of a view of a tensor; it saves nothing."""
    cls = plan.operator.node_class or node_type(plan.operator)
    node = cls.__new__(cls)
    edge = tensor._edge if tensor._info is None else None
    node.edges, node.sequence = (edge_of(tensor) if edge is None else edge,), sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
    node.plan, node.needs, node.scalars, node.saved = plan, _FIRST, starts, ()
    return node


_FIRST = (0,)


_geometries = Bounded(MANY)
CHECKED_FIRST = frozenset((rules.narrow, rules.movedim, rules.unflatten))        # by PyTorch, before autograd is asked


def _view_of(self, rule, name, args, inverse):
    size, stride, offset = geometry_of(self)
    out = share(self, *rule(size, stride, offset, *args))
    if LOCAL.grad_enabled and self.requires_grad and out._auto is None:
        hang(self, out, name, rule(size, geometry.contiguous_strides(size), 0, *args), inverse, args)
    return out


def hang(self, out, name, logical, inverse=None, args=()):
    """Gives a view its node: ``logical`` is its geometry over the contiguous input; the rule's arguments ``args`` name the inverse."""
    plan, starts = logical_plan(name, self._spec.aval, logical, args if inverse else None)
    _set_inverse(plan, inverse, tuple(self._spec.size), args)
    attach(plan, [self], (0,), [out], starts)


def _set_inverse(plan, inverse, size, args):
    if inverse and plan.inverse is None:
        plan.inverse = lambda grad, node: (inverse(grad, size, *args),)

# -- plans ------------------------------------------------------------------------------------------------------------


def logical_plan(name, input_aval, logical, args=None):
    size, stride, offset = logical
    shape = tuple(input_aval.shape)
    program, starts = accesses.access(shape, geometry.contiguous_strides(shape), tuple(size), tuple(stride), offset)
    key = (name, input_aval, program, args)
    plan = _plans.get(key)
    if plan is None:
        def function(x, *starts):
            return (program.read(x, *starts),)
        plan = _plans[key] = _plan(name, ("view", name, program.key), function, input_aval,
                                   specs.aval(tuple(size), input_aval.dtype, input_aval.device), len(starts))
    return plan, starts


def _plan(name, key, function, input_aval, output_aval, count):
    plan = Plan(key, function, (input_aval,), (output_aval,), ("i",) * count, moves=True)
    plan.operator = operator_of(name)
    plan.specs = (specs.of_aval(output_aval),)
    plan.spec = plan.specs[0]
    plan.differentiable = (output_aval.dtype.differentiable,)
    return plan


def _pure_plan(name, input_aval, function, output_aval, *extra):
    """A plan of a view that changes the elements' type or sign: a function of logical values."""
    key = (name, input_aval, output_aval, extra)
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _plan(name, ("view", name, repr(extra)), lambda x: (function(x),), input_aval, output_aval, 0)
        plan.moves = False
    return plan


def strided_plan(base, wanted, spec=None):
    """The plan that reads a geometry out of a tensor's logical value by way of its memory."""
    size, stride, offset = wanted
    target = spec.dtype if spec is not None else base.dtype
    cast = () if target is base.dtype else (base.dtype.numpy, target.numpy)
    if base.dense and (cast or offset >= 0 and geometry.extent(size, stride, offset) <= base.numel):
        program, starts = accesses.access(tuple(base.size), base.stride, size, stride, offset, *cast)

        def function(x, *starts):
            return (program.read(x, *starts),)
        key = (program.key,)
    else:
        start = max(-offset, 0)                      # what it reads beyond the tensor's own elements has no part in the gradient
        count = max(geometry.extent(tuple(base.size), base.stride, start), geometry.extent(size, stride, offset + start))
        into, into_starts = accesses.access((count,), (1,), tuple(base.size), base.stride, start)
        program, starts = accesses.access((count,), (1,), size, stride, offset + start, *cast)

        def function(x, *starts):
            import jax.numpy as jnp
            memory = into.write(jnp.zeros((count,), x.dtype), x, *[jnp.int64(s) for s in into_starts])
            return (program.read(memory, *starts),)
        key = (program.key, into.key, into_starts, count)
    inverse = None if base.dense or cast else partial(_strided_gradient, base, size, stride, offset)
    identity = ("AsStridedBackward0", base, program, key, target, None if inverse is None else wanted)     # which says where it reads
    plans = _plans if inverse is None else _gapped
    plan = plans.get(identity)
    if plan is None:
        if plans is _gapped and len(plans) >= 4096:
            plans.pop(next(iter(plans)), None)
        plan = plans[identity] = _plan("AsStridedBackward0", ("as_strided", *key), function, base.aval,
                                        specs.aval(size, target, base.device), len(starts))
        plan.inverse = inverse
        if base.dense:
            plan.notes = specs.spec(base.size, base.stride, base.dtype, base.device)        # so PyTorch lays the gradient out
    return plan, starts

def _strided_gradient(base, size, stride, offset, grad, node):
    """The gradient of a geometry over a tensor that is not dense, by way of memory, as PyTorch finds it.

    Elements of the view that are one cell give it their sum; of a cell that is several elements of the tensor each gets its share.
    """
    from ..creating.create import zeros_like_spec
    from ..lifted.batching import as_batched_as
    own, aval = tuple(base.size), base.aval
    if 0 in own or 0 in size:
        return (zeros_like_spec(specs.spec(own, None, aval.dtype, aval.device)),)
    start = max(-offset, 0)
    count = max(geometry.extent(own, base.stride, start), geometry.extent(size, stride, offset + start))
    memory = zeros_like_spec(specs.spec((count,), None, aval.dtype, aval.device))
    if grad._storage.host is not None:
        memory = as_batched_as(memory, grad)
    if geometry.is_injective(size, stride):
        as_strided(memory, size, stride, offset + start).copy_(grad)
    else:
        memory.index_add_(0, _cells(count, size, stride, offset + start), grad.reshape((-1,)))
    if not geometry.is_injective(own, base.stride):
        cells = _cells(count, own, base.stride, start)
        one = zeros_like_spec(specs.spec((1,), None, aval.dtype, aval.device)).fill_(1)
        shares = zeros_like_spec(memory._spec).index_add_(0, cells, one.expand(cells._spec.size))
        memory.div_(shares)                          # where nobody looks it is not a number
    return (as_strided(memory, own, base.stride, start),)


def _cells(count, size, stride, offset):
    """Which of ``count`` cells of memory the elements of a geometry are, in their order."""
    from ..creating.create import arange
    return as_strided(arange(count), size, stride, offset).reshape((-1,))


# -- any geometry -----------------------------------------------------------------------------------------------------


def _index(n):
    """An int of the user's call; of anything else it is asked first whether PyTorch takes it there."""
    if n.__class__ is int:
        return n
    refuse_entry()
    if n.__class__ is bool:
        raise TypeError("must be int, not bool")
    return n.__index__()


def _indices(numbers):
    """The ints of a list of the user's, in which PyTorch takes a bool anywhere but in the first place."""
    return tuple([n if n.__class__ is int else int(n) if n.__class__ is bool and at else _index(n) for at, n in enumerate(numbers)])


@composite(asked=True)
def as_strided(input, size, stride, storage_offset=None):
    """Any geometry over the tensor's storage; a view."""
    size, stride = _indices(size), _indices(stride)
    offset = input._offset if storage_offset is None else _index(storage_offset)
    storage = input._storage
    try:
        rules.as_strided(input._offset, size, stride, offset, storage.nbytes(), input._spec.dtype.itemsize)
    except RuntimeError:
        refuse_stale((input,))
        raise
    out = share(input, size, stride, offset)
    if LOCAL.grad_enabled and input.requires_grad and out._auto is None:
        plan, starts = strided_plan(input._spec, (size, stride, offset - input._offset))
        attach(plan, [input], (0,), [out], starts)
    return out


def history_of_view(self, info):
    """After a write to the base or a sibling: the view's history is an `as_strided` of the base's present one."""
    base = info.base
    info.version = self._counter.version
    if info.replay is not None:
        previous, LOCAL.grad_enabled = LOCAL.grad_enabled, True
        try:
            edge = info.replay(base)._edge
            if edge is not None:                                        # else the base has been detached
                move_retained(self, edge[0])
            self._edge, self._requires_grad = edge, edge is not None
        finally:
            LOCAL.grad_enabled = previous
        return
    key = base._spec, self._spec, self._offset - base._offset
    found = _strided.get(key)
    if found is None:
        found = _strided[key] = strided_plan(base._spec, (tuple(self._spec.size), self._spec.stride, key[2]), self._spec)
    plan, starts = found
    node = _node(plan, base, starts)
    move_retained(self, node)
    self._edge, self._requires_grad = (node, 0), True


_strided = Bounded(1 << 14)
