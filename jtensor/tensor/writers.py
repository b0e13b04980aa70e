"""The ordinary call of an operator in place, written out for its signature: what `recorders` are for calls that make a new tensor.

A writer does what `inplace.call_inplace` does for a whole storage or a view of one on the CPU.
On a whole storage that is one node and one look-up in the trie. On a view it is three: its elements are
read, computed, and written into the base; under one key the trie remembers where all three lead, so that it is one look-up, too. What
they are is learnt from the general path, which also takes every call that is not ordinary and knows the rules and the errors.
Measure changes here with `inplace_*` and `dispatch_iadd` of the benchmark.
"""
import functools
import weakref

from ..autograd.gradmode_checks import APART
from ..autograd.graph import sequence
from ..base import devices, geometry, sites
from ..ops import gradient
from ..ops.operator import Number, Operator, OptTensor, Static, TensorOrNumber, Tensors
from ..trace import tape
from ..trace.codes import CODES
from ..trace.tape import LOCAL, TRIE, Value, slot
from . import recorders
from .arguments import bind, collect
from .core import Tensor
from .dispatch import plan_of
from .history import NEEDS, blocked_positions, edge_of, move_retained, rebase, save
from .inplace import UNTRACKED, call_inplace, inplace_node_type
from .values import place_of, places, read, taken_from

# -- what the source text uses ----------------------------------------------------------------------------------------


GONE = weakref.ref(Value())          # stands for a value that nobody holds


def apart(target, other):
    """Whether PyTorch finds no element that two tensors on one storage have in common; else its rules are asked."""
    return apart_at(target._spec, target._offset, other._spec, other._offset)


def apart_or_same(target, other):
    """The same where two tensors may also be one geometry, as all but writes by index allow."""
    return target._spec is other._spec and target._offset == other._offset or apart(target, other)


def apart_at(a, at_a, b, at_b):
    """`apart` for geometries and offsets."""
    key = a, at_a, b, at_b
    found = _apart.get(key)
    if found is None:
        if len(_apart) >= 1 << 16:
            _apart.clear()
        found = _apart[key] = geometry.overlap_between(tuple(a.size), a.stride, at_a, tuple(b.size), b.stride, at_b) in ("no", "too_hard")
    return found


_apart = {}


def missed(segment, key, operator, args):
    """The state after a write to a whole storage that this tape has not had at this place; None where the general path must take it."""
    plan_key, template, tensors, _ = collect(operator, args)
    if not tensors[0]._spec.dense:
        return None
    return TRIE.grow(segment.state, key, plan_of(("in place", *plan_key), operator, template, True))


def learn(operator, args, segment, key, place):
    """A write through a view by the general path, remembered under a key where it was what it usually is."""
    start, begin = segment.state, len(segment.nodes)
    answer = call_inplace(operator, args)
    target = args[0]
    if LOCAL.segment is segment:                           # else the tape was cut on the way, and will be cut here again
        nodes, cached = segment.nodes[begin:], target._cached
        plans = [node[0] for node in nodes]
        if len(nodes) in (2, 3) and plans[-1] is place.write and plans[:-2] == [place.read][:len(nodes) - 2] \
                and cached is not None and cached[0]() is target._storage.value:
            first = nodes[0][1] if len(nodes) == 3 else None
            start.children[key] = segment.state, first, nodes[-2][0], nodes[-2][1], plans[-1], nodes[-1][1]
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
        way = plan.nodes["in place", asked] = needs, inplace_node_type(operator, len(tensors)), gradient.saved(plan, needs)
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


# -- the source text --------------------------------------------------------------------------------------------------
# The letters are those of `recorders`; those of the target are 0.

_TARGET = """\
    k0 = a0._spec; s0 = a0._storage
    local = LOCAL
    grads = local.grad_enabled
    if s0.spec is None or k0.device is not cpu or local.eager or local.inference or a0._auto is not None and a0._auto.inference:
        return general({args})
    n0 = grads and (a0._requires_grad or a0._info is not None and a0._info.base._requires_grad)
"""
_OPERAND = """\
{pad}k = {t}._spec; s = {t}._storage
{pad}if k.device is not cpu or s is s0 and {t} is not a0 and not apart(a0, {t}):
{pad}    return general({args})
{pad}{needs} = grads and ({t}._requires_grad or {t}._info is not None and {t}._info.base._requires_grad and {t}.requires_grad)
"""
_TENSOR = """\
{lead}if isinstance(a{i}, Tensor):
""" + _OPERAND.replace("{t}", "a{i}").replace("{pad}", " " * 8).replace("{needs}", "n{i}") + """\
        k{i} = k
        v{i} = s.value if k is s.spec else read(a{i})
"""
_ABSENT = """\
    if a{i} is None:
        k{i} = v{i} = None; n{i} = False
"""
_OTHER = """\
    else:
        return general({args})
"""
_NUMBER = """\
    else:
        k{i} = a{i}.__class__; v{i} = None; n{i} = False
        if not (""" + recorders._IS_NUMBER + """{or_none}):
            return general({args})
"""
_LIST = """\
    if a{i}.__class__ is not list and a{i}.__class__ is not tuple:
        return general({args})
    k{i} = []; v{i} = []; n{i} = []
    for t in a{i}:
        if not isinstance(t, Tensor):
            return general({args})
""" + _OPERAND.replace("{t}", "t").replace("{pad}", " " * 8).replace("{needs}", "need") + """\
        n{i}.append(need); k{i}.append(k); v{i}.append(s.value if k is s.spec else read(t))
    k{i} = tuple(k{i})
"""
_WHOLE = """\
    tracked = {any}
    if {refused}:
        return general({args})
    segment = local.segment
    v0 = s0.value
    p0 = v0.position if v0.segment is segment else slot(segment, v0)
{places}    if k0 is s0.spec:
        key = (mark, p0, k0, {key})
        state = segment.state.children.get(key)
        if state is None:
            state = missed(segment, key, operator, ({args},))
            if state is None:
                return general({args})
        if tracked:
            tracked = begun(state.plan, {tensors}, NEEDS[{flags}], v0)
{put}        made = new_value(Value)
        made.array, made.segment, made.aval = None, segment, k0.aval
        made.position = segment.count
        segment.count += 1
        segment.nodes.append((state.plan, {positions}, {scalars}, reference(made)))
"""
_VIEW = """\
    else:
        starts = a0._offset
        place = where.get((s0.layout, k0, starts)) or place_of(s0.layout, k0, starts)
        v = a0._cached
        if v is not None and v[0]() is v0:
            v = v[1]
            at = v.position if v.segment is segment else slot(segment, v)
            key = (mark, p0, at, place.read, {key})
        else:
            at = None
            key = (mark, p0, at, place.read, {key})
        state = segment.state.children.get(key)
        if state is None:
            return learn(operator, ({args},), segment, key, place)
        state, first, plan, second, back, third = state
        nodes = segment.nodes; count = segment.count
        starts = place.starts
        taken = ()
        gone = GONE
        if tracked:
            if at is None:
                v = new_value(Value)
                v.array, v.segment, v.position, v.aval = None, segment, count, k0.aval
                gone = reference(v)
            tracked = begun(plan, {tensors}, NEEDS[{flags}], v)
        if at is None:
            if starts:
                taken = taken_from[len(segment.integers), len(starts)]
                segment.integers += starts
            nodes.append((place.read, first, taken, gone))
            count += 1
{put}        v = new_value(Value)
        v.array, v.segment, v.position, v.aval = None, segment, count, k0.aval
        nodes.append((plan, second, {scalars}, reference(v)))
        if starts:
            taken = taken_from[len(segment.integers), len(starts)]
            segment.integers += starts
        made = new_value(Value)
        made.array, made.segment, made.position, made.aval = None, segment, count + 1, s0.layout.aval
        nodes.append((back, third, taken, reference(made)))
        segment.count = count + 2
        a0._cached = (reference(made), v)
"""
_END = """\
    segment.state = state
    s0.value = made
    counter = a0._counter
    counter.version += 1
    if counter.site is not None:
        counter.site = user_site()
    if tracked:
        ended(a0, tracked, {numbers})
    if state.cut:
        over_cap()
    return a0
"""


def _source(untracked, overwrites, *kinds):
    """``def write(a0, a1=d1, ...)`` for parameters of these kinds, each with what its default is.

    ``untracked``: PyTorch's autograd knows nothing of it; ``overwrites``: without history it is done otherwise.
    """
    args = ", ".join([f"a{i}" for i in range(len(kinds))])
    statics, reads, places_of, key, arrays, put = [], [], [], [], [(0, "")], []
    for i, (kind, default) in list(enumerate(kinds))[1:]:
        said = {"i": i, "args": args, "or_none": f" or a{i} is None" if default == "None" else "", "lead": "    "}
        if kind is Static:
            statics.append(recorders._STATIC.format(**said))
        elif kind is Number:
            statics.append((recorders._DEFAULTED_NUMBER if default else recorders._NUMBER).format(**said))
            put.append(recorders._PUT_NUMBER.format(i=i, given=f"k{i} is not None"))
        else:
            optional = kind in (OptTensor, TensorOrNumber)
            at = f"v{i}.position if v{i}.segment is segment else slot(segment, v{i})"
            if kind is Tensors:
                reads.append(_LIST.format(**said))
                at = f"tuple([v.position if v.segment is segment else slot(segment, v) for v in v{i}])"
            elif kind is OptTensor:
                reads.append((_ABSENT + _TENSOR + _OTHER).format(**said | {"lead": "    el"}))
            else:
                reads.append((_TENSOR + (_NUMBER if optional else _OTHER)).format(**said))
            if kind is TensorOrNumber:
                put.append(recorders._PUT_NUMBER.format(i=i, given=f"v{i} is None"))
            places_of.append(f"    p{i} = None if v{i} is None else {at}\n" if optional else f"    p{i} = {at}\n")
            key.append(f"p{i}")
            arrays.append((i, "*" if kind is Tensors else "?" if optional else ""))
        key.append(f"k{i}")
    if put:
        put.insert(0, "    places = numbers = ()\n")
    refused = "tracked" if untracked else "tracked and not (k0.dtype.differentiable and followed(a0))"
    said = {"args": args, "refused": "not tracked or " + refused if overwrites else refused, "key": ", ".join(key),
            "places": "".join(places_of), "positions": recorders._tuple("p", arrays),
            "tensors": recorders._tuple("a", arrays), "flags": recorders._tuple("n", arrays), "numbers": "numbers" if put else "()",
            "any": " or ".join([f"any(n{i})" if how == "*" else f"n{i}" for i, how in arrays]),
            "put": "".join([f"    {line}\n" for line in "".join(put).splitlines()]), "scalars": "places" if put else "()"}
    parameters = ", ".join([f"a{i}=d{i}" if default else f"a{i}" for i, (_, default) in enumerate(kinds)])
    return "".join((f"def write({parameters}):\n", _TARGET.format(args=args), *statics, *reads, _WHOLE.format(**said),
                    _VIEW.format(**said), _END.format(**said)))


# -- making one -------------------------------------------------------------------------------------------------------


_COMMON = {
    "GONE": GONE, "LOCAL": LOCAL, "NEEDS": NEEDS, "PLAIN": recorders.PLAIN, "Tensor": Tensor, "Value": Value, "apart": apart,
    "begun": begun, "cpu": devices.cpu, "ended": ended, "followed": followed, "identity": recorders.identity, "learn": learn,
    "missed": missed, "new_value": Value.__new__, "over_cap": lambda: tape.over_cap(), "place_of": place_of, "where": places, "read": read,
    "reference": weakref.ref, "slot": slot, "taken_from": taken_from, "user_site": sites.user_site,
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
    scope = {f"d{i}": p.default for i, p in enumerate(operator.parameters)}
    scope.update(_COMMON, operator=operator, general=general, mark=object())
    if operator.name.split(".")[0] not in APART:
        scope["apart"] = apart_or_same
    kinds = [(p.kind, recorders._default(p)) for p in operator.parameters]
    exec(_code(operator.name in UNTRACKED, bool(operator.overwrites), *kinds), scope)
    return scope["write"]


def _inplace_form(self, *args, **kwargs):
    return self.write(*bind(self, args, kwargs)) if kwargs else self.write(*args)


Operator.write = functools.cached_property(writer)
Operator.write.__set_name__(Operator, "write")
Operator.inplace_form = _inplace_form
