"""Streams into one and one into several: `Concater`, `Zipper`, `Multiplexer`; `Forker` and `Demultiplexer`, which make lists of children.

Owns: how children share the one stream they come from (`_Shared`): whoever is ahead fills a buffer for the others. All of them belong to
the same pass over it; a child that begins again begins another pass for all.
"""
import copy
import itertools
import warnings
from collections import deque

from .._decorator import functional_datapipe
from .._hook_iterator import _SnapshotState
from ..datapipe import IterDataPipe
from ..utils.common import StreamWrapper, _check_unpickable_fn
from .utils import length_of

__all__ = ["ConcaterIterDataPipe", "DemultiplexerIterDataPipe", "ForkerIterDataPipe", "MultiplexerIterDataPipe", "ZipperIterDataPipe"]


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """Streams one after the other.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper("ab").concat(IterableWrapper("c")))
    ['a', 'b', 'c']
    """

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(length_of(self, *self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Tuples of a sample of each stream, until one ends.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper("ab").zip(IterableWrapper([1, 2, 3])))
    [('a', 1), ('b', 2)]
    """

    def __init__(self, *datapipes):
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes)

    def __len__(self):
        return min(length_of(self, *self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe):
    """A sample of each stream in turn, until one ends.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper("ab").mux(IterableWrapper([1, 2, 3])))
    ['a', 1, 'b', 2]
    """

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        yield from itertools.chain.from_iterable(zip(*self.datapipes))

    def __len__(self):
        return min(length_of(self, *self.datapipes)) * len(self.datapipes)


# -- one into several -------------------------------------------------------------------------------------------------

class _Shared(IterDataPipe):
    """The stream that several children come from. ``_child_stop``: which of them have ended in this pass, all of them before it begins.

    A kind of them has ``_state``, the names of attributes that are kept in a pickle; ``_empty``, which empties its buffers; ``_begin``,
    which does that and forgets where the children stand; ``_turn``, a generator of what a child is given, which takes samples by
    ``next(self._datapipe_iterator)``; and ``is_every_instance_exhausted``.
    """

    _state = ()

    def __init__(self, datapipe, num_instances):
        self.main_datapipe, self._datapipe_iterator, self.num_instances = datapipe, None, num_instances

    def _stand_at_the_beginning(self):
        self._datapipe_iterator, self._child_stop = None, [True] * self.num_instances
        self._begin()

    def get_next_element_by_instance(self, instance_id):
        """What a child is given, until its pass is over."""
        if self._datapipe_iterator is None and self._child_stop[instance_id]:
            self._datapipe_iterator, self._snapshot_state = iter(self.main_datapipe), _SnapshotState.Iterating
            self._child_stop = [False] * self.num_instances
        try:
            yield from self._turn(instance_id)
        finally:
            self._child_stop[instance_id] = True
            if all(self._child_stop):
                self._datapipe_iterator = None
                self._empty()

    def reset(self):
        """Begins another pass for all children."""
        self._stand_at_the_beginning()

    def __getstate__(self):
        state = (self.main_datapipe, self.num_instances, *(getattr(self, name) for name in self._state), self._valid_iterator_id,
                 self._number_of_samples_yielded)
        return state if IterDataPipe.getstate_hook is None else IterDataPipe.getstate_hook(state)

    def __setstate__(self, state):
        self.main_datapipe, self.num_instances, *values, self._valid_iterator_id, self._number_of_samples_yielded = state
        self.__dict__.update(zip(self._state, values))
        self._stand_at_the_beginning()


class _ChildDataPipe(IterDataPipe):
    """One of several streams that share one."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe, instance_id):
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self):
        # It is not a generator, so that a pass begins as soon as it is asked for.
        return self.main_datapipe.get_next_element_by_instance(self.instance_id)

    def __len__(self):
        return self.main_datapipe.get_length_by_instance(self.instance_id)

    def _set_main_datapipe_valid_iterator_id(self):
        """The number of the pass that a new iterator belongs to: the one under way, unless this child has been part of it."""
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif self._valid_iterator_id == main._valid_iterator_id:
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warnings.warn("Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and each child "
                              "DataPipe will read from the start again.", UserWarning, stacklevel=2)
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        return self._valid_iterator_id

    def _check_valid_iterator_id(self, iterator_id):
        return iterator_id == self._valid_iterator_id == self.main_datapipe._valid_iterator_id


def _children(kind, name, datapipe, num_instances, buffer_size, *args):
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
    if buffer_size < 0:
        warnings.warn(f"Unlimited buffer size is set for `{name}`, please be aware of OOM at random places", UserWarning, stacklevel=2)
    shared = kind(datapipe, num_instances, buffer_size, *args)
    return [_ChildDataPipe(shared, i) for i in range(num_instances)]


def _as_it_is(sample):
    return sample


_COPIES = {None: _as_it_is, "shallow": copy.copy, "deep": copy.deepcopy}


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """A list of ``num_instances`` streams with the same samples. One may be ``buffer_size`` samples ahead of another (-1: any number), else
    BufferError. ``copy``: None, "shallow" or "deep", what each of them is given of a sample.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> one, other = IterableWrapper(range(3)).fork(2)
    >>> list(one.zip(other.map(str)))
    [(0, '0'), (1, '1'), (2, '2')]
    """

    def __new__(cls, datapipe, num_instances, buffer_size=1000, copy=None):
        if num_instances == 1:
            return datapipe
        return _children(_ForkerIterDataPipe, "fork", datapipe, num_instances, buffer_size, copy)


class _ForkerIterDataPipe(_Shared):
    """``child_pointers``: how often each child has asked. ``buffer``: the samples that some child has had and some has not; the first is
    the ``slowest_ptr``-th of the stream. ``end_ptr``: which ask found that there are no more."""

    _state = "buffer_size", "copy_fn"

    def __init__(self, datapipe, num_instances, buffer_size=1000, copy=None):
        if copy not in _COPIES:
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        super().__init__(datapipe, num_instances)
        self.buffer_size, self.copy_fn = buffer_size, _COPIES[copy]
        self._stand_at_the_beginning()

    def _begin(self):
        self.child_pointers, self.slowest_ptr, self.end_ptr = [0] * self.num_instances, 0, None
        self._empty()

    def _empty(self):
        self.buffer = deque()

    def is_every_instance_exhausted(self):
        """Whether all children have come to the end."""
        return all(asked == self.end_ptr for asked in self.child_pointers)

    def __len__(self):
        return len(self.main_datapipe)

    def get_length_by_instance(self, instance_id):
        """As many as the stream has."""
        return len(self.main_datapipe)

    def _turn(self, i):
        while not self._child_stop[i]:
            at = self.child_pointers[i] - self.slowest_ptr
            self.child_pointers[i] += 1
            if at == len(self.buffer):
                try:
                    self.buffer.append(next(self._datapipe_iterator))
                except StopIteration:
                    self.end_ptr = self.child_pointers[i]
                    return
                if 0 <= self.buffer_size <= at:
                    raise BufferError(f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient.")
            sample = self.buffer[at]
            slowest = min(self.child_pointers)
            if slowest > self.slowest_ptr:
                self.buffer.popleft()
                self.slowest_ptr = slowest
            yield self.copy_fn(sample)


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """A list of ``num_instances`` streams, to one of which each sample goes: that whose number ``classifier_fn`` answers. ``drop_none``:
    the samples for which that is None are left out. ``buffer_size`` samples may wait (-1: any number), else BufferError.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> [list(pipe) for pipe in IterableWrapper(["a", "1", "b"]).demux(2, str.isalpha)]
    [['1'], ['a', 'b']]
    """

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        _check_unpickable_fn(classifier_fn)
        return _children(_DemultiplexerIterDataPipe, "demux", datapipe, num_instances, buffer_size, classifier_fn, drop_none)


class _DemultiplexerIterDataPipe(_Shared):
    _state = "buffer_size", "classifier_fn", "drop_none"

    def __init__(self, datapipe, num_instances, buffer_size, classifier_fn, drop_none):
        super().__init__(datapipe, num_instances)
        self.buffer_size, self.classifier_fn, self.drop_none = buffer_size, classifier_fn, drop_none
        self._stand_at_the_beginning()

    def _begin(self):
        self.main_datapipe_exhausted = False
        self._empty()

    def _empty(self):
        self.current_buffer_usage, self.child_buffers = 0, [deque() for _ in range(self.num_instances)]

    def is_every_instance_exhausted(self):
        """Whether the stream has come to its end, and no sample waits."""
        return self.main_datapipe_exhausted and not any(self.child_buffers)

    def get_length_by_instance(self, instance_id):
        """Nobody knows how many there are."""
        raise TypeError

    def _find_next(self, i):
        """The next sample for a child; those of the others wait."""
        while True:
            sample = next(self._datapipe_iterator)
            where = self.classifier_fn(sample)
            if where is None and self.drop_none:
                StreamWrapper.close_streams(sample)
                continue
            if where is None or where >= self.num_instances or where < 0:
                raise ValueError(f"Output of the classification fn should be between 0 and {self.num_instances - 1}. {where} is returned.")
            if where == i:
                return sample
            self.child_buffers[where].append(sample)
            self.current_buffer_usage += 1
            if 0 <= self.buffer_size < self.current_buffer_usage:
                raise BufferError(f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient.")

    def _turn(self, i):
        while not self._child_stop[i]:
            if self.child_buffers[i]:
                self.current_buffer_usage -= 1
                yield self.child_buffers[i].popleft()
                continue
            try:
                sample = self._find_next(i)
            except StopIteration:
                self.main_datapipe_exhausted = True
                return
            yield sample
