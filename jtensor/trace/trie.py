"""The trie of tapes: one state for each tape prefix that was seen, found again while recording.

A tape's identity is the `State` it ends with, so that its programs are found without comparing tapes. Owns: the states, what is learnt and
what is not (`Stray`), the bound. May not know: how operations are recorded, values, how tapes run.
"""
from ..base.bounded import MANY, Bounded
from . import periods

PERIODIC = 64           # nodes from which on a tape may be cut where a loop's round ends


class State:
    """A node of the trie: the tape up to here. ``plan`` is that of the last node; programs are keyed by what is wanted.

    ``cut`` is not 0 if the tape ends here: it has grown too long, or a loop has gone round often enough, in so many nodes
    (`periods.ends_here`).
    ``macros`` are the stretches that have begun here and may be had again in one piece (`macros`). ``ahead``: the program in two stages
    that a tape which got here with a value asked for became last, and how often in a row, or None (`begun.go_ahead`). ``hand``: what
    does the only operation of a tape by hand, if somebody waits for its only result, or None (`hand.Hand`). ``fitted``: {wanted values: the
    program for a bucket of sizes that serves this tape}, or None (`dynamic`). ``numbers``: how many the nodes take; ``device``: the first
    node's; ``mixed``: whether a later one has another, so that the tape runs in parts. ``learns``: whether what follows is learnt in any
    case. ``positions``: the last node's, as recorders put them there.
    """

    __slots__ = ("children", "plan", "parent", "programs", "depth", "single", "spec", "sightings", "cut", "piece", "macros", "ahead",
                 "hand", "fitted", "positions", "numbers", "device", "mixed", "learns")

    def __init__(self, plan, parent, positions=None):
        self.children, self.plan, self.parent, self.programs, self.sightings, self.macros = {}, plan, parent, None, 0, None
        self.positions = positions
        self.ahead = self.hand = self.fitted = None
        self.depth, self.numbers, self.device, self.mixed = parent.depth + 1 if parent is not None else 0, 0, None, False
        self.learns = parent is not None and parent.learns
        if plan is not None:
            self.single = plan.single
            self.spec = plan.spec
            self.numbers = parent.numbers + len(plan.scalar_kinds)
            here = plan.outputs[0].device
            self.device = parent.device or here
            self.mixed = parent.mixed or here is not self.device
        self.cut, self.piece = periods.ends_here(self) if self.depth >= PERIODIC else (0, 0)


class _Nothing(dict):
    """The children of all that has none."""

    __slots__ = ()

    def __setitem__(self, key, value):
        pass


class Stray:
    """Stands for a `State` on a tape that is not learnt (`Trie.grow`): it knows the last plan, and less than no ``depth``."""

    __slots__ = ("plan", "single", "spec", "depth", "cut", "positions")

    children = _Nothing()
    programs = macros = ahead = hand = None
    mixed = learns = False

    def __init__(self, plan, parent, positions=None):
        self.plan, self.single, self.spec, self.positions = plan, plan.single, plan.spec, positions
        self.depth = -1 - abs(parent.depth)
        self.cut = periods.CAP if self.depth <= -periods.CAP else 0


UPDATE = "update"       # the key of the state that optimizers' steps begin with


class Trie:
    """All the tape prefixes seen, bounded: past ``limit`` states it starts anew (programs on disk and kernels remain).

    A script whose operations are others at every step, on random trees, say, would put all its tapes here and find none again, which costs
    as much as running them. After ``patience`` nodes of that, tapes are `Stray` from where they have not been before on, until two of them
    in a row are such as have been met; optimizers' steps are learnt all the same (`begin_update`). ``misses``: nodes that were not here;
    ``unknown``: how many nodes were on unknown tapes of late.
    """

    limit, patience = 400_000, 30_000

    def __init__(self):
        self.root, self.size, self._known = State(None, None), 0, None
        self.misses = self._counted = self.unknown = self._again = 0
        self._met = Bounded(MANY)               # hashes of stray tapes

    def known(self):
        """(pieces, tapes, cuts, ends) of this trie: {length: the plans of loops' pieces that are so long}, {nodes: the programs of that
        tape}, {(state, number of a node): how a tape that ends there is cut before it}, {plans: the tapes that ended with them}."""
        known = self._known
        if known is None or known[0] is not self.root:
            known = self._known = self.root, {}, {}, {}, {}
        return known[1:]

    def programs(self, nodes):
        """The programs of a tape, whichever way it was recorded: recorders, writers and `split` name the same step by different keys."""
        return self.known()[1].setdefault(tuple([(plan, positions, tuple(taken)) for plan, positions, taken, _ in nodes]), {})

    def ends(self):
        """What `bodies` knows of this trie."""
        return self.known()[3]

    def grow(self, state, key, plan, learns=False, positions=None):
        """The state of a tape that goes on with a node as it never has yet; ``learns``: in any case; ``positions``: what the state knows of
        the node's, from when it is found on: an exception may come at any time, and it stays."""
        self.misses += 1
        if self.unknown >= self.patience and not (learns or state.learns) or state.depth < 0:
            return Stray(plan, state, positions)
        child = state.children[key] = State(plan, state, positions)
        self.size += 1
        alike = self.known()[0].get(child.depth)
        if alike is not None and not child.cut and tuple(periods.plans(child, child.depth)) in alike:
            child.cut = child.piece = child.depth
        return child

    def cut_at(self, state, piece):
        """A tape of equal rounds, so many nodes of which make a program, has come to this state: one that begins so will end there."""
        self.known()[0].setdefault(piece, set()).add(tuple(periods.plans(state, piece)))
        if state.cut == state.depth:
            for _ in range(state.depth - piece):
                state = state.parent
            state.cut = state.piece = piece

    def begin_update(self, segment):
        """Has a new tape begin where an optimizer's step does, which is the same each time, whatever stands before it."""
        state = self.root.children.get(UPDATE)
        if state is None:
            state = self.root.children[UPDATE] = State(None, None)
            state.learns = True
        segment.state = state

    def count(self, nodes):
        """Counts a tape of this thread that is about to run."""
        new, self._counted = self.misses - self._counted, self.misses
        if 2 * new < nodes:
            self.unknown = max(0, self.unknown - 4 * nodes)
        else:
            self.unknown = min(self.unknown + nodes, 2 * self.patience)

    def count_served(self, nodes):
        """Counts a tape that is new, but is served by the program of others like it: to be of use, it need not come again."""
        self.unknown = max(0, self.unknown - 4 * nodes)

    def count_stray(self, nodes):
        """The same of a `Stray` one."""
        met, mark, self._counted = self._met, hash(tuple([node[0] for node in nodes])), self.misses
        if mark not in met:
            met[mark], self._again = None, 0
            self.unknown = min(self.unknown + len(nodes), 2 * self.patience)
        elif self._again:
            self.unknown = self._again = 0
        else:
            self._again = 1

    def trim(self):
        if self.size > self.limit:
            self.forget()

    def forget(self):
        """Starts anew."""
        self.root, self.size = State(None, None), 0


TRIE = Trie()
