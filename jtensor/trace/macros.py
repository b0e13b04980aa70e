"""Macros: a stretch of tape that came before, put on the tape again in one piece.

A backward pass or an optimizer step records the same nodes every time, because what it records is a function of what is there when it
begins: the tape so far, which values it reads, and a few numbers. Whoever can name all that in a key may keep what was recorded under
it (`Lesson`) and have it back (`play`) for the price of one look-up; nodes, positions and the state of the trie are then the same as if
it had been recorded node by node. Where the tape was cut on the way, at its cap or at a loop's round, a macro has several pieces and is
cut at the same places; what lived at a cut then lives at it again, so that the same programs run. Owns: `Macro`. May not know: what is
in the key, tensors, gradients.
"""
import weakref

from . import cuts, tape
from .report import REPORT
from .tape import LOCAL, Value, slot

AT_ONE_STATE = 16                    # macros kept at one state of the trie: a tape whose keys keep changing learns no more
CAP = "loop or node cap"             # the reason of the only flush that a macro can repeat
MISSES, SEEN = "misses", "seen"      # among a state's macros: how often in a row there was none, and hashes of keys that had none
WRITTEN = "written"                  # and what the caller keeps there, to find a macro without its key
PATIENCE = 16                        # misses from which on a key is made only one time in as many
UNKNOWN = object()                   # stands for a macro where one was tried in vain
GONE = weakref.ref(Value())          # stands for every value that nobody holds


class Piece:
    """A macro's part of one segment: ``nodes`` without references to their results, and where they lead (``state``, ``count``).

    ``floats``: its numbers, or which of the given ones they are; ``integers``, ``handed``: its integers, and (which of them, which of the
    given ones it is) of those that are given. ``inputs``: what the segment reads, in the first piece what it had not read before;
    ``results``: (index of the node, which of its outputs or None, position, aval) of the values that live at its end; ``cells``: (which
    cell, value) of those that hold another value then; ``progress``: what the caller said there; ``last``: values that are not read later.
    A value is (piece, index of the result), or (-1, which of the named ones).
    """

    __slots__ = ("nodes", "state", "count", "floats", "integers", "handed", "complexes", "inputs", "results", "cells", "progress", "last")


class Macro:
    """``pieces``; ``answers``: the values that the caller wanted; ``note``: what it wanted to remember; ``plays``: how often it was found
    by its key; ``wanted``: which of the named values it puts on the tape by itself; ``given``: whether its floats are among those given;
    ``begun``: the state of the tape where it begins, and how many inputs that has.
    """

    __slots__ = ("pieces", "answers", "note", "plays", "wanted", "given", "begun")


def find(state, key):
    """The macro of a key at a place of the tape; None if one should be learnt, `UNKNOWN` if not.

    A key that has been asked for once is only remembered: what comes but once is not worth keeping.
    """
    if state.depth < 0:                         # of a tape that is not learnt
        return UNKNOWN
    macros = state.macros
    if macros is None:
        macros = state.macros = {MISSES: 0, SEEN: set(), WRITTEN: ()}
    found = macros.get(key)
    if found is not None:
        macros[MISSES] = 0
        return found
    macros[MISSES] += 1
    seen, mark = macros[SEEN], hash(key)
    if mark in seen and len(macros) < AT_ONE_STATE + 3:
        return None
    if len(seen) > 16 * AT_ONE_STATE:
        seen.clear()
    seen.add(mark)
    return UNKNOWN


def patient(segment):
    """Whether the keys asked for at this place keep changing."""
    macros = segment.state.macros
    return macros is not None and macros[MISSES] >= PATIENCE


def hopeless(segment):
    """The same, so that making a key is not worth the while; now and then it is tried."""
    if segment.state.depth < 0:
        return True
    if not patient(segment):
        return False
    macros = segment.state.macros
    macros[MISSES] += 1
    return macros[MISSES] % PATIENCE != 0


def counts(segment):
    """How many scalars of each kind and inputs the tape has: nodes name theirs by number, so this belongs in the key."""
    return len(segment.floats), len(segment.integers), len(segment.complexes), len(segment.inputs)


# -- learning ---------------------------------------------------------------------------------------------------------

class Integer(int):
    """An integer that is an object of its own, as every float can be: small ones are shared."""

    __slots__ = ()


class Lesson:
    """Watches a stretch of tape being recorded; a context manager around that.

    ``named``: the Values that the key names, in an order of the key's; ``given``: the floats and `Integer`s among the run's numbers that
    may be others next time, each an object of its own: it is known again by identity. ``cells``: objects whose ``value`` the run replaces
    (storages); ``state``: where it has been looked for; ``progress()`` is asked at each cut and what it says handed back by `play` there.
    """

    def __init__(self, state, named, given, cells=(), progress=None):
        segment = LOCAL.segment
        self.state, self.given, self.cells, self.progress = state, given, cells, progress
        self.where = {id(number): at for at, number in enumerate(given)}
        self.missed = {id(number) for number in given if type(number) is Integer}
        self.floats = len(self.missed) < len(given)
        self.known = {id(value): (weakref.ref(value), (-1, at)) for at, value in enumerate(named)}     # weakly: they are to die as always
        self.held = [weakref.ref(cell.value) for cell in cells]
        self.pieces, self.failed = [], segment.state is not state           # else a signal's handler has recorded in between
        self._begin(segment)
        self.begins = state, self.inputs

    def _begin(self, segment):
        self.segment, self.inputs = segment, len(segment.inputs)
        self.begun = len(segment.nodes), segment.count, len(segment.floats), len(segment.integers), len(segment.complexes)

    def __enter__(self):
        LOCAL.lesson = self
        return self

    def __exit__(self, *exc):
        LOCAL.lesson = None

    def cut(self, segment, reason):
        """The tape is about to be flushed."""
        if reason != CAP:
            self.failed = True
        if not self.failed:
            self._piece(segment)

    def go_on(self, segment):
        """A new segment has begun."""
        self._begin(segment)

    def _value(self, value):
        found = self.known.get(id(value))
        if found is None or found[0]() is not value:
            self.failed = True
            return None
        return found[1]

    def _piece(self, segment):
        """Adds the piece that ends here, with all values of it that live."""
        if segment.state.depth != len(segment.nodes):          # a signal's handler has recorded on it, too
            self.failed = True
            return
        nodes, position, floats, integers, complexes = self.begun
        piece, index = Piece(), len(self.pieces)
        piece.state = segment.state             # from here on at once: see `tape.append`
        piece.count = segment.count
        added = segment.nodes[nodes:]
        made = segment.floats[floats:]
        piece.integers = segment.integers[integers:]
        piece.complexes = segment.complexes[complexes:]
        inputs = segment.inputs[0 if index else self.inputs:]
        piece.inputs = [self._value(v) for v in inputs]
        if self.floats and any(id(number) not in self.where for number in made):
            self.failed = True
            return
        piece.floats = [self.where[id(number)] for number in made] if self.floats else made
        piece.handed = [(at, self.where[id(number)]) for at, number in enumerate(piece.integers) if type(number) is Integer]
        self.missed.difference_update([id(piece.integers[at]) for at, _ in piece.handed])
        piece.nodes, piece.results = [], []
        for at, (plan, positions, scalars, refs) in enumerate(added):
            many = type(refs) is list
            for k, ref in enumerate(refs if many else (refs,)):
                value = ref()
                if value is not None:
                    self.known[id(value)] = ref, (index, len(piece.results))
                    piece.results.append((at, k if many else None, position, value.aval))
                    del value
                position += 1
            piece.nodes.append((plan, positions, scalars, [GONE] * len(refs) if many else GONE))
        piece.cells = []
        for at, cell in enumerate(self.cells):
            if self.held[at]() is not cell.value:
                self.held[at] = weakref.ref(cell.value)
                piece.cells.append((at, self._value(cell.value)))
        piece.progress = self.progress() if self.progress is not None else None
        piece.last = ()
        self.pieces.append(piece)

    def learn(self, key, values, note):
        """Keeps what was recorded under a key, with the values that the caller will want of `play`; answers nothing.

        Nothing is kept where the run read a value, or what the key does not name.
        """
        macros = self.state.macros
        if LOCAL.segment is not self.segment:
            self.failed = True
        if not self.failed:
            self._piece(self.segment)
        answers = [self._value(v) for v in values]
        # Of a given integer that is not on the tape something else may be that was computed of it; an answer that was there before is
        # somebody's memory.
        if self.failed or self.missed or any(owner < 0 for owner, _ in answers):
            macros[key] = UNKNOWN
            return
        macro = macros[key] = Macro()
        macro.pieces, macro.answers, macro.note, macro.plays, macro.given = self.pieces, answers, note, 0, self.floats
        macro.begun = self.begins
        macro.wanted = frozenset([at for piece in self.pieces for made, at in (*piece.inputs, *(v for _, v in piece.cells)) if made < 0])
        kept = set(answers)
        for piece in reversed(self.pieces):
            piece.last = [v for v in dict.fromkeys([*piece.inputs, *(v for _, v in piece.cells)]) if v not in kept]
            kept.update(piece.last)
        for index, piece in enumerate(self.pieces):            # what lived for nobody: an unread copy that a cache holds
            piece.last = [*piece.last, *((index, at) for at in range(len(piece.results)) if (index, at) not in kept)]


# -- playing ----------------------------------------------------------------------------------------------------------

def play(macro, segment, named, given, cells=(), progress=None):
    """Puts a macro on the tape ``segment``, where it was found; answers its values. The rest are the arguments of `Lesson`, of this time.

    ``named`` is emptied, so that nothing lives longer than it would; it may be a dict of those that are ``wanted``.
    """
    REPORT.replayed += 1
    pieces, (state, inputs) = macro.pieces, macro.begun
    taken = [named[at] for _, at in pieces[0].inputs]
    if len(pieces) == 1:
        piece, = pieces
        values = _lay(segment, piece, given, macro.given, state, inputs, taken)
        for at, (_, which) in piece.cells:
            cells[at].value = values[which]
        return [values[which] for _, which in macro.answers]
    made = {-1: {at: named[at] for at in macro.wanted}}
    named.clear()
    for index, piece in enumerate(pieces):
        if index:
            if LOCAL.segment.nodes:             # a signal's handler has recorded meanwhile
                tape.begin_anew()
            segment = LOCAL.segment
            state, inputs, taken = segment.state, len(segment.inputs), [made[owner][at] for owner, at in piece.inputs]
        made[index] = dict(enumerate(_lay(segment, piece, given, macro.given, state, inputs, taken)))
        taken = None
        for at, (owner, which) in piece.cells:
            cells[at].value = made[owner][which]
        for owner, which in piece.last:
            made[owner].pop(which, None)
        if index + 1 < len(pieces):
            if progress is not None:
                progress(piece.progress)
            tape.over_cap()
    return [made[owner][at] for owner, at in macro.answers]


def _lay(segment, piece, given, floats, state, inputs, taken):
    """Puts the nodes of a piece on the tape; answers the values of it that live.

    ``state``, ``inputs``: what the tape has to be, and how many inputs it has to have, before it takes the values ``taken``.
    """
    numbers, integers = piece.floats, piece.integers
    if numbers and floats:
        numbers = [given[at] for at in numbers]
    if piece.handed:
        integers = list(integers)
        for at, which in piece.handed:
            integers[at] = given[which]
    for value in taken:
        slot(segment, value)
    while len(segment.inputs) != inputs + len(taken) or segment.state is not state:
        _clear(segment, state, inputs, taken)
    segment.floats += numbers                   # from here on no call, so that all of it is done at once: see `tape.append`
    segment.integers += integers
    segment.complexes += piece.complexes
    segment.count, segment.state = piece.count, piece.state
    nodes = segment.nodes
    begin = state.depth
    nodes += piece.nodes
    values = []
    for at, which, position, aval in piece.results:
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


def _clear(segment, state, inputs, taken):
    """Moves what a signal's handler has recorded since a macro was found to a tape of its own, and takes the inputs anew."""
    if len(segment.nodes) > state.depth:
        cuts.split(segment, state.depth)
    tape.take_back(segment, inputs)
    for value in taken:
        slot(segment, value)
