"""Functions of the items of a table: `Mapper`."""
from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe
from ..utils.common import _check_unpickable_fn

__all__ = ["MapperMapDataPipe", "default_fn"]


def default_fn(data):
    """The item as it is."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """A function of each item.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> list(SequenceWrapper("ab").map(ord))
    [97, 98]
    """

    def __init__(self, datapipe, fn=default_fn):
        self.datapipe = datapipe
        _check_unpickable_fn(fn)
        self.fn = fn

    def __len__(self):
        return len(self.datapipe)

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])
