"""A tape cut in two before one of its nodes: what either part has of nodes, inputs and numbers, and where its values lie now.

Owns: `split`. All but what lives is settled by the state a tape ends with, so it is worked out once for each place. May not know: why tapes
are cut.
"""
from .tape import TRIE, Segment, Value, reference


def split(segment, at):
    """Cuts a closed segment before node number ``at``: it keeps the nodes before, a new one is answered that has the rest."""
    cuts, key = TRIE.known()[2], (segment.state, at)
    cut = cuts.get(key)
    if cut is None:
        cut = cuts[key] = _Cut(segment, at)
    return cut.made(segment)


class _Cut:
    """How a tape that ends with one state is cut before one node: all but what lives is settled by the state.

    ``at``, ``base``, ``left``: how many nodes, values and numbers by kind the head keeps, ``state`` its end; ``inputs``: what the rest
    takes, an input of the tape's or (node, output, position) of a value of the head's; ``nodes``, ``count``, ``end``: the rest's, the nodes
    without references; ``numbers``: which of the tape's numbers by kind it takes.
    """

    def __init__(self, segment, at):
        owner = [(node, k) for node in range(at) for k in range(len(segment.nodes[node][0].outputs))]
        self.at, self.base, self.count, self.end, self.state = at, len(owner), 0, TRIE.root, segment.state
        self.inputs, self.nodes, self.numbers = [], [], {"f": [], "i": [], "c": []}
        slots = {}
        for plan, positions, scalars, _ in segment.nodes[at:]:
            here = []
            for p in positions:
                if p < self.base and p not in slots:
                    slots[p] = ~len(slots)
                    self.inputs.append(p if p < 0 else (*owner[p], p))
                here.append(p - self.base if p >= self.base else slots[p])
            taken = []
            for kind, index in scalars:
                numbers = self.numbers["i" if kind == "b" else kind]
                taken.append((kind, len(numbers)))
                numbers.append(index)
            step = plan, tuple(here)
            self.nodes.append((*step, taken))
            self.end = self.end.children.get(step) or TRIE.grow(self.end, step, plan, True)       # as the whole tape was
            self.count += len(plan.outputs)
            self.state = self.state.parent
        self.left = {kind: 1 + max([index for node in segment.nodes[:at] for k, index in node[2] if ("i" if k == "b" else k) == kind],
                                   default=-1) for kind in "fic"}       # the head's programs take its own numbers, which were put first

    def made(self, segment):
        """The rest of a segment, which keeps the head. A handler that looks at a value meanwhile finds it on one of them, whole."""
        rest, head = Segment(), segment.nodes[:self.at]
        rest.inputs = [segment.inputs[~p] if p.__class__ is int else _revived(segment, head, *p) for p in self.inputs]
        rest.slots = {id(value): ~at for at, value in enumerate(rest.inputs)}
        rest.count, rest.state, base, moved = self.count, self.end, self.base, rest.nodes
        if segment.update is not None and segment.update > self.at:
            rest.update = segment.update - self.at
        lists = {"f": segment.floats, "i": segment.integers, "c": segment.complexes}
        rest.floats, rest.integers, rest.complexes = [[lists[kind][at] for at in taken] for kind, taken in self.numbers.items()]
        old = segment.nodes[self.at:]
        for (plan, here, taken), (_, _, _, refs) in zip(self.nodes, old, strict=True):
            moved.append((plan, here, taken, refs))
        for _, _, _, refs in old:
            for ref in refs if refs.__class__ is list else (refs,):
                alive = ref()
                if alive is not None and alive.segment is segment:          # else it has been computed (`executor._compute`)
                    alive.segment = rest
                    alive.position -= base
        left = [lists[kind][:count] for kind, count in self.left.items()]
        segment.nodes, segment.count, segment.state = head, base, self.state
        segment.floats, segment.integers, segment.complexes = left
        return rest


def _revived(segment, head, node, k, position):
    """A value that the head of a segment makes; it lives again if nobody held it any more."""
    plan, positions, scalars, refs = head[node]
    many = list(refs) if type(refs) is list else [refs]
    found = many[k]()
    if found is None:
        found = Value.__new__(Value)
        found.array, found.segment, found.position, found.aval = None, segment, position, plan.outputs[k]
        many[k] = reference(found)
        head[node] = plan, positions, scalars, many if type(refs) is list else many[0]
    return found
