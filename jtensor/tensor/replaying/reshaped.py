"""The backward of an operation whose saved tensors have another shape or type since, as by `.data =`.

PyTorch's formulas take what is there now: a gradient is what they make of it, and fits its input or does not, which the engine asks. So
does this: an operation by elements is differentiated as if it had been recorded on its operands broadcast as they are now, a formula is
evaluated on what is there. May not know: the walk over the graph.
"""
from ...autograd import saved as saving
from ...autograd.engine import fits
from ...base import dtypes
from ...ops import build, pullback, saves
from ...trace import plan as plans
from ...trace import spec as specs
from ...trace.tape import LOCAL, record
from ..history import edge_of, node_type
from ..values import read, read_at, wrap


def differ(plan, codes, values):
    """Whether some saved value has another shape or type than the operation had it."""
    for code, value in zip(codes, values, strict=True):
        was = plan.inputs[code] if code >= 0 else plan.outputs[~code]
        if value.aval.dtype is not was.dtype or code not in plan.flipped and tuple(value.aval.shape) != tuple(was.shape):
            return True
    return False


def as_it_was(plan, codes, values):
    """The saved values, each in the type in which the operation had it where that is the wider one: PyTorch's formulas promote them."""
    if plan.operator.quirks.right is not None:                  # these do not, and raise
        return values
    made = []
    for code, value in zip(codes, values, strict=True):
        was = (plan.inputs[code] if code >= 0 else plan.outputs[~code]).dtype
        now = value.aval.dtype
        widened = now is not was and dtypes.promote_types(now, was) is was and (now.is_complex or not plan.operator.quirks.real_part)
        made.append(read(wrap(value, specs.of_aval(value.aval)).to(was)) if widened else value)
    return made


def replay(node, grads, needs, entries, rules):
    """The gradients of the inputs at ``needs``; ``entries``: {code: what is saved}, ``rules``: the backward of a node, as it is."""
    plan, operator = node.plan, node.plan.operator
    product = operator.quirks.right is not None
    pointwise = getattr(operator, "promote", None) is not None or operator.name in ("threshold", "copy")
    found = []
    for at in needs[::-1] if product else needs:          # the order tells whose error it is
        codes = saves.codes(plan, (at,))
        own = {code: entries[code] for code in codes}
        if pointwise and len(plan.outputs) == 1:
            found.append(_by_elements(node, grads[0], at, own, rules))
        elif product and len(own) == 1:
            found.append(_product(grads[0], at == operator.quirks.right, _tensor(node, *next(iter(own.items())))))
        elif getattr(operator, "grad", None) is not None:
            found.append(_by_formula(node, grads, at, own))
        else:
            found.append(_as_if_now(node, grads[0], at, own, rules))
        if operator.quirks.real_part and plan.inputs[at].dtype.is_complex and not found[-1]._spec.dtype.is_complex:
            found[-1] = found[-1].to(plan.inputs[at].dtype)
    return found[::-1] if product else found


def _product(grad, right, other):
    """The gradient of a factor; its errors are those of the product that it is."""
    if grad._spec.dtype is not other._spec.dtype and grad._spec.ndim == other._spec.ndim:
        got = [dtypes.cpp_name(t._spec.dtype) for t in ((other, grad) if right else (grad, other))]
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {' != '.join(got)}")
    return grad.t().mm(other).t() if right else grad.mm(other.t())


def _refused():
    return NotImplementedError("jtensor does not differentiate an operation with a saved tensor that has got another shape since")


def _tensor(node, code, entry):
    """A saved entry as a tensor, with its history where that counts."""
    if type(entry) is tuple and len(entry) == 2:
        return entry[0]
    if code < 0 and LOCAL.grad_enabled:
        raise _refused()
    value = saving.value(entry, node, code, read, read_at)
    return wrap(value, specs.of_aval(value.aval))


def _by_elements(node, grad, at, entries, rules):
    """The operation again, on operands of one shape: that of all that has part in the gradient."""
    operands = {code: _tensor(node, code, entry) for code, entry in entries.items()}
    taking_part = [tuple(t._spec.size) for t in operands.values()]
    quirks, parts = node.plan.operator.quirks, [tuple(grad._spec.size), *taking_part]
    if quirks.saved_first or quirks.met_first and len(taking_part) > 1:          # which of two sizes an error names first
        parts.append(parts.pop(0))
    shape = build.broadcast_shapes(parts)
    sizes = [shape] * len(node.plan.inputs)
    return _again(node, grad.expand(shape), at, {code: t.expand(shape) for code, t in operands.items()}, sizes, rules)


def _wide(tensor, code, plan):
    """An operand in the wider of the type that it has and the one that it had."""
    if plan.operator.quirks.real_part and not tensor._spec.dtype.is_complex:
        return tensor
    wanted = dtypes.promote_types(tensor._spec.dtype, (plan.inputs[code] if code >= 0 else plan.outputs[~code]).dtype)
    return tensor if tensor._spec.dtype is wanted else tensor.to(wanted)


def _as_if_now(node, grad, at, entries, rules):
    """The operation as if its inputs had always had the shapes that they have now."""
    operands = {code: _tensor(node, code, entry) for code, entry in entries.items()}
    sizes = [tuple(operands[i]._spec.size if i in operands else a.shape) for i, a in enumerate(node.plan.inputs)]
    return _again(node, grad, at, operands, sizes, rules)


def _again(node, grad, at, operands, sizes, rules):
    """The gradient of input ``at`` by the operation on inputs of other sizes; what is saved is handed over as ``operands``."""
    plan, operator = node.plan, node.plan.operator
    if not isinstance(plan.notes, build.Signature) or any(type(t) is tuple and t and type(t[0]) is specs.Spec for t in plan.notes.template):
        raise _refused()
    operands = {code: _wide(t, code, plan) for code, t in operands.items()}
    types = tuple([operands[i]._spec.dtype if i in operands else a.dtype for i, a in enumerate(plan.inputs)])
    again = _plan(plan, tuple(sizes), types)
    if tuple(again.specs[0].size) != tuple(grad._spec.size):
        raise _refused()
    if grad._spec.dtype.is_complex and not again.specs[0].dtype.is_complex:
        grad = grad.real
    cls = node_type(operator)
    made = cls.__new__(cls)
    made.edges = tuple([edge_of(operands[i]) if i in operands and LOCAL.grad_enabled and operands[i].requires_grad else None
                        for i in range(len(sizes))])
    made.sequence, made.site = node.sequence, node.site
    made.meta = made.hooks = made.pre_hooks = made.tensor_hooks = made.retained = None
    made.plan, made.needs, made.scalars = again, (at,), node.scalars
    made.saved = []
    for code in saves.codes(again, (at,)):
        t = operands[code]
        made.saved.append((t, t._counter.version) if code >= 0 else (t._storage, t._spec, t._offset, t._counter, t._counter.version))
    return rules(made, [grad])[at]


def _plan(plan, sizes, types):
    """The plan of an operation on inputs of other sizes, and of other types."""
    found = plan.vjps.get(("sizes", sizes, types))
    if found is None:
        given = iter(zip(sizes, types, strict=True))
        template = [specs.spec(*_laid(next(given)), t.device) if type(t) is specs.Spec else t for t in plan.notes.template]
        found = build.plan_for(plan.operator, template)
        if types == tuple([a.dtype for a in plan.inputs]) and found.specs[0].dtype is not plan.specs[0].dtype:
            raise _refused()                                        # written in place into another type
        plan.vjps["sizes", sizes, types] = found
    return found


def _laid(given):
    size, dtype = given
    return size, None, dtype


def _by_formula(node, grads, at, entries):
    """The operator's formula on what is there."""
    plan = node.plan
    defined = tuple([k for k, g in enumerate(grads) if g is not None])
    values = [read(grads[k]) for k in defined] + [saving.value(entry, node, code, read, read_at) for code, entry in entries.items()]
    avals = tuple([v.aval for v in values])
    key = "as it is", at, defined, avals
    made = plan.vjps.get(key)
    if made is None:
        function = pullback.formula_alone(plan, at, defined, tuple(entries))
        try:
            made = plans.make(("as it is", plan.key, at, defined), function, avals, plan.scalar_kinds)
        except (TypeError, ValueError) as error:
            raise RuntimeError("what was saved for the backward has another shape since, with which there is no gradient") from error
        plan.vjps[key] = made
    if LOCAL.grad_enabled and fits(made.outputs[0].shape, plan.inputs[at].shape):
        raise _refused()
    value = record(made, values, node.scalars)[0]
    return wrap(value, specs.of_aval(value.aval))
