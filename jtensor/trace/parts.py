"""A closed tape that runs in parts.

What prepares a model's input may run by itself, and what stands before an optimizer's step (`bodies`); so does what stands before a loop's
rounds, and the rounds in pieces, and each stretch of one device. A tape that begins as a piece ends there from now on. Owns: which parts,
in which order, and that their programs are made side by side. May not know: how a part runs.
"""
from . import bodies, cuts, tape
from .choosing import choose
from .dynamic_shapes import dynamic
from .tape import TRIE
from .tiers import PATIENT


def run(segment, asked, whole):
    """Runs a closed segment, each part by ``whole(part, asked)``, the executor's. ``asked``: the position of what somebody waits for."""
    if segment.state.mixed:
        _device_by_device(segment, asked, whole)
        return
    if segment.turn is not None and tape.Local.threads == 1:
        segment, asked = _behind_a_turn(segment, asked, whole)
    if segment.mark is not None and tape.Local.threads == 1:
        segment, asked = _without_beginning(segment, asked, bodies.cut, whole)
    state = segment.state
    piece = state.piece
    length, parts = len(segment.nodes) - state.cut or piece, []
    if tape.Local.threads == 1 and length < len(segment.nodes):
        TRIE.cut_at(state, piece)
        while length < len(segment.nodes):
            parts.append(segment)
            segment, length = cuts.split(segment, length), piece
        if parts:
            _prepare(parts, segment, asked)
    for part in parts:
        mine, asked = _divided(asked, part)
        whole(part, mine)
    if segment.update is not None and tape.Local.threads == 1:
        segment, asked = _without_beginning(segment, asked, bodies.cut_update, whole)
    whole(segment, asked)


def _divided(asked, part):
    """What is asked of a part, and of the tape behind it."""
    if asked is None or asked < part.count:
        return asked, None
    return None, asked - part.count


def _device_by_device(segment, asked, whole):
    """A tape with nodes of several devices: each stretch of one device by itself."""
    segment.mark = segment.update = segment.turn = None
    rest = segment
    while rest is not None:
        part, rest = rest, None
        if part.state.mixed:
            first = part.state.device
            at = next(at for at, node in enumerate(part.nodes) if node[0].outputs[0].device is not first)
            rest = cuts.split(part, at)
        mine, asked = _divided(asked, part)
        run(part, mine, whole)


def _behind_a_turn(segment, asked, whole):
    """A tape of which the first optimizer's step has been run, as if it had ended the tape: so it will from now on. And what is asked of
    the rest, which is a step by itself, too. Where both steps are alike, both run the program of the rest, of which more is alive."""
    before, (at, update), segment.turn = segment, segment.turn, None
    segment = cuts.split(before, at)
    before.update, segment.mark = update, 0
    mine, then = _divided(asked, before)
    _foresee(segment, then, later=TRIE.programs(segment.nodes) is not TRIE.programs(before.nodes))
    run(before, mine, whole)
    return segment, then


def _without_beginning(segment, asked, cut, whole):
    """A tape of which the beginning has been run, where it is to run by itself; and what is asked of the rest."""
    at, again = cut(segment)
    if again:
        _foresee(segment, asked, True)
    if not at:
        return segment, asked
    before, segment = segment, cuts.split(segment, at)
    segment.state.sightings = max(segment.state.sightings, PATIENT)     # it has come before
    mine, then = _divided(asked, before)
    if segment.update is None:                  # it is not cut once more: its program is made beside that of the beginning
        _foresee(segment, then, True)
    whole(before, mine)
    return segment, then


def _prepare(parts, last, asked):
    """Has the two programs made side by side that a tape in parts needs first: of what stands before the rounds, and of a piece of them.

    Where several pieces wait, all run the program of the last one: the tape ends in the middle of the user's loop, where more values are
    alive than at the ends of the rounds before, and later tapes will end there.
    """
    mine, then = _divided(asked, parts[0])
    if len(parts) > 1:
        _foresee(parts[0], mine, True)
        _foresee(last, None)
    else:
        _foresee(last, then, True)


def _foresee(segment, asked, later=False):
    """Makes the program of a part that has none, or has it made in the background."""
    if segment.state.programs is not None or len(segment.nodes) <= 1:
        return
    alive, wanted = tape.living(segment.nodes)
    if alive and not dynamic.is_served(segment, segment.nodes, tuple(wanted)):
        choose(segment, segment.nodes, segment.state, tuple(wanted), list(segment.inputs), asked, later)
