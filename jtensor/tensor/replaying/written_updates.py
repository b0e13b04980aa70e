"""Optimizer steps that keep coming, written out: one function asks all that `updates` would put in a key, and records the step.

Owns: the sentences for what a macro puts on the tape. May not know: the optimizers.
"""
from ..recording import templates
from .written import LARGEST, Text

_UPDATE = """\
def again(segment, tensors, floats):
    if len(segment.floats) != {floats} or len(segment.integers) != {integers} or len(segment.complexes) != {complexes} or \\
            len(segment.inputs) != {inputs}:
        return None
    slots, fresh = segment.slots, {{}}
    [{tensors}] = tensors
"""
_UPDATED = """\
    t = t{i}
    if t._auto is not None and t._auto.inference:
        return None
"""
_STORAGE = """\
    s{i} = s
"""
_TAKEN = """\
    slots[id(v{at})] = {place}
    segment.inputs.append(v{at})
"""
_LAY = """\
    nodes = segment.nodes
    if len(segment.inputs) != {taken} or segment.state is not {before}:            # a signal's handler has recorded meanwhile
        tape.begin_anew()
        return None
    segment.count, segment.state = {count}, {state}
    nodes.extend({nodes})
"""
_NUMBERS = """\
    segment.{kind}.extend({numbers})
"""
_RESULT_OF = templates.VALUE.format(name="r{which}", aval="{aval}", position="{position}") + """\
    nodes[{begin} + {at}] = {plan}, {positions}, {places}, reference(r{which})
"""
_CELL = """\
    s{i}.value = r{which}
"""
_SITE = """\
    site = None
"""
_VERSION = """\
    counter = t{i}._counter
    counter.version += {times}
    if counter.site is not None:
        counter.site = site = site or user_site(3)
"""
_END = """\
    return True
"""


class Update(Text):
    """Writes out a step that changes tensors in place: what its key names, and what its macro puts on the tape.

    ``note``: (which of the tensors was written to, how many times) of each.
    """

    def function(self, tensors, macro, note):
        """The function, which answers whether it was done; None where it cannot be written out."""
        piece, segment = macro.pieces[0], self.segment
        cells = [(at, which) for at, (_, which) in piece.cells]
        if len(macro.pieces) > 1 or len(tensors) > LARGEST or any(piece.results[which][1] is not None for _, which in cells):
            return None
        self.say(_UPDATE, floats=len(segment.floats), integers=len(segment.integers), complexes=len(segment.complexes),
                 inputs=len(segment.inputs), tensors=", ".join([f"t{i}" for i in range(len(tensors))]))
        for i, tensor in enumerate(tensors):
            self.say(_UPDATED, i=i)
            self.tensor(tensor)
            self.say(_STORAGE, i=i)
        for k, (_, which) in enumerate(piece.inputs):
            self.say(_TAKEN, at=self.named[which], place=~(len(segment.inputs) + k))
        begin = len(segment.nodes)
        if piece.floats:
            numbers = "[" + ", ".join([f"floats[{at}]" for at in piece.floats]) + "]" if macro.given else self.constant(piece.floats)
            self.say(_NUMBERS, kind="floats", numbers=numbers)
        for kind in ("integers", "complexes"):
            if getattr(piece, kind):
                self.say(_NUMBERS, kind=kind, numbers=self.constant(getattr(piece, kind)))
        self.say(_LAY, nodes=self.constant(piece.nodes), count=piece.count, state=self.constant(piece.state),
                 before=self.constant(segment.state), taken=len(segment.inputs) + len(piece.inputs))
        for which in dict.fromkeys([which for _, which in cells]):
            at, _, position, aval = piece.results[which]
            plan, positions, places, _ = map(self.constant, piece.nodes[at])
            self.say(_RESULT_OF, begin=begin, which=which, aval=self.constant(aval), position=position, at=at, plan=plan,
                     positions=positions, places=places)
        for i, which in cells:
            self.say(_CELL, i=i, which=which)
        if note:
            self.say(_SITE)
        for i, times in note:
            self.say(_VERSION, i=i, times=times)
        self.say(_END)
        return self.made("again")
