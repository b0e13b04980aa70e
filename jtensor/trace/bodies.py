"""Where a tape is cut between what prepares a model's input and the step itself.

Samples that are flipped at random make tapes that never come again, though all of them end alike: in the same forward pass, backward pass
and update. So what stands before a model's first call (`Segment.mark`) is run by itself if what stands after it has come behind something
else before: one program serves the steps, whatever they begin with. A preparation that comes again in each step makes one program with it
after all, compiled in the background meanwhile; the sooner, the more the start of another program matters. Owns: which bodies have come
behind what. May not know: how tapes are recorded or run.
"""
from .tape import TRIE
from .tiers import PATIENT

LEAST = 32              # nodes of a body: a smaller one is not worth the start of a program of its own
SMALL = 1 << 24         # elements that a body reads and writes: some milliseconds
SOON, LATE = PATIENT, 8 * PATIENT       # times in a row that a small one, and another one, comes behind the same preparation


class _Body:
    """``first``: the state of the tape that it came on first; ``last``: of that before this one, which came so many ``times`` in a row.
    ``enough`` of them have a program made of the whole tape, twice as many take it."""

    __slots__ = ("first", "last", "times", "enough")

    def __init__(self, state, plans):
        self.first, self.last, self.times = state, state, 1
        self.enough = SOON if sum(plan.elements() for plan in plans) < SMALL else LATE


def cut(segment):
    """(nodes that stand before the body, 0 if the tape is one program; whether it will come again, and then may be one).

    Asked of a closed tape once for each run; a known one is known by its programs.
    """
    at, state = segment.mark, segment.state
    if state.programs or len(segment.nodes) < at + LEAST:
        return 0, False
    bodies, plans = TRIE.bodies(), tuple([node[0] for node in segment.nodes[at:]])
    body = bodies.get(plans)
    if body is None:
        bodies[plans] = _Body(state, plans)
        return 0, False
    body.last, body.times = state, body.times + 1 if body.last is state else 1
    if not at or body.first is state or body.times > 2 * body.enough:
        return 0, False
    return at, body.times == body.enough
