"""Where a long tape is cut: at the end of a loop's round, so that the cut recurs and one short program serves all rounds.

A Python loop puts the same stretch on the tape again and again. Compiled as one program it would cost compile time for every round; cut at
an arbitrary length, every piece would begin at another phase of the loop and be another program. The answer belongs to the trie's state, so
it is worked out once for each tape prefix. May not know: how tapes are recorded or run.
"""
import itertools
import threading
import weakref

from ..base import devices

CAP = 1024            # nodes: the longest tape, whatever it is
ROUNDS = 4            # rounds that must have been seen
LONG, LONG_ROUNDS = 64, 3              # nodes from which on a round makes a program by itself, and rounds of these that must have been seen
ENOUGH = 64           # nodes of whole rounds before a cut
SHORT, MANY = 4, 256  # the same of rounds below SHORT nodes that compile quickly, which then make pieces no longer than others
QUICK = frozenset("add sub mul neg broadcast_in_dim convert_element_type copy operator_result".split())
ENOUGH_THERE = 512    # the same on an accelerator, where a program takes as long to start as twenty nodes to run, and each array that it
                      # takes from another or hands on as long as two
LEAST, WORTH_A_RUN = 32, 6_000_000     # nodes and elements of a piece: less is not worth the start of a program


def ends_here(state):
    """(cut, piece) of a tape that ends with this state: how many nodes of equal rounds it ends with, and how many of them make a program.

    (0, 0): the tape goes on.
    """
    if state.depth >= CAP:
        return state.depth, state.depth
    path, places = _PATHS.to(state)
    end, short = len(path), 0
    for before in reversed(places[path[-1]]):
        period = end - 1 - before
        if period * LONG_ROUNDS > end:
            break
        if not period or short and period % short == 0 or path[end - 2] is not path[end - 2 - period]:
            continue                            # several very short rounds are still very short ones
        wanted, piece = _wanted(period, path, state.device)
        if wanted <= end and _is_periodic(path, period, wanted):
            return wanted, _piece(period, piece, path[end - period:])
        if period < SHORT and not short and _is_periodic(path, period, ENOUGH):
            short = period
    return 0, 0


def _is_periodic(path, period, nodes):
    """Whether so many nodes at the end of a path are equal rounds."""
    end = len(path)
    return path[end - nodes + period:] == path[end - nodes:end - period]


def _wanted(period, path, device):
    """(How many nodes of rounds must have been seen, how many make a program.)"""
    if device is not devices.cpu:
        return (-(-ENOUGH_THERE // period) * period,) * 2
    if period > LONG:
        return LONG_ROUNDS * period, period
    if period < SHORT and all(_compiles_quickly(plan) for plan in path[-period:]):
        piece = ENOUGH // period * period
        return MANY // piece * piece, piece
    return (max(ROUNDS * period, -(-ENOUGH // period) * period),) * 2


_QUICK = weakref.WeakKeyDictionary()


def _compiles_quickly(plan):
    """Whether an operation is a sum or a product, which is an instruction; a sine takes as long to compile as a dozen of these."""
    known = _QUICK.get(plan)
    if known is None:
        known = _QUICK[plan] = QUICK.issuperset(eqn.primitive.name for eqn in plan.jaxpr().jaxpr.eqns)
    return known


def _piece(period, most, plans):
    """How many nodes of whole rounds make a program, of shorter rounds: few suffice if the arrays are large.

    A program of four rounds takes four times as long to compile as one of a single round, and on large arrays runs no faster.
    """
    elements = sum(plan.elements() for plan in plans)
    for rounds in range(1, most // period):
        if most % (rounds * period) == 0 and rounds * period >= LEAST and rounds * elements >= WORTH_A_RUN:
            return rounds * period
    return most


class _Paths(threading.local):
    """The way to the state that this thread asked about last, of which the next one is mostly a child: its plans, and where each stands."""

    state = None

    def to(self, state):
        if self.state is None or state.parent is not self.state:
            self.path, self.places = plans(state, state.depth)[::-1], {}
            for at, plan in enumerate(self.path):
                self.places.setdefault(plan, []).append(at)
        else:
            self.places.setdefault(state.plan, []).append(len(self.path))
            self.path.append(state.plan)
        self.state = state
        return self.path, self.places


_PATHS = _Paths()


def plans(state, count):
    """The plans of the last nodes of a tape that ends with this state, so many at most, the last one first."""
    return list(itertools.islice(_upwards(state), count))


def _upwards(state):
    """The plans of a tape that ends with this state, the last one first."""
    while state.parent is not None:
        yield state.plan
        state = state.parent
