"""What has another size every time: whether views of it are read, and lists of tensors put together, on the host.

A program is of fixed shapes. A loop over the steps of a sequence (`x[:, t]`), or the backward of `torch.stack(log_probs)`, reads views of
one type out of memory as long as the sequence, so where lengths keep changing its rounds would be another program for each. What is read
on the host is an input like any other: then the rounds are the same program for all lengths, for the price of running the tape before the
first of them and a copy of each. Owns: the decision, by what was read before. May not know: how anything is read.
"""
from ..base import devices
from ..base.bounded import Bounded

FEW = 4                 # memories of so many sizes are always read by programs
NEAR, SURE = 32, 3      # and those that come again before so many others, so often in a row: what a step does that is the same every time
LONG = 4096             # and one that is read so often before another comes
MANY = 16               # tensors of a list: shorter ones are always put together by programs


class Kind:
    """Views of one type read out of memories with one number of dimensions, or lists of tensors of one type.

    ``apart``: whether there have been enough sizes to ask for more: `on_host`. ``steady``: sizes (layouts, plans) that programs deal with;
    ``met``: {size: (when it was met last, how often in a row it came again soon)} of the others, by a ``clock`` that goes on when it is not
    the ``last`` one, which has come so many ``times``.
    """

    __slots__ = ("apart", "steady", "met", "clock", "last", "times")

    def __init__(self):
        self.apart, self.steady, self.met, self.clock, self.last, self.times = False, set(), {}, 0, None, 0

    def add(self, size):
        """A size comes for the first time, or with a view that was not read of it."""
        if len(self.steady) < FEW:
            self.steady.add(size)
        elif size not in self.steady:
            self.apart = True

    def on_host(self, size):
        """Whether what is done now with this size is to be done on the host."""
        if size in self.steady:
            return False
        if size is self.last:
            self.times += 1
            again = self.times > LONG
        else:
            self.clock += 1
            when, near = self.met.pop(size, (-NEAR, 0))
            near = near + 1 if self.clock - when <= NEAR else 0
            if len(self.met) >= 4096:
                self.met.clear()
            self.last, self.times, self.met[size] = size, 0, (self.clock, near)
            again = near == SURE
        if again:
            del self.met[size]
            self.steady.add(size)
        return not again


_kinds = Bounded(1 << 14)
_NEVER = Kind()


def kind_of(layout, spec):
    """The `Kind` of a geometry over a layout; where it is no part of plain memory on the CPU, one that is never read on the host."""
    if not layout.contiguous or layout.dtype is not spec.dtype or spec.conj or spec.neg or spec.device is not devices.cpu \
            or not 0 < spec.numel < layout.numel:
        return _NEVER
    return _added((spec.aval, len(layout.size)), layout)


def kind_of_list(plan):
    """The `Kind` of a plan that puts a list of tensors together; where these differ, or are few, one that never does it on the host."""
    if len(plan.inputs) < MANY or len(set(plan.inputs)) > 1 or plan.inputs[0].device is not devices.cpu or not plan.spec.contiguous:
        return _NEVER
    return _added((plan.operator, plan.inputs[0], *plan.notes.template[1:]), plan)


def joined_on_host(plan):
    """Whether a plan's list of tensors is to be put together on the host now."""
    kind = plan.together
    return kind is not None and kind.apart and kind.on_host(plan)


def _added(key, size):
    kind = _kinds.get(key)
    if kind is None:
        kind = _kinds[key] = Kind()
    kind.add(size)
    return kind
