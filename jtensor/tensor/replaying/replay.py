"""The backward of a recorded operator: a plan of its own, recorded like any other operation.

Owns: what `OperatorNode.apply` does: an operator's ``inverse`` where it has one, else the plan that `ops.gradient` makes of its rule, on
the gradients that arrive and what was saved; under create_graph a node for that. May not know: the walk over the graph (`autograd.engine`).
"""
from ...autograd import engine
from ...autograd import saved as saving
from ...autograd.graph import SECOND_TIME, OperatorNode, sequence
from ...base import devices
from ...ops import double, gradient, saves
from ...trace import spec as specs
from ...trace.tape import LOCAL, record
from ..core import LAYOUTS, View, make_tensor
from ..history import edge_of, node_type
from ..values import meta_values, read, read_at, read_flipped, wrap
from . import chains, differentiated, reshaped
from .rehearsed import rehearsal

# -- replaying --------------------------------------------------------------------------------------------------------


def apply(node, grads):
    """The backward of a recorded operator, itself recorded: as it was before, or by the rules (`replay`)."""
    grad = grads[0]
    if grad is None or len(grads) > 1 or LOCAL.grad_enabled:
        return replay(node, grads)
    way = node.plan.ways.get((node.needs, grad._spec), 0)
    if way.__class__ is int:
        return rehearsal(node, grads, replay)
    answers = way(node, grads)
    return replay(node, grads) if answers is None else answers


def advance(node, grads, task, heap):
    """`apply` where the engine's walk has come to a node and nobody looks: (the edges that lead on, gradients for them).

    A row of nodes that begins with this one may be known (`chains`); then they have all run, and the edges lead on from them.
    """
    way = node.plan.ways.get((node.needs, grads[0]._spec), 0) if task.rows and not LOCAL.grad_enabled else 0
    if way.__class__ is int:
        answers, task.row = apply(node, grads), None
    else:
        for chain in way.chains:
            found = chain(node, grads, task, -heap[0][0] if heap else -1)
            if found is not None:
                task.row = None
                return found
            chains.declined(way, chain)
        answers = way(node, grads)
        if answers is None:
            answers, task.row = replay(node, grads), None
        elif way.story is not None:
            chains.watch(node, way, task)
    node.release()
    return node.edges, answers


def replay(node, grads, asks=True):
    """The backward of a node by the rules; ``asks``: whether the layout of a sparse gradient is asked first."""
    plan, needs = node.plan, node.needs
    if LAYOUTS and asks and (layout := LAYOUTS.get(type(grads[0]))) is not None and layout.through is not None and len(grads) == 1:
        return layout.through(node, grads[0], _unasked)
    if plan.inverse is not None and node.saved is not None and (grad := grads[0]) is not None:
        spec = plan.spec
        if grad._spec is not spec:
            grad = fitted(grad, spec)
        made = plan.inverse(grad, node)
        if made is not None:
            answers = [None] * len(node.edges)
            for at, out in zip(needs, made, strict=True):
                aval = plan.inputs[at]
                answers[at] = out if out is None or out._spec.aval is aval else _shaped(out, aval)
            return answers
    answers = [None] * len(node.edges)
    if not LOCAL.grad_enabled:
        passed = double.passed_on(plan, needs)
        if passed and grads[0] is not None:
            for at in passed:
                answers[at] = fitted(grads[0], plan.specs[0])
            needs = tuple([at for at in needs if at not in passed])
        if needs and needs is node.needs:
            needs = _asked_for(node, needs)
        if needs:
            _replay(node, grads, needs, answers)
        return answers if not plan.outputs[0].dtype.is_complex else _parts(answers, plan)
    if grads[0] is not None and plan.operator.name in differentiated.FORMULAS:
        made = differentiated.gradients(node, fitted(grads[0], plan.specs[0]), _shaped)
        if made is not None:
            return made
    for name, places in double.parts(plan, _asked_for(node, needs)):
        if name == double.PASSED_ON and grads[0] is not None:
            for at in places:
                answers[at] = fitted(grads[0], plan.specs[0])
        else:
            _replay(node, grads, places, answers, name)
    return answers if not plan.outputs[0].dtype.is_complex else _parts(answers, plan)


def _unasked(node, grads):
    return replay(node, grads, False)


def _asked_for(node, needs):
    """Those of ``needs`` that are computed: what would be refused is not, where the backward that runs does not ask for it."""
    refused, task = gradient.stays_complex(node.plan, needs), engine.current_task()
    if not refused or task is None or task.needed is None:
        return needs
    return tuple([at for at in needs if at not in refused or node.edges[at][0] in task.needed])


def _replay(node, grads, needs, answers, name=""):
    """Records the plan that makes the gradients of the inputs ``needs``, and puts them among the answers."""
    plan = node.plan
    codes = saves.codes(plan, needs)
    if node.saved is None:
        raise RuntimeError(SECOND_TIME)
    entries = node.saved
    if needs is not node.needs and needs != node.needs:
        every = saves.codes(plan, node.needs)
        entries = [entries[every.index(c)] for c in codes]
    values = saved_values(node, codes, entries)
    if saving.PACKED[0]:
        values = _unpacked(node, codes, entries, values)
    if type(plan.notes) is int and saving.Remembered in map(type, entries):
        as_it_was = [entry.value if type(entry) is saving.Remembered else value for entry, value in zip(entries, values, strict=True)]
        factors = tuple([at for at in needs if at < plan.notes])       # gradients, of which the other factor is the derivative
        if factors == needs:
            values = as_it_was
        elif factors and any(a is not b for a, b in zip(values, as_it_was, strict=True)):
            _replay(node, grads, factors, answers, name)
            return _replay(node, grads, tuple([at for at in needs if at not in factors]), answers, name)
    if engine.RETYPED[0]:
        values = reshaped.as_it_was(plan, codes, values)
    if (engine.RESHAPED[0] or engine.RETYPED[0]) and reshaped.differ(plan, codes, values):
        saved = {c: value if type(entry) is saving.Packed else entry for c, entry, value in zip(codes, entries, values, strict=True)}
        for at, out in zip(needs, reshaped.replay(node, grads, needs, saved, replay), strict=True):
            answers[at] = out
        return
    defined = tuple([k for k, g in enumerate(grads) if g is not None])
    backward = gradient.backward_plan(plan, needs, defined)
    given = [fitted(grads[k], plan.specs[k]) for k in defined]
    values = [read(g) for g in given] + values
    if backward.specs[0].device is devices.meta:
        made = meta_values(backward)
    else:
        made = record(backward, values, node.scalars)
    operator, lying = plan.operator, backward.specs
    plainly = plan.vjps.get("plain") or gradient.lie_plainly(plan)
    if plainly is not gradient.ALWAYS and not (plainly and given[0]._spec.contiguous):
        lying = gradient.elementwise(plan, needs, backward, codes, tuple([g._spec for g in given]))
    outs = [wrap(v, s) for v, s in zip(made, lying, strict=True)]
    if LOCAL.grad_enabled and name != double.CONSTANT:
        computed = range(len(codes)) if name.endswith(double.CHOOSES) else double.positions_named(plan, codes, operator.quirks.computed)
        if computed:
            entries = [values[len(given) + k] if k in computed else entry for k, entry in enumerate(entries)]
        elif operator.quirks.factor:
            entries = [saving.Remembered(entry, value) for entry, value in zip(entries, values[len(given):], strict=True)]
        _differentiable_backward(node, backward, given, codes, entries, outs, name.endswith(double.CHOOSES))
    for at, out in zip(needs, outs, strict=True):
        answers[at] = out.t() if at in plan.flipped else out
    if (operator.promote is not None or operator.quirks.ends_in_view) and not LOCAL.grad_enabled:
        _ends_in_view(plan, needs, outs)
    if getattr(operator, "flipped", None) is not None and not LOCAL.grad_enabled:
        for at in gradient.columns(plan):
            if at in needs:
                _seen_as_view(answers[at], answers[at]._spec.size[::-1])
    writes = operator.quirks.writes
    if writes:
        for out in outs:
            if out._info is None:
                out._counter.version = writes
            if operator.name == "AsStridedBackward0" and out._spec.numel and given[0]._spec.numel:
                if LOCAL.grad_enabled:
                    answers[needs[0]] = _view_of_memory(out)
                else:
                    _seen_as_view(out, (out._spec.numel,))


def saved_values(node, codes, entries):
    flips = node.plan.flipped
    if flips:
        return [saving.value(entry, node, code, read_flipped if code in flips else read, read_at)
                for entry, code in zip(entries, codes, strict=True)]
    return [saving.value(entry, node, code, read, read_at) for entry, code in zip(entries, codes, strict=True)]


def _unpacked(node, codes, entries, values):
    """Values of which an unpack hook may have made others: in the dtype that the formula takes; of their shape `reshaped` hears."""
    plan, made = node.plan, []
    for code, entry, value in zip(codes, entries, values, strict=True):
        if type(entry) is saving.Packed:
            aval = plan.inputs[code] if code >= 0 else plan.outputs[~code]
            _as_leaf(node, code, value)
            if value.aval.dtype is not aval.dtype:
                value = read(wrap(value, specs.of_aval(value.aval)).to(aval.dtype))
            if value.aval.shape != aval.shape:
                engine.RESHAPED[0] = True
        made.append(value)
    return made


def _as_leaf(node, code, value):
    """Raises where a leaf was packed and something came back that cannot be one."""
    if code >= 0 and node.edges[code] is not None and not node.edges[code][0].edges and not value.aval.dtype.differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")


def fitted(grad, spec):
    """The gradient in its output's dtype and shape."""
    if grad._spec.dtype is not spec.dtype:
        grad = grad.to(spec.dtype)
    if tuple(grad._spec.size) != tuple(spec.size):
        grad = grad.expand(spec.size) if grad.numel() < spec.numel else grad.sum_to_size(spec.size)
    return grad


def _parts(answers, plan):
    """The answers with complex gradients of real inputs made these inputs': their real parts, which are views."""
    return [answer if answer is None or not answer._spec.dtype.is_complex or aval.dtype.is_complex else _shaped(answer, aval)
            for answer, aval in zip(answers, plan.inputs, strict=True)]


def _shaped(grad, aval):
    """A gradient summed to its input's shape, in its dtype."""
    if grad._spec.dtype.is_complex and not aval.dtype.is_complex:
        from ..viewing.retyped import real
        grad = real(grad)
    if grad._spec.dtype is not aval.dtype:
        grad = grad.to(aval.dtype)
    return grad if tuple(grad._spec.size) == tuple(aval.shape) or engine.RESHAPED[0] else grad.sum_to_size(aval.shape)


def _differentiable_backward(node, plan, grads, codes, saved, outs, only_grads):
    """Under create_graph the backward gets a node of its own, whose inputs are the gradients and what was saved."""
    edges, entries = [], []
    for g in grads:
        edges.append(edge_of(g) if g.requires_grad else None)
        entries.append((g, g._counter.version))
    for code, entry in zip(codes, saved, strict=True):
        edge = node.edges[code] if code >= 0 else saving.of_result(node, ~code)
        differentiable = node.plan.inputs[code].dtype.differentiable if code >= 0 else node.plan.differentiable[~code]
        edges.append(edge if differentiable and not only_grads else None)
        entries.append(entry)
    needs = tuple([i for i, e in enumerate(edges) if e is not None])
    if not needs and not any(map(_leads_nowhere, entries)):
        return
    no_derivative = node.plan.operator.quirks.no_derivative
    if no_derivative:
        return _underivable(plan, [edges[at] for at in needs], outs, no_derivative)
    cls = node_type(plan.operator)
    made = cls.__new__(cls)
    made.edges, made.sequence = tuple(edges), sequence()
    made.meta = made.hooks = made.pre_hooks = made.tensor_hooks = made.retained = None
    made.site = node.site
    made.plan, made.needs, made.scalars = plan, needs, node.scalars
    made.saved = [entries[code] for code in saves.codes(plan, needs)]
    for k, out in enumerate(outs):
        if plan.differentiable[k]:
            out._edge, out._requires_grad = (made, k), True


def _leads_nowhere(entry):
    """Whether a saved tensor requires a gradient that goes to nobody, as a view of a leaf that was made in no_grad does."""
    return type(entry) is tuple and len(entry) == 2 and entry[0].requires_grad


def _underivable(plan, edges, outs, name):
    """The same for a backward that PyTorch does not differentiate: it can be asked for, but not gone through."""
    from ..underivable import underivable
    short = name.removeprefix("aten::")
    for k, out in enumerate(outs):
        made = underivable(tuple(edges), short, plan.operator.name if short == name else None)
        out._edge, out._requires_grad = (made, 0), plan.differentiable[k]


# -- as PyTorch's formula leaves it -----------------------------------------------------------------------------------


def _seen_as_view(out, size):
    """PyTorch's formula ends with a view of what it has computed in another shape: sums over broadcast dimensions, strided gradients."""
    spec = out._spec
    base = make_tensor(out._storage, specs.spec(tuple(size), None, spec.dtype, spec.device))
    out._info = View(base, "no_grad", out._counter.version, True)


def _view_of_memory(out):
    """The same for a gradient with a history: a view of all its memory, through which it can be written to."""
    from ..viewing.views import as_strided
    memory = as_strided(out, (out._spec.numel,), (1,))
    memory._info = None
    return as_strided(memory, tuple(out._spec.size), out._spec.stride)


def _ends_in_view(plan, needs, outs):
    """Marks the gradients that PyTorch's formula leaves as views: sums over leading dimensions, and what `Quirks.ends_in_view` names."""
    leading, dtype = len(plan.outputs[0].shape), plan.outputs[0].dtype
    always = plan.notes.where.get(plan.operator.quirks.ends_in_view)
    for at, out in zip(needs, outs, strict=True):
        size = out._spec.size
        if at == always and size:
            _seen_as_view(out, size)
        elif always is None and leading > len(size) > 0 and (
                out._spec.dtype in (dtype, dtype.to_real()) or plan.operator.name == "copy"):
            # of other operators a cast would come after the sum
            _seen_as_view(out, (*(1,) * (leading - len(size)), *size))


# -- what was saved ---------------------------------------------------------------------------------------------------


def saved_tensor(node, at):
    """What a node saved of its input ``at`` (of its result, ``~k``), as a tensor with its history; versions are checked."""
    if node.saved is None:
        raise RuntimeError(SECOND_TIME)
    code = saves.codes(node.plan, node.needs).index(at)
    entry = node.saved[code]
    edge = node.edges[at] if at >= 0 else saving.of_result(node, ~at)
    if type(entry) is tuple and len(entry) == 2 and entry[0]._counter.version == entry[1]:
        tensor = entry[0]
        if edge is None or tensor._edge == edge or (not edge[0].edges if tensor._edge is None else not LOCAL.grad_enabled):
            return tensor
    value = saving.value(entry, node, at, read, read_at)
    if type(entry) is tuple:
        storage, spec, offset, counter = entry[:4] if len(entry) > 2 else [
            getattr(entry[0], field) for field in ("_storage", "_spec", "_offset", "_counter")]
        made = make_tensor(storage, spec, offset)              # the same memory, so that a later `.data` write has PyTorch's effect
        made._counter = counter
    else:
        _as_leaf(node, at, value)
        made = wrap(value, specs.of_aval(value.aval))
    if LOCAL.grad_enabled and edge is not None:
        made._edge, made._requires_grad = edge, True
    return made


OperatorNode.apply, OperatorNode.advance = apply, advance
OperatorNode.saved_tensor = saved_tensor
