"""Which tapes are worth a program of their own, and when; the others run op by op, by the kernels of their operations or without any.

The choice is made by cost and by what the script has done before, never by the clock. A tape that comes again is compiled whole. One seen
for the first time is, where most of its kernels are missing (and have not been missed often): it may be a step of a training loop, of which
thousands follow. But a script may make such programs in vain, since its tapes do not come again (lengths that differ from batch to batch,
a search). Then they run op by op, until one has come often: a kernel serves every tape that its operation is in, NumPy every shape. And a
tape may hold few kinds of operations at many shapes each, as a loop's does whose rounds grow: there too, op by op costs little, and the
program a lot. Owns: the costs, what programs were worth so far. May not know: tapes, how anything is compiled.
"""
import collections
import functools
import re

KERNEL_COST, NODE_COST, PROGRAM_COST = 20.0, 4.0, 15.0       # ms: a kernel by itself, a node of a program, a program
# On a GPU a kernel takes as long to make as a node of a program (H200: 8 and 10 ms), and what is new there, and lacks more than this
# part of its kernels, is probably a training step, which comes again.
LACKING = 4 / 7
OFTEN = 8                          # programs made for want of an operation's kernel after which that is worth its cost
KINDS, KNOWN = 64, 16              # of which the last programs are known
IN_A_ROW = 3                       # times that a tape of a kind that varies has to come
LARGE = 32                         # nodes from which on a program takes long to make
TRIED = 3                          # programs in a row that may be made of tapes that do not come again
LOOPED = 16                        # times that a piece of a loop must run again
SHAPES = 16                        # of one kind of operation in a tape: more than a network has in layers of a kind
LONG, REPEATED, WINDOW = 512, 16, 64        # nodes, times that each operation comes, nodes in a row: of what may be irregular
PATIENT = 8                        # times that a tape must come where they do not: running one op by op costs a fortieth of its program
TIMES = 2 * PATIENT                # times that one must come that is ragged or irregular: its program takes twice as long


class Past:
    """The last programs that were made of tapes seen for the first time, or loaded, the small and the large ones by themselves: a few small
    ones, soon made, tell nothing about a training step. And the large ones of each kind: a step that comes on other sizes, when the first
    has not come again, will come on others still. A script makes the same choices at every start."""

    __slots__ = ("small", "large", "kinds", "last")

    def __init__(self):
        self.small, self.large = collections.deque(maxlen=TRIED), collections.deque(maxlen=TRIED)
        self.kinds, self.last = {}, (None, None, 0)

    def of(self, nodes):
        """Those that tell about a program of so many nodes."""
        return self.large if nodes >= LARGE else self.small

    def add(self, program, nodes, loop):
        """One was made. A loop's runs again at once, and so does that of a network's equal layers: that alone does not repay it."""
        self.of(nodes).append((program, LOOPED if loop else 1))

    def in_vain(self, nodes):
        """Whether none of them has been run again often enough."""
        made = self.of(nodes)
        return len(made) == TRIED and all(program.served < times for program, times in made)

    def add_kind(self, program, kind):
        """One was made of a tape of this kind (`kinds`)."""
        if kind not in self.kinds and len(self.kinds) >= KINDS:
            self.kinds.pop(next(iter(self.kinds)))
        self.kinds.setdefault(kind, collections.deque(maxlen=KNOWN)).append(program)

    def varies(self, kinds, state):
        """Counts a tape (``state``) that comes, and says whether programs of one of its kinds have been run again less often than there are
        such programs. The more have paid, the more are made: where there are sixteen sizes, each has its program after some rounds. And a
        tape that comes `IN_A_ROW` times is no longer another one: a first step may have been for a look."""
        last, before, times = self.last
        times = times + 1 if (last, before) == (kinds, state) else 1
        self.last = kinds, state, times
        return times < IN_A_ROW and any(sum(program.served for program in made) < len(made)
                                        for made in [self.kinds.get(kind, ()) for kind in kinds])

    def forget(self):
        """As if nothing had been made."""
        self.small.clear()
        self.large.clear()
        self.kinds.clear()
        self.last = None, None, 0


PAST = Past()


def kinds(nodes, update=None):
    """What tapes have in common that differ in sizes alone: one name of the whole tape, and one of what stands before an optimizer's step.

    ``nodes``: (plan, positions of its inputs, ...) each; ``update``: where that step begins. There are none of a small tape, which is soon
    compiled, and none where there are convolutions: by themselves these take as long to compile as in a program.
    """
    if len(nodes) < LARGE:
        return ()
    entries = [(_without_numbers(repr(node[0].key)), node[1]) for node in nodes]
    if any("'conv" in text for text, _ in entries):
        return ()
    return tuple([hash(tuple(entries[:at])) for at in dict.fromkeys((len(nodes), update or len(nodes))) if at >= LARGE])


def is_ragged(nodes, update=None):
    """Whether most of the operations before an optimizer's step are of kinds that come on many shapes: a loop over what grows, or over
    sequences of any length. By themselves they share kernels, or need none (`by_numpy`), and in a program each is compiled.

    The arguments are those of `kinds`, and so is what is said there of convolutions.
    """
    if len(nodes) < LARGE:
        return False
    found = {}
    for node in nodes[:update]:
        plan = node[0]
        one = found.setdefault(_without_numbers(repr(plan.key)), [0, set()])
        one[0] += 1
        one[1].add((plan.outputs[0].shape, *[a.shape for a in plan.inputs]))
    ragged = sum([count for count, shapes in found.values() if len(shapes) >= SHAPES])
    return 2 * ragged > len(nodes[:update]) and not any("'conv" in text for text in found)


def is_irregular(nodes):
    """Whether a tape repeats few operations many times, but not round after round as loops and layers do: a recursion over trees, a loop
    that branches by chance. Their next tapes take other turns. And their operations have all kernels soon, while in a program each is
    compiled as often as it comes.
    """
    plans = [id(node[0]) for node in nodes]
    if len(plans) < LONG or len(set(plans)) * REPEATED > len(plans):
        return False
    windows = [tuple(plans[at:at + WINDOW]) for at in range(len(plans) - WINDOW + 1)]
    return 2 * len(set(windows)) > len(windows)


_without_numbers = functools.lru_cache(4096)(functools.partial(re.sub, "[0-9]+|None", ""))


def worth_a_program(nodes, plans, missing, sightings, loop=False, gpu=False):
    """Whether a tape of so many nodes is compiled now.

    ``plans``: its operations; ``missing``: those without kernels; ``sightings``: times it has come; ``loop``: it is a piece of one, and
    will probably come again at once; ``gpu``: it runs on one, where nothing does without a kernel.
    """
    in_vain = PAST.in_vain(nodes)
    again = sightings >= PATIENT if in_vain else loop or sightings > 1
    if again or in_vain:
        return again
    dear = sum(1 for plan in missing if plan.wanted < OFTEN)
    if dear <= len(plans) * LACKING if gpu else dear * KERNEL_COST <= len(plans) * NODE_COST + PROGRAM_COST:
        return False
    for plan in missing:
        plan.wanted += 1
    return True
