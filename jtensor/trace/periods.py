"""Where a long tape is cut: at the end of a loop's round, so that the cut recurs and one short program serves all rounds.

A Python loop puts the same stretch on the tape again and again. Compiled as one program it would cost compile time for every round; cut at
an arbitrary length, every piece would begin at another phase of the loop and be another program. The answer belongs to the trie's state, so
it is worked out once for each tape prefix. May not know: how tapes are recorded or run.
"""
import itertools

CAP = 1024            # nodes: the longest tape, whatever it is
LONGEST = 64          # nodes: the longest round that is looked for
ROUNDS = 4            # rounds that must have been seen
ENOUGH = 64           # nodes of whole rounds before a cut; very short rounds (a chain of additions) are cheap to compile and cut later
SHORT, MANY = 4, 256
LEAST, WORTH_A_RUN = 32, 6_000_000     # nodes and elements of a piece: less is not worth the start of a program


def ends_here(state):
    """(cut, piece) of a tape that ends with this state: how many nodes of equal rounds it ends with, and how many of them make a program.

    (0, 0): the tape goes on.
    """
    if state.depth >= CAP:
        return state.depth, state.depth
    above = _upwards(state)
    before = list(itertools.islice(above, LONGEST + 1))
    n, last = min(state.depth, MANY + LONGEST), before[0]
    for p in range(1, min(LONGEST, n // ROUNDS) + 1):
        if before[p] is not last:
            continue
        wanted = max(ROUNDS * p, MANY if p < SHORT else -(-ENOUGH // p) * p)
        if wanted <= n and _repeats(before, above, p, wanted):
            return wanted, _piece(p, wanted, sum(plan.elements() for plan in before[:p]))
    return 0, 0


def _repeats(before, above, period, count):
    """Whether the last ``count`` plans are equal rounds. ``before`` grows by what it takes of ``above``, mostly nothing."""
    for i in range(count - period):
        while len(before) <= i + period:
            before.append(next(above))
        if before[i] is not before[i + period]:
            return False
    return True


def _upwards(state):
    """The plans of a tape that ends with this state, the last one first."""
    while state.parent is not None:
        yield state.plan
        state = state.parent


def plans(state, count):
    """The plans of the last nodes of a tape that ends with this state, so many at most, the last one first."""
    return list(itertools.islice(_upwards(state), count))


def _piece(period, wanted, elements):
    """How many nodes of whole rounds make a program, where a round touches so many elements: few suffice if the arrays are large.

    A program of four rounds takes four times as long to compile as one of a single round, and on large arrays runs no faster.
    """
    for rounds in range(1, wanted // period):
        if wanted % (rounds * period) == 0 and rounds * period >= LEAST and rounds * elements >= WORTH_A_RUN:
            return rounds * period
    return wanted
