"""Datasets, samplers and the DataLoader; pipes (`datapipes`), when they are first asked for."""
import importlib

from . import _utils as _utils
from . import dataloader as dataloader
from . import dataset as dataset
from . import distributed as distributed
from . import sampler as sampler
from .dataloader import DataLoader, _DatasetKind, default_collate, default_convert, get_worker_info
from .dataset import ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split
from .distributed import DistributedSampler
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler

_ROOMS = ("datapipes", "graph", "graph_settings")
_PIPES = dict.fromkeys(("DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"), "datapipes.datapipe")
_PIPES |= dict.fromkeys(("argument_validation", "functional_datapipe", "guaranteed_datapipes_determinism", "non_deterministic",
                         "runtime_validation", "runtime_validation_disabled"), "datapipes._decorator")

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DFIterDataPipe", "DataChunk", "DataLoader", "Dataset", "DistributedSampler",
           "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
           "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "_DatasetKind", "argument_validation", "default_collate",
           "default_convert", "functional_datapipe", "get_worker_info", "guaranteed_datapipes_determinism", "non_deterministic",
           "random_split", "runtime_validation", "runtime_validation_disabled"]


def __getattr__(name):
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _PIPES:
        importlib.import_module(f"{__name__}.datapipes")        # all of them: a pipe has the methods of every other
        found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_PIPES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_ROOMS, *_PIPES})
