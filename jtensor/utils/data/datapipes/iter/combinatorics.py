"""Other orders of a stream's samples: `Sampler` and `Shuffler`.

A `Shuffler` draws a seed from PyTorch's generator for each pass, unless it was given one, and its choices from Python's generator.
"""
import random

from ...sampler import SequentialSampler, draw_seed
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from .utils import length_of

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe):
    """What a sampler (`torch.utils.data.Sampler`) makes of a stream: indices. It is given the stream as ``data_source``."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        self.datapipe = datapipe
        self.sampler_args = () if sampler_args is None else sampler_args
        self.sampler_kwargs = {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return length_of(self, self.sampler)[0]


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """The samples in an order of chance: each is the one in a random place of a buffer, which the next sample then takes.
    ``unbatch_level``: batches are taken apart before.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(6)).shuffle().set_seed(0))
    [3, 4, 0, 2, 5, 1]
    """

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self._buffer = []
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size, self._enabled, self._seed, self._rng = buffer_size, True, None, random.Random()

    def set_shuffle(self, shuffle=True):
        """Whether it does anything."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """The seed of the next pass."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        buffer, place = self._buffer, self._rng.randint
        for sample in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
                continue
            at = place(0, len(buffer) - 1)
            chosen, buffer[at] = buffer[at], sample
            yield chosen
        while buffer:
            yield buffer.pop(place(0, len(buffer) - 1))

    def __len__(self):
        return length_of(self, self.datapipe)[0]

    def reset(self):
        """Empties the buffer; seeds the next pass."""
        self._buffer = []
        if self._enabled:
            self._rng.seed(draw_seed() if self._seed is None else self._seed)
            self._seed = None

    def __getstate__(self):
        state = (self.datapipe, self.buffer_size, self._enabled, self._seed, self._buffer, self._rng.getstate(), self._valid_iterator_id,
                 self._number_of_samples_yielded)
        return state if IterDataPipe.getstate_hook is None else IterDataPipe.getstate_hook(state)

    def __setstate__(self, state):
        (self.datapipe, self.buffer_size, self._enabled, self._seed, self._buffer, choices, self._valid_iterator_id,
         self._number_of_samples_yielded) = state
        self._rng = random.Random()
        self._rng.setstate(choices)
