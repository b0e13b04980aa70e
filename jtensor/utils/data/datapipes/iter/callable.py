"""Functions of the samples of a stream: `Mapper`, and `Collator`, whose function makes batches tensors."""
import functools

from .....base.errors import missing
from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, validate_input_col
from .utils import length_of

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """A function of each sample. ``input_col``: of one column (or several, as so many arguments) of samples that are lists, tuples or
    dictionaries. ``output_col``: the column that gets the result, -1 for a new last one; None for the first of those that went in, while
    the others go.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([(1, 2), (3, 4)]).map(max, input_col=[0, 1], output_col=-1))
    [(1, 2, 2), (3, 4, 4)]
    """

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        _check_unpickable_fn(fn)
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data):
        if self.input_col is None:
            return self.fn(data)
        several = isinstance(self.input_col, (list, tuple))
        columns = self.input_col if several else [self.input_col]
        result = self.fn(*(data[column] for column in columns))
        row = list(data) if isinstance(data, tuple) else data
        if self.output_col is None:
            row[columns[0]] = result
            for column in sorted(columns[1:], reverse=True):
                del row[column]
        elif self.output_col == -1:
            row.append(result)
        else:
            row[self.output_col] = result
        return tuple(row) if isinstance(data, tuple) else row

    def __iter__(self):
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self):
        return length_of(self, self.datapipe)[0]


def _of_frames(conversion, sample):
    raise missing("functions by the column of a data frame", "collate_fn=..., a function of the whole batch")


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """A function that makes tensors of batches: `torch.utils.data.default_collate`, or one of the caller's.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(4)).batch(2).collate())
    [tensor([0, 1]), tensor([2, 3])]
    """

    def __init__(self, datapipe, conversion=default_collate, collate_fn=None):
        if collate_fn is None:
            collate_fn = conversion if callable(conversion) else functools.partial(_of_frames, conversion)
        super().__init__(datapipe, fn=collate_fn)
