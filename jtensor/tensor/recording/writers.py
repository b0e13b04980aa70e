"""The ordinary call of an operator in place, written out for its signature: what `recorders` are for calls that make a new tensor.

A writer does what `inplace.call_inplace` does for a whole storage or a view of one on the CPU, with its history where that may simply
follow (`followed`). On a whole storage that is one node and one look-up in the trie. On a view it is three: its elements are read,
computed, and written into the base; under one key the trie remembers where all three lead, so that it is one look-up, too. What they are
is learnt from the general path, which also takes every call that is not ordinary and knows the rules and the errors.
Measure changes here: a loop of `x += y` (`python -m timeit`), before and after, in turns.
"""
import functools

from numpy import ndarray

from ...autograd.gradmode_checks import apart, apart_or_same
from ...autograd.graph import sequence
from ...base import devices, sites
from ...ops import saves
from ...ops.fitting import bounds
from ...ops.operator import Operator, OptTensor, TensorOrNumber, Tensors
from ...trace.cache.codes import CODES
from ...trace.macros import GONE
from ...trace.tape import LOCAL, TRIE
from ..calling.arguments import bind, collect
from ..dispatch import plan_of
from ..history import NEEDS, blocked_positions, edge_of, move_retained, rebase, save
from ..values import any_lifted, place_of, places, taken_from
from . import templates
from .inplace import call_inplace, inplace_node_type
from .templates import Signature, indent

# -- what the source text uses ----------------------------------------------------------------------------------------


def missed(segment, key, operator, args, positions):
    """The state after a write to a whole storage that this tape has not had at this place; None where the general path must take it."""
    plan_key, template, tensors, _ = collect(operator, args)
    if not tensors[0]._spec.dense or any_lifted(tensors):
        return None
    return TRIE.grow(segment.state, key, plan_of(("in place", *plan_key), operator, template, True), positions=positions)


def learn(operator, args, segment, key, place):
    """A write through a view by the general path, remembered under a key where it was what it usually is: read, compute, write."""
    start, begin, count = segment.state, len(segment.nodes), segment.count
    answer = call_inplace(operator, args)
    value, cached, nodes = answer._storage.value, answer._cached, segment.nodes[begin:]
    if LOCAL.segment is segment and len(nodes) in (2, 3) and value.position == segment.count - 1 \
            and cached is not None and cached[0]() is value:         # else the tape was cut on the way, and will be cut here again
        *reads, (plan, second, _, _), (back, third, _, _) = nodes
        if [node[0] for node in reads] == ([place.read] if key[2] is None else []):
            start.children[key] = segment.state, count, reads[0][1] if reads else None, plan, second, back, third
    return answer


def followed(self):
    """Whether the history can follow a write to a tensor without further ado; where PyTorch may refuse it the rules are asked."""
    info = self._info
    if info is None:
        return self._spec is self._storage.spec and (self._edge is not None or not self._requires_grad)
    base = info.base
    return self._spec is not self._storage.spec and info.replay is None and info.differentiable and info.creation == "default" and (
        self._edge is not None and base._edge is not None or not (self._requires_grad or base._requires_grad))


def begun(plan, tensors, needs, original):
    """The node of a write with history, before the write: edges and what is saved of the inputs. None where there is none to be had."""
    way = plan.nodes.get(("in place", needs))
    if way is None:
        asked, operator = needs, plan.operator
        if operator.nondiff and 0 not in operator.nondiff:
            blocked = blocked_positions(plan)
            needs = tuple([at for at in needs if at not in blocked])
        way = plan.nodes["in place", asked] = needs, inplace_node_type(operator, len(tensors)), saves.codes(plan, needs)
    needs, cls, codes = way
    if not needs:
        return None
    node = cls.__new__(cls)
    edges = []
    for at, tensor in enumerate(tensors):
        edges.append(None if at not in needs else tensor._edge if tensor._info is None and tensor._edge is not None else edge_of(tensor))
    node.edges = tuple(edges)
    node.sequence = sequence()
    node.meta = node.hooks = node.pre_hooks = node.tensor_hooks = node.retained = node.site = None
    node.plan, node.needs, node.saved = plan, needs, ()
    if codes:
        node.site = sites.user_site(2)
        node.saved = [~code if code < 0 else original if code == 0 else save(code, tensors, ()) for code in codes]
    return node


def ended(self, node, scalars):
    """What is left to be done after the write: the node saves numbers and results, and becomes the tensor's history."""
    node.scalars = scalars
    saved = node.saved
    for at, entry in enumerate(saved):
        if entry.__class__ is int:
            saved[at] = save(~entry, (), (self,))
    if self._info is not None:
        rebase(self, node)
        return
    if self._auto is not None:
        move_retained(self, node)
    self._edge, self._requires_grad = (node, 0), True


# -- the source text, in the letters of `templates`; 0 is the target -------------------------------------------------------

_BEGIN = """\
def write({parameters}):
    k0 = a0._spec; s0 = a0._storage
    local = LOCAL
    grads = local.grad_enabled
    if s0.spec is None or k0.device is not cpu or local.eager or local.inference or a0._auto is not None and a0._auto.inference:
        return general({args})
    n0 = grads and (a0._requires_grad or a0._info is not None and a0._info.base._requires_grad)
{described}{reads}{fitting}    tracked = {any}
    if {refused}:
        return general({args})
    segment = local.segment
    v0 = s0.value
    p0 = v0.position if v0.segment is segment else slot(segment, v0)
{placed}"""
_OPERAND = """\
        k = {t}._spec; s = {t}._storage
        if k.device is not cpu or s is s0 and {t} is not a0 and not apart(a0, {t}):
            return general({args})
        {needs} = grads and ({t}._requires_grad or {t}._info is not None and {t}._info.base._requires_grad and {t}.requires_grad)
"""
_IF_TENSOR = """if isinstance(a{i}, Tensor):
""" + _OPERAND.replace("{t}", "a{i}").replace("{needs}", "n{i}") + """\
        k{i} = k
        v{i} = s.value if k is s.spec else read(a{i})
"""
_TENSOR = "    " + _IF_TENSOR + templates.OTHERWISE
_READS = {
    OptTensor: """\
    if a{i} is None:
        k{i} = v{i} = None; n{i} = False
    el""" + _IF_TENSOR + templates.OTHERWISE,
    TensorOrNumber: "    " + _IF_TENSOR + """\
    else:
        k{i} = a{i}.__class__; v{i} = None; n{i} = False
        if not (""" + templates.IS_NUMBER + """{or_none}):
            return general({args})
""",
    Tensors: """\
    if a{i}.__class__ is not list and a{i}.__class__ is not tuple:
        return general({args})
    k{i} = []; v{i} = []; n{i} = []
    for t in a{i}:
        if not isinstance(t, Tensor):
            return general({args})
""" + _OPERAND.replace("{t}", "t").replace("{needs}", "need") + """\
        n{i}.append(need); k{i}.append(k); v{i}.append(s.value if k is s.spec else read(t))
    k{i} = tuple(k{i})
"""}
_WHOLE = """\
    if k0 is s0.spec:
        key = (mark, p0, k0{key},)
""" + indent(templates.FIND) + """\
        if tracked:
            tracked = begun(state.plan, {tensors}, NEEDS[{flags}], v0)
{put}""" + indent(templates.NEW.format(name="made", aval="k0.aval") + templates.PUT.format(
    name="made", plan="state.plan", positions="state.positions", places="{places}", state="state"))
_TAKE_STARTS = """\
    if starts:
        taken = taken_from[len(segment.integers), len(starts)]
        segment.integers += starts
"""
_ELEMENTS = templates.NEW.format(name="v", aval="k0.aval")
_VIEW = """\
    else:
        starts = a0._offset
        place = where.get((s0.layout, k0, starts)) or place_of(s0.layout, k0, starts)
        v = a0._cached
        if v is not None and v[0]() is v0:
            v = v[1]
            at = v.position if v.segment is segment else slot(segment, v)
        elif v0.segment.__class__ is ndarray:
            v = read(a0)
            at = v.position if v.segment is segment else slot(segment, v)
        else:
            at = None
        key = (mark, p0, at, place.read{key},)
        state = segment.state.children.get(key)
        if state is None:
            return learn(operator, ({args},), segment, key, place)
        state, count, first, plan, second, back, third = state
        starts = place.starts
        taken = ()
        gone = GONE
        if tracked:
            if at is None:
""" + indent(_ELEMENTS, 12) + """\
                v.position = count
                gone = reference(v)
            tracked = begun(plan, {tensors}, NEEDS[{flags}], v)
        if at is None:
""" + indent(_TAKE_STARTS, 8) + """\
            before = (place.read, first, taken, gone)
{put}""" + indent(_ELEMENTS) + """\
        node = (plan, second, {places}, reference(v))
""" + indent(_TAKE_STARTS) + indent(templates.NEW.format(name="made", aval="s0.layout.aval")) + """\
        last = (back, third, taken, reference(made))
        if segment.count != count:              # a signal's handler has recorded in between (`trace.asides`)
            tape.begin_anew()
            return general({args})
        if at is None:
            count += 1
        v.position = count; made.position = count + 1
        segment.count, segment.state = count + 2, state
        segment.nodes += (node, last) if at is not None else (before, node, last)       # no call, behind which a handler might run
        a0._cached = (reference(made), v)
"""
_END = """\
    s0.value = made
    counter = a0._counter
    counter.version += 1
    if counter.site is not None:
        counter.site = user_site()
    if tracked:
        ended(a0, tracked, {numbers})
    if state.cut:
        v0 = v = None
        tape.over_cap()
    return a0
"""


def _source(untracked, overwrites, kinds, fitted):
    """``def write(a0, a1=d1, ...)`` for parameters of these kinds (`templates.kinds_of`).

    ``untracked``: PyTorch's autograd knows nothing of it; ``overwrites``: without history it is done otherwise.
    """
    signature = Signature(kinds, 1, fitted)
    reads = "".join([signature.said(_READS.get(kind, _TENSOR), i) for i, kind, _ in signature.arrays[1:]])
    refused = "tracked" if untracked else "tracked and not (k0.dtype.differentiable and followed(a0))"
    if overwrites:
        refused = "not tracked or " + refused
    words = signature.words | {"put": indent(signature.words["put"]), "reads": reads, "refused": refused}
    return (_BEGIN + _WHOLE + _VIEW + _END).format(**words)


# -- making one -------------------------------------------------------------------------------------------------------


_NAMES = templates.NAMES | {
    "GONE": GONE, "NEEDS": NEEDS, "apart": apart_or_same, "begun": begun, "bounds": bounds, "cpu": devices.cpu, "ended": ended,
    "followed": followed, "learn": learn, "missed": missed, "ndarray": ndarray, "place_of": place_of, "taken_from": taken_from,
    "user_site": sites.user_site, "where": places,
}


@functools.cache
def _code(*signature):
    return CODES.compiled(_source(*signature), "<jtensor writer>")


def writer(operator):
    """``f(target, *arguments in the order of the declaration)``: the operator in place; it answers the target."""
    def general(*args):
        return call_inplace(operator, args)
    if operator.by_result is not None:
        return operator.by_result.write
    if operator.sync:
        return general
    scope = _NAMES | templates.defaults_of(operator) | {"operator": operator, "general": general, "mark": object()}
    if operator.quirks.apart:
        scope["apart"] = apart
    exec(_code(operator.quirks.untracked, bool(operator.overwrites), templates.kinds_of(operator), templates.fitted_of(operator)), scope)
    return scope["write"]


def _inplace_form(self, *args, **kwargs):
    return self.write(*bind(self, args, kwargs)) if kwargs else self.write(*args)


Operator.write = functools.cached_property(writer)
Operator.write.__set_name__(Operator, "write")
Operator.inplace_form = _inplace_form
