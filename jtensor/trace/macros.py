"""Macros: a stretch of tape that came before, put on the tape again in one piece.

A backward pass or an optimizer step records the same nodes every time, because what it records is a function of what is there when it
begins: the tape so far, which values it reads, and a few numbers. Whoever can name all that in a key (`key`) may keep what was recorded
under it (`learn`) and have it back (`play`) for the price of one look-up; nodes, positions and the state of the trie are then the same
as if it had been recorded node by node. Owns: `Macro`. May not know: what is in the key, tensors, gradients.
"""
import weakref

from .report import REPORT
from .tape import LOCAL, Value

AT_ONE_STATE = 16                    # macros kept at one state of the trie: a tape whose keys keep changing learns no more
_gone = weakref.ref(Value())         # stands for every value that nobody holds


class Macro:
    """``nodes`` without their results' references; ``floats``: for each number among them which of the given ones it is.

    ``results``: (index of the node, which of its outputs or None, position, aval) of the values that live on.
    """

    __slots__ = ("nodes", "state", "count", "floats", "integers", "complexes", "results", "note")


def begin(segment):
    """Where a stretch of tape begins; to be handed to `learn`."""
    return (segment, segment.state, len(segment.nodes), segment.count, len(segment.inputs), len(segment.floats), len(segment.integers),
            len(segment.complexes))


def find(segment, key):
    """The macro of a key at this place of the tape, or None."""
    macros = segment.state.macros
    return None if macros is None else macros.get(key)


def counts(segment):
    """How many scalars the tape holds, of each kind: nodes name theirs by number, so this belongs in the key."""
    return len(segment.floats), len(segment.integers), len(segment.complexes)


def learn(start, key, given, values, note):
    """Keeps what was recorded since ``start`` under a key; answers nothing.

    ``given``: the floats among the run's numbers that may be others next time, each an object of its own: it is known again by
    identity. ``values``: those that the caller will want of `play`; ``note``: anything of the caller's. Nothing is kept where the tape
    was cut meanwhile, or reads what the key cannot name.
    """
    segment, state, nodes, count, inputs, floats, integers, complexes = start
    if LOCAL.segment is not segment or len(segment.inputs) != inputs:
        return
    where = {id(number): at for at, number in enumerate(given)}
    made = segment.floats[floats:]
    if given and any(id(number) not in where for number in made) or any(v.segment is not segment or v.position < count for v in values):
        return
    macros = state.macros
    if macros is None:
        macros = state.macros = {}
    elif len(macros) >= AT_ONE_STATE:
        return
    macro = Macro()
    macro.floats = [where[id(number)] for number in made] if given else made
    macro.integers, macro.complexes = segment.integers[integers:], segment.complexes[complexes:]
    macro.state, macro.count, macro.note = segment.state, segment.count, note
    owners, macro.nodes, position = {}, [], count
    for at, (plan, positions, scalars, refs) in enumerate(segment.nodes[nodes:]):
        many = type(refs) is list
        for k in range(len(plan.outputs)):
            owners[position] = at, k if many else None
            position += 1
        macro.nodes.append((plan, positions, scalars, [_gone] * len(refs) if many else _gone))
    macro.results = [(*owners[v.position], v.position, v.aval) for v in values]
    macros[key] = macro


def play(segment, macro, given):
    """Puts a macro on the tape; answers its values, pending."""
    REPORT.replayed += 1
    nodes = segment.nodes
    begin = len(nodes)
    nodes.extend(macro.nodes)
    if macro.floats:
        segment.floats.extend([given[at] for at in macro.floats] if given else macro.floats)
    if macro.integers:
        segment.integers.extend(macro.integers)
    if macro.complexes:
        segment.complexes.extend(macro.complexes)
    segment.count, segment.state = macro.count, macro.state
    values = []
    for at, which, position, aval in macro.results:
        value = Value.__new__(Value)
        value.array, value.segment, value.position, value.aval = None, segment, position, aval
        values.append(value)
        plan, positions, scalars, refs = nodes[begin + at]
        if which is None:
            refs = weakref.ref(value)
        else:
            refs = list(refs)
            refs[which] = weakref.ref(value)
        nodes[begin + at] = plan, positions, scalars, refs
    return values
