"""What is asked for first, and the rest: a tape cut in two programs, so that nobody waits for what nobody has asked for yet.

``loss.item()`` at the end of a training step needs the forward pass alone. As one program it would wait for the gradients and
the optimizer as well; in two, the second runs beside Python while the next step is recorded. Owns: where the cut lies. May not
know: when tapes run, how programs are made. The cut changes no number: boundaries between operators are kept anyway (`fences`).
"""
import collections

from .lowering.lower import needed

WORTH_A_PROGRAM = 1 << 17           # elements that the rest must touch: a program more costs some 50 us
WORTH_A_CUT = 1 << 24, 200_000      # elements of a tape on a CPU, and for each node, beyond which recording hardly counts, but fusion does

Stages = collections.namedtuple("Stages", "first handed rest")
Stages.__doc__ = "``first``: positions that the first program gives, ``handed``: those that the second takes, ``rest``: its own results."


def cut(nodes, wanted, asked):
    """The `Stages` of a tape of which the value at position ``asked`` is waited for; None where one program does as well."""
    early = needed(nodes, (asked,))
    late = [marked and not before for marked, before in zip(needed(nodes, wanted), early, strict=True)]
    work = [node[0].elements() for node in nodes]
    if sum(elements for elements, marked in zip(work, late, strict=True) if marked) < WORTH_A_PROGRAM:
        return None
    if nodes[0][0].outputs[0].device.type == "cpu" and sum(work) > max(WORTH_A_CUT[0], WORTH_A_CUT[1] * len(nodes)):
        return None
    owner = [at for at, node in enumerate(nodes) for _ in node[0].outputs]
    shared, waiting = set(), [p for node, marked in zip(nodes, late, strict=True) if marked for p in node[1] if p >= 0]
    again = set()
    while waiting:
        p = waiting.pop()
        at = owner[p]
        if not early[at] or p in shared or p in again:
            continue
        if nodes[at][0].moves and len(nodes[at][1]) == 1:       # a rearrangement of one value: cheaper made again than handed over
            again.add(p)
            waiting.extend(q for q in nodes[at][1] if q >= 0)
        else:
            shared.add(p)
    handed = tuple(sorted(shared))
    first = tuple(sorted({asked, *handed, *(p for p in wanted if early[owner[p]])}))
    made = frozenset(first)
    return Stages(first, handed, tuple(p for p in wanted if p not in made))


def buffers(donate, stages, first, second):
    """Of pairs (input, position of the value that may have its buffer) those of the first program, and those of the second, as these number
    them. The first leaves alone what the second takes, too. ``first``, ``second``: what `lower.alone` answers of the two.
    """
    (_, early, takes), (_, late, later) = first, second
    return (tuple([(takes.index(~at), early[stages.first.index(p)]) for at, p in donate if p in stages.first and ~at not in later]),
            tuple([(later.index(~at), late[stages.rest.index(p)]) for at, p in donate if p in stages.rest and ~at in later]))
