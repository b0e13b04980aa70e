"""A tape of one operation on single numbers, run without a program.

Owns: `Hand`, which takes the arguments' numbers from wherever they lie and puts the results where they are looked for, with one step of
Python for each thing to be done: this is what `item()` in a loop costs. What is computed, and where it has the bits of a program, is in
`interpret`. May not know: when tapes run.
"""
import operator
import struct

from numpy import ndarray

from ..base import dtypes
from .arrival import awaited
from .report import REPORT

# A number's bytes, for the types that Python has.
FORMATS = {d: struct.Struct(d.numpy.char) for d in dtypes.ALL if d.numpy.isbuiltin == 1 and d.numpy.kind in "iufb"}
NUMBERS = {kind: operator.attrgetter(name) for kind, name in (("f", "floats"), ("i", "integers"), ("b", "integers"), ("c", "complexes"))}


class Hand:
    """An operation on single numbers, done by Python (`interpret`)."""

    __slots__ = ("compute", "takes", "gives")

    def __init__(self, plan):
        self.compute = plan.by_hand
        self.takes = [FORMATS[aval.dtype].unpack for aval in plan.inputs]
        self.gives = [(aval.shape, aval.dtype.numpy, FORMATS[aval.dtype].pack) for aval in plan.outputs]

    def results(self, segment, seen, asked):
        """What the only operation of a tape gives, as ndarrays; None if it is one for the device after all. ``seen``: the executor's.

        Nobody waits here for arguments that are still being computed, unless for the result anyway.
        """
        (_, positions, taken, _), = segment.nodes
        given = []
        for p, take in zip(positions, self.takes, strict=True):
            array = seen(segment.inputs[~p])
            if array.__class__ is not ndarray and not array.is_ready():
                if asked is None:
                    return None
                awaited(array)
            given.append(take(array)[0])
        for kind, index in taken:
            number = NUMBERS[kind](segment)[index]
            given.append(number != 0 if kind == "b" else number)
        made = self.compute(*given)
        if made is None:
            return None
        REPORT.hits += 1
        if len(made) == 1:
            (shape, kind, give), = self.gives
            return [ndarray(shape, kind, give(made[0]))]
        return [ndarray(shape, kind, give(x)) for (shape, kind, give), x in zip(self.gives, made, strict=True)]

    def did(self, segment, seen, reason):
        """Gives a closed tape's only value, for which somebody waits, its number; False if that is for the device after all."""
        made = self.results(segment, seen, 0)
        if made is None:
            return False
        REPORT.flushed(reason, 1, 4)
        value = segment.nodes[0][3]()
        value.segment, value.owned = made[0], False
        return True
