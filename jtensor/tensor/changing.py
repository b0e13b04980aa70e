"""Views of memory that has another size every time: whether they are read on the host.

A program is of fixed shapes. A loop over the steps of a sequence (`x[:, t]`), or the backward of `torch.stack(log_probs)`, reads views of
one type out of memory as long as the sequence, so where lengths keep changing its rounds would be another program for each. What is read
on the host is an input like any other: then the rounds are the same program for all lengths, for the price of running the tape before the
first of them and a copy of each. Owns: the decision, by what was read before. May not know: how anything is read.
"""
from ..base import devices

FEW = 4                 # memories of so many sizes are always read by programs
NEAR, SURE = 32, 3      # and those that come again before so many others, so often in a row: what a step does that is the same every time
LONG = 4096             # and one that is read so often before another comes


class Kind:
    """Views of one type read out of memories with one number of dimensions.

    ``apart``: whether there have been enough sizes to ask for more: `on_host`. ``steady``: layouts that are read by programs; ``met``:
    {layout: (when it was met last, how often in a row it came again soon)} of the others, by a ``clock`` that goes on when it is not the
    ``last`` one, which has been read so many ``times``.
    """

    __slots__ = ("apart", "steady", "met", "clock", "last", "times")

    def __init__(self):
        self.apart, self.steady, self.met, self.clock, self.last, self.times = False, set(), {}, 0, None, 0

    def add(self, layout):
        """A memory is read for the first time, or at a place where it was not."""
        if len(self.steady) < FEW:
            self.steady.add(layout)
        elif layout not in self.steady:
            self.apart = True

    def on_host(self, layout):
        """Whether a view of this memory is to be read on the host."""
        if layout in self.steady:
            return False
        if layout is self.last:
            self.times += 1
            again = self.times > LONG
        else:
            self.clock += 1
            when, near = self.met.pop(layout, (-NEAR, 0))
            near = near + 1 if self.clock - when <= NEAR else 0
            if len(self.met) >= 4096:
                self.met.clear()
            self.last, self.times, self.met[layout] = layout, 0, (self.clock, near)
            again = near == SURE
        if again:
            del self.met[layout]
            self.steady.add(layout)
        return not again


_kinds = {}
_NEVER = Kind()


def kind_of(layout, spec):
    """The `Kind` of a geometry over a layout; where it is no part of plain memory on the CPU, one that is never read on the host."""
    if not layout.contiguous or layout.dtype is not spec.dtype or spec.conj or spec.neg or spec.device is not devices.cpu \
            or not 0 < spec.numel < layout.numel:
        return _NEVER
    key = spec.aval, len(layout.size)
    kind = _kinds.get(key)
    if kind is None:
        if len(_kinds) >= 1 << 14:
            _kinds.clear()
        kind = _kinds[key] = Kind()
    kind.add(layout)
    return kind
