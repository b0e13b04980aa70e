"""The backward of a node that came before: recorded again as it was recorded then, by a function written out for it.

What `replay` does for a node is settled by its plan, which inputs need gradients and how the gradient that arrives lies; looking it up
again costs several times what recording does. So a backward that keeps coming is watched once (`rehearsal`), and what it recorded and
answered becomes source text: from the gradient and what was saved to the nodes on the tape and the tensors answered. A function made
so holds no knowledge of its own. Whatever is not as it was then (a saved tensor that was written to, or lies otherwise; a user's hook)
makes it answer None, and the rules of `replay` decide, which also know the errors. Where a whole graph is known, `retrace` needs none
of this.
May not know: operators, formulas, the walk over the graph.
"""
import functools

from ...autograd.graph import AccumulateGrad
from ...base import devices
from ...ops import saves
from ...ops.gradient import stays_complex
from ...trace.cache.codes import CODES
from ...trace.tape import LIFTED, LOCAL, Value, slot
from ..core import LAYOUTS, Tensor, View
from ..recording import templates
from ..values import lies_flipped, read_flipped

AFTER = 6                # times that a backward has gone the long way before it is watched
LARGEST = 4              # nodes that it may record
MANY = 256               # inputs that it may answer


class _Unlike(Exception):
    """A backward that cannot be written out."""


def _value(tensor):
    """The Value of a tensor; None where reading it would record something."""
    storage, spec, cached = tensor._storage, tensor._spec, tensor._cached
    if spec is storage.spec:
        return storage.value
    return cached[1] if cached is not None and storage.host is None and cached[0]() is storage.value else None


def rehearsal(node, grads, rules):
    """What ``rules(node, grads)`` answers, while that is watched; keeps the function made of it, or that there can be none."""
    ways, key = node.plan.ways, (node.needs, grads[0]._spec)
    seen = ways.get(key, 0)
    if seen < AFTER or node.saved is None or LOCAL.lesson is not None or LOCAL.eager or LOCAL.inference:
        ways[key] = min(seen + 1, AFTER)
        return rules(node, grads)
    ways[key] = NEVER
    if key[1].device is devices.meta or type(grads[0]) in LAYOUTS:
        # Nothing is recorded, and a tape must not number a value without numbers; a layout has no memory to be told of.
        return rules(node, grads)
    watched = _Watch(node, grads[0])
    answers = rules(node, grads)
    try:
        ways[key] = watched.written(answers)
    except _Unlike:
        pass
    return answers


def NEVER(node, grads):
    """Stands for the function of a backward that cannot be written out."""


NEVER.story, NEVER.chains = None, ()


# -- watching ---------------------------------------------------------------------------------------------------------


class _Watch:
    """What lies on the tape before a backward, to tell afterwards what it has recorded."""

    def __init__(self, node, grad):
        self.node, self.grad, self.segment = node, grad, LOCAL.segment
        self.begin, self.count = len(self.segment.nodes), self.segment.count
        self.codes, self.entries = saves.codes(node.plan, node.needs), node.saved

    def written(self, answers):
        """The function that does it again."""
        segment = self.segment
        nodes = segment.nodes[self.begin:]
        if LOCAL.segment is not segment or len(nodes) > LARGEST:
            raise _Unlike
        if any(answers[at] is None for at in stays_complex(self.node.plan, self.node.needs)):          # refused where it is asked for
            raise _Unlike
        saved = [self._saved(code, entry) for code, entry in zip(self.codes, self.entries, strict=True)]
        names = {}
        for name, value in (("g", _value(self.grad)), *((f"v{at}", entry[3]) for at, entry in enumerate(saved))):
            if value is not None:
                place = value.position if value.segment is segment else slot(segment, value)
                if place in names:                      # two of them are one value this time: it does not tell which was meant
                    raise _Unlike
                names[place] = name
        read = [names[at] for at in range(self.count, segment.count) if at in names]           # by the backward itself, in this order
        recorded, made, at = [], {}, self.count
        for number, (plan, positions, scalars, refs) in enumerate(nodes):
            if at in names:
                at += 1
                continue
            if scalars and (len(nodes) - len(read) > 1 or not self._mine(plan, scalars)) or any(p not in names for p in positions):
                raise _Unlike
            outs = []
            for k, ref in enumerate(refs if type(refs) is list else [refs]):
                names[at] = f"n{number}_{k}"
                outs.append(names[at])
                value = ref()
                if value is not None:
                    made[id(value)] = names[at]
                at += 1
            recorded.append((plan, tuple([names[p] for p in positions]), outs, scalars))
        used = {name for _, positions, _, _ in recorded for name in positions}
        if not used.issuperset(read):
            raise _Unlike
        order = [*sorted(n for n in used if n[0] in "gv" and n not in read), *read]
        return _function(Story([entry[:3] for entry in saved], order, recorded, [self._answer(a, made) for a in self._each(answers)]))

    def _saved(self, code, entry):
        """(kind, code, Spec, Value or None where it was not read) of a saved entry."""
        if type(entry) is Value:
            return "value", code, None, entry
        if type(entry) is not tuple or code >= 0 and len(entry) > 2:           # the backward of a backward saves a result as an input
            raise _Unlike
        if code >= 0:
            tensor, _ = entry
            shape = tuple(tensor._spec.size)
            if tuple(self.node.plan.inputs[code].shape) != (shape[::-1] if code in self.node.plan.flipped else shape):
                raise _Unlike                           # `.data =` has given it another since
            if code not in self.node.plan.flipped:
                return "input", code, tensor._spec, _value(tensor)
            if not lies_flipped(tensor):
                raise _Unlike
            return "flipped", code, tensor._spec, tensor._storage.value
        storage, spec, _, _, _ = entry
        if spec is not storage.spec:
            raise _Unlike
        return "result", code, spec, storage.value

    def _mine(self, plan, scalars):
        """Whether a recorded node's numbers are the node's own."""
        numbers = {"f": self.segment.floats, "i": self.segment.integers, "b": self.segment.integers, "c": self.segment.complexes}
        return len(scalars) == len(self.node.scalars) and all(
            numbers[kind][index] is mine for (kind, index), mine in zip(scalars, self.node.scalars, strict=True))

    def _each(self, answers):
        if len(answers) != len(self.node.edges) or len(answers) > MANY:
            raise _Unlike
        storages = [a._storage for a in answers if a is not None and a is not self.grad and a._storage is not self.grad._storage]
        if len(set(storages)) != len(storages):
            raise _Unlike
        return answers

    def _answer(self, answer, made):
        """What is told of an answer: None, "grad", ("new", the value's name, ...) or ("view", ...) of the gradient."""
        grad = self.grad
        if answer is None:
            return None
        if answer is grad:
            return "grad"
        info, storage = answer._info, answer._storage
        if type(answer) is not Tensor or answer.__dict__ or answer._auto is not None or answer._edge is not None \
                or answer._cached is not None:
            raise _Unlike
        if storage is grad._storage:
            origin = "grad" if grad._info is None else "info.base"
            if info is None or info.base is not (grad if grad._info is None else grad._info.base) or info.replay is not None \
                    or answer._counter is not grad._counter:
                raise _Unlike
            return "view", answer._spec, answer._offset - grad._offset, info.creation, info.differentiable, origin
        name = made.get(id(storage.value))
        if name is None or answer._counter is not storage or storage.spec is None or storage.site is not None or storage.host is not None:
            raise _Unlike
        shown = None
        if info is not None:
            base = info.base
            if base is None or base._storage is not storage or base._info is not None or base._edge is not None or base._auto is not None \
                    or base._offset or info.replay is not None or info.version != storage.version:
                raise _Unlike
            shown = base._spec, info.creation, info.differentiable
        return "new", name, storage.layout, storage.version, answer._spec, answer._offset, shown


# -- writing it out ---------------------------------------------------------------------------------------------------

_HEAD = """\
def way(node, grads):
    grad = grads[0]
    saved = node.saved
    if saved is None or LOCAL.inference:
        return None
"""
_ORIGINS = {"grad": """\
    if grad._info is not None:
        return None
""", "info.base": """\
    info = grad._info
    if info is None or info.base is None or not info.differentiable or info.replay is not None:
        return None
"""}
_INPUT = """\
    e = saved[{at}]
    if e.__class__ is not tuple:
        return None
    t, n = e
    if t._counter.version != n or t._spec is not s{i}:
        return None
    if t._edge is None:
        edge = node.edges[{code}]
        if edge is not None and not isinstance(edge[0], AccumulateGrad):
            return None
    t{i} = t
"""
_WHOLE = """\
    s = t{i}._storage
    v{i} = s.value if s{i} is s.spec else read(t{i})
"""
_FLIPPED = """\
    v{i} = read_flipped(t{i})
"""
_VALUE_ITSELF = """\
    v{i} = saved[{at}]
    if v{i}.__class__ is not Value:
        return None
"""
_RESULT = """\
    e = saved[{at}]
    if e.__class__ is not tuple:
        return None
    s, k, offset, counter, n = e
    if counter.version != n or k is not s{i} or k is not s.spec:
        return None
    v{i} = s.value
"""
_GRADIENT = """\
    s = grad._storage
    g = s.value if grad._spec is s.spec else read(grad)
"""
_NODE = """\
    segment = LOCAL.segment
    positions = ({positions})
    key = (plan{i}, positions)
    state = segment.state.children.get(key)
    if state is None:
        if LIFTED in positions:
            return None
        state = TRIE.grow(segment.state, key, plan{i})
{values}{numbers}    added = (plan{i}, positions, {places}, {refs})
    count = segment.count
{placed}    segment.count, segment.state = count + {many}, state
    segment.nodes.append(added)
    if state.cut or LOCAL.eager:
        tape.over_cap()
"""
_VALUE = templates.NEW.format(name="{name}", aval="aval_{name}")
_PLACED = """\
    {name}.position = {at}
"""
_NUMBER = """\
    places.append(("{kind}", len(segment.{where})))
    segment.{where}.append(node.scalars[{k}])
"""
_VIEW = """\
    view = a{i}._info = new_view(View)
    view.base, view.creation, view.version = {base}, {creation!r}, {version}
    view.differentiable, view.replay = {differentiable}, None
"""


LISTS = {"f": "floats", "i": "integers", "b": "integers", "c": "complexes"}


class Story:
    """What a backward was seen to do.

    ``saved``: (kind, code, Spec) of each entry; ``order``: which of them ("v0", ...), and of the gradient ("g"), are read in turn;
    ``recorded``: (plan, names of what it takes, names of its results, where its numbers are) of each node; ``answers``: as
    `_Watch._answer` tells.
    """

    __slots__ = ("saved", "order", "recorded", "answers")

    def __init__(self, saved, order, recorded, answers):
        self.saved, self.order, self.recorded, self.answers = saved, order, recorded, answers


def _function(story):
    """The function that does what a story tells; ``story`` is kept with it, and the rows that begin with it, for `chains`."""
    scope = dict(NAMES)
    text = [_HEAD, *origins(story.answers)]
    for i, (kind, code, spec) in enumerate(story.saved):
        scope[f"s{i}"] = spec
        text.append(asked(kind, i, i, code))
    text += [read_of(name, story.saved) for name in story.order]
    for i, (plan, positions, outs, places) in enumerate(story.recorded):
        scope[f"plan{i}"] = plan
        scope.update({f"aval_{name}": aval for name, aval in zip(outs, plan.outputs, strict=True)})
        numbers = "".join([_NUMBER.format(kind=kind, where=LISTS[kind], k=k) for k, (kind, _) in enumerate(places)])
        text.append(_NODE.format(
            i=i, positions="".join([templates.POSITION.format(v=v) + ", " for v in positions]),
            values="".join([_VALUE.format(name=name) for name in outs]), many=len(outs),
            placed="".join([_PLACED.format(name=name, at=f"count + {k}" if k else "count") for k, name in enumerate(outs)]),
            numbers="    places = []\n" + numbers if places else "", places="places" if places else repr(places),
            refs=f"reference({outs[0]})" if len(outs) == 1 else "[" + ", ".join([f"reference({name})" for name in outs]) + "]"))
    told = []
    for i, answer in enumerate(story.answers):
        if answer is not None and answer != "grad":
            text.append(written(i, answer, scope))
            answer = f"a{i}"
        told.append(str(answer))
    text.append(f"    return [{', '.join(told)}]\n")
    exec(code_of("".join(text)), scope)
    way = scope["way"]
    way.story, way.chains, way.rows = story, (), {}
    return way


def origins(answers):
    """What the gradient must be of which views are answered: in the order of the answers, so that every process writes the same text."""
    return [_ORIGINS[origin] for origin in dict.fromkeys(a[-1] for a in answers if type(a) is tuple and a[0] == "view")]


def asked(kind, at, name, code):
    """What is asked of entry ``at`` of what a node saved, which gets this name."""
    return {"result": _RESULT, "value": _VALUE_ITSELF}.get(kind, _INPUT).format(at=at, i=name, code=code)


def read_of(name, saved, suffix=""):
    """How the gradient or an entry is read that is told of as "g", or as "v" and its number; "" where asking for it has read it."""
    if name == "g":
        return _GRADIENT
    kind = saved[int(name[1:])][0]
    return {"input": _WHOLE, "flipped": _FLIPPED}[kind].format(i=name[1:] + suffix) if kind in ("input", "flipped") else ""


def written(i, answer, scope, grad="grad"):
    """The text that makes answer ``a{i}``, from the value that is its own, or as a view of a gradient."""
    if answer[0] == "view":
        _, scope[f"spec{i}"], offset, creation, differentiable, origin = answer
        return templates.TENSOR.format(name=f"a{i}", storage=f"{grad}._storage", spec=f"spec{i}", offset=f"{grad}._offset + {offset}",
                                       counter=f"{grad}._counter") + _VIEW.format(
            i=i, base=grad if origin == "grad" else origin, creation=creation, version=f"{grad}._counter.version",
            differentiable=differentiable)
    _, value, scope[f"layout{i}"], version, scope[f"spec{i}"], offset, shown = answer
    text = templates.STORAGE.format(value=value, spec=f"layout{i}", version=version)
    text += templates.TENSOR.format(name=f"a{i}", storage="storage", spec=f"spec{i}", offset=offset, counter="storage")
    if shown is not None:
        scope[f"shown{i}"], creation, differentiable = shown
        text += templates.TENSOR.format(name=f"b{i}", storage="storage", spec=f"shown{i}", offset=0, counter="storage")
        text += _VIEW.format(i=i, base=f"b{i}", creation=creation, version=version, differentiable=differentiable)
    return text


@functools.cache
def code_of(text):
    """The code object of a text."""
    return CODES.compiled(text, "<jtensor backward>")


NAMES = templates.NAMES | {
    "AccumulateGrad": AccumulateGrad, "LIFTED": LIFTED, "View": View, "new_view": View.__new__, "read_flipped": read_flipped}
