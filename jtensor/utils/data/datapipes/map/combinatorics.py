"""A stream of a table's items in an order of chance: `Shuffler`."""
import random

from ...sampler import draw_seed
from ..datapipe import IterDataPipe, MapDataPipe

__all__ = ["ShufflerIterDataPipe"]


class ShufflerIterDataPipe(IterDataPipe):
    """A stream of the items at ``indices`` (all, if not given) in an order of chance, another in each pass. The seed is drawn from
    PyTorch's generator, unless it was given, and the order from Python's.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> list(SequenceWrapper("abc").shuffle().set_seed(0))
    ['a', 'c', 'b']
    """

    def __init__(self, datapipe, *, indices=None):
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._enabled, self._seed, self._rng, self._shuffled_indices = True, None, random.Random(), self.indices

    def set_shuffle(self, shuffle=True):
        """Whether the order is one of chance."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """The seed of the next pass."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self):
        """Another order, where there is to be one."""
        if self._enabled:
            self._rng.seed(draw_seed() if self._seed is None else self._seed)
            self._seed = None
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self):
        return len(self.datapipe)

    def __getstate__(self):
        state = (self.datapipe, self.indices, self._enabled, self._seed, self._rng.getstate(), self._shuffled_indices,
                 self._valid_iterator_id, self._number_of_samples_yielded)
        return state if IterDataPipe.getstate_hook is None else IterDataPipe.getstate_hook(state)

    def __setstate__(self, state):
        (self.datapipe, self.indices, self._enabled, self._seed, order, self._shuffled_indices, self._valid_iterator_id,
         self._number_of_samples_yielded) = state
        self._rng = random.Random()
        self._rng.setstate(order)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
