"""DataLoader: batches of a dataset in the order of a sampler."""
import itertools
import math
import multiprocessing
import os
import sys
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import jtensor

from ._utils.collate import default_collate, default_convert
from ._utils.fetch import FETCHERS, is_table
from ._utils.pipes import Place, held, is_stream, set_shuffle
from ._utils.process import WorkerProcess
from ._utils.worker import Worker, get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "get_worker_info", "default_collate", "default_convert"]

_T_co = TypeVar("_T_co", covariant=True)
_T = TypeVar("_T")
_worker_init_fn_t, _collate_fn_t = Callable[[int], None], Callable[[list[_T]], Any]   # libraries annotate loaders of their own with these
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _DatasetKind:
    Map, Iterable = 0, 1


class _InfiniteConstantSampler(Sampler):
    """What a stream is sampled by: it decides itself what comes next."""

    def __iter__(self):
        return itertools.repeat(None)


def _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                         "multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle, sampler, batch_sampler):
    for name, value, usual in (("shuffle", shuffle, (False, None)), ("sampler", sampler, (None,)),
                               ("batch_sampler", batch_sampler, (None,))):
        if not any(value is u for u in usual):
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")


def _check_batching(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


class DataLoader(Generic[_T_co]):
    """Iterates over a dataset in batches.

    ``batch_size`` None: single samples. ``shuffle``: a new random order each pass. ``collate_fn``: how samples become a batch.
    ``num_workers``: how many processes fetch the samples, in turn, ``prefetch_factor`` batches ahead each; each has random numbers of its
    own. What is fetched of a `TensorDataset` without code of the user's is gathered in this process all the same, which is quicker.

    >>> import jtensor as torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(5))
    >>> [batch[0].tolist() for batch in torch.utils.data.DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    _iterator = None
    __initialized = False

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):
        _check_numbers(num_workers, timeout, prefetch_factor, persistent_workers)
        dataset = held(dataset)
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.worker_init_fn, self.in_order = worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            if is_stream(dataset):
                set_shuffle(dataset, shuffle)
                shuffle = None                                          # which is the stream's own now
            _check_stream(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
            shuffle = bool(shuffle)
        _check_batching(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called = None
        self.__initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self):
        """How worker processes are started: a context of `multiprocessing`, or None for its default."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if self.num_workers == 0:
                raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                                 f"num_workers={self.num_workers}")
            if isinstance(context, str):
                valid = multiprocessing.get_all_start_methods()
                if context not in valid:
                    raise ValueError(f"multiprocessing_context option should specify a valid start method in {valid!r}, but got "
                                     f"multiprocessing_context={context!r}")
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the start "
                                f"method, but got multiprocessing_context={context}")
        self.__multiprocessing_context = context

    def __setattr__(self, name, value):
        if self.__initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _SingleProcessDataLoaderIter(self) if self.num_workers == 0 else _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self):
        """Warns where there are more workers than processors to be had."""
        known = hasattr(os, "sched_getaffinity")
        most = len(os.sched_getaffinity(0)) if known else os.cpu_count()
        if self.num_workers and (most is None or self.num_workers > most):
            beside = "" if known else " (`cpuset` is not taken into account)"
            found = ("DataLoader is not able to compute a suggested max number of worker in current system." if most is None else
                     f"Our suggested max number of worker in current system is {most}{beside}, which is smaller than what this DataLoader "
                     "is going to create.")
            warnings.warn(f"This DataLoader will create {self.num_workers} worker processes in total. {found} Please be aware that "
                          "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to avoid "
                          "potential slowness/freeze if necessary.", stacklevel=2)


class _BaseDataLoaderIter:
    """One pass. The seed of workers is drawn when the pass begins, whether there are any or not."""

    def __init__(self, loader):
        self._loader = loader
        self._place = Place(loader) if is_stream(loader.dataset) else None
        if loader.pin_memory and loader.pin_memory_device:
            warnings.warn("pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
                          f"pin_memory_device='{loader.pin_memory_device}'.", stacklevel=4)
        if loader.pin_memory and not jtensor.cuda.is_available():
            warnings.warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
                          stacklevel=4)
        self._sampler_iter = iter(loader._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._begin(loader)

    def _begin(self, loader):
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _reset(self, loader):
        self._sampler_iter = iter(loader._index_sampler)
        if self._place is not None:
            self._place.begin(loader)
        self._begin(loader)

    def _make_fetcher(self, dataset):
        loader = self._loader
        return FETCHERS[loader._dataset_kind](dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _next_data(self):
        raise NotImplementedError

    def __iter__(self):
        return self

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        said = self._IterableDataset_len_called
        if self._loader._dataset_kind == _DatasetKind.Iterable and said is not None and self._num_yielded > said:
            self._warn_of_length(said)
        return data

    def _warn_of_length(self, said):
        text = (f"Length of IterableDataset {self._loader.dataset} was reported to be {said}(when accessing len(dataloader)), but "
                f"{self._num_yielded} samples have been fetched. ")
        if self._loader.num_workers > 0:
            text += ("For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica at "
                     "each worker. Please see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.")
        warnings.warn(text, stacklevel=3)

    def __len__(self):
        return len(self._loader._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if self._place is not None:
            self._place.share(loader.dataset)
        self._fetcher = self._make_fetcher(loader.dataset)

    def _next_data(self):
        return self._fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Deals indices out to workers in turn, ``prefetch_factor`` ahead for each; batches come in the order of the indices."""

    _workers = ()

    def __init__(self, loader):
        super().__init__(loader)
        options = loader._auto_collation, loader.collate_fn, loader.drop_last
        if loader.collate_fn is default_collate and loader.worker_init_fn is None and is_table(loader.dataset):
            self._workers = [Worker(i, loader, self._base_seed, self._make_fetcher) for i in range(loader.num_workers)]
        else:
            context, self._workers = loader.multiprocessing_context or multiprocessing.get_context(), []
            for i in range(loader.num_workers):
                self._workers.append(WorkerProcess(i, context, loader, loader._dataset_kind, options, self._base_seed, self._place))
            if self._place is not None:
                self._place.begin(loader)                   # a seed that nobody takes: PyTorch draws it, too
        self._deal_ahead()

    def _reset(self, loader):
        super()._reset(loader)
        for worker in self._workers:
            worker.restart(self._place)
        self._deal_ahead()

    def _deal_ahead(self):
        self._turns, self._tasks = itertools.cycle(self._workers), deque()
        for _ in range(self._loader.prefetch_factor * len(self._workers)):
            self._deal()

    def _deal(self):
        """Gives the next index to the next worker whose stream has not ended."""
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        for worker in itertools.islice(self._turns, len(self._workers)):
            if worker.alive:
                worker.ask(index)
                self._tasks.append(worker)
                return

    def _next_data(self):
        while self._tasks:
            worker = self._tasks.popleft()
            if not worker.alive:
                continue
            try:
                data = worker.answer()
            except StopIteration:
                worker.alive = False
                self._deal()
                continue
            except BaseException:
                self._deal()
                raise
            self._deal()
            return data
        if not self._loader.persistent_workers:
            self._end()
        raise StopIteration

    def _end(self):
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.end()

    def __del__(self):
        if not sys.is_finalizing():                         # then `multiprocessing` has ended them
            self._end()
