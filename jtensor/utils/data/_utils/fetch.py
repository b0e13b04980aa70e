"""Fetching the samples of one batch from a dataset and putting them together."""
import weakref

import jtensor

from ....trace import executor
from ....trace.tape import TRIE
from ..dataset import Subset, TensorDataset
from .collate import default_collate


def is_table(dataset):
    """Whether a dataset holds nothing but rows of tensors, so that to fetch some runs no code of the user's."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return type(dataset) is TensorDataset


def _rows(dataset, indices):
    """(TensorDataset, indices in it) of a dataset that holds nothing but rows of tensors; None of any other."""
    if not is_table(dataset):
        return None
    while type(dataset) is Subset:
        indices = [dataset.indices[i] for i in indices]
        dataset = dataset.dataset
    n = len(dataset)
    if not all(type(i) is int and -n <= i < n for i in indices):
        return None
    if any(type(t) is not jtensor.Tensor or t.requires_grad for t in dataset.tensors):
        return None
    return dataset, [i % n for i in indices]


def _picked(table, rows):
    # `index_select` makes rows that lie in order of whatever they come from; `[]` looks at the rows alone where NumPy has the memory, too.
    return table[rows] if table.is_contiguous() else table.index_select(0, rows)


_FEW = 4                        # batches in a row that were new
_known = {}                     # {id of a dataset: [a reference to it, how many batches in a row were new]}


def _samples(dataset, index):
    """The samples of a dataset. Where what is done to them is decided by chance (some are flipped), each batch would be another tape, new
    each time; so after a few such batches each sample is a tape of its own, of which there are few."""
    about = _about(dataset)
    if about is None or about[1] < _FEW:
        misses = TRIE.misses
        samples = [dataset[i] for i in index]
        if about is not None:
            about[1] = about[1] + 1 if TRIE.misses > misses else 0
        return samples
    samples = []
    for i in index:
        samples.append(dataset[i])
        executor.flush("samples")
    return samples


def _about(dataset):
    """What is known of a dataset, for as long as it lives; None of what has no references, such as a list."""
    key = id(dataset)                                       # not the dataset, which may be a tensor: those are not equal to themselves
    found = _known.get(key)
    if found is None or found[0]() is not dataset:
        try:
            found = _known[key] = [weakref.ref(dataset, lambda _: _known.pop(key, None)), 0]
        except TypeError:
            return None
    return found


class MapDatasetFetcher:
    """Samples by index. ``auto_collation``: an index is a list of them, and the samples become a batch."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn

    def fetch(self, index):
        """The data of one index, or of one list of them."""
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[index])
        if self.collate_fn is default_collate and index and (found := _rows(dataset, index)) is not None:
            # Rows of tensors, stacked: one gather for each tensor gives the same without an operation for each row.
            table, rows = found
            chosen = jtensor.tensor(rows, dtype=jtensor.int64)
            return [_picked(t, chosen.to(t.device)) for t in table.tensors]
        several = getattr(dataset, "__getitems__", None)
        return self.collate_fn(several(index) if several else _samples(dataset, index))


class IterableDatasetFetcher:
    """Samples as a stream yields them; StopIteration where it ends."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.auto_collation, self.collate_fn, self.drop_last = auto_collation, collate_fn, drop_last
        self.stream, self.ended = iter(dataset), False

    def fetch(self, index):
        """The next sample, or as many as the list ``index`` is long."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.stream))
        samples = []
        for _ in index:
            try:
                samples.append(next(self.stream))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return self.collate_fn(samples)


FETCHERS = MapDatasetFetcher, IterableDatasetFetcher        # by the kind of dataset
