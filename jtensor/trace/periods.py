"""Where a long tape is cut: at the end of a loop's round, so that the cut recurs and one short program serves all rounds.

A Python loop puts the same stretch on the tape again and again. Compiled as one program it would cost compile time for every round; cut at
an arbitrary length, every piece would begin at another phase of the loop and be another program. The answer belongs to the trie's state, so
it is worked out once for each tape prefix. May not know: how tapes are recorded or run.
"""
CAP = 1024            # nodes: the longest tape, whatever it is
LONGEST = 64          # nodes: the longest round that is looked for
ROUNDS = 4            # rounds that must have been seen
ENOUGH = 64           # nodes of whole rounds before a cut; very short rounds (a chain of additions) are cheap to compile and cut later
SHORT, MANY = 4, 256


def ends_here(state):
    """How many nodes the tape that ends with this state ends with, if they are equal rounds or the cap is reached: it is cut. Else 0."""
    if state.depth >= CAP:
        return state.depth
    plans, at = [], state
    while at.parent is not None and len(plans) < MANY + LONGEST:
        plans.append(at.plan)
        at = at.parent
    n, last = len(plans), plans[0]
    for p in range(1, min(LONGEST, n // ROUNDS) + 1):
        if plans[p] is not last:
            continue
        wanted = max(ROUNDS * p, MANY if p < SHORT else -(-ENOUGH // p) * p)
        if wanted <= n and all(plans[i] is plans[i + p] for i in range(wanted - p)):
            return wanted
    return 0
