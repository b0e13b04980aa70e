"""Tables into one: `Concater`, `Zipper`."""
from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]


def _checked(datapipes):
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")
    return datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """Tables one after the other, whose indices are counted on.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper("ab").concat(SequenceWrapper("cd"))[2]
    'c'
    """

    def __init__(self, *datapipes):
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index):
        rest = index
        for pipe in self.datapipes:
            if rest < len(pipe):
                return pipe[rest]
            rest -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the items of several tables.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper("ab").zip(SequenceWrapper([1, 2]))[1]
    ('b', 2)
    """

    def __init__(self, *datapipes):
        self.datapipes = _checked(datapipes)

    def __getitem__(self, index):
        found = []
        for pipe in self.datapipes:
            try:
                found.append(pipe[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from error
        return tuple(found)

    def __len__(self):
        return min(map(len, self.datapipes))
