"""`torch.distributed.elastic.multiprocessing`: re-exports what `api.py` and `errors/` beside it have. May not know: tensors."""
from . import errors as errors
from .api import DefaultLogsSpecs, SignalException, Std, to_map
from .errors import ProcessFailure, record

__all__ = ["DefaultLogsSpecs", "ProcessFailure", "SignalException", "Std", "record", "to_map"]
