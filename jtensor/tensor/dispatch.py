"""The one path every operator takes: a call taken apart, its plan looked up, recorded, its results made tensors with a history.

Owns: `call`, the general path (`arguments` -> plan -> `values` -> tape -> `history`); `call_out` for ``out=``; the table of plans. Ordinary
calls go the same way in `tensor.recording.recorders`, written out for the operator; calls in place are in `tensor.recording.inplace`.
"""
from ..autograd import gradmode_checks as checks
from ..base import devices, dtypes
from ..base.errors import missing
from ..base.precision import ALLOWED
from ..base.return_types import as_many, return_type, written_type
from ..ops import build, out_types
from ..ops.fitting import fit
from ..ops.operator import Operator, Static
from ..trace import spec as specs
from ..trace import tape
from ..trace.executor import flush, on_host
from ..trace.tape import LOCAL, hosted, record
from .calling.arguments import bind, collect_on_one_device, settled, shown_name, unknown_size
from .calling.entries import refuse_entry
from .calling.refusals import check_statics
from .changing import joined_on_host, kind_of_list
from .core import Tensor
from .history import attach, needs_of, refuse_stale
from .values import any_lifted, lies_flipped, meta_values, read, read_flipped, wrap

PLANS = {}


# -- plans ------------------------------------------------------------------------------------------------------------


def plan_of(key, operator, template, inplace=False, tensors=()):
    plan = PLANS.get(key)
    if plan is None:
        try:
            refuse_entry()
            check_statics(operator, shown_name(operator), template)
            template = list(map(settled, template))
            plan = build.plan_for(operator, template, inplace)
        except Exception:
            refuse_stale(tensors)
            raise
        if len(PLANS) > 200_000:
            PLANS.clear()
        if operator.on_host is not None:
            plan.together = kind_of_list(plan)
        PLANS[key] = plan
    return plan


def forget():
    """Forgets what was worked out under another default dtype."""
    PLANS.clear()
    tape.TRIE.forget()
    LOCAL.segment = tape.Segment()


def permit_tf32(what, allowed):
    """Permits TF32 on a GPU for products of matrices ("matmul") or convolutions ("conv"), or forbids it, from the next operation on."""
    if ALLOWED[what] is not allowed:
        flush("precision")
        ALLOWED[what] = allowed
        forget()


# -- calling ----------------------------------------------------------------------------------------------------------


def call(operator, args, out=None):
    """Applies an operator: the general path."""
    if out is not None:
        return call_out(operator, args, out)
    key, template, tensors, scalars = collect_on_one_device(operator, args)
    if operator.sync:
        return call_sync(operator, _settled(operator, args), tensors)
    places = operator.by_name
    if operator.flipped is not None:
        operator, key, template = flipped(operator, key, template, tensors)
    plan = PLANS.get(key)
    if plan is None:
        plan = plan_of(key, operator, template, tensors=tensors)
    if plan.fits:
        fit(plan, places, args)
    return run(plan, tensors, scalars)


def flipped(operator, key, template, tensors):
    """The twin of an operator for operands that are transposes of their memory, if there are any."""
    twin, letters = operator.flipped
    flips = ""
    specs_seen = iter(tensors)
    for parameter, given in zip(operator.parameters, template):
        if type(given) is specs.Spec:
            tensor = next(specs_seen)
            if parameter.name in letters and lies_flipped(tensor):
                flips += letters[parameter.name]
    if not flips:
        return operator, key, template
    at = twin.by_name["flips"]
    return twin, (twin, *key[1:at + 1], flips, *key[at + 1:]), [*template[:at], flips, *template[at:]]


def run(plan, tensors, scalars):
    """Records a plan on tensors; answers a tensor, or a tuple of them."""
    needs = needs_of(plan, tensors) if LOCAL.grad_enabled else ()
    values = [read_flipped(t) if at in plan.flipped else read(t) for at, t in enumerate(tensors)] if plan.flipped else [
        read(t) for t in tensors]
    if plan.specs and plan.specs[0].device is devices.meta:
        made = meta_values(plan)
    elif joined_on_host(plan) and not any_lifted(tensors):
        arrays = [on_host(v, "a list of changing length") for v in values]
        made = [hosted(plan.operator.on_host(arrays, *plan.notes.template[1:]), plan.single)]
    else:
        made = record(plan, values, scalars)
    return results(plan, made, tensors, needs, scalars)


def results(plan, made, tensors, needs, scalars):
    """The tensors of a recorded plan's values, with their history."""
    spec = plan.spec
    if spec is not None and plan.operator.outputs is None:
        out = wrap(made[0], spec)
        if needs:
            attach(plan, tensors, needs, (out,), scalars)
        return out
    outs = [wrap(v, s) for v, s in zip(made, plan.specs, strict=True)]
    if needs:
        attach(plan, tensors, needs, outs, scalars)
    return tuple.__new__(_answers.get(plan.operator) or _answer_of(plan.operator), outs)


def _answer_of(operator):
    """The class of an operator's several results: a named tuple, or `tuple`."""
    names = operator.outputs
    found = _answers[operator] = tuple if names is None else return_type(
        operator.name.split("_dim")[0] if names[0] is not None else "", names)
    return found


_answers = {}


def _settled(operator, args):
    return [settled(a) if p.kind is Static else a for p, a in zip(operator.parameters, args, strict=False)]


def call_sync(operator, args, tensors):
    """An operator whose output shapes depend on the data: it looks at the values, as on any eager library."""
    import numpy as np

    for t in tensors:
        if t._spec.device is devices.meta:
            if operator.on_meta is None:
                raise unknown_size(operator)
            return operator.on_meta(*args)
    if operator.sync == "slices" and any_lifted(tensors):
        from .lifted.batching import is_batch, slice_by_slice
        if any(map(is_batch, tensors)):
            return slice_by_slice(lambda slices: call_sync(operator, args, slices), tensors)
    arrays = iter([on_host(read(t), operator.name) for t in tensors])

    def given(a):
        return next(arrays) if isinstance(a, Tensor) else [next(arrays) for _ in a] if a and isinstance(a, (list, tuple)) \
            and isinstance(a[0], Tensor) else a
    with np.errstate(all="ignore"):                          # infinities and NaN are results here, which NumPy warns of
        outs = operator.body(*[given(a) for a in args])
    from .creating.from_data import _lay_like, from_host, laid
    found = [np.asarray(o) for o in (outs if isinstance(outs, tuple) else (outs,))]
    made = [from_host(np.asarray(o, order="C"), device=tensors[0].device) for o in found]
    if any_lifted(tensors) and any(m._spec.dtype.differentiable for m in made):
        raise missing(f"the tangent of {shown_name(operator)}", "the function of tensor.detach()")
    if callable(operator.layout):
        for tensor, stride in zip(made, operator.layout(None, found, None), strict=True):
            laid(tensor, stride)
    else:
        made = [_lay_like(m, f) if f.size else m for m, f in zip(made, found, strict=True)]     # NumPy's empty arrays have strides of 0
    return made[0] if not isinstance(outs, tuple) else tuple(made)


def _call_operator(self, *args, out=None, **kwargs):
    """An `Operator` called on tensors, by PyTorch's parameters."""
    if out is not None:
        return call_out(self, bind(self, args, kwargs), out)
    return self.record(*bind(self, args, kwargs)) if kwargs else self.record(*args)


Operator.__call__ = _call_operator


# -- out= -------------------------------------------------------------------------------------------------------------


def call_out(operator, args, out):
    """``torch.name(..., out=t)``: computed, cast, and written to ``t``, which is resized where its shape differs."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for t in outs:
        if not isinstance(t, Tensor):
            raise TypeError(f"{operator.name}(): argument 'out' must be Tensor, not {type(t).__name__}")
    key, template, tensors, scalars = collect_on_one_device(operator, args)
    if LOCAL.grad_enabled and 0 not in operator.nondiff:
        checks.no_out_history(shown_name(operator), *tensors, *outs)
    if operator.sync:
        made = call_sync(operator, _settled(operator, args), tensors)
    else:
        plan = plan_of(key, operator, template)
        if plan.fits:
            fit(plan, operator.by_name, args)
        made = run(plan, tensors, scalars)
    results = made if isinstance(made, tuple) else (made,)
    as_many(results, outs)
    wanted = template[operator.by_name["dtype"]] if "dtype" in operator.by_name else None
    if wanted is not None and wanted is not outs[0]._spec.dtype:                       # a type that is asked for is written as it is
        raise RuntimeError(out_types.SAME.format(want=dtypes.cpp_name(wanted), got=dtypes.cpp_name(outs[0]._spec.dtype)))
    for result, target in zip(results, outs, strict=True):
        checks.out_memory(operator, result, target, tensors)
        checks.out_fits(operator, result, target, tensors)
    for result, target in zip(results, outs, strict=True):
        write_out(result, target, fold=operator.quirks.out_fold)
    if not isinstance(made, tuple):
        return outs[0]
    return written_type(type(made))(outs)


def write_out(result, target, resizes=checks.warn_resize, recorded=False, fold=None):
    """``result`` in the memory of ``target``; ``resizes(target, result)`` is asked, or warns, where that has to get another size.

    The write may be ``recorded``. ``fold``: what stays where elements of the target share a place (`Quirks.out_fold`); None: that
    is refused.
    """
    if tuple(target._spec.size) != tuple(result._spec.size):
        resizes(target, result)
        from .memory.storages import resize
        resize(target, tuple(result._spec.size))
        if result._spec.stride != target._spec.stride and result._spec.dense:
            target._spec = specs.spec(result._spec.size, result._spec.stride, target._spec.dtype, target._spec.device)
        target._counter.version -= 1                         # resizing and writing count as one
    if fold is None:
        checks.no_internal_overlap(target)
    previous, LOCAL.grad_enabled = LOCAL.grad_enabled, recorded and LOCAL.grad_enabled
    try:
        if fold is not None and not target._spec.dense:
            result, target = _folded(result, target, fold)
        target.copy_(result)
    finally:
        LOCAL.grad_enabled = previous


def _folded(result, target, fold):
    """The two without the dimensions in which the target's elements share a place."""
    for dim, (size, stride) in enumerate(zip(target._spec.size, target._spec.stride, strict=True)):
        if size > 1 and not stride:
            result = result.narrow(dim, size - 1, 1) if fold == "last" else getattr(result, fold)(dim, keepdim=True).to(result._spec.dtype)
            target = target.narrow(dim, 0, 1)
    return result, target
