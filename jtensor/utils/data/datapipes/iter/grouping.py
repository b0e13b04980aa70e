"""Samples together and apart again: `Batcher`, `UnBatcher`, `Grouper`."""
from collections import defaultdict

from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import _check_unpickable_fn
from .utils import length_of

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Lists (`DataChunk`) of ``batch_size`` samples. ``drop_last``: a last, shorter one is left out.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).batch(2))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __iter__(self):
        batch = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        length, = length_of(self, self.datapipe)
        return length // self.batch_size if self.drop_last else (length + self.batch_size - 1) // self.batch_size


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """What is in batches, ``unbatch_level`` lists deep; -1: as deep as there are lists.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([[0, [1, 2]], [3]]).unbatch())
    [0, [1, 2], 3]
    """

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self):
        for sample in self.datapipe:
            yield from self._dive(sample, self.unbatch_level)

    def _dive(self, sample, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        inside = isinstance(sample, list)                   # as a batch is, too
        if level == 0 or (level == -1 and not inside):
            yield sample
            return
        if not inside:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        for inner in sample:
            yield from self._dive(inner, level if level == -1 else level - 1)


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Lists of samples with the same key, as soon as there are ``group_size`` of them, or at the end. Where ``buffer_size`` samples wait,
    the largest list goes first; RuntimeError if it has fewer than ``guaranteed_group_size``, or with ``drop_remaining`` it is lost.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(["a", "bb", "c", "dd"]).groupby(len, keep_key=True))
    [(1, ['a', 'c']), (2, ['bb', 'dd'])]
    """

    def __init__(self, datapipe, group_key_fn, *, keep_key=False, buffer_size=10000, group_size=None, guaranteed_group_size=None,
                 drop_remaining=False):
        _check_unpickable_fn(group_key_fn)
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.buffer_elements, self.curr_buffer_size = buffer_size, defaultdict(list), 0
        self.group_size, self.guaranteed_group_size = group_size, None
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
            self.guaranteed_group_size = guaranteed_group_size
        self.drop_remaining, self.wrapper_class = drop_remaining, DataChunk

    def _made(self, key, group):
        group = self.wrapper_class(group)
        return (key, group) if self.keep_key else group

    def _remove_biggest_key(self):
        """The largest of the groups, the first of those, which waits no more; None if it is lost."""
        biggest = max(self.buffer_elements, key=lambda key: len(self.buffer_elements[key]))
        group = self.buffer_elements[biggest]
        enough = self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size
        if not enough and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        del self.buffer_elements[biggest]
        self.curr_buffer_size -= len(group)
        return group if enough else None

    def __iter__(self):
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            self.buffer_elements[key].append(sample)
            self.curr_buffer_size += 1
            if self.group_size is not None and self.group_size == len(self.buffer_elements[key]):
                group = self.buffer_elements.pop(key)
                self.curr_buffer_size -= len(group)
                yield self._made(key, group)
            if self.curr_buffer_size == self.max_buffer_size:
                group = self._remove_biggest_key()
                if group is not None:
                    yield self._made(key, group)            # under the key of the sample that came last, as in PyTorch
        for key in list(self.buffer_elements):
            group = self.buffer_elements.pop(key)
            self.curr_buffer_size -= len(group)
            yield self._made(key, group)

    def reset(self):
        """Forgets the samples that wait."""
        self.curr_buffer_size, self.buffer_elements = 0, defaultdict(list)

    def __getstate__(self):
        state = (self.datapipe, self.group_key_fn, self.keep_key, self.max_buffer_size, self.group_size, self.guaranteed_group_size,
                 self.drop_remaining, self.wrapper_class, self._valid_iterator_id, self._number_of_samples_yielded)
        return state if IterDataPipe.getstate_hook is None else IterDataPipe.getstate_hook(state)

    def __setstate__(self, state):
        (self.datapipe, self.group_key_fn, self.keep_key, self.max_buffer_size, self.group_size, self.guaranteed_group_size,
         self.drop_remaining, self.wrapper_class, self._valid_iterator_id, self._number_of_samples_yielded) = state
        self.curr_buffer_size, self.buffer_elements = 0, defaultdict(list)
