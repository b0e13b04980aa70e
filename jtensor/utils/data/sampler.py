"""Samplers: in which order a dataset's indices come. The numbers drawn are those that PyTorch draws."""
import itertools
from typing import Generic, TypeVar

import jtensor

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler"]

_T_co = TypeVar("_T_co", covariant=True)


def draw_seed(generator=None):
    """A 64-bit seed, by one draw of the generator, or of the default one."""
    return int(jtensor.empty((), dtype=jtensor.int64).random_(generator=generator).item())


def _is_positive_int(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class Sampler(Generic[_T_co]):
    """Base of samplers: write ``__iter__`` over indices (or lists of them), and ``__len__`` if known."""

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """The indices in their order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """The indices in random order, or ``num_samples`` of them drawn with replacement.

    Without a generator, each pass seeds one of its own from the default generator, when its first index is asked for.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self):
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, generator = len(self.data_source), self.generator
        if generator is None:
            seed = draw_seed()
            generator = jtensor.Generator()
            generator.manual_seed(seed)
        if self.replacement:
            rounds, rest = divmod(self.num_samples, 32)           # of which there can be more than anybody will ask for
            for _ in range(rounds):
                yield from jtensor.randint(high=n, size=(32,), dtype=jtensor.int64, generator=generator).tolist()
            yield from jtensor.randint(high=n, size=(rest,), dtype=jtensor.int64, generator=generator).tolist()
            return
        rounds, rest = divmod(self.num_samples, n)
        for _ in range(rounds):
            yield from jtensor.randperm(n, generator=generator).tolist()
        yield from jtensor.randperm(n, generator=generator).tolist()[:rest]  # drawn even where nothing of it is used

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in jtensor.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """``num_samples`` indices, drawn with probabilities in proportion to ``weights``."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not _is_positive_int(num_samples):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = jtensor.as_tensor(weights, dtype=jtensor.double)
        if len(self.weights.shape) != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        yield from jtensor.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices of another sampler; ``drop_last``: a last, shorter one is left out.

    >>> import jtensor as torch
    >>> list(torch.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler, batch_size, drop_last):
        if not _is_positive_int(batch_size):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) + self.batch_size - 1) // self.batch_size
