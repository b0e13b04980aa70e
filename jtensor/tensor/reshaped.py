"""The backward of an operation whose saved tensors have another shape since, as by `.data =`.

PyTorch's formulas take what is there now: a gradient is what they make of it, and fits its input or does not, which the engine asks. So
does this: an operation by elements is differentiated as if it had been recorded on its operands broadcast as they are now, a formula is
evaluated on what is there. May not know: the walk over the graph.
"""
from ..autograd import saved as saving
from ..autograd.engine import fits
from ..ops import build, gradient, pullback, saves
from ..trace import plan as plans
from ..trace import spec as specs
from ..trace.tape import LOCAL, record
from .history import edge_of, node_type
from .values import read, read_at, wrap


def differ(plan, codes, values):
    """Whether some saved value has another shape than the operation had it."""
    return any(tuple(value.aval.shape) != tuple((plan.inputs[code] if code >= 0 else plan.outputs[~code]).shape)
               for code, value in zip(codes, values, strict=True) if code not in plan.flipped)


def replay(node, grads, needs, entries, rules):
    """The gradients of the inputs at ``needs``; ``entries``: {code: what is saved}, ``rules``: the backward of a node, as it is."""
    plan, operator = node.plan, node.plan.operator
    pointwise = getattr(operator, "promote", None) is not None or operator.name in ("threshold", "copy")
    found = []
    for at in needs:
        codes = saves.codes(plan, (at,))
        own = {code: entries[code] for code in codes}
        if pointwise and len(plan.outputs) == 1:
            found.append(_by_elements(node, grads[0], at, own, rules))
        elif operator.name in PRODUCTS and len(own) == 1:
            found.append(_product(grads[0], at == PRODUCTS[operator.name], _tensor(node, *next(iter(own.items())))))
        elif getattr(operator, "grad", None) is not None:
            found.append(_by_formula(node, grads, at, own))
        else:
            found.append(_as_if_now(node, grads[0], at, own, rules))
    return found


MET_FIRST = frozenset(("maximum", "minimum", "div_Tensor", "atan2", "fmod"))        # of these the saved operands meet each other first
PRODUCTS = {"mm": 1, "mm_flipped": 1}       # matrix products: which input stands on the right


def _product(grad, right, other):
    """The gradient of a factor; its errors are those of the product that it is."""
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
    name, parts = node.plan.operator.name, [tuple(grad._spec.size), *taking_part]
    if name in gradient.SAVED_FIRST or name in MET_FIRST and len(taking_part) > 1:          # which of two sizes an error names first
        parts.append(parts.pop(0))
    shape = build.broadcast_shapes(parts)
    sizes = [shape] * len(node.plan.inputs)
    return _again(node, grad.expand(shape), at, {code: t.expand(shape) for code, t in operands.items()}, sizes, rules)


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
    again = _plan(plan, tuple(sizes))
    if tuple(again.specs[0].size) != tuple(grad._spec.size):
        raise _refused()
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


def _plan(plan, sizes):
    """The plan of an operation on inputs of other sizes."""
    found = plan.vjps.get(("sizes", sizes))
    if found is None:
        given = iter(sizes)
        template = [specs.spec(next(given), None, t.dtype, t.device) if type(t) is specs.Spec else t for t in plan.notes.template]
        found = build.plan_for(plan.operator, template)
        if found.specs[0].dtype is not plan.specs[0].dtype:        # written in place into another type
            raise _refused()
        plan.vjps["sizes", sizes] = found
    return found


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
