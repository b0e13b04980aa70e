"""The backward of several nodes in a row, recorded in one piece.

A graph that is another one every time (an episode of changing length, a tree) is made of the same few nodes over and over. Where each of a
row of them has a backward of its own (`rehearsed`), is fed by one of those before it alone, and the row keeps coming, it is written out as
one function, a *chain*. It asks of every node what the node's own function asks, and only then puts what all of them record on the tape, at
once: for a gradient that nobody but the next node sees there is neither a tensor nor a value. What is not as it was makes it answer None
before anything is recorded, and the nodes go one by one.
May not know: operators, formulas. Of the walk over the graph it knows that a node comes before those recorded earlier.
"""
from ...autograd.engine import RESHAPED
from ...autograd.graph import TOP
from ...trace.macros import GONE
from ...trace.tape import TRIE
from ..recording import templates
from . import rehearsed

AFTER = 4               # times that a row is seen before it is written out
LONGEST = 12            # nodes of a row
TRIED = 64              # rows that are looked at, of those that begin with one backward; and times that a chain may decline
AT_ONE = 2              # chains kept that begin with one backward

# -- watching ---------------------------------------------------------------------------------------------------------


class _Row:
    """Nodes that ran one after the other.

    Of each: ``nodes``: its class, plan and needs; ``ways``: its function; ``fed``: which node of the row gives its gradient, by which edge.
    ``after``: nodes that only the row feeds, and have not run; ``last``: the sequence number of the last one.
    """

    __slots__ = ("ways", "fed", "nodes", "after", "last")

    def __init__(self):
        self.ways, self.fed, self.nodes, self.after, self.last = [], [], [], {}, None


def watch(node, way, task):
    """Adds a node to the row of this walk, or begins another with it."""
    row = task.row
    fed = row.after.pop(node, None) if row is not None else None
    if fed is None or len(row.ways) == LONGEST or way is row.ways[0] or node.sequence >= row.last:
        if row is not None:
            _seen(row)
        row = task.row = _Row()
    row.ways.append(way)
    row.fed.append(fed)
    row.nodes.append((type(node), node.plan, node.needs))
    row.last = node.sequence
    waiting, buffers, number = task.waiting, task.buffers, len(row.ways) - 1
    for at, edge in enumerate(node.edges):
        if edge is not None and waiting[edge[0]] == 1 and edge[0] not in buffers and edge[0].sequence is not TOP:
            row.after[edge[0]] = number, at


def _seen(row):
    """Counts a row; what has come often enough gets its chain."""
    first = row.ways[0]
    key = tuple(row.ways[1:]), tuple(row.fed)
    times = first.rows.get(key, 0)
    if times < 0 or len(first.rows) >= TRIED and not times:
        return
    first.rows[key] = times + 1
    if times + 1 == AFTER:
        first.rows[key] = -1
        chain = _Writer(row).function()
        if chain is not None:
            first.chains = (chain, *first.chains)[:AT_ONE]


def declined(way, chain):
    """Counts that a chain has declined; one that does so again and again is given up."""
    chain.declined += 1
    if chain.declined > TRIED:
        way.chains = tuple([c for c in way.chains if c is not chain])


# -- the tape ---------------------------------------------------------------------------------------------------------


def laid(segment, recipe, places):
    """The nodes that a chain puts on the tape at this place: (nodes, position of the first result, count and state after them).

    ``recipe``: (plan, operands, kinds of its numbers) of each; an operand is the number of one of the ``places``, or ``~`` a result's.
    """
    state, count, first, nodes, numbers = segment.state, segment.count, segment.count, [], {"f": 0, "i": 0, "b": 0, "c": 0}
    begun = {"f": segment.floats, "i": segment.integers, "b": segment.integers, "c": segment.complexes}
    for plan, operands, kinds in recipe:
        positions = tuple([places[at] if at >= 0 else first + ~at for at in operands])
        key = plan, positions
        state = state.children.get(key) or TRIE.grow(state, key, plan)
        taken = []
        for kind in kinds:
            shared = "i" if kind == "b" else kind
            taken.append((kind, len(begun[kind]) + numbers[shared]))
            numbers[shared] += 1
        results = len(plan.outputs)
        nodes.append((plan, positions, taken or (), GONE if results == 1 else [GONE] * results))
        count += results
    return tuple(nodes), first, count, state


# -- writing it out ---------------------------------------------------------------------------------------------------


def _takes(story, answer):
    """Whether a backward can take what another one answers, without asking what it is.

    Only a gradient that is all of its memory is read without a node; a view is made of one whose origin is known.
    """
    if type(answer) is not tuple or answer[0] != "new":
        return False
    _, _, layout, _, spec, offset, shown = answer
    if "g" in story.order and (spec is not layout or offset):
        return False
    return all(shown is None if origin == "grad" else shown is not None and shown[2]
               for origin in [a[-1] for a in story.answers if type(a) is tuple and a[0] == "view"])


_HEAD = """\
def chain(n0, grads, task, limit):
    grad = grads[0]
    if LOCAL.inference or LOCAL.eager or LOCAL.lesson is not None or RESHAPED[0]:
        return None
    waiting, buffers = task.waiting, task.buffers
"""
_NEXT = """\
    n{j} = n{i}.edges[{at}][0]
    if (n{j}.__class__ is not class{j} or n{j}.plan is not plan{j} or n{j}.needs != needs{j} or waiting[n{j}] != 1 or n{j} in buffers
            or not limit < n{j}.sequence < n{before}.sequence or n{j}.tensor_hooks is not None or n{j}.retained is not None
            or n{j}.pre_hooks is not None or n{j}.hooks is not None):
        return None
"""
_LEAVING = """\
    n = n{j}.edges[{at}][0]
    if n.sequence is TOP:
        if waiting[n] <= {leaving} and (n.tensor_hooks is not None or n.pre_hooks is not None or n.hooks is not None
                                        or n.variable._auto.post_hooks):
            return None
    elif n.sequence >= n{last}.sequence:
        return None
"""
_SAVED = """\
    node = n{j}
    saved = node.saved
    if saved is None:
        return None
"""
_LAY = """\
    segment = LOCAL.segment
{places}    key = ({key})
    found = segment.state.children.get(key)
    if found is None:
        if LIFTED in ({names}):
            return None
        found = segment.state.children[key] = laid(segment, recipe, ({names}))
    added, first, count, state = found
    if segment.count != first:                  # a signal's handler has recorded meanwhile
        return None
    nodes = segment.nodes
    begin = len(nodes)
{numbers}    segment.count, segment.state = count, state
    nodes.extend(added)
"""
_NUMBER = """\
    segment.{where}.append(n{j}.scalars[{k}])
"""
_ALIVE = """\
    plan, positions, places, _ = added[{at}]
    nodes[begin + {at}] = plan, positions, places, {refs}
"""
_RELEASE = """\
    if n{j}.saved.__class__ is list:
        n{j}.saved = None
"""
_END = """\
    if state.cut:
        tape.over_cap()
    return [{edges}], [{answers}]
"""


class _Writer:
    """Writes out a row, or as much of it from its beginning as can be."""

    def __init__(self, row):
        self.row, self.scope = row, dict(_NAMES)
        self.stories = [way.story for way in row.ways]
        self.results = {}               # {name of a value: (number of the node on the tape, which output, number of the result)}
        self.recipe, self.numbers, self.outputs = [], [], 0
        self.external = {}              # {name of a value that is there: its number among the places}
        self.grads = [None]             # which (node, answer of it) each node's gradient is
        self.tensors, self.alive, self.made = {}, {}, []

    def function(self):
        length = self._length()
        if length < 2:
            return None
        row, text = self.row, [_HEAD]
        for j in range(1, length):
            i, at = row.fed[j]
            text.append(_NEXT.format(i=i, j=j, at=at, before=j - 1))
            for name, what in zip(("class", "plan", "needs"), row.nodes[j], strict=True):
                self.scope[f"{name}{j}"] = what
        inside = set(row.fed[1:length])
        leaving = [(j, at) for j in range(length) for at in row.nodes[j][2] if (j, at) not in inside]
        text += [_LEAVING.format(j=j, at=at, leaving=len(leaving), last=length - 1) for j, at in leaving if j < length - 1]
        reads = []
        for j in range(length):
            self._checked(j, text, reads)
        text += reads
        for j in range(length):
            self._recorded(j)
        answers = [self._answer(j, at) for j, at in leaving]
        text.append(self._laid())
        text += self._living()
        text += self.made
        text += [_RELEASE.format(j=j) for j in range(length)]
        text.append(_END.format(edges=", ".join([f"n{j}.edges[{at}]" for j, at in leaving]), answers=", ".join(answers)))
        self.scope["recipe"], self.scope["CHAIN"] = tuple(self.recipe), object()
        exec(rehearsed.code_of("".join(text)), self.scope)
        chain = self.scope["chain"]
        chain.declined = 0
        return chain

    def _length(self):
        """How many nodes the chain can have."""
        for j in range(1, len(self.stories)):
            given, at = self.row.fed[j]
            while self.stories[given].answers[at] == "grad" and given:
                given, at = self.grads[given]
            if not _takes(self.stories[j], self.stories[given].answers[at]):
                return j
            self.grads.append((given, at))
        return len(self.stories)

    def _name(self, j, name):
        """The name of a value of node ``j``: its gradient is a result of another's."""
        if name != "g":
            return f"{name}x{j}"
        return "g" if j == 0 else self._name(self.grads[j][0], self.stories[self.grads[j][0]].answers[self.grads[j][1]][1])

    def _checked(self, j, text, reads):
        story = self.stories[j]
        text.append(_SAVED.format(j=j))
        if j == 0:
            text += rehearsed.origins(story.answers)
        for at, (kind, code, spec) in enumerate(story.saved):
            self.scope[f"s{at}x{j}"] = spec
            text.append(rehearsed.asked(kind, at, f"{at}x{j}", code))
        for name in story.order:
            if name != "g" or j == 0:
                reads.append(rehearsed.read_of(name, story.saved, f"x{j}"))

    def _recorded(self, j):
        for plan, positions, outs, places in self.stories[j].recorded:
            for k, name in enumerate(outs):
                self.results[self._name(j, name)] = len(self.recipe), k, self.outputs + k, plan.outputs[k]
            self.outputs += len(outs)
            operands = []
            for name in positions:
                name = self._name(j, name)
                operands.append(~self.results[name][2] if name in self.results else self.external.setdefault(name, len(self.external)))
            self.recipe.append((plan, tuple(operands), tuple([kind for kind, _ in places])))
            self.numbers += [(j, k, rehearsed.LISTS[kind]) for k, (kind, _) in enumerate(places)]

    def _laid(self):
        places = "".join([f"    p{name} = {templates.POSITION.format(v=name)}\n" for name in self.external])
        names = "".join([f"p{name}, " for name in self.external])
        counts = "len(segment.floats), len(segment.integers), len(segment.complexes), " if self.numbers else ""
        numbers = "".join([_NUMBER.format(j=j, k=k, where=where) for j, k, where in self.numbers])
        return _LAY.format(places=places, names=names, key=f"CHAIN, {names}{counts}", numbers=numbers)

    def _answer(self, j, at):
        """The name of the tensor that a node answers; its text is added to ``made``."""
        answer = self.stories[j].answers[at]
        if answer is None:
            return "None"
        if answer == "grad":
            return "grad" if j == 0 else self._answer(*self.grads[j])
        name = self.tensors.get((j, at))
        if name is None:
            name = self.tensors[j, at] = f"a{at}x{j}"
            if answer[0] == "new":
                value = self._name(j, answer[1])
                self.alive[value] = self.results[value]
                answer = "new", value, *answer[2:]
                grad = None
            else:
                grad = "grad" if j == 0 else self._answer(*self.grads[j])
                if answer[-1] != "grad" and j:
                    answer = *answer[:-1], "b" + grad[1:]
            self.made.append(rehearsed.written(f"{at}x{j}", answer, self.scope, grad))
        return name

    def _living(self):
        """The values that tensors are made of, and references to them on the tape."""
        text, nodes = [], {}
        for name, (node, k, number, aval) in self.alive.items():
            self.scope[f"aval_{name}"] = aval
            text.append(templates.VALUE.format(name=name, aval=f"aval_{name}", position=f"first + {number}"))
            nodes.setdefault(node, {})[k] = name
        for node, living in nodes.items():
            results = len(self.recipe[node][0].outputs)
            refs = [f"reference({living[k]})" if k in living else "GONE" for k in range(results)]
            text.append(_ALIVE.format(at=node, refs=refs[0] if results == 1 else "[" + ", ".join(refs) + "]"))
        return text


_NAMES = rehearsed.NAMES | {"GONE": GONE, "TOP": TOP, "RESHAPED": RESHAPED, "laid": laid}
