"""What is in opened files: `StreamReader`."""
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe

__all__ = ["StreamReaderIterDataPipe"]


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Pairs of a path and what is in the file, in pieces of ``chunk`` bytes or as a whole. The files are closed."""

    def __init__(self, datapipe, chunk=None):
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self):
        for name, stream in self.datapipe:
            while piece := stream.read(self.chunk):
                yield name, piece
            stream.close()
