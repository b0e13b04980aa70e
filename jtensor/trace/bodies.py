"""Where a tape is cut because it shares a part with others: its end has come behind something else before.

Samples that are flipped at random make tapes that never come again, though all of them end alike: in the same forward pass, backward pass
and update. So what stands before a model's first call (`Segment.mark`) is run by itself if what stands after it has come behind something
else before: one program serves the steps, whatever they begin with. Batches of many lengths share less, but still the optimizer's step
(`Segment.update`), which is half of a tape. What comes again in each step, end and all, makes one program after all, compiled in the
background meanwhile; the sooner, the more the start of another program matters. Owns: which ends have come behind what. May not know: how
tapes are recorded or run.
"""
from .tape import TRIE
from .tiers import PATIENT

LEAST, LEAST_UPDATE = 32, 16            # nodes of a body, and of an update: a smaller one is not worth the start of a program of its own
SMALL = 1 << 24         # elements that it reads and writes: some milliseconds
SOON, LATE = PATIENT, 8 * PATIENT       # times in a row that a small one, and another one, comes behind the same beginning
WHOLE, WHOLE_UPDATE = 1, 2              # tapes that stay whole though they share it: two, where an epoch's last batch is a smaller one


class _End:
    """``whole``: the states of the tapes that it came on first; ``last``: of that before this one, which came so many ``times`` in a row.
    ``enough`` of them have a program made of the whole tape, twice as many take it."""

    __slots__ = ("whole", "last", "times", "enough")

    def __init__(self, plans):
        self.whole, self.last, self.times = [], None, 0
        self.enough = SOON if sum(plan.elements() for plan in plans) < SMALL else LATE


def cut(segment):
    """(nodes that stand before the body, 0 if the tape is one program; whether it will come again, and then may be one).

    Asked of a closed tape once for each run; a known one is known by its programs.
    """
    at, end = _shared(segment, segment.mark, LEAST, WHOLE)
    if end is not None and end.times > 2 * end.enough:
        segment.update = None                   # it comes again as it is
        return 0, False
    return at, bool(at) and end.times == end.enough


def cut_update(segment):
    """The same of what stands before the optimizer's step."""
    at, end = _shared(segment, segment.update, LEAST_UPDATE, WHOLE_UPDATE)
    if not at or end.times > 2 * end.enough:
        return 0, False
    return at, end.times == end.enough


def _shared(segment, at, least, whole):
    """``at`` if what stands there has come behind something else than this tape's beginning, else 0; and its `_End`, or None."""
    state = segment.state
    if state.programs or len(segment.nodes) < at + least:
        return 0, None
    ends, plans = TRIE.ends(), tuple([node[0] for node in segment.nodes[at:]])
    end = ends.get(plans)
    if end is None:
        end = ends[plans] = _End(plans)
    end.last, end.times = state, end.times + 1 if end.last is state else 1
    if len(end.whole) < whole and state not in end.whole:
        end.whole.append(state)
    return 0 if state in end.whole else at, end
