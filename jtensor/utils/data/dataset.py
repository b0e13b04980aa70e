"""Datasets: things with a length and items by index, or streams of samples; and datasets made of datasets."""
import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable
from typing import Generic, TypeVar

import jtensor

__all__ = ["Dataset", "IterableDataset", "TensorDataset", "StackDataset", "ConcatDataset", "ChainDataset", "Subset", "random_split"]

_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """Base of datasets with items by index: write ``__getitem__``, and ``__len__`` for samplers."""

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])

    def __repr__(self):
        """The plain text of an object, under the name that PyTorch's class has."""
        kind = type(self)
        return f"<{kind.__module__.replace('jtensor.', 'torch.', 1)}.{kind.__qualname__} object at {id(self):#x}>"


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Base of datasets that are streams: write ``__iter__``."""

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """The rows of tensors of one length, a tuple for each index.

    >>> import jtensor as torch
    >>> torch.utils.data.TensorDataset(torch.tensor([1., 2.]), torch.tensor([3, 4]))[1]
    (tensor(2.), tensor(4))
    """

    def __init__(self, *tensors):
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


def _items(dataset, indices):
    """The samples of several indices, by the dataset's own ``__getitems__`` where it has one."""
    several = getattr(dataset, "__getitems__", None)
    if not callable(several):
        return [dataset[i] for i in indices]
    found = several(indices)
    if len(found) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}")
    return found


class StackDataset(Dataset):
    """Several datasets of one length side by side: tuples of their items, or dictionaries if given by keyword."""

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                             "types are given.")
        self.datasets = args or kwargs
        given = list(args or kwargs.values())
        if not given:
            raise ValueError("At least one dataset should be passed")
        self._length = len(given[0])
        if any(len(dataset) != self._length for dataset in given):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices):
        if not isinstance(self.datasets, dict):
            return list(zip(*(_items(dataset, indices) for dataset in self.datasets)))
        columns = {key: _items(dataset, indices) for key, dataset in self.datasets.items()}
        return [{key: column[i] for key, column in columns.items()} for i in range(len(indices))]

    def __len__(self):
        return self._length


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other.

    >>> from jtensor.utils.data import ConcatDataset
    >>> len(ConcatDataset([[1, 2], [3]])), ConcatDataset([[1, 2], [3]])[2]
    (3, 3)
    """

    @staticmethod
    def cumsum(sequence):
        """The index at which each dataset ends."""
        return list(itertools.accumulate(map(len, sequence)))

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - self.cumulative_sizes[which - 1] if which else idx]

    @property
    def cummulative_sizes(self):
        """Deprecated spelling."""
        warnings.warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Streams one after the other."""

    def __init__(self, datasets):
        self.datasets = datasets

    def _checked(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self):
        for dataset in self._checked():
            yield from dataset

    def __len__(self):
        return sum(map(len, self._checked()))


class Subset(Dataset[_T_co]):
    """The items of a dataset at given indices.

    >>> from jtensor.utils.data import Subset
    >>> list(Subset([10, 20, 30], [2, 0]))
    [30, 10]
    """

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding __getitem__, you "
                "must also override __getitems__ to ensure DataLoader works correctly with your custom logic. A simple "
                "implementation:\n\ndef __getitems__(self, indices):\n    return [self.__getitem__(idx) for idx in indices]")

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        chosen = [self.indices[i] for i in indices]
        several = getattr(self.dataset, "__getitems__", None)
        return several(chosen) if callable(several) else [self.dataset[i] for i in chosen]

    def __len__(self):
        return len(self.indices)


def _resolved(lengths, total):
    """Fractions as numbers of items: rounded down, what is left over dealt out from the first on."""
    sizes = []
    for i, fraction in enumerate(lengths):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes.append(math.floor(total * fraction))
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return sizes


def random_split(dataset, lengths, generator=None):
    """Subsets of given lengths (or fractions) that share a dataset out at random: one ``randperm`` of the generator.

    >>> import jtensor as torch
    >>> [len(part) for part in torch.utils.data.random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _resolved(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = jtensor.randperm(sum(lengths), generator=generator).tolist()
    return [Subset(dataset, order[end - length:end]) for end, length in zip(itertools.accumulate(lengths), lengths)]
