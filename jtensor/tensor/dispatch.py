"""The one path every operator takes: tensors to values, plan, record, autograd node, result or mutation.

Owns: `read` (the value of a tensor), `assign` (mutation), `call`, `call_inplace`, `call_out`, and how a recorded operator's node runs
its backward. The hot paths for operators of one and two tensors are written out in `tensor.hot`.
"""
import weakref

from ..autograd import gradmode_checks as checks
from ..autograd import saved as saving
from ..autograd.graph import SECOND_TIME, CopySlices, Node, OperatorNode, accumulator, node_class, sequence
from ..base import devices, sites
from ..base.return_types import return_type
from ..ops import build, gradient
from ..ops.operator import Number, Operator, OptTensor, Static, TensorOrNumber, Tensors
from ..ops.operator import Tensor as TensorKind
from ..storage import cell
from ..trace import plan as plans
from ..trace import spec as specs
from ..trace import tape
from ..trace.plan import Plan
from ..trace.tape import LOCAL, ready, record
from ..views import access as accesses
from .core import Tensor, View, make_tensor

PLANS = {}
reference = weakref.ref

# -- reading ----------------------------------------------------------------------------------------------------------


def read(tensor):
    """The `Value` of a tensor: its storage's base, or the view's part of it (recorded, and kept while the base stays)."""
    storage, spec = tensor._storage, tensor._spec
    if spec is storage.spec:
        return storage.value
    base = storage.current()
    if spec is storage.layout:
        return base
    cached = tensor._cached
    if cached is not None and cached[0]() is base:
        return cached[1]
    if storage.host is None and spec.device is devices.cpu:
        return quick_read(tensor, storage, spec)
    value = read_at(storage, spec, tensor._offset, base)
    tensor._cached = (reference(base), value)
    return value


def quick_read(tensor, storage, spec):
    """The value of a view: a geometry and offset over a layout seen before is one look-up and one node."""
    layout, base = storage.layout, storage.value
    key = (layout, spec, tensor._offset)
    found = _places.get(key)
    if found is None:
        program, starts = _access(layout, spec, tensor._offset)
        identity = (program, layout, spec)
        plan = _reads.get(identity)
        if plan is None:
            plan = _reads[identity] = _read_plan(program, layout, spec, len(starts))
        if len(_places) >= 1 << 16:
            _places.clear()
        found = _places[key] = plan, starts
    value = record(found[0], (base,), found[1])[0]
    tensor._cached = (reference(base), value)
    return value


_places = {}


_reads, _writes = {}, {}


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
    return Plan(("read", program.key, spec.conj, spec.neg), function, (layout.aval,), (spec.aval,), ("i",) * count, moves=True)


def write_at(storage, spec, offset, value):
    """The storage's base with a geometry's elements replaced: a new value, not yet in the cell."""
    layout = storage.layout
    if spec is layout:
        return value
    program, starts = _access(layout, spec, offset)
    key = (program, layout, spec)
    plan = _writes.get(key)
    if plan is None:
        plan = _writes[key] = _write_plan(program, layout, spec, len(starts))
    return record(plan, (storage.current(), value), starts)[0]


def _write_plan(program, layout, spec, count):
    flip = _flip(spec) if spec.conj or spec.neg else None

    def function(base, new, *starts):
        return (program.write(base, flip(new) if flip else new, *starts),)
    return Plan(("write", program.key, spec.conj, spec.neg), function, (layout.aval, spec.aval), (layout.aval,), ("i",) * count, moves=True)


def meta_value(aval):
    """The value of a tensor without data."""
    return ready(None, aval)


# -- mutation ---------------------------------------------------------------------------------------------------------


def assign(tensor, value):
    """Puts a value of the tensor's own shape and dtype in its place, and bumps the version."""
    storage, spec = tensor._storage, tensor._spec
    if spec is storage.spec:
        storage.value = value
    elif spec.device is devices.meta:
        pass
    else:
        base = write_at(storage, spec, tensor._offset, value)
        storage.set(base)
        if storage.host is None and spec is not storage.layout:
            tensor._cached = (reference(base), value)
    bump(tensor)


def bump(tensor):
    counter = tensor._counter
    counter.version += 1
    if counter.site is not None:                     # somebody saved it for a gradient: the line may be wanted in an error
        counter.site = sites.user_site()


# -- results ----------------------------------------------------------------------------------------------------------

new_tensor, new_storage = Tensor.__new__, cell.Storage.__new__


def wrap(value, spec):
    """A fresh tensor with a storage of its own."""
    storage = cell.new(value, spec)
    if LOCAL.inference:
        return make_tensor(storage, spec, inference=True)
    return make_tensor(storage, spec)


# -- calling an operator ----------------------------------------------------------------------------------------------

_PLAIN = (int, str, type(None))


def _static(value):
    """(a hashable form, its key): equal keys mean the same operation, so 1, 1.0 and True are kept apart."""
    kind = type(value)
    if kind in _PLAIN:
        return value, value
    if kind is bool or kind is float or kind is complex:
        return value, (kind, repr(value))
    if isinstance(value, (list, tuple)):
        value = tuple([_static(v)[0] for v in value])
        return value, (tuple, tuple([_static(v)[1] for v in value]))
    if isinstance(value, Tensor) and value.ndim == 0:
        return _static(value.item())
    return value, value


def collect(operator, args):
    """A call taken apart: (key, template, tensors, scalars)."""
    key, template, tensors, scalars = [operator], [], [], []
    for parameter, given in zip(operator.parameters, args):
        kind = parameter.kind
        if kind is Static:
            form, identity = _static(given)
            template.append(form)
            key.append(identity)
        elif isinstance(given, Tensor):
            if kind is Number:
                template_number(parameter, given.item(), key, template, scalars)
                continue
            tensors.append(given)
            template.append(given._spec)
            key.append(given._spec)
        elif kind is Tensors:
            listed = _tensor_list(operator, parameter, given)
            tensors.extend(listed)
            found = tuple([t._spec for t in listed])
            template.append(found)
            key.append(found)
        elif kind is OptTensor and given is None:
            template.append(None)
            key.append(None)
        elif given is None and kind is TensorOrNumber and parameter.required:
            raise wrong_argument(operator, parameter, given)
        elif kind is Number or kind is TensorOrNumber:
            template_number(parameter, given, key, template, scalars)
        else:
            raise wrong_argument(operator, parameter, given)
    return tuple(key), template, tensors, scalars


def template_number(parameter, given, key, template, scalars):
    """A Python number: a run-time input, but for a default that was left alone and for None."""
    wrapped = build.WRAPPED.get(type(given))
    if wrapped is None:
        if given is None or given is parameter.default:
            template.append(given)
            key.append(given)
            return
        if hasattr(given, "__float__") or hasattr(given, "item"):
            return template_number(parameter, given.item() if hasattr(given, "item") else float(given), key, template, scalars)
        raise wrong_argument(None, parameter, given)
    if parameter.kind is Number and given is parameter.default:
        template.append(given)
        key.append((type(given), repr(given)))
        return
    template.append(wrapped)
    key.append(wrapped)
    scalars.append(_fits(given))


def _fits(number):
    if type(number) is int and not -(1 << 63) <= number < (1 << 63):
        if number < (1 << 64) and number > 0:
            return number - (1 << 64)
        raise RuntimeError("Overflow when unpacking long long")
    return number


def _tensor_list(operator, parameter, given):
    if not isinstance(given, (list, tuple)):
        raise wrong_argument(operator, parameter, given)
    for at, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument {operator.by_name[parameter.name]}, but got {type(t).__name__}")
    return given


def wrong_argument(operator, parameter, given):
    """PyTorch's TypeError for an argument of the wrong type."""
    name = operator.name.split(".")[0] if operator is not None else "operator"
    at = operator.by_name[parameter.name] + 1 if operator is not None else 1
    shown = "input" if parameter.name == "self" else parameter.name
    position = "" if parameter.keyword_only else f" (position {at})"
    kind = {"Tensors": "tuple of Tensors", "Number": "Number"}.get(parameter.kind.name, "Tensor")
    return TypeError(f"{name}(): argument '{shown}'{position} must be {kind}, not {type(given).__name__}")


def _of_method(error, operator):
    """The same refusal for ``self.name_(...)``, whose positions count from the first argument after ``self``."""
    import re
    text = str(error).replace(operator.name.split(".")[0] + "(): ", shown_name(operator) + "_(): ", 1)
    return TypeError(re.sub(r"\(position (\d+)\)", lambda found: f"(position {int(found[1]) - 1})", text))


def plan_of(key, operator, template, inplace=False):
    plan = PLANS.get(key)
    if plan is None:
        plan = build.plan_for(operator, template, inplace)
        if len(PLANS) > 200_000:
            PLANS.clear()
        plan = PLANS[key] = plan
    return plan


def call(operator, args, out=None):
    """Applies an operator: the general path."""
    if out is not None:
        return call_out(operator, args, out)
    key, template, tensors, scalars = collect(operator, args)
    if operator.sync:
        return call_sync(operator, args, tensors)
    if operator.flipped is not None:
        operator, key, template = flipped(operator, key, template, tensors)
    plan = PLANS.get(key)
    if plan is None:
        plan = plan_of(key, operator, template)
    return run(plan, tensors, scalars)


def lies_flipped(tensor):
    """Whether a matrix is the transpose of all that its storage holds."""
    spec, storage = tensor._spec, tensor._storage
    layout = storage.spec
    return (layout is not None and spec.ndim == 2 and spec is not layout and layout.ndim == 2 and layout.contiguous
            and spec.size == layout.size[::-1] and spec.stride == layout.stride[::-1] and not spec.conj and spec.dtype is layout.dtype
            and spec.numel > 0)


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


def read_flipped(tensor):
    """The value of a matrix as it lies in memory; transposed for that if it has come to lie otherwise since."""
    if lies_flipped(tensor):
        return tensor._storage.value
    turned = tensor.detach().t()
    return read(turned)


def run(plan, tensors, scalars):
    """Records a plan on tensors; answers a tensor, or a tuple of them."""
    needs = needs_of(plan, tensors) if LOCAL.grad_enabled else ()
    values = [read_flipped(t) if at in plan.flipped else read(t) for at, t in enumerate(tensors)] if plan.flipped else [
        read(t) for t in tensors]
    device = plan.specs[0].device if plan.specs else devices.cpu
    if device is devices.meta:
        made = [meta_value(a) for a in plan.outputs]
    else:
        if device is not devices.cpu:
            values = [v if v.aval.device is device else moved(v, device) for v in values]
        made = record(plan, values, scalars)
    spec = plan.spec
    if spec is not None and plan.operator.outputs is None:
        out = wrap(made[0], spec)
        if needs and plan.differentiable[0]:
            attach(plan, tensors, needs, (out,), scalars)
        return out
    outs = [wrap(v, s) for v, s in zip(made, plan.specs, strict=True)]
    if needs and any(plan.differentiable):
        attach(plan, tensors, needs, outs, scalars)
    names = plan.operator.outputs
    return tuple(outs) if names is None else return_type(plan.operator.name.split("_dim")[0] if names[0] is not None else "", names)(outs)


def moved(value, device):
    """A 0-d CPU value beside tensors of an accelerator."""
    import jax

    from ..trace.executor import value_of
    return ready(jax.device_put(value_of(value), devices.jax_device(device)), specs.aval(value.aval.shape, value.aval.dtype, device))


def call_sync(operator, args, tensors):
    """An operator whose output shapes depend on the data: it looks at the values, as on any eager library."""
    import numpy as np

    from ..trace.executor import value_of
    arrays = iter([np.asarray(value_of(read(t), operator.name)) for t in tensors])

    def given(a):
        return next(arrays) if isinstance(a, Tensor) else [next(arrays) for _ in a] if a and isinstance(a, (list, tuple)) \
            and isinstance(a[0], Tensor) else a
    outs = operator.body(*[given(a) for a in args])
    from .create import _lay_like, from_host

    made = [
        _lay_like(from_host(np.asarray(o, order="C"), device=tensors[0].device), np.asarray(o))
        for o in (outs if isinstance(outs, tuple) else (outs,))
    ]
    return made[0] if not isinstance(outs, tuple) else tuple(made)


# -- autograd ---------------------------------------------------------------------------------------------------------


def needs_of(plan, tensors):
    """Positions of the inputs that need gradients."""
    needs = [i for i, t in enumerate(tensors) if t._requires_grad or t._info is not None and t.requires_grad]
    if not needs:
        return ()
    if plan.operator.nondiff:
        blocked = blocked_positions(plan)
        needs = [i for i in needs if i not in blocked]
    return tuple(needs)


def blocked_positions(plan):
    """Inputs that an operator declares not differentiable."""
    operator = plan.operator
    if not operator.nondiff:
        return ()
    found = []
    for name in operator.nondiff:
        where = plan.notes.where.get(name) if isinstance(name, str) else None
        if where is not None:
            found.extend(where if type(where) is tuple else (where,))
    return found


def edge_of(tensor):
    """The edge that leads a gradient to a tensor that requires it."""
    info = tensor._info
    if info is not None and info.version != tensor._counter.version:
        tensor._refresh()
    edge = tensor._edge
    if edge is not None or not tensor._requires_grad:              # a view of a leaf made in no_grad requires grad but leads nowhere
        return edge
    return accumulator(tensor)


def node_type(operator):
    found = getattr(operator, "node_class", None)
    if found is None:
        found = operator.node_class = node_class(operator.backward)
    return found


def attach(plan, tensors, needs, outs, scalars, originals=None):
    """Makes the node of a recorded operation and hangs it on its outputs."""
    node = make_node(plan, tensors, needs, scalars, outs, originals)
    for k, out in enumerate(outs):
        if plan.differentiable[k]:
            out._edge, out._requires_grad = (node, k), True
    return node


def make_node(plan, tensors, needs, scalars, outs, originals=None):
    """``originals``: {position: Value} of inputs that the operation overwrites."""
    cls = node_type(plan.operator)
    node = cls.__new__(cls)
    node.edges = tuple([edge_of(t) if i in needs else None for i, t in enumerate(tensors)])
    node.sequence = sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
    node.plan, node.needs, node.scalars = plan, needs, scalars
    codes = gradient.saved(plan, needs)
    if codes:
        node.site = sites.user_site()
        node.saved = [save(c, tensors, outs, originals) for c in codes]
    else:
        node.saved = ()
    return node


def save(code, tensors, outs, originals=None):
    if code >= 0:
        if originals is not None and code in originals:
            return originals[code]
        tensor = tensors[code]
        if tensor.is_inference_slow():
            raise RuntimeError("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
                               "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
                               "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.")
        if saving._hooks and (packed := saving.pack(tensor)) is not None:
            return packed
        counter = tensor._counter
        if counter.site is None:
            counter.site = WATCHED
        return tensor, counter.version
    out = outs[~code]
    if saving._hooks and (packed := saving.pack(out.detach())) is not None:
        return packed
    counter = out._counter
    if counter.site is None:
        counter.site = WATCHED
    return out._storage, out._spec, out._offset, counter, counter.version


WATCHED = False          # a version counter's site from when it is saved until it is written to


def saved_values(node, codes, entries):
    flips = node.plan.flipped
    if flips:
        return [saving.value(entry, node, code, read_flipped if code in flips else read, read_at)
                for entry, code in zip(entries, codes, strict=True)]
    return [saving.value(entry, node, code, read, read_at) for entry, code in zip(entries, codes, strict=True)]


def replay(node, grads):
    """The backward of a recorded operator, itself recorded."""
    plan, needs = node.plan, node.needs
    if plan.inverse is not None and node.saved is not None and (grad := grads[0]) is not None:
        spec = plan.spec
        if grad._spec is not spec:
            grad = fitted(grad, spec)
        made = plan.inverse(grad, node)
        if made is not None:
            answers = [None] * len(node.edges)
            for at, out in zip(needs, made, strict=True):
                aval = plan.inputs[at]
                answers[at] = out if out._spec.aval is aval else _shaped(out, aval)
            return answers
    answers = [None] * len(node.edges)
    if not LOCAL.grad_enabled:
        passed = gradient.passed_on(plan, needs)
        if passed and grads[0] is not None:
            for at in passed:
                answers[at] = fitted(grads[0], plan.specs[0])
            needs = tuple([at for at in needs if at not in passed])
        if needs:
            _replay(node, grads, needs, answers)
        return answers
    for name, places in gradient.parts(plan, needs):
        if name == gradient.PASSED_ON and grads[0] is not None:
            for at in places:
                answers[at] = fitted(grads[0], plan.specs[0])
        else:
            _replay(node, grads, places, answers, name)
    return answers


def _replay(node, grads, needs, answers, name=""):
    """Records the plan that makes the gradients of the inputs ``needs``, and puts them among the answers."""
    plan = node.plan
    codes = gradient.saved(plan, needs)
    if node.saved is None:
        raise RuntimeError(SECOND_TIME)
    entries = node.saved
    if needs is not node.needs and needs != node.needs:
        every = gradient.saved(plan, node.needs)
        entries = [entries[every.index(c)] for c in codes]
    values = saved_values(node, codes, entries)
    defined = tuple([k for k, g in enumerate(grads) if g is not None])
    backward = gradient.backward_plan(plan, needs, defined)
    given = [fitted(grads[k], plan.specs[k]) for k in defined]
    values = [read(g) for g in given] + values
    if backward.specs[0].device is devices.meta:
        made = [meta_value(a) for a in backward.outputs]
    else:
        made = record(backward, values, node.scalars)
    outs = [wrap(v, s) for v, s in zip(made, backward.specs, strict=True)]
    if LOCAL.grad_enabled and name != gradient.CONSTANT:
        _differentiable_backward(node, backward, given, codes, entries, outs, name.endswith(gradient.CHOOSES))
    operator = plan.operator
    for at, out in zip(needs, outs, strict=True):
        answers[at] = out.t() if at in plan.flipped else out
    if operator.promote is not None and not LOCAL.grad_enabled:
        leading = len(plan.outputs[0].shape)
        for out in outs:
            if leading > out._spec.ndim > 0:
                _seen_as_view(out, (*(1,) * (leading - out._spec.ndim), *out._spec.size))
    writes = WRITES_IN_FORMULA.get(operator.name)
    if writes:
        for out in outs:
            if out._info is None:
                out._counter.version = writes
            if operator.name == "AsStridedBackward0":
                _seen_as_view(out, (out._spec.numel,))


def _seen_as_view(out, size):
    """PyTorch's formula ends with a view of what it has computed in another shape: sums over broadcast dimensions, strided gradients."""
    spec = out._spec
    base = make_tensor(out._storage, specs.spec(tuple(size), None, spec.dtype, spec.device))
    out._info = View(base, "default", out._counter.version, False)


# How often PyTorch's formula writes to the gradient that it makes: its version shows it.
WRITES_IN_FORMULA = {
    "AsStridedBackward0": 1,
    "index.raw": 1,
    "index_select.raw": 1,
    "gather.raw": 1,
    "take.raw": 1,
    "masked_select.raw": 1,
    "max_all": 1,
    "min_all": 1,
    "median_all": 1,
    "nanmedian_all": 1,
    "maximum": 1,
    "minimum": 1,
    "max_dim": 2,
    "min_dim": 2,
    "sort_dim.default": 2,
    "sort_dim.stable": 2,
    "topk_dim.raw": 2,
    "kthvalue_dim.raw": 2,
    "median_dim": 2,
    "nanmedian_dim": 2,
    "mode": 2,
    "cummax": 2,
    "cummin": 2,
}


OperatorNode.apply = replay


def fitted(grad, spec):
    """The gradient in its output's dtype and shape."""
    if grad._spec.dtype is not spec.dtype:
        grad = grad.to(spec.dtype)
    if tuple(grad._spec.size) != tuple(spec.size):
        grad = grad.expand(spec.size) if grad.numel() < spec.numel else grad.sum_to_size(spec.size)
    return grad


def _differentiable_backward(node, plan, grads, codes, saved, outs, only_grads):
    """Under create_graph the backward gets a node of its own, whose inputs are the gradients and what was saved."""
    edges, entries = [], []
    for g in grads:
        edges.append(edge_of(g) if g.requires_grad else None)
        entries.append((g, g._counter.version))
    for code, entry in zip(codes, saved, strict=True):
        edge = node.edges[code] if code >= 0 else (node, ~code)
        dtype = (node.plan.inputs[code] if code >= 0 else node.plan.outputs[~code]).dtype
        edges.append(edge if dtype.differentiable and not only_grads else None)
        entries.append(entry)
    needs = tuple([i for i, e in enumerate(edges) if e is not None])
    if not needs:
        return
    cls = node_type(plan.operator)
    made = cls.__new__(cls)
    made.edges, made.sequence = tuple(edges), sequence()
    made.meta = made.hooks = made.pre_hooks = made.tensor_hooks = made.retained = None
    made.site = node.site
    made.plan, made.needs, made.scalars = plan, needs, node.scalars
    made.saved = [entries[code] for code in gradient.saved(plan, needs)]
    for k, out in enumerate(outs):
        if plan.differentiable[k]:
            out._edge, out._requires_grad = (made, k), True


# -- in place ---------------------------------------------------------------------------------------------------------


def call_inplace(operator, args):
    """``self.name_(...)``: the same operation, its result put in ``self``'s place."""
    self = args[0]
    try:
        key, template, tensors, scalars = collect(operator, args)
    except TypeError as error:
        raise _of_method(error, operator) from None
    needs = ()
    grad_enabled = LOCAL.grad_enabled
    if grad_enabled or LOCAL.inference or self._info is not None or self._auto is not None:
        checks.before_inplace(self, grad_enabled and any(t.requires_grad for t in tensors))
    key = ("in place", *key)
    for at, other in enumerate(tensors):
        if at and other._storage is self._storage:
            checks.operand_may_overlap(self, other, operator.name)
    plan = PLANS.get(key)
    if plan is None:
        if operator.name.split(".")[0] not in OVERLAP_ALLOWED:
            checks.no_internal_overlap(self)
        plan = plan_of(key, operator, template, True)
    if grad_enabled and self._spec.dtype.differentiable:
        needs = needs_of(plan, tensors) if plan.differentiable[0] else _all_needs(tensors)
    if operator.overwrites and not needs and self._spec.device is devices.cpu:
        overwrite(self, plan, tensors[1:], scalars)
        return self
    values = [read(t) for t in tensors]
    if self._spec.device is devices.meta:
        made = [meta_value(self._spec.aval)]
    else:
        if self._spec.device is not devices.cpu:
            values = [v if v.aval.device is self._spec.device else moved(v, self._spec.device) for v in values]
        made = record(plan, values, scalars)
    finish_inplace(self, plan, tensors, needs, scalars, made[0], values)
    return self


_overwrites = {}


def overwrite(self, plan, sources, scalars):
    """An in-place operator that does not read what it writes over: straight into the base, as one node."""
    storage, spec = self._storage, self._spec
    layout = storage.layout
    program, starts = (None, ()) if spec is layout else _access(layout, spec, self._offset)
    key = (plan, program, layout)
    made = _overwrites.get(key)
    if made is None:
        made = _overwrites[key] = _overwrite_plan(plan, program, layout, spec, len(sources), len(starts))
    values = [read(t) for t in sources]
    if program is not None:
        values.insert(0, storage.current())
    value = record(made, values, (*scalars, *starts))[0]
    if program is None and storage.host is None:
        storage.value = value
    else:
        storage.set(value)
    bump(self)


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


# PyTorch does not ask
OVERLAP_ALLOWED = frozenset(("fill", "zero", "masked_fill", "index_fill", "index_put", "tril", "triu"))


def finish_inplace(self, plan, tensors, needs, scalars, value, values):
    """Writes the result and rewrites the history."""
    if not needs:
        assign(self, value)
        return
    edges_before = [edge_of(t) if i in needs else None for i, t in enumerate(tensors)]
    codes = gradient.saved(plan, needs)
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


def _all_needs(tensors):
    """A comparison written into a float tensor cuts the history: its gradient is zero, but there is one."""
    return tuple([i for i, t in enumerate(tensors) if t.requires_grad])


INPLACE_NODES = {"fill": "FillBackward2", "fill_tensor": "FillBackward3", "elu": "EluBackward1", "leaky_relu": "LeakyReluBackward1",
                 "threshold": "ThresholdBackward1"}


def inplace_node_type(operator, count):
    """The node's class of an in-place operator; PyTorch numbers some of these apart."""
    name = INPLACE_NODES.get(operator.name)
    if name is None and 0 in operator.nondiff:
        name = operator.backward[:-1] + ("0" if count == 1 else "1")
    return node_type(operator) if name is None else node_class(name)


def rebase(self, node):
    """``node`` becomes the history of ``self``; on a view, of the base under the view."""
    info = self._info
    if info is None or not info.differentiable:
        move_retained(self, node)
        self._edge, self._requires_grad = (node, 0), True
        return
    base = info.base
    checks.view_may_be_rebased(self, info)
    base_edge = edge_of(base) if base.requires_grad else None
    copy = node_class("CopySlices", CopySlices)
    spec = base._spec
    slices = copy(base_edge, (spec, base._offset), (tuple(self._spec.size), self._spec.stride, self._offset), node, zeros_of,
                  info.replay)
    slices.site = node.site
    move_retained(base, slices)
    base._edge, base._requires_grad = (slices, 0), True
    self._requires_grad = True
    self._refresh()


def move_retained(self, node):
    """`retain_grad` of a tensor follows it to its new history."""
    auto = self._auto
    if auto is not None and auto.retains and self._edge is not None:
        old, nr = self._edge
        if old.retained and nr in old.retained:
            keep = old.retained.pop(nr)
            node.retained = {0: keep}


def zeros_of(base):
    """A fresh tensor of zeros with a base's geometry."""
    from .create import zeros_like_spec
    return zeros_like_spec(base[0])


# -- out= -------------------------------------------------------------------------------------------------------------


def call_out(operator, args, out):
    """``torch.name(..., out=t)``: computed, cast, and written to ``t``, which is resized where its shape differs."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for t in outs:
        if not isinstance(t, Tensor):
            raise TypeError(f"{operator.name}(): argument 'out' must be Tensor, not {type(t).__name__}")
    key, template, tensors, scalars = collect(operator, args)
    if LOCAL.grad_enabled:
        for t in (*tensors, *outs):
            if t.requires_grad:
                raise RuntimeError(
                    f"{shown_name(operator)}(): functions with out=... arguments don't support automatic differentiation, but "
                    "one of the arguments requires grad."
                )
    if operator.sync:
        made = call_sync(operator, args, tensors)
    else:
        made = run(plan_of(key, operator, template), tensors, scalars)
    results = made if isinstance(made, tuple) else (made,)
    for result, target in zip(results, outs, strict=True):
        checks.out_fits(operator, result, target)
        for other in tensors:
            if other._storage is target._storage and tuple(target._spec.size) == tuple(result._spec.size):
                checks.out_may_overlap(target, other, operator)
    for result, target in zip(results, outs, strict=True):
        write_out(result, target)
    if not isinstance(made, tuple):
        return outs[0]
    return type(made)(outs) if type(made) is not tuple else tuple(outs)


def shown_name(operator):
    """An operator as PyTorch's users call it."""
    name = operator.name.split(".")[0]
    for tail in ("_Scalar", "_Tensor", "_dim", "_all"):
        name = name.removesuffix(tail)
    return name


def index_write_allowed(self, others):
    """What PyTorch asks of ``self[indices] = value`` before it looks at shapes and types."""
    if LOCAL.grad_enabled or LOCAL.inference or self._info is not None or self._auto is not None:
        checks.before_inplace(self, LOCAL.grad_enabled and (self.requires_grad or any(t.requires_grad for t in others)))
    for other in others:
        if other._storage is self._storage:
            checks.operand_may_overlap(self, other, "index_put")


def write_out(result, target):
    if tuple(target._spec.size) != tuple(result._spec.size):
        checks.warn_resize(target, result)
        from .storages import resize
        resize(target, tuple(result._spec.size))
    checks.no_internal_overlap(target)
    if target._inference_tensor():
        checks.before_inplace(target, False)
    previous, LOCAL.grad_enabled = LOCAL.grad_enabled, False
    try:
        target.copy_(result)
    finally:
        LOCAL.grad_enabled = previous


def _call_operator(self, *args, out=None, **kwargs):
    """An `Operator` called on tensors, by PyTorch's parameters."""
    return call(self, bind(self, args, kwargs), out)


def bind(operator, args, kwargs):
    """Arguments in the order of the declaration, defaults filled in; Python's TypeError in PyTorch's words."""
    parameters = operator.parameters
    bound = list(args)
    if len(bound) > len(parameters):
        raise TypeError(f"{operator.name}() takes {len(parameters)} positional arguments but {len(bound)} were given")
    for parameter in parameters[len(bound):]:
        name = parameter.name
        if name in kwargs:
            bound.append(kwargs.pop(name))
        elif name == "self" and "input" in kwargs:
            bound.append(kwargs.pop("input"))
        elif parameter.required:
            raise TypeError(f'{operator.name}() missing 1 required positional arguments: "{"input" if name == "self" else name}"')
        else:
            bound.append(parameter.default)
    if kwargs:
        raise TypeError(f"{operator.name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
    return bound


def _inplace_form(self, *args, **kwargs):
    return call_inplace(self, bind(self, args, kwargs))


Operator.__call__ = _call_operator
Operator.inplace_form = _inplace_form


__all__ = ["Node", "TensorKind", "View", "assign", "call", "call_inplace", "call_out", "plans", "read", "run", "tape", "wrap"]


def forget():
    """Forgets what was worked out under another default dtype."""
    PLANS.clear()
    tape.TRIE.root, tape.TRIE.size = tape.State(None, None), 0
    LOCAL.segment = tape.Segment()


def _shaped(grad, aval):
    """A gradient summed to its input's shape, in its dtype."""
    if grad._spec.dtype.is_complex and not aval.dtype.is_complex:
        from .views import real
        grad = real(grad)
    if grad._spec.dtype is not aval.dtype:
        grad = grad.to(aval.dtype)
    return grad if tuple(grad._spec.size) == tuple(aval.shape) else grad.sum_to_size(aval.shape)


def saved_tensor(node, at):
    """What a node saved of its input ``at``, as a tensor with its history; versions are checked."""
    if node.saved is None:
        raise RuntimeError(SECOND_TIME)
    code = gradient.saved(node.plan, node.needs).index(at)
    entry = node.saved[code]
    if type(entry) is tuple and len(entry) == 2 and entry[0]._counter.version == entry[1]:
        tensor = entry[0]
        edge = node.edges[at]
        if edge is None or tensor._edge == edge or (not edge[0].edges if tensor._edge is None else not LOCAL.grad_enabled):
            return tensor
    value = saving.value(entry, node, at, read, read_at)
    made = wrap(value, specs.of_aval(value.aval))
    if LOCAL.grad_enabled and node.edges[at] is not None:
        made._edge, made._requires_grad = node.edges[at], True
    return made


OperatorNode.saved_tensor = saved_tensor
