"""Items of a table together: `Batcher`."""
from .._decorator import functional_datapipe
from ..datapipe import DataChunk, MapDataPipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Lists (`DataChunk`) of ``batch_size`` items. ``drop_last``: a last, shorter one is left out.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper(range(5)).batch(2)[2]
    [4]
    """

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __getitem__(self, index):
        batch, start = [], index * self.batch_size
        try:
            for at in range(start, start + self.batch_size):
                batch.append(self.datapipe[at])
        except IndexError as error:
            if not batch or self.drop_last:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)

    def __len__(self):
        length = len(self.datapipe)
        return length // self.batch_size if self.drop_last else (length + self.batch_size - 1) // self.batch_size
