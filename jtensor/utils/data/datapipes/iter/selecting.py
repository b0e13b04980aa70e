"""Some samples of a stream: `Filter`."""
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples for which a function answers True. ``input_col``: it is given that column of a sample, or several, as so many arguments.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(["a", "1", "b"]).filter(str.isalpha))
    ['a', 'b']
    """

    def __init__(self, datapipe, filter_fn, input_col=None):
        _check_unpickable_fn(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col
        validate_input_col(filter_fn, input_col)

    def _apply_filter_fn(self, data):
        if self.input_col is None:
            return self.filter_fn(data)
        if isinstance(self.input_col, (list, tuple)):
            return self.filter_fn(*(data[column] for column in self.input_col))
        return self.filter_fn(data[self.input_col])

    def __iter__(self):
        for data in self.datapipe:
            taken = self._apply_filter_fn(data)
            if not isinstance(taken, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(taken))
            if taken:
                yield data
