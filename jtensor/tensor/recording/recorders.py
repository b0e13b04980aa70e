"""The ordinary call of an operator, written out for its signature: from arguments to a recorded result in one function.

A recorder does what `dispatch.call` does, without its loops and with one look-up: the key of a node is the operator, what each argument is
(a tensor's Spec and position, a number's type, a static's identity), and the trie answers the plan. It is made at the operator's first
call, of source text that depends on the kinds of its parameters alone. It holds no knowledge of its own: whatever is not ordinary (an
argument of another type, another device) goes to `dispatch.call`, which knows the rules and the errors, and so does the first
occurrence of each call. Measure changes here: a loop of `x + y` (`python -m timeit`), before and after, in turns.
"""
import functools
from operator import itemgetter

from ...base import devices
from ...ops.operator import Number, Operator, OptTensor, Static, Tensor, TensorOrNumber, Tensors
from ...trace import tape
from ...trace.cache.codes import CODES
from ...trace.tape import LIFTED, LOCAL, TRIE
from .. import dispatch
from ..calling.arguments import collect
from ..changing import joined_on_host
from ..history import FROM_LIBRARY, maker, needs_of
from ..values import any_lifted, settle, turned_of
from . import templates
from .templates import Signature
from .together import FEW, put_together

# -- what the source text uses ----------------------------------------------------------------------------------------


def missed(segment, key, operator, args, positions):
    """The state after a call that this tape has not had at this place; None where the general path must take it: on the meta device, where
    numbers must be moved from one device to another, for lists that are put together on the host, and for lifted values."""
    try:
        plan_key, template, tensors, _ = collect(operator, args)
        if operator.flipped is not None:
            operator, plan_key, template = dispatch.flipped(operator, plan_key, template, tensors)
        plan = dispatch.plan_of(plan_key, operator, template, tensors=tensors)
    except Exception:
        tape.take_back(segment, tape.reach(segment.nodes))
        raise
    if any_lifted(tensors):
        tape.take_back(segment, tape.reach(segment.nodes))
        return None
    device = plan.specs[0].device if plan.specs else devices.cpu
    if device is devices.meta:
        at = [at for at, value in enumerate(segment.inputs) if value.aval.device is device]
        if at:
            tape.take_back(segment, at[0])
        return None
    if any(t._spec.device is not device for t in tensors) or joined_on_host(plan):
        tape.take_back(segment, tape.reach(segment.nodes))
        return None
    return TRIE.grow(segment.state, key, plan, positions=positions)


def remembering(missed, operator):
    """``missed`` with the plans that it has found for operands of these kinds, wherever they lay on a tape."""
    if any(parameter.kind is Tensors for parameter in operator.parameters):
        return missed
    kinds, at = [0], 0
    for parameter in operator.parameters:                       # a key has an array's position before what it is
        at += 1 if parameter.kind in (Static, Number) else 2
        kinds.append(at)
    kinds_of = itemgetter(*kinds)

    def again(segment, key, operator, args, positions):
        kinds = remembering, kinds_of(key)
        plan = dispatch.PLANS.get(kinds)
        if plan is not None and LIFTED not in key:
            return TRIE.grow(segment.state, key, plan, positions=positions)
        state = missed(segment, key, operator, args, positions)
        if state is not None:
            dispatch.PLANS[kinds] = state.plan
        return state
    return again


def several(state, segment, positions, places, tensors, numbers):
    """The end of recording an operator that may have several results."""
    plan = state.plan
    made = tape.append(segment, state, plan, positions, places)
    return dispatch.results(plan, made, tensors, needs_of(plan, tensors) if LOCAL.grad_enabled else (), numbers)


# -- the source text, in the letters of `templates` ----------------------------------------------------------------------

_READ = """\
        k{i} = a{i}._spec; s = a{i}._storage
        v{i} = s.value if k{i} is s.spec else read(a{i})
"""
_TENSOR = """\
    if isinstance(a{i}, Tensor):
""" + _READ + templates.OTHERWISE
_TURNABLE = """\
    if isinstance(a{i}, Tensor):
        k{i} = a{i}._spec; s = a{i}._storage
        if k{i} is s.spec:
            v{i} = s.value
        else:
            if s.spec is None:
                settle(s)
            turned = turned_of[s.spec, k{i}]
            if turned is None:
                v{i} = read(a{i})
            else:
                k{i} = turned; v{i} = s.value
""" + templates.OTHERWISE
_READS = {
    OptTensor: """\
    if a{i} is None:
        k{i} = v{i} = None
    el""" + _TENSOR.lstrip(),
    TensorOrNumber: """\
    if isinstance(a{i}, Tensor):
""" + _READ + """\
    else:
        k{i} = a{i}.__class__; v{i} = None
        if not (""" + templates.IS_NUMBER + """{or_none}):
            return general({args})
""",
    Tensors: """\
    if a{i}.__class__ is not list and a{i}.__class__ is not tuple:
        return general({args})
    if len(a{i}) >= FEW:
        out = put_together(operator, {args})
        if out is not None:
            return out
    k{i} = []; v{i} = []
    for t in a{i}:
        if not isinstance(t, Tensor):
            return general({args})
        k = t._spec; s = t._storage
        k{i}.append(k); v{i}.append(s.value if k is s.spec else read(t))
    k{i} = tuple(k{i})
"""}
_NEEDS_GRADIENT = "a{i}._requires_grad or a{i}._info is not None and a{i}._info.base._requires_grad and a{i}.requires_grad"
_NEEDS = {
    "": "        n{i} = " + _NEEDS_GRADIENT + "\n",
    "?": "        n{i} = v{i} is not None and (" + _NEEDS_GRADIENT + ")\n",
    "*": "        n{i} = [t._requires_grad or t._info is not None and t.requires_grad for t in a{i}]\n",
}
_BEGIN = """\
def record({parameters}):
{described}{reads}    segment = LOCAL.segment
{placed}    key = (operator{key},)
""" + templates.FIND + "{fitting}{put}"
_SEVERAL_RESULTS = """\
    return several(state, segment, {positions}, {places}, {tensors}, {numbers})
"""
_ONE_RESULT = """\
    plan = state.plan
    spec = plan.spec
    if spec is None:
    """ + _SEVERAL_RESULTS + """\
""" + templates.NEW.format(name="value", aval="spec.aval") + templates.PUT.format(
    name="value", plan="plan", positions="state.positions", places="{places}", state="state") + """\
""" + templates.STORAGE.format(value="value", spec="spec", version=0) + templates.TENSOR.format(
    name="out", storage="storage", spec="spec", offset=0, counter="storage") + """\
    local = LOCAL
    if local.grad_enabled:
{history}    elif local.inference:
        out._autograd_meta().inference = True
    if state.cut or local.eager:
        tape.over_cap()
    return out
"""
_HISTORY = """\
{asked}        if {any}:
            make = plan.nodes.get({which})
            if make is None:
                make = maker(plan, {which}, {there})
            make(out, {numbers}, caller, {all})
"""


def _source(kinds, turnable, several_results, fitted):
    """``def record(a0, a1=d1, ...)`` for parameters of these kinds (`templates.kinds_of`): which may lie transposed, which must fit."""
    signature = Signature(kinds, fitted=fitted)
    words, arrays = signature.words, signature.arrays
    reads = "".join([signature.said(_TURNABLE if i in turnable else _READS.get(kind, _TENSOR), i) for i, kind, _ in arrays])
    asked = "".join([_NEEDS[form].format(i=i) for i, _, form in arrays])
    history = _HISTORY.format(asked=asked, **words) if arrays else "        pass\n"
    return (_BEGIN + (_SEVERAL_RESULTS if several_results else _ONE_RESULT)).format(reads=reads, history=history, **words)


# -- making one -------------------------------------------------------------------------------------------------------


_NAMES = templates.NAMES | {"maker": maker, "several": several, "turned_of": turned_of, "settle": settle,
                            "FEW": FEW, "put_together": put_together}


@functools.cache
def _code(*signature):
    return CODES.compiled(_source(*signature), "<jtensor recorder>")


def recorder(operator, general=None, missed=missed, method=False):
    """``f(*arguments in the order of the declaration)``; ``general`` takes the same where a call is not ordinary, and, for a ``method``,
    where the first argument is no tensor.

    Users call one that has a ``general`` of its own (`dunders`); the others are called by functions of the library. ``missed``: answers the
    state of a call that this tape has not had here, or None: ``general`` takes it.
    """
    caller = FROM_LIBRARY if general is None else FROM_LIBRARY - 1
    general = general or functools.partial(_general, operator)
    if operator.sync:
        return general
    letters = operator.flipped[1] if operator.flipped is not None else ()
    turnable = tuple([i for i, p in enumerate(operator.parameters) if p.name in letters])
    scope = _NAMES | templates.defaults_of(operator) | {"operator": operator, "general": general, "caller": caller,
                                                              "missed": remembering(missed, operator)}
    kinds = templates.kinds_of(operator)
    if method:
        kinds = ((Tensor, kinds[0][1]), *kinds[1:])
    exec(_code(kinds, turnable, operator.outputs is not None, templates.fitted_of(operator)), scope)
    return scope["record"]


def _general(operator, *args):
    return dispatch.call(operator, args)


Operator.record = functools.cached_property(recorder)
Operator.record.__set_name__(Operator, "record")
