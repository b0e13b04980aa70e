"""Donation: which input buffers a program may write over, since nobody else holds them.

Owns: that rule, asked of reference counts when a program is made and again at every run. May not know: how programs are made and run.
"""
import math
import sys

from ..base import compat
from . import tape
from .lowering import lower
from .report import REPORT


def donatable(inputs, nodes, wanted):
    """Inputs that only this segment still holds, each with the position of the result that its buffer is for.

    A storage that was rebound has let go of its old value, so the reference count tells.
    """
    if tape.Local.threads > 1:
        return ()
    chosen = []
    for at, position in sorted(lower.grown(nodes, wanted).items()):
        value = inputs[at]
        if sys.getrefcount(value) <= HELD:
            chosen.append((at, position))
        del value
    return tuple(chosen)


def may_pay(node, wanted):
    """Whether an operation that is all of a tape makes something new of a large array, as ``table[i] = row`` does: its kernel, which serves
    all tapes, copies that each time."""
    plan, positions, _, _ = node
    if wanted != (0,) or not positions or positions[0] >= 0 or plan.inputs[0] != plan.outputs[0] or tape.Local.threads > 1:
        return False
    aval = plan.outputs[0]
    return math.prod(aval.shape) * aval.dtype.itemsize >= LARGE


def pays(node, inputs):
    """Whether the array could be written over now."""
    value = inputs[~node[1][0]]
    return value.owned and sys.getrefcount(value) < HELD


LARGE = 1 << 18    # bytes that take longer to copy than most programs to run
HELD = 4           # the segment's list, `inputs`, the local name and getrefcount's argument


class Run:
    """A run of a program that writes over its inputs: what has come of its stages, so that nothing is lost where a signal's handler raises
    an exception in between (Ctrl-C), or looks at values.

    ``stages``: (executable, what `run_kept` keeps of it) of those that have begun, of so many in all; ``known``: the results of one that
    was begun ahead; ``gives``: the positions of the results of all stages; ``order``: of the values that are wanted, or None.
    """

    __slots__ = ("stages", "count", "known", "gives", "order", "wanted")

    def __init__(self, found, wanted):
        self.stages, self.count, self.known = [], 1 + (found.rest is not None), None
        self.gives, self.order, self.wanted = found.gives, found.order, wanted

    def stage(self, executable, arrays):
        """Runs one more stage."""
        kept = []
        self.stages.append((executable, kept))
        return executable.run_kept(arrays, kept)

    def results(self):
        """The results that are there, and whether they are all."""
        made = [executable.taken(kept) for executable, kept in self.stages if kept]
        if made and self.known is not None:
            made.insert(0, self.known)
        return [array for results in made for array in results], len(made) == self.count


def protect(found, values, arrays):
    """Copies the inputs that somebody else holds after all, so that their buffers are not overwritten. ``values``: the segment's list."""
    references, held = sys.getrefcount, HELD - 1 if tape.Local.threads == 1 else 0
    if found.sizes is None:
        found.sizes = [arrays[at].nbytes for at in found.donate]
    copied = 0
    for at in found.donate:
        value, array = values[at], arrays[at]
        if references(value) > held or not value.owned or references(array) > 4 or compat.is_seen(array):
            copied += array.nbytes
            arrays[at] = compat.another(array)
        del value, array
    REPORT.donated += sum(found.sizes) - copied
