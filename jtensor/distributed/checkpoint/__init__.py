"""Checkpoints that several processes write together, in PyTorch's format.

A checkpoint is a folder: ``.metadata`` says which tensors and objects there are and where, ``__0_0.distcp`` and its kind hold them, a file
of each process. What all processes have alike is written by one of them. From the top down:

    state_dict_saver.py, state_dict_loader.py    save and load
    state_dict.py         states of modules and optimizers, by the names of parameters
    default_planner.py    what is written and read by whom; _nested_dict.py, _traverse.py: nests of containers as flat dictionaries
    filesystem.py         folders of files
    utils.py, api.py      processes that take such a step together, and the error if one of them fails
    planner_helpers.py    the items of plans
    storage.py, planner.py, metadata.py, stateful.py    what these rooms hand to each other
    format_utils.py       to and from the files of `torch.save`
    hf_storage.py, quantized_hf_storage.py, optimizer.py, _consolidate_hf_safetensors.py    names of what is not there
"""
from .api import CheckpointException
from .default_planner import DefaultLoadPlanner, DefaultSavePlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from .metadata import BytesStorageMetadata, ChunkStorageMetadata, Metadata, TensorStorageMetadata
from .optimizer import load_sharded_optimizer_state_dict
from .planner import LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner, WriteItem
from .quantized_hf_storage import QuantizedHuggingFaceStorageReader
from .state_dict_loader import load, load_state_dict
from .state_dict_saver import async_save, save, save_state_dict
from .storage import StorageReader, StorageWriter

__all__ = ["BytesStorageMetadata", "CheckpointException", "ChunkStorageMetadata", "DefaultLoadPlanner", "DefaultSavePlanner",
           "FileSystemReader", "FileSystemWriter", "HuggingFaceStorageReader", "HuggingFaceStorageWriter", "LoadPlan",
           "LoadPlanner", "Metadata", "QuantizedHuggingFaceStorageReader", "ReadItem", "SavePlan", "SavePlanner",
           "StorageReader", "StorageWriter", "TensorStorageMetadata", "WriteItem", "async_save", "load",
           "load_sharded_optimizer_state_dict", "load_state_dict", "save", "save_state_dict"]
