"""Tensors that stand for a batch, as a function under `vmap` has them: how a tensor becomes one, and is a whole tensor again.

May not know: the arguments of `vmap`.
"""
from ...autograd import anomaly
from ...ops.families.join import stack
from ...storage.lifted import LIFTED_MEMORY
from ...trace import batches
from ...trace.lifted import levels_of, serial
from ...trace.tape import LIFTED
from ..dispatch import call
from ..values import read
from .levels import Passage, of_value, open_again, with_passage


def taken_apart(level, tensor, owed=False):
    """The tensor inside of a batch whose arrays lie along the first dimension of a tensor outside."""
    return with_passage(of_value(batches.taken_apart(level, read(tensor), owed)), tensor, _Apart, level)


def put_together(level, tensor):
    """The tensor outside that has the batch's arrays along its first dimension; a tensor that is no batch is repeated."""
    return with_passage(of_value(batches.put_together(level, read(tensor))), tensor, _Together, level)


class _Apart(Passage):
    """The way from the inside to the outside."""

    def passed(self, grad):
        return put_together(self.level, grad)


class _Together(Passage):
    """The way from the outside to the inside: such a gradient is owed."""

    def passed(self, grad):
        open_again(self.level)
        return taken_apart(self.level, grad, True)


def is_of(level, tensor):
    """Whether a tensor stands for a batch of this level."""
    return level in levels_of(tensor._storage.value) if tensor._storage.host is LIFTED_MEMORY else False


def is_batch(tensor):
    """Whether a tensor stands for a batch of any level."""
    return tensor._storage.host is LIFTED_MEMORY and any(level.extra for level in levels_of(tensor._storage.value))


def as_batched_as(made, like):
    """A fresh tensor, one for each array of every batch that another tensor stands for: so it can be written to with such."""
    for level in sorted(levels_of(read(like)) - levels_of(read(made)), key=serial):
        if level.extra:
            made = of_value(batches.spread(level, read(made)))
    return made


def slice_by_slice(function, tensors):
    """``function(tensors)``, without a history, where some of them stand for a batch and it looks at their numbers: called for each slice
    of the innermost batch, outside of that. The results of all slices must have one shape, which zeros tell where there are none."""
    level = max([level for t in tensors for level in levels_of(read(t)) if level.extra], key=serial)
    apart = [put_together(level, t.detach()) if is_of(level, t) else None for t in tensors]
    if not level.size:
        apart = [t if t is None else t.new_zeros((1, *t.shape[1:])) for t in apart]
    rows = [function([t if parts is None else parts[at] for t, parts in zip(tensors, apart, strict=True)])
            for at in range(max(level.size, 1))]

    def joined(column):
        return taken_apart(level, call(stack, (column, 0)) if level.size else column[0].new_empty((0, *column[0].shape)))
    return tuple(map(joined, zip(*rows, strict=True))) if isinstance(rows[0], tuple) else joined(rows)


def whole(tensor):
    """All that a tensor stands for as one tensor, the dimensions of its batches first; for who looks whether numbers are allowed."""
    value = read(tensor)
    if value.position is not LIFTED:
        return tensor
    while value.position is LIFTED:
        value = value.parts[0]
    return of_value(value)


anomaly.sees_whole(whole)
