"""The gradients of a module that several processes train: averaged once a backward has made them.

Owns: `Reducer`, in which parcels gradients travel (`GradBucket`), and what is broadcast before. May not know: modules, `forward`.
"""
import pickle

import numpy as np

import jtensor

from ..autograd.engine import current_task
from . import patterns
from .objects import _of_all
from .reducing import ReduceOp, function_of
from .tensors import empty, flat, put
from .work import Work

FIRST = 1 << 20             # bytes of the first bucket, so that its way begins early


class GradBucket:
    """Some of the gradients, which travel together: what a hook of `DistributedDataParallel.register_comm_hook` gets.

    The buffer is a tensor of one dimension. A hook answers a `torch.futures.Future` of what the gradients are to be, as such a tensor.
    """

    def __init__(self, index, last, parameters, buffer):
        self._index, self._last, self._parameters, self._buffer = index, last, parameters, buffer

    def index(self):
        """Which bucket this is, from 0."""
        return self._index

    def is_last(self):
        """Whether it is the last of this backward."""
        return self._last

    def buffer(self):
        """The gradients, one behind the other."""
        return self._buffer

    def set_buffer(self, buffer):
        """Puts other numbers in their place."""
        self._buffer = buffer

    def parameters(self):
        """The parameters they are of."""
        return list(self._parameters)

    def gradients(self):
        """The gradients as views of the buffer."""
        parts = self._buffer.split([p.numel() for p in self._parameters])
        return [part.view(p.shape) for part, p in zip(parts, self._parameters, strict=True)]


def buckets(parameters, cap, first=FIRST):
    """The parameters in lists of at most ``cap`` bytes each, of one type and device, from the last one on, as backward comes to them."""
    found, size, limit = [], 0, min(first, cap)
    for p in reversed(parameters):
        nbytes = p.numel() * p.element_size()
        if not found or size + nbytes > limit or (p.dtype, p.device) != (found[-1][0].dtype, found[-1][0].device):
            limit = cap if found else limit
            found.append([])
            size = 0
        found[-1].insert(0, p)
        size += nbytes
    return found


class Reducer:
    """Averages the gradients of ``parameters`` over a group at the end of each backward that has made them, while `listens`.

    ``unused``: parameters may go without one; where another process has one, it gets that.
    """

    def __init__(self, group, parameters, cap, unused):
        self.group, self.parameters, self.unused = group, list(parameters), unused
        self.buckets = buckets(self.parameters, cap)
        self.hook, self.listens, self.awaited = None, False, False
        self.counted = None             # a work whose tensor is over how many processes the next gradients are averaged, or None: over all
        self._arrived, self._task = set(), None
        for at, p in enumerate(self.parameters):
            p.register_post_accumulate_grad_hook(lambda _, at=at: self._note(at))

    def prepare_for_backward(self, outputs):
        """The next backward is one whose gradients are averaged, though no `forward` has said so."""
        self._arrived.clear()
        self.listens = self.awaited = True

    def _rebuild_buckets(self):
        """Whether the parcels have been put together anew: they stay as they are."""
        return False

    def missing(self):
        """The numbers of the parameters that a backward has left out, though `unused` does not allow it; forgets that it did."""
        left = [at for at in range(len(self.parameters)) if at not in self._arrived] if self.awaited and self._arrived else []
        self._arrived.clear()
        return left

    def _note(self, at):
        if not self.listens:
            return
        self._arrived.add(at)
        task = current_task()
        if self._task is not task:
            self._task = task
            task.callbacks.append(self._end)

    def _end(self):
        self._task = None
        if len(self._arrived) < len(self.parameters) and not self.unused:
            return                                      # the next forward says so
        used, self.awaited = self._arrived, False
        self._arrived = set()
        if self.group.size() > 1 or self.hook is not None:
            self._average(used)

    def shadow(self):
        """Takes part, with zeros, in what the others do with the gradients of one backward, and keeps nothing of it."""
        if self.group.size() == 1 and self.hook is None:
            return
        if self.unused:
            self._used_anywhere(())
        for number, bucket in enumerate(self.buckets):
            self._reduced(number, bucket, [p.detach().new_zeros(p.shape) for p in bucket])

    def _average(self, used):
        size = self.group.size() if self.counted is None else int(self.counted.result()[0].item())
        everywhere = self._used_anywhere(used) if self.unused else set(range(len(self.parameters)))
        at_of = {id(p): at for at, p in enumerate(self.parameters)}
        made = []
        for number, bucket in enumerate(self.buckets):
            grads = [p.detach().new_zeros(p.shape) if p.grad is None else p.grad.detach() for p in bucket]
            made.append((number, bucket, grads if self.hook is not None else [grad * (1 / size) for grad in grads]))
        for number, bucket, grads in made:
            for p, grad in zip(bucket, self._reduced(number, bucket, grads), strict=True):
                if at_of[id(p)] in everywhere:
                    self._give(p, grad)

    def _used_anywhere(self, used):
        counts = np.array([at in used for at in range(len(self.parameters))], np.int32)
        _all_reduce(self.group, counts)
        return set(np.flatnonzero(counts).tolist())

    def _reduced(self, number, bucket, grads):
        return (self._by_sum if self.hook is None else self._by_hook)(number, bucket, grads)

    def _by_sum(self, number, bucket, grads):
        array = np.concatenate([flat(grad) for grad in grads])
        _all_reduce(self.group, array)
        return _parts(array, bucket)

    def _by_hook(self, number, bucket, grads):
        parcel = GradBucket(number, number == len(self.buckets) - 1, bucket, jtensor.cat([g.reshape(-1) for g in grads]))
        answer = self.hook(parcel).wait()
        answer = answer[0] if isinstance(answer, list | tuple) else answer
        return _parts(flat(answer), bucket)

    @staticmethod
    def _give(p, array):
        if p.grad is None:
            p.grad = p.detach().new_empty(p.shape)
        put(p.grad, array)


def _parts(array, parameters):
    """The parts of a flat array that are the parameters' gradients; a complex number is two elements."""
    ends = np.cumsum([p.numel() * (1 + p.is_complex()) for p in parameters])
    return np.split(array, ends[:-1])


def _all_reduce(group, array):
    member, function = group._together(), function_of(ReduceOp.SUM, array.dtype)
    group._line.do(Work(lambda: patterns.all_reduce(member, array, function)))


def broadcast_together(group, tensors, root=0):
    """Has all members have the tensors of member ``root``, in one message."""
    if group.size() == 1 or not tensors:
        return
    member = group._together()
    arrays = [flat(t) if member.rank == root else empty(t) for t in tensors]
    parcel = np.concatenate([array.view(np.uint8) for array in arrays])
    group._line.do(Work(lambda: patterns.broadcast(member, parcel, root)))
    if member.rank != root:
        at = 0
        for tensor, array in zip(tensors, arrays, strict=True):
            put(tensor, parcel[at:at + array.nbytes].copy().view(array.dtype))
            at += array.nbytes


def check_same(group, parameters):
    """RuntimeError unless the members' parameters are as many, and of the shapes, as the first member's."""
    member, mine, found = group._together(), [tuple(p.shape) for p in parameters], []
    group._line.do(Work(lambda: found.extend(map(pickle.loads, _of_all(member, pickle.dumps(mine))))))
    for rank, shapes in enumerate(found):
        if len(shapes) != len(mine):
            raise RuntimeError(f"DDP expects same model across all ranks, but Rank {member.rank} has {len(mine)} params, while rank {rank} "
                               f"has inconsistent {len(shapes)} params.")
    for at, (shape, first) in enumerate(zip(mine, found[0], strict=True)):
        if shape != first:
            raise RuntimeError(f"[{member.rank}]: params[{at}] in this process with sizes {list(shape)} appears not to match sizes of the "
                               "same param in process 0.")


__all__ = ["GradBucket", "Reducer", "broadcast_together", "check_same"]
