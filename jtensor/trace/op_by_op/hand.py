"""A tape of one operation on single numbers, run without a program.

Owns: `Hand`, which takes the arguments' numbers from wherever they lie and puts the results where they are looked for, with one step of
Python for each thing to be done: this is what `item()` in a loop costs. What is computed, and where it has the bits of a program, is in
`interpret`. May not know: when tapes run.
"""
import struct

from numpy import ndarray

from ...base import dtypes
from ..arrival import awaited
from ..report import REPORT
from ..scalars import OF_KIND

# A number's bytes, for the types that Python has.
FORMATS = {d: struct.Struct(d.numpy.char) for d in dtypes.ALL if d.numpy.isbuiltin == 1 and d.numpy.kind in "iufb"}


class Hand:
    """An operation on single numbers, done by Python (`interpret`)."""

    __slots__ = ("compute", "takes", "gives")

    def __init__(self, plan):
        self.compute = plan.by_hand
        self.takes = [FORMATS[aval.dtype].unpack for aval in plan.inputs]
        self.gives = [(aval.shape, aval.dtype.numpy, FORMATS[aval.dtype].pack) for aval in plan.outputs]

    def computed(self, segment, seen, waits):
        """The numbers that the only operation of a tape gives; None if it is one for the device after all. ``seen``: the executor's.

        Nobody waits here for arguments that are still being computed, unless somebody ``waits`` for the result anyway.
        """
        (_, positions, taken, _), = segment.nodes
        inputs, takes, given = segment.inputs, self.takes, []
        for p in positions:
            value = inputs[~p]
            array = value.segment
            if array.__class__ is ndarray:
                given.append(takes[len(given)](array)[0])
                continue
            try:
                number = value.number               # on a `jax.Array` it is looked at once
            except AttributeError:
                array = seen(value)
                if array.__class__ is not ndarray and not array.is_ready():
                    if not waits:
                        return None
                    awaited(array)
                value.number = number = takes[len(given)](array)[0]
            given.append(number)
        for kind, index in taken:
            number = OF_KIND[kind](segment)[index]
            given.append(number != 0 if kind == "b" else number)
        return self.compute(*given)

    def results(self, segment, seen, asked):
        """What the only operation of a tape gives, as ndarrays; None if it is one for the device after all."""
        made = self.computed(segment, seen, asked is not None)
        if made is None:
            return None
        REPORT.hits += 1
        return [ndarray(shape, kind, give(x)) for (shape, kind, give), x in zip(self.gives, made, strict=True)]

    def did(self, segment, seen, reason):
        """Gives a closed tape's only value, for which somebody waits, its number; False if that is for the device after all."""
        made = self.computed(segment, seen, True)
        if made is None:
            return False
        REPORT.hits += 1
        try:
            REPORT.flushed(reason, 1, FROM_LIBRARY)
        except ValueError:                      # who waits has not been called from Python
            REPORT.flushed(reason, 1)
        (shape, kind, give), = self.gives
        value = segment.nodes[0][3]()
        value.segment, value.owned = ndarray(shape, kind, give(made[0])), False
        return True


FROM_LIBRARY = 5    # frames that are the library's: the one that looks for the user, `did`, `flush`, who has called that, and who that
