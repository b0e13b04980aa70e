"""Where a stream of pipes begins: `IterableWrapper`."""
import copy
import warnings

from ..datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """A stream of what is iterated over. ``deepcopy``: each pass goes over a copy, so that nobody's writes are seen by the next.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper("abc"))
    ['a', 'b', 'c']
    """

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:                                           # such as a generator
                warnings.warn("The input iterable can not be deepcopied, please be aware of in-place modification would affect source "
                              "data.", stacklevel=2)
        yield from source

    def __len__(self):
        if not hasattr(self.iterable, "__len__"):
            raise no_length(self)
        return len(self.iterable)


def no_length(pipe):
    """What a pipe raises that has no length."""
    return TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


def length_of(pipe, *sources):
    """The lengths of what a pipe is made of; TypeError in the pipe's name where one has none."""
    if not all(hasattr(type(source), "__len__") for source in sources):
        raise no_length(pipe)
    return [len(source) for source in sources]
