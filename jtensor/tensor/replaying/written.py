"""Graphs that keep coming, written out: one function asks all that `retrace` would put in a key, and makes none.

To name a graph node by node costs several microseconds for each: what a loop over all kinds of nodes and of saved values looks up.
A graph that has been played often enough is written out as it is, one sentence for each node and each saved value, with what is expected
of it; where anything is otherwise the function answers None (or cannot take a saved entry apart: TypeError, ValueError), and the key
decides. Updates are written out in `written_updates`, of the same sentences on tensors and values. May not know: the walk, operators, what
macros are for.
"""
from ...autograd import saved as saving
from ...autograd.graph import HOOKED, AccumulateGrad
from ...base import sites
from ...ops import saves
from ...storage.host import seen_again
from ...trace.tape import LIFTED, Value
from ..recording import templates

AFTER = 64               # times that a graph is played before it is written out: to compile it costs what some 200 times save
LARGEST = 1000           # nodes of such a graph: a sentence costs some ten microseconds to compile

_NAMES = templates.NAMES | {"HOOKED": HOOKED, "LIFTED": LIFTED, "Remembered": saving.Remembered, "seen_again": seen_again,
                            "user_site": sites.user_site}
_HEAD = """\
def ask(segment, edge, grad, keep_graph):
    n0, output = edge
    if output != {output} or keep_graph is not {keep} or grad._spec is not {spec} or len(segment.floats) != {floats} or \\
            len(segment.integers) != {integers} or len(segment.complexes) != {complexes} or len(segment.inputs) != {inputs}:
        return None
    named, leaves, numbers, holding, slots, fresh, top, hooked = {{}}, [], [], [], segment.slots, {{}}, n0.sequence, HOOKED[0]
    t = grad
"""
_USUAL = """\
hooked and \\
            (n{i}.hooks is not None or n{i}.pre_hooks is not None or n{i}.tensor_hooks is not None or n{i}.retained is not None)"""
_NODE = """\
    if n{i}.__class__ is not {kind} or n{i}.plan is not {plan} or top - n{i}.sequence != {behind} or \\
            n{i}.needs is not {needs} and n{i}.needs != {needs} or """ + _USUAL + """:
        return None
    edges, saved = n{i}.edges, n{i}.saved
"""
_EDGE = """\
    n{target} = edges[{at}][0]
"""
_EDGE_AGAIN = """\
    if edges[{at}][0] is not n{target}:
        return None
"""
_OUTPUT = """\
    if edges[{at}][1] != {output}:
        return None
"""
_NO_NUMBERS = """\
    if n{i}.scalars:
        return None
"""
_NUMBER = """\
    number = n{i}.scalars[{at}]
    if number.__class__ is not {kind}:
        return None
    numbers.append(number)
"""
_CONSTANT = """\
    number = n{i}.scalars[{at}]
    if number.__class__ is not {kind} or number != {number}:
        return None
"""
_HOLDING = """\
    if saved.__class__ is not list:
        return None
    holding.append(n{i})
"""
_NOT_HOLDING = """\
    if saved is None or saved.__class__ is list:
        return None
"""
_REMEMBERED = """\
    e = saved[{at}]
    if e.__class__ is not Remembered or not still_there(e):
        return None
    e = e.entry
"""
_VALUE = """\
    v = {entry}
    if v.__class__ is not Value:
        return None
"""
_INPUT = """\
    t, version = {entry}
    if t._counter.version != version:
        return None
"""
_ATTACHED = """\
    if t._edge is None:
        return None
"""
_RESULT = """\
    s, p, offset, counter, version = {entry}
    if counter.version != version or p is not {spec}:
        return None
"""
_OF_TENSOR = """\
    s, p = t._storage, t._spec
    if p is not {spec}:
        return None
"""
_WHOLE = """\
    if p is not s.spec:
        return None
    v = s.value
"""
_PART = """\
    if s.layout is not {layout} or s.host is not None or p is s.spec:
        return None
    v = s.value
"""
_SHARED = """\
    if s.layout is not {layout} or s.host is s:
        return None
    v = s.current()
    if v.position is LIFTED:
        return None
"""
_SEEN = """\
    v = seen_again(s, p, t._offset, t._cached)
    if v is None:
        return None
"""
_NOT_AGAIN = """\
    return None
"""
_OFFSET = """\
    if {offset} != {place}:
        return None
"""
_READ = """\
    cached = t._cached
    if cached is None or cached[0]() is not v:
        return None
    v = cached[1]
"""
_NOT_READ = """\
    if t._cached is not None and t._cached[0]() is v:
        return None
"""
_MADE = """\
    if v.segment is not segment or v.position != {at}:
        return None
"""
_GIVEN = """\
    if v.segment is segment or slots.get(id(v)) != {at}:
        return None
"""
_FRESH = """\
    if v.segment is segment or id(v) in slots or id(v) in fresh:
        return None
    fresh[id(v)] = None
"""
_KEPT = """\
    v{at} = v
"""
_AGAIN = """\
    if v is not v{at}:
        return None
"""
_NAMED = """\
    named[{number}] = v
"""
_LEAF = """\
    if n{i}.__class__ is not {kind} or n{i}.spec is not {spec} or """ + _USUAL + """:
        return None
    t = n{i}.variable
    auto = t._auto
    if auto is None or auto.post_hooks or auto.grad_type or not t._requires_grad or t._edge is not None or t._spec is not {mine}:
        return None
    leaves.append(t)
    t = auto.grad
"""
_NO_GRADIENT = """\
    if t is not None:
        return None
"""
_GRADIENT = """\
    if t is None or t._requires_grad:
        return None
"""
_END = """\
    if len({{{leaves}}}) != {count}:
        return None
    return named, leaves, numbers, holding
"""


class Text:
    """A function's text, and what it names. ``wanted``: the numbers of the named values that are to be answered.

    ``named``: of each named value the number of the variable that holds it.
    """

    def __init__(self, segment, wanted=()):
        self.segment, self.wanted, self.named = segment, wanted, []
        self.text, self.constants, self.values = [], {}, {}
        self.scope = dict(_NAMES)

    def made(self, name):
        """The function."""
        exec(compile("".join(self.text), "<jtensor graph>", "exec"), self.scope)
        return self.scope[name]

    def say(self, sentence, **words):
        """Adds a sentence."""
        self.text.append(sentence.format(**words))

    def constant(self, thing):
        """The name of something that is to be the same object, or an equal one, next time."""
        name = self.constants.get(id(thing))
        if name is None:
            name = self.constants[id(thing)] = f"c{len(self.constants)}"
            self.scope[name] = thing                        # which keeps it, so that its id is its own
        return name

    def tensor(self, tensor):
        """Where the tensor ``t`` lies."""
        self.say(_OF_TENSOR, spec=self.constant(tensor._spec))
        self.memory(tensor._storage, tensor._spec, tensor._offset, "t._offset", tensor)

    def memory(self, storage, spec, offset, place, tensor):
        """Where a geometry over the storage ``s`` lies, and what is known of it if it is not all of it."""
        if spec is storage.spec:
            self.say(_WHOLE)
            self.value(storage.value)
            return
        cached = None if tensor is None else tensor._cached
        if storage.host is not None:
            self.shared(storage, spec, cached, tensor)
            return
        self.say(_PART, layout=self.constant(storage.layout))
        self.value(storage.value)
        if cached is not None and cached[0]() is storage.value:
            self.say(_READ)
            self.value(cached[1])
            return
        self.say(_OFFSET, offset=offset, place=place)
        if tensor is not None:
            self.say(_NOT_READ)

    def shared(self, storage, spec, cached, tensor):
        """The same of memory that NumPy has, too, and that is only read: all of it, or what has been read of it."""
        seen = None if tensor is None else seen_again(storage, spec, tensor._offset, cached)
        if seen is not None:
            self.say(_SEEN)
            self.value(seen)
            return
        value = storage.current()
        self.say(_SHARED, layout=self.constant(storage.layout))
        self.value(value)
        if cached is not None and cached[0]() is value:
            self.say(_READ)
            self.value(cached[1])
        elif spec is not storage.layout:
            self.say(_NOT_AGAIN)

    def value(self, value):
        """Where the value ``v`` lies on the tape."""
        known = self.values.get(id(value))
        if known is not None:
            self.say(_AGAIN, at=known)
        else:
            if value.segment is self.segment:
                self.say(_MADE, at=value.position)
            elif id(value) in self.segment.slots:
                self.say(_GIVEN, at=self.segment.slots[id(value)])
            else:
                self.say(_FRESH)
            known = self.values[id(value)] = len(self.values)
            self.say(_KEPT, at=known)
        if len(self.named) in self.wanted:
            self.say(_NAMED, number=len(self.named))
        self.named.append(known)


class Graph(Text):
    """Writes out the graph under an edge as it is on the tape now."""

    def __init__(self, segment, wanted, still_there):
        super().__init__(segment, wanted)
        self.scope["still_there"] = still_there

    def function(self, edge, grad, keep_graph):
        """The function: (the named values that are wanted, leaves, numbers, nodes that let go of what they saved), or None."""
        first, output = edge
        segment, nodes, index, leaves = self.segment, [first], {first: 0}, []
        self.say(_HEAD, output=output, keep=keep_graph, spec=self.constant(grad._spec), floats=len(segment.floats),
                 integers=len(segment.integers), complexes=len(segment.complexes), inputs=len(segment.inputs))
        self.tensor(grad)
        for i, node in enumerate(nodes):
            if isinstance(node, AccumulateGrad):
                leaves.append(i)
                self.leaf(i, node)
            else:
                self.operator(i, node, first.sequence - node.sequence, nodes, index)
        self.say(_END, leaves="".join([f"n{i}, " for i in leaves]) or "0", count=max(len(leaves), 1))
        return self.made("ask")

    def operator(self, i, node, behind, nodes, index):
        """A node of an operator, its edges, its numbers and what it saved."""
        self.say(_NODE, i=i, kind=self.constant(node.__class__), plan=self.constant(node.plan), behind=behind,
                 needs=self.constant(node.needs))
        for at in node.needs:
            target, output = node.edges[at]
            if target in index:
                self.say(_EDGE_AGAIN, at=at, target=index[target])
            else:
                index[target] = len(nodes)
                self.say(_EDGE, at=at, target=len(nodes))
                nodes.append(target)
            if target.outputs > 1:
                self.say(_OUTPUT, at=at, output=output)
        for at, number in enumerate(node.scalars):
            if number.__class__ is float or number.__class__ is int and node.plan.moves:
                self.say(_NUMBER, i=i, at=at, kind=self.constant(number.__class__))
            else:
                self.say(_CONSTANT, i=i, at=at, kind=self.constant(number.__class__), number=self.constant(number))
        if not node.scalars:
            self.say(_NO_NUMBERS, i=i)
        if node.saved.__class__ is not list:
            self.say(_NOT_HOLDING)
            return
        self.say(_HOLDING, i=i)
        codes = saves.codes(node.plan, node.needs) if node.saved else ()
        for at, entry in enumerate(node.saved):
            self.saved(node, at, entry, codes[at])

    def saved(self, node, at, entry, code):
        """One saved value."""
        remembered = entry.__class__ is saving.Remembered
        if remembered:
            self.say(_REMEMBERED, at=at)
            entry, name = entry.entry, "e"
        else:
            name = f"saved[{at}]"
        if entry.__class__ is Value:
            self.say(_VALUE, entry=name)
            self.value(entry)
        elif len(entry) == 2:
            self.say(_INPUT, entry=name)
            if code >= 0 and (edge := node.edges[code]) is not None and not isinstance(edge[0], AccumulateGrad):
                self.say(_ATTACHED)                         # else detached in place since
            self.tensor(entry[0])
        else:
            storage, spec, offset, _, _ = entry
            self.say(_RESULT, entry=name, spec=self.constant(spec))
            self.memory(storage, spec, offset, "offset", None)

    def leaf(self, i, node):
        """A leaf and its gradient."""
        variable = node.variable
        self.say(_LEAF, i=i, kind=self.constant(node.__class__), spec=self.constant(node.spec), mine=self.constant(variable._spec))
        old = variable._auto.grad
        if old is None:
            self.say(_NO_GRADIENT)
        else:
            self.say(_GRADIENT)
            self.tensor(old)
