"""Operators in place: ``self.name_(...)``.

Owns: `call_inplace`: the operation as any other, checked as PyTorch checks a write, its result put in the tensor's place, its node made
the history of what was written; operators that do not read what they write over go straight into the base. Hot paths: `writers`, `quick`.
"""
import contextlib

from ...autograd import engine
from ...autograd import gradmode_checks as checks
from ...autograd.graph import node_class, sequence
from ...base import devices, geometry, sites
from ...base.bounded import Bounded
from ...base.dtypes import scalar_name
from ...ops import saves
from ...ops.fitting import fit
from ...trace.plan import Plan
from ...trace.tape import LOCAL, record
from ..calling.arguments import collect_on_one_device, of_method, shown_name
from ..dispatch import PLANS, plan_of
from ..history import edge_of, needs_of, node_type, rebase, refuse_stale, save
from ..values import _access, _flip, assign, bump, has_pieces, meta_value, read


def call_inplace(operator, args):
    """``self.name_(...)``: the same operation, its result put in ``self``'s place."""
    self = args[0]
    if operator.by_result is not None:
        operator = operator.by_result
    try:
        key, template, tensors, scalars = collect_on_one_device(operator, args)
    except TypeError as error:
        raise of_method(error, shown_name(operator) + "_") from None
    needs = ()
    grad_enabled, quirks = LOCAL.grad_enabled, operator.quirks
    if self._auto is not None and self._inference_tensor() is True and not LOCAL.inference:
        _into_inference_tensor(operator, args)
    if grad_enabled and quirks.untracked:
        grad_enabled = False
    elif grad_enabled or LOCAL.inference or self._info is not None or self._auto is not None:
        tracked = grad_enabled and (operator.name != "copy" or self._spec.dtype.differentiable)
        checks.before_inplace(self, tracked and any(t.requires_grad for t in tensors))
    if quirks.keeps_history:
        grad_enabled = False
    key = ("in place", *key)
    try:
        for at, other in enumerate(tensors):
            if at and other._storage is self._storage:
                checks.operand_may_overlap(self, other, operator)
        plan = PLANS.get(key)
        if plan is None:
            if not quirks.overlap_allowed or self._spec.conj or self._spec.neg:         # to be copied back
                _no_internal_overlap(self, operator, template)
            elif quirks.overlap_warns:
                _deprecated_overlap(self, quirks.overlap_warns)
            plan = plan_of(key, operator, template, True)
        if plan.fits:
            fit(plan, operator.by_name, args)
    except Exception:
        refuse_stale(tensors)
        raise
    if grad_enabled and (self._spec.dtype.differentiable or not quirks.quiet_written):
        needs = needs_of(plan, tensors) if 0 not in operator.nondiff else _all_needs(tensors)
        if needs and not self._spec.dtype.differentiable:
            engine.RESHAPED[0] = True                       # its gradient cannot have its type
    if operator.overwrites and not needs and self._spec.device is devices.cpu:
        overwrite(self, plan, tensors[1:], scalars)
        return self
    values = [read(t) for t in tensors]
    if self._spec.device is devices.meta:
        made = [meta_value(self._spec.aval)]
    else:
        made = record(plan, values, scalars)
    finish_inplace(self, plan, tensors, needs, scalars, made[0], values)
    return self


def _no_internal_overlap(self, operator, template):
    """PyTorch asks between what an operator checks of its arguments and whether it has a kernel for their types."""
    try:
        checks.no_internal_overlap(self)
    except RuntimeError:
        if operator.check_inplace is not None:
            with contextlib.suppress(NotImplementedError):
                operator.check_inplace(*template)
        raise


def _deprecated_overlap(self, names):
    """Said when a kind of call is met first."""
    if geometry.has_internal_overlap(tuple(self._spec.size), self._spec.stride) == "yes":
        for name in names:
            example = "indices] = tensor" if name == "index_put_" else "mask] = scalar"
            sites.warn(f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
                       f"This also applies to advanced indexing e.g. tensor[{example}")


def _into_inference_tensor(operator, args):
    """Outside of inference mode such a write is refused where PyTorch counts it, which is when it has been done."""
    before = LOCAL.grad_enabled
    LOCAL.inference, LOCAL.grad_enabled = True, False
    try:
        call_inplace(operator, args)
    finally:
        LOCAL.inference, LOCAL.grad_enabled = False, before
    raise RuntimeError(checks.INFERENCE)


def _all_needs(tensors):
    """A comparison written into a float tensor cuts the history: its gradient is zero, but there is one."""
    return tuple([i for i, t in enumerate(tensors) if t.requires_grad])


def history_allows(self, *others):
    """What PyTorch asks before anything else of a tensor that is to be written to, for operators that check more than their plan does."""
    if LOCAL.grad_enabled or LOCAL.inference or self._info is not None or self._auto is not None:
        checks.before_inplace(self, LOCAL.grad_enabled and (self.requires_grad or any(t.requires_grad for t in others)))
        refuse_stale([t for t in others if t._info is not None])


def memory_allows(self, *others):
    """What it asks of writes by index: no operand shares memory with the tensor."""
    for other in others:
        if other._storage is self._storage:
            checks.no_overlap(self, other)


# -- without reading --------------------------------------------------------------------------------------------------


def overwrite(self, plan, sources, scalars):
    """An in-place operator that does not read what it writes over: straight into the base, as one node."""
    storage, spec = self._storage, self._spec
    layout = storage.layout
    program, starts = (None, ()) if spec is layout else _access(layout, spec, self._offset)
    if plan.operator.overwrites == "src" and program is None and storage.host is None and not (spec.conj or spec.neg):
        value = read(sources[0])
        if value.aval is layout.aval:                   # nothing to compute: values are immutable, so both may hold it
            storage.set(value)
            bump(self)
            return
    if program is not None and has_pieces(storage, spec):
        made = plan_to_overwrite(plan, None, spec, spec, len(sources), 0)
        assign(self, record(made, [read(t) for t in sources], scalars)[0])
        return
    made = plan_to_overwrite(plan, program, layout, spec, len(sources), len(starts))
    values = [read(t) for t in sources]
    if program is not None:
        values.insert(0, storage.current())
    value = record(made, values, (*scalars, *starts))[0]
    storage.set(value, spec, self._offset)
    bump(self)


def plan_to_overwrite(plan, program, layout, spec, sources, count):
    """The plan that puts what ``plan`` makes straight into the base, by a program with ``count`` starts; by None, it is all of it."""
    key = (plan, program, layout)
    found = _overwrites.get(key)
    if found is None:
        found = _overwrites[key] = _overwrite_plan(plan, program, layout, spec, sources, count)
    return found


_overwrites = Bounded(1 << 14)


def _overwrite_plan(plan, program, layout, spec, sources, count):
    import jax
    flip = _flip(spec) if spec.conj or spec.neg else None
    like = jax.ShapeDtypeStruct(tuple(spec.size), spec.dtype.numpy)
    numbers = len(plan.scalar_kinds)

    def function(*xs):
        base, xs = (xs[0], xs[1:]) if program is not None else (None, xs)
        new = plan.function(like, *xs[:sources + numbers])[0]
        if flip:
            new = flip(new)
        return (new if program is None else program.write(base, new, *xs[sources + numbers:]),)
    inputs = (() if program is None else (layout.aval,)) + plan.inputs[1:]
    shape = tuple(spec.size), spec.dtype.name
    return Plan(("overwrite", plan.key, program and program.key, shape, spec.conj, spec.neg), function, inputs, (layout.aval,),
                (*plan.scalar_kinds, *("i",) * count), moves=True)


# -- with history -----------------------------------------------------------------------------------------------------


def finish_inplace(self, plan, tensors, needs, scalars, value, values):
    """Writes the result and rewrites the history."""
    if not needs:
        assign(self, value)
        return
    edges_before = [edge_of(t) if i in needs else None for i, t in enumerate(tensors)]
    codes = saves.codes(plan, needs)
    if 0 in codes and not self._spec.dtype.differentiable:
        raise RuntimeError(f"Autograd not support dtype: {scalar_name(self._spec.dtype)}")        # PyTorch clones it, to save it
    entries = [None if code < 0 else values[0] if code == 0 else save(code, tensors, ()) for code in codes]
    assign(self, value)
    cls = inplace_node_type(plan.operator, len(tensors))
    node = cls.__new__(cls)
    node.edges, node.sequence = tuple(edges_before), sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = None
    node.site = sites.user_site()
    node.plan, node.needs, node.scalars = plan, needs, scalars
    node.saved = [save(code, tensors, [self]) if entry is None else entry for code, entry in zip(codes, entries, strict=True)] \
        if codes else ()
    rebase(self, node)


def inplace_node_type(operator, count):
    """The node's class of an in-place operator; PyTorch numbers some of these apart."""
    name = operator.quirks.inplace_node
    if name is None and 0 in operator.nondiff:
        name = operator.backward[:-1] + ("0" if count == 1 else "1")
    return node_type(operator) if name is None else node_class(name)
