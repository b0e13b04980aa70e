"""What a tape runs as: a `Program` of one or two executables, compiled in a hurry at first and with all effort when it is run often.

A first step is often one of a kind (an optimizer's state appears only in the second), and a short script runs nothing often. So
a program is compiled briefly, which takes a quarter to a half of the time, and counts its runs. When it is plain that what that has
saved will be lost again (`worth`) it is compiled with all effort: begun in the background at three quarters, waited for at the last, so
that the change comes at the same run every time. On large arrays and in loops that run would come soon: there a program is compiled
"swift", which saves a little less and loses next to nothing, or with all effort where that would tell in the bits; on very small arrays
"rough", which saves most and loses most. What takes much memory at once is in the end compiled to take it in pieces that the process keeps;
not at first, since XLA can only serialise the other. All give the same bits. Owns: `Program`, making one, this estimate. May not know:
the trie, when tapes run.
"""
import math

import jax
import numpy as np

from ..base import compat
from ..base.background import Worker
from . import scalars, stages
from .lowering import executable, lower
from .report import REPORT

SAVED = {"rough": 8e6, "brief": 6e6, "swift": 4e6}      # ns: what an operator costs less to compile so
LOST = {"rough": 6.0, "brief": 1.0, "swift": 0.01}      # ns: what an element of a result takes longer then, at worst
IN_FULL, FAULTED = 12e6, 0.4                            # ns: to compile an operator with all effort; a byte that the system gives anew
FEW = {"rough": 128, "brief": 32, "swift": 0}           # fewer runs than these: not worth it
LOOP = {"rough": 1024, "brief": 1024, "swift": 0}       # and in a loop
MANY = 1 << 15          # more are not waited for: on small arrays the two hardly differ
SURE = 3                # what has been run a third of that number will be run the rest, too

SENT = 8                           # vectors of numbers that are kept for each program

COMPILER = Worker("programs")
_BESIDE = Worker("stages")      # compiles the second stage while the first is compiled where it is wanted


class Program:
    """Executables for a state of the trie: which values they give, how many inputs they take, and which of them they may overwrite.

    ``donate``: positions of the inputs that they overwrite, ``sizes`` their bytes, once known. ``rest``: the second executable of a tape
    that runs in two stages (`stages`); ``takes``: which of the inputs the first takes, ``reach``: of how many there must be; ``own``: how
    many of the tape's floats, integers and complex numbers, the first of each; ``later``: what the second takes beside all numbers, inputs
    and (as ``~n``) results of the first. ``order``: which of all the results are asked for, in their order; None where they are that
    already. ``left``: the runs until a program that was compiled in a hurry is compiled ``again``, of ``due`` in all; 0 if it is not.
    ``sent``: {the numbers of a recent run, as bytes, or the integers where there are no others: on the device}; most programs take the
    same ones every time, or the same few. ``served``: how often it has run again since it was made.
    ``by_hand``: what does a single operation without an executable, which may then be None until it is needed.
    """

    __slots__ = ("executable", "gives", "donate", "sizes", "fences", "single", "count", "rest", "takes", "reach", "own", "later", "order",
                 "due", "left", "again", "coming", "sent", "by_hand", "served")

    def __init__(self, executable, gives, wanted, donate=(), fences=0, single=False, count=0, rest=None, takes=(), own=(),
                 later=()):
        self.executable, self.gives, self.donate, self.fences, self.single = executable, gives, donate, fences, single
        self.count, self.rest, self.takes, self.own, self.later, self.sizes = count, rest, takes, own, later, None
        self.due, self.left, self.again, self.coming, self.sent, self.by_hand, self.served = 0, 0, None, None, {}, None, 0
        self.reach = max(takes, default=-1) + 1
        where = {p: at for at, p in enumerate(gives)}
        self.order = None if gives == wanted else [where[p] for p in wanted]

    def giving(self, wanted):
        """The same program for fewer results."""
        made = Program(self.executable, self.gives, wanted, self.donate, self.fences, self.single, self.count, self.rest, self.takes,
                       self.own, self.later)
        made.due, made.left, made.again = self.due, self.left, self.again
        return made

    def numbers(self, *numbers):
        """The zero and a tape's floats, integers and complex numbers on the device, as its program takes them."""
        device = self.executable.device
        floats, integers, complexes = numbers
        if floats or complexes:
            text = scalars.text(floats, integers, complexes)
        elif integers:
            text = tuple(integers)
        else:
            return [scalars.zero(device)]
        there = self.sent.get(text)
        if there is None:
            if len(self.sent) >= SENT:
                self.sent.clear()
            there = self.sent[text] = compat.put(
                np.frombuffer(text, np.int64) if floats and not complexes else scalars.pack(floats, integers, complexes), device)
        return [scalars.zero(device), there]

    def own_numbers(self, segment):
        """The same for the first of two stages."""
        floats, integers, complexes = self.own
        return self.numbers(segment.floats[:floats], segment.integers[:integers], segment.complexes[:complexes])

    def ran(self):
        """Counts a run of a program that was compiled in a hurry, and makes it the better one when it is time."""
        self.left -= 1
        if self.coming is None and 4 * self.left <= self.due:
            self.coming = COMPILER.submit(self.again, name="program again")
        coming = self.coming
        if self.left <= 0 and coming is not None:
            try:
                better = coming.result()[0]
                for one, other in ((better.executable, self.executable), (better.rest, self.rest)):
                    if one is not None and not one.portable and one.instead is None:         # it has its memory in pieces
                        one.instead = other.instead or other       # a child of fork loads what it finds
                self.executable, self.rest, self.donate = better.executable, better.rest, better.donate
                self.sizes = None
                REPORT.again += 1
            except jax.errors.JaxRuntimeError as error:
                REPORT.failed(error)
            self.left, self.again, self.coming = 0, None, None


def build(nodes, wanted, asked, inputs, counts, donate, loop=False, stored=False):
    """The `Program` of a tape and where its executables come from; of two stages if somebody waits for the value ``asked``.

    ``loop``: it is a piece of a loop, and will come again. ``stored``: nothing is to be compiled; None where something would have to be.
    The other arguments are those of `lower.program`.
    """
    chosen = worth(nodes, lower.jax_device_of(nodes[-1][0]), loop)
    built = _build(nodes, wanted, asked, inputs, counts, donate, tuple(chosen), stored)
    if built is None:
        return None
    found, origins, got = built
    due, best = min([chosen[effort] for effort in got if effort in chosen], default=0), "all"
    sizes = [math.prod(aval.shape) * aval.dtype.itemsize for node in nodes for aval in node[0].outputs]
    parts = [one for one in (found.executable, found.rest) if one is not None]
    large = [one.temporary() for one in parts if executable.gains_by_pieces(one, max(sizes), sum(sizes))]
    if large:
        due, best = due or _due(len(nodes) * IN_FULL / (sum(large) * FAULTED)), executable.PIECES
    if due:
        found.due, found.left = due, due
        found.again = lambda: _build(nodes, wanted, asked, inputs, counts, donate, (best,))
    return found, origins


def _build(nodes, wanted, asked, inputs, counts, donate, efforts, stored=False):
    cut = stages.cut(nodes, wanted, asked) if asked in wanted else None
    if cut is None:
        made = lower.program(nodes, wanted, inputs, counts, donate, efforts=efforts, stored=stored)
        if made is None:
            return None
        made, origin, fences, got = made
        donated = tuple([d - lower.lead(counts) for d in made.donated])
        return Program(made, wanted, wanted, donated, fences, count=len(inputs)), (origin,), (got,)
    first = lower.alone(nodes, cut.first)               # equal in the next step, though the optimizer does something else there
    second = lower.alone(nodes, cut.rest, cut.handed)
    taken = _own(first[0])
    mine, yours = stages.buffers(donate, cut, first, second)
    avals = [*(a for node in nodes for a in node[0].outputs), *inputs[::-1]]         # by position: an input's is negative
    after = _BESIDE.submit(lambda: _stage(second, avals, counts, yours, efforts, stored), name="stage")
    first_counts = tuple([(kind, taken[kind]) for kind, _ in counts if taken[kind]])
    ours, theirs = _stage(first, avals, first_counts, mine, efforts, stored), after.result()
    if ours is None or theirs is None:
        return None
    program, donated, origin, fences, got = ours
    rest, others, later, more, too = theirs
    where = {p: ~at for at, p in enumerate(cut.first)}
    made = Program(program, cut.first + cut.rest, wanted, donated + others, fences + more, count=len(inputs), rest=rest,
                   takes=tuple([~p for p in first[2]]), own=tuple(taken.values()), later=tuple([where.get(p, ~p) for p in second[2]]))
    return made, (origin, later), (got, too)


def _own(nodes):
    """How many numbers of each kind the nodes need, the first ones of the tape."""
    found = {"f": 0, "i": 0, "c": 0}
    for _, _, numbers, _ in nodes:
        for kind, at in numbers:
            kind = "i" if kind == "b" else kind
            found[kind] = max(found[kind], at + 1)
    return found


def _stage(stage, avals, counts, donate, efforts, stored):
    """(executable, the tape's inputs that it overwrites, where it comes from, number of fences, effort) of what `lower.alone` answered."""
    nodes, gives, takes = stage
    found = lower.program(nodes, gives, [avals[p] for p in takes], counts, donate, efforts=efforts, stored=stored)
    if found is None:
        return None
    made, *about = found
    return made, tuple([~takes[d - lower.lead(counts)] for d in made.donated]), *about


def worth(nodes, device=None, loop=False, elements=None):
    """{effort: after how many runs a tape's program that was compiled so gets all, because they will be enough to repay it}.

    The effort that is wanted comes first. Where "rough" would tell in the bits "brief" stands in, and that is worth it, too; so it does in
    a loop where "swift" would tell. ``elements``: of all results, where there are more than these nodes say.
    """
    efforts, least = executable.efforts(device), LOOP if loop else FEW
    if elements is None:
        elements = sum(math.prod(aval.shape) for node in nodes for aval in node[0].outputs)
    runs = {effort: len(nodes) * SAVED[effort] / (elements * LOST[effort] + 1) for effort in FEW if effort in efforts}
    worthy = [effort for effort in runs if runs[effort] >= least[effort]]
    wanted = worthy[:2] if worthy[:1] == ["rough"] else worthy[:1]
    if loop and wanted == ["swift"] and runs["brief"] >= FEW["brief"]:
        wanted = ["swift", "brief"]
    return {effort: _due(runs[effort]) for effort in wanted} or {"all": 0}


def _due(runs):
    """The run at which a program is compiled again that will have been worth it after so many."""
    return int(max(FEW["brief"], min(runs, MANY) / SURE))
