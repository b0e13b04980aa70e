"""Pipes of data frames, which are missing: names, and methods of streams, that say so."""
from .....base.absent import function, kind
from ..datapipe import DFIterDataPipe, IterDataPipe

__all__ = ["CaptureDataFrame", "DFIterDataPipe", "DataFramesAsTuplesPipe"]

_WHAT, _INSTEAD = "pipes of data frames", "pipes of samples, or of frames that a function of `map` makes"

CaptureDataFrame = kind(__name__, "CaptureDataFrame", _WHAT, _INSTEAD)
DataFramesAsTuplesPipe = kind(__name__, "DataFramesAsTuplesPipe", _WHAT, _INSTEAD)

for _name in ("trace_as_dataframe", "_dataframes_as_tuples", "_dataframes_per_row", "_dataframes_concat", "_dataframes_shuffle",
              "_dataframes_filter", "_to_dataframes_pipe"):
    IterDataPipe.register_function(_name, function(__name__, _name, _WHAT, _INSTEAD))
