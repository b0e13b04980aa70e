"""The ordinary call of an operator, written out for its signature: from arguments to a recorded result in one function.

A recorder does what `dispatch.call` does, without its loops and with one look-up: the key of a node is the operator, what each argument is
(a tensor's Spec and position, a number's type, a static's identity), and the trie answers the plan. It is made at the operator's first
call, of source text that depends on the kinds of its parameters alone. It holds no knowledge of its own: whatever is not ordinary (an
argument of another type, another device) goes to `dispatch.call`, which knows the rules and the errors, and so does the first
occurrence of each call. Measure changes here with `dispatch_*` of the benchmark.
"""
import functools
import weakref

from ..base import devices, dtypes
from ..ops.operator import Number, Operator, OptTensor, Static, TensorOrNumber, Tensors
from ..storage.cell import Storage
from ..trace import tape
from ..trace.codes import CODES
from ..trace.tape import LOCAL, TRIE, Value, slot
from . import dispatch
from .arguments import _static, collect
from .core import Tensor
from .history import NEEDS, make_node, needs_of
from .values import lies_flipped, read

# -- what the source text uses ----------------------------------------------------------------------------------------


PLAIN = frozenset((int, str, type(None), dtypes.dtype))


def identity(value):
    """What a static argument is, as a part of a key: 1, 1.0 and True are kept apart."""
    kind = value.__class__
    if kind in PLAIN:
        return value
    if kind is bool:
        return _TRUE if value else _FALSE
    if kind is devices.device:
        return value.type, value.index             # its own hash is a Python function
    if isinstance(value, (tuple, list)):
        for n in value:
            if n.__class__ is not int:
                break
        else:
            return tuple(value)
    return _static(value)[1]


_TRUE, _FALSE = _static(True)[1], _static(False)[1]


def missed(segment, key, operator, args):
    """The state after a call that this tape has not had at this place; None where the general path must take it: on the meta device, and
    where numbers must be moved from one device to another."""
    plan_key, template, tensors, _ = collect(operator, args)
    if operator.flipped is not None:
        operator, plan_key, template = dispatch.flipped(operator, plan_key, template, tensors)
    plan = dispatch.plan_of(plan_key, operator, template, tensors=tensors)
    device = plan.specs[0].device if plan.specs else devices.cpu
    if device is devices.meta:
        _take_back(segment, tensors)
        return None
    if any(t._spec.device is not device for t in tensors):
        return None
    return TRIE.grow(segment.state, key, plan)


def _take_back(segment, tensors):
    """Frees the numbers of inputs that no node uses: values on the meta device have no array to run with."""
    for tensor in reversed(tensors):
        value = tensor._storage.value
        at = segment.slots.get(id(value))
        if at is not None and ~at == len(segment.inputs) - 1 and value.aval.device is devices.meta:
            segment.inputs.pop()
            del segment.slots[id(value)]


def several(state, segment, positions, places, tensors, numbers):
    """The end of recording an operator that may have several results."""
    plan = state.plan
    made = tape.append(segment, state, plan, positions, places)
    return dispatch.results(plan, made, tensors, needs_of(plan, tensors) if LOCAL.grad_enabled else (), numbers)


# -- the source text: what each kind of parameter asks for --------------------------------------------------------------
# a: argument, k: what it is, v: its value, p: where that is on the tape, d: the default

_ELSE = """\
        return general({args})
"""
_IS_NUMBER = "k{i} is float or k{i} is int and -0x8000000000000000 <= a{i} < 0x8000000000000000"
_READ = """\
        k{i} = a{i}._spec; s = a{i}._storage
        v{i} = s.value if k{i} is s.spec else read(a{i})
"""
_TENSOR = """\
    if isinstance(a{i}, Tensor):
""" + _READ + """\
    else:
""" + _ELSE
_TURNABLE = """\
    if isinstance(a{i}, Tensor):
        k{i} = a{i}._spec; s = a{i}._storage
        f{i} = k{i} is not s.spec and lies_flipped(a{i})
        v{i} = s.value if f{i} or k{i} is s.spec else read(a{i})
    else:
""" + _ELSE
_OPTIONAL = """\
    if a{i} is None:
        k{i} = v{i} = None
    elif isinstance(a{i}, Tensor):
""" + _READ + """\
    else:
""" + _ELSE
_TENSOR_OR_NUMBER = """\
    if isinstance(a{i}, Tensor):
""" + _READ + """\
    else:
        k{i} = a{i}.__class__; v{i} = None
        if not (""" + _IS_NUMBER + """{or_none}):
            return general({args})
"""
_LIST = """\
    if a{i}.__class__ is not list and a{i}.__class__ is not tuple:
        return general({args})
    k{i} = []; v{i} = []
    for t in a{i}:
        if not isinstance(t, Tensor):
            return general({args})
        k = t._spec; s = t._storage
        k{i}.append(k); v{i}.append(s.value if k is s.spec else read(t))
    k{i} = tuple(k{i})
"""
_NUMBER = """\
    k{i} = a{i}.__class__
    if not (""" + _IS_NUMBER + """):
        return general({args})
"""
_DEFAULTED_NUMBER = """\
    if a{i} is d{i}:
        k{i} = None
    else:
        k{i} = a{i}.__class__
        if not (""" + _IS_NUMBER + """):
            return general({args})
"""
_STATIC = """\
    k{i} = a{i} if a{i}.__class__ in PLAIN else identity(a{i})
"""
_PUT_NUMBER = """\
    if {given}:
        if k{i} is float:
            places += ("f", len(segment.floats)),
            segment.floats.append(a{i})
            numbers += a{i},
        elif k{i} is int:
            places += ("i", len(segment.integers)),
            segment.integers.append(a{i})
            numbers += a{i},
"""
_FIND = """\
    key = ({key},)
    state = segment.state.children.get(key)
    if state is None:
        state = missed(segment, key, operator, ({args},))
        if state is None:
            return general({args})
"""
_ONE_RESULT = """\
    plan = state.plan
    spec = plan.spec
    if spec is None:
        return several(state, segment, {positions}, {places}, {tensors}, {numbers})
    segment.state = state
    value = new_value(Value)
    value.array, value.segment, value.aval = None, segment, spec.aval
    value.position = segment.count
    segment.count += 1
    segment.nodes.append((plan, {positions}, {places}, reference(value)))
    storage = new_storage(Storage)
    storage.value, storage.spec, storage.layout, storage.version = value, spec, spec, 0
    storage.host = storage._address = storage.site = None
    out = new_tensor(Tensor)
    out._storage, out._spec, out._offset, out._cached, out._counter = storage, spec, 0, None, storage
    out._info = out._auto = out._edge = None
    out._requires_grad = False
    local = LOCAL
    if local.grad_enabled:
{asked}    elif local.inference:
        out._autograd_meta().inference = True
    if state.cut or local.eager:
        tape.over_cap()
    return out
"""
_HISTORY = """\
        if {any}:
            node = make_node(plan, {tensors}, NEEDS[{flags}], {numbers}, (out,), None, 3)
            if node is not None:
                out._edge, out._requires_grad = (node, 0), True
"""
_RESULTS = """\
    return several(state, segment, {positions}, {places}, {tensors}, {numbers})
"""


def _source(kinds, turnable, several_results):
    """``def record(a0, a1=d1, ...)`` for parameters of these kinds, each with what its default is (`_default`)."""
    args = ", ".join([f"a{i}" for i in range(len(kinds))])
    statics, reads, places, key, arrays, put, asked = [], [], [], ["operator"], [], [], []
    for i, (kind, default) in enumerate(kinds):
        said = {"i": i, "args": args, "or_none": f" or a{i} is None" if default == "None" else ""}
        if kind is Static:
            statics.append(_STATIC.format(**said))
        elif kind is Number:
            statics.append((_DEFAULTED_NUMBER if default else _NUMBER).format(**said))
            put.append(_PUT_NUMBER.format(i=i, given=f"k{i} is not None"))
        else:
            turned = i in turnable
            reads.append((_LIST if kind is Tensors else _OPTIONAL if kind is OptTensor else _TENSOR_OR_NUMBER if kind is TensorOrNumber
                          else _TURNABLE if turned else _TENSOR).format(**said))
            optional = kind in (OptTensor, TensorOrNumber)
            at = f"v{i}.position if v{i}.segment is segment else slot(segment, v{i})"
            needs = f"a{i}._requires_grad or a{i}._info is not None and a{i}._info.base._requires_grad and a{i}.requires_grad"
            if kind is Tensors:
                at = f"tuple([v.position if v.segment is segment else slot(segment, v) for v in v{i}])"
                needs = f"[t._requires_grad or t._info is not None and t.requires_grad for t in a{i}]"
            elif optional:
                at, needs = f"None if v{i} is None else {at}", f"v{i} is not None and ({needs})"
            if kind is TensorOrNumber:
                put.append(_PUT_NUMBER.format(i=i, given=f"v{i} is None"))
            places.append(f"    p{i} = {at}\n")
            key += [f"p{i}", f"f{i}"] if turned else [f"p{i}"]
            arrays.append((i, "*" if kind is Tensors else "?" if optional else ""))
            asked.append(f"        n{i} = {needs}\n")
        key.append(f"k{i}")
    if put:
        put.insert(0, "    places = numbers = ()\n")
    said = {"positions": _tuple("p", arrays), "tensors": _tuple("a", arrays), "flags": _tuple("n", arrays),
            "places": "places" if put else "()", "numbers": "numbers" if put else "()",
            "any": " or ".join([f"any(n{i})" if how == "*" else f"n{i}" for i, how in arrays])}
    said["asked"] = "".join([*asked, _HISTORY.format(**said)]) if arrays else "        pass\n"
    end = (_RESULTS if several_results else _ONE_RESULT).format(**said)
    parameters = ", ".join([f"a{i}=d{i}" if default else f"a{i}" for i, (_, default) in enumerate(kinds)])
    return "".join((f"def record({parameters}):\n", *statics, *reads, "    segment = LOCAL.segment\n", *places,
                    _FIND.format(key=", ".join(key), args=args), *put, end))


def _tuple(letter, arrays):
    """The text of a tuple of all arrays' ``letter``, without those that are absent."""
    optional = [i for i, how in arrays if how == "?"]
    if len(optional) > 2:
        listed = ", ".join([how.strip("?") + f"({letter}{i} if v{i} is not None else None)" if how == "?" else f"{how}{letter}{i}"
                            for i, how in arrays])
        return f"tuple([x for x in ({listed},) if x is not None])"

    def text(absent):
        return "(" + "".join([f"{how.strip('?')}{letter}{i}, " for i, how in arrays if i not in absent]) + ")"
    choices = text(())
    for absent in [(i,) for i in optional] + ([tuple(optional)] if len(optional) == 2 else []):
        choices = f"{text(absent)} if {' and '.join([f'v{i} is None' for i in absent])} else {choices}"
    return choices


# -- making one -------------------------------------------------------------------------------------------------------


_COMMON = {
    "LOCAL": LOCAL, "PLAIN": PLAIN, "Storage": Storage, "Tensor": Tensor, "Value": Value, "NEEDS": NEEDS, "identity": identity,
    "lies_flipped": lies_flipped, "make_node": make_node, "missed": missed, "new_storage": Storage.__new__, "new_tensor": object.__new__,
    "new_value": Value.__new__, "read": read, "reference": weakref.ref, "several": several, "slot": slot, "tape": tape,
}


@functools.cache
def _code(*signature):
    return CODES.compiled(_source(*signature), "<jtensor recorder>")


def _default(parameter):
    return "" if parameter.required else "None" if parameter.default is None else "given"


def recorder(operator, general=None):
    """``f(*arguments in the order of the declaration)``; ``general`` takes the same where a call is not ordinary."""
    general = general or functools.partial(_general, operator)
    if operator.sync:
        return general
    scope = {f"d{i}": p.default for i, p in enumerate(operator.parameters)}
    letters = operator.flipped[1] if operator.flipped is not None else ()
    turnable = tuple([i for i, p in enumerate(operator.parameters) if p.name in letters])
    scope.update(_COMMON, operator=operator, general=general)
    exec(_code(tuple([(p.kind, _default(p)) for p in operator.parameters]), turnable, operator.outputs is not None), scope)
    return scope["record"]


def _general(operator, *args):
    return dispatch.call(operator, args)


Operator.record = functools.cached_property(recorder)
Operator.record.__set_name__(Operator, "record")
