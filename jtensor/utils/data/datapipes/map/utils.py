"""Where a table of pipes begins: `SequenceWrapper`."""
import copy
import warnings

from ..datapipe import MapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The table of a sequence's items, or of a dictionary's. ``deepcopy``: of a copy, so that nobody's writes are seen.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper({"a": 1})["a"]
    1
    """

    def __init__(self, sequence, deepcopy=True):
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn("The input sequence can not be deepcopied, please be aware of in-place modification would affect source data",
                              stacklevel=2)

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)
