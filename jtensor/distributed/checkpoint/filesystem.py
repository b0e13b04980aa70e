"""Checkpoints in folders: a file of each process, in which one pickle of a tensor or object comes after the other, and a table of contents.

Owns: the files and what the table says of them. May not know: who writes what.
"""
import abc
import contextlib
import dataclasses
import enum
import io
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

import jtensor

from ...base import sites
from ...base.errors import missing
from ...futures import Future
from ...serialization import whole
from .metadata import StorageMeta
from .planner import LoadItemType, WriteItemType
from .planner_helpers import narrowed
from .storage import StorageReader, StorageWriter, WriteResult

__all__ = ["FileSystem", "FileSystemBase", "FileSystemReader", "FileSystemWriter", "SerializationFormat"]

CURRENT_DCP_VERSION, DEFAULT_SUFFIX, _METADATA = "1.0.0", ".distcp", ".metadata"


@dataclasses.dataclass
class _StorageInfo:
    """Which bytes of which file something is."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if value is not None}


@dataclasses.dataclass
class _StoragePrefix:
    """How the names of a process's files begin."""

    prefix: str


class SerializationFormat(enum.Enum):
    """As what tensors are written."""

    TORCH_SAVE = "torch_save"
    SAFETENSORS = "safetensors"


class FileSystemBase(abc.ABC):
    """What a file system can do. To be subclassed."""

    @abc.abstractmethod
    def create_stream(self, path, mode):
        """An open file, for a ``with`` statement."""

    @abc.abstractmethod
    def concat_path(self, path, suffix):
        """A path in a folder."""

    @abc.abstractmethod
    def rename(self, path, new_path):
        """Renames a file."""

    @abc.abstractmethod
    def init_path(self, path):
        """A path of its own kind."""

    @abc.abstractmethod
    def mkdir(self, path):
        """Makes a folder, if there is none."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether this can be a folder's path."""

    @abc.abstractmethod
    def exists(self, path):
        """Whether there is such a file."""

    @abc.abstractmethod
    def rm_file(self, path):
        """Removes a file."""


class FileSystem(FileSystemBase):
    """The machine's."""

    @contextlib.contextmanager
    def create_stream(self, path, mode):
        """An open file, for a ``with`` statement."""
        with Path(path).open(mode) as stream:
            yield stream

    def concat_path(self, path, suffix):
        """A path in a folder."""
        return Path(path) / suffix

    def init_path(self, path):
        """A `Path`."""
        return path if isinstance(path, Path) else Path(path)

    def rename(self, path, new_path):
        """Renames a file."""
        Path(path).rename(new_path)

    def mkdir(self, path):
        """Makes a folder, if there is none."""
        Path(path).mkdir(parents=True, exist_ok=True)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether this can be a folder's path: something above it is there and may be written."""
        if isinstance(checkpoint_id, Path):
            return True
        above = () if "://" in str(checkpoint_id) else Path(checkpoint_id).parents
        return any(one.exists() and os.access(str(one), os.W_OK) for one in above)

    def exists(self, path):
        """Whether there is such a file."""
        return Path(path).exists()

    def rm_file(self, path):
        """Removes a file."""
        Path(path).unlink()

    def ls(self, path):
        """What is in a folder."""
        return [str(one) for one in Path(path).iterdir()]


def _of_table(files, folder, rank=None):
    return files.concat_path(folder, _METADATA if rank is None else f"__{rank}{_METADATA}")


class _InFolder:
    """What writer and reader have in common."""

    def _in(self, path):
        self.fs = FileSystem()
        self.path, self.rank, self.use_collectives = self.fs.init_path(path), None, True

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Whether this can be a folder's path."""
        return FileSystem.validate_checkpoint_id(checkpoint_id)

    def _get_metadata_path(self, rank=None):
        return _of_table(self.fs, self.path, rank)


class FileSystemWriter(_InFolder, StorageWriter):
    """Writes a checkpoint into the folder ``path``.

    ``single_file_per_rank``: a file of each process, with ``thread_count`` above one as many, otherwise one of each item. ``sync_files``:
    it is on the disk when this comes back. ``overwrite``: what is there is written over with a warning, otherwise RuntimeError. Tensors are
    written one after the other, whatever ``per_thread_copy_ahead`` says.
    """

    def __init__(self, path, single_file_per_rank=True, sync_files=True, thread_count=1, per_thread_copy_ahead=10_000_000,
                 cache_staged_state_dict=False, overwrite=True, _extensions=None, serialization_format=SerializationFormat.TORCH_SAVE):
        if serialization_format is not SerializationFormat.TORCH_SAVE or _extensions:
            raise missing("checkpoints in other formats, or compressed", "SerializationFormat.TORCH_SAVE")
        self._in(path)
        self.single_file_per_rank, self.sync_files, self.thread_count = single_file_per_rank, sync_files, thread_count
        self.per_thread_copy_ahead, self.overwrite, self.serialization_format = per_thread_copy_ahead, overwrite, serialization_format
        self.cache_staged_state_dict, self.save_id = cache_staged_state_dict, str(uuid.uuid4())

    def reset(self, checkpoint_id=None):
        """Begins a new checkpoint, in another folder if one is given."""
        if checkpoint_id:
            self.path = self.fs.init_path(checkpoint_id)
        self.save_id = str(uuid.uuid4())

    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        """Hears which process this is, and whether there is one table of contents or one of each process."""
        self.rank, self.use_collectives = kwargs.get("rank"), kwargs.get("use_collectives", True)

    def prepare_local_plan(self, plan):
        """Makes the folder."""
        self.fs.mkdir(self.path)
        if self.fs.exists(self._get_metadata_path(None if self.use_collectives else 0)):
            if not self.overwrite:
                raise RuntimeError(f"Checkpoint already exists and self.overwrite={self.overwrite!r}.")
            sites.warn(f"Detected an existing checkpoint in {self.path}, overwriting since self.overwrite={self.overwrite!r}. Past version "
                       "2.5 of PyTorch, `overwrite` will default to False. Set this variable to True to maintain this functionality or "
                       "False to raise when an existing checkpoint is found.")
        if self.rank is not None and not self.use_collectives:
            plan = dataclasses.replace(plan, storage_data=_StoragePrefix(f"__{self.rank}_"))
        return plan

    def prepare_global_plan(self, plans):
        """Gives each process names for its files."""
        return [dataclasses.replace(plan, storage_data=_StoragePrefix(f"__{at}_")) if plan.storage_data is None else plan
                for at, plan in enumerate(plans)]

    def write_data(self, plan, planner):
        """Writes this process's files; answers a done future of a list of `WriteResult`."""
        parts = _split(self.thread_count, plan.items) if self.single_file_per_rank else [[item] for item in plan.items]
        results = []
        for number, items in enumerate(parts):
            results += self._write(f"{plan.storage_data.prefix}{number}{DEFAULT_SUFFIX}", items, planner)
        done = Future()
        done.set_result(results)
        return done

    def _write(self, name, items, planner):
        """One file, in which what is no tensor comes first."""
        results = []
        with self._whole(self.fs.concat_path(self.path, name)) as stream:
            for item in sorted(items, key=lambda item: item.type is not WriteItemType.BYTE_IO):
                start, data = stream.tell(), planner.resolve_data(item)
                if item.type is WriteItemType.BYTE_IO:
                    if not isinstance(data, io.BytesIO):
                        raise AssertionError("Data must be io.BytesIO for BYTE_IO write items")
                    stream.write(data.getbuffer())
                else:
                    jtensor.save(_alone(data), stream)
                length = stream.tell() - start
                results.append(WriteResult(item.index, length, _StorageInfo(name, start, length)))
        return results

    @contextlib.contextmanager
    def _whole(self, path):
        """A file that is open under another name, and has its own when all is written; nothing is left of what fails."""
        unfinished = self.fs.concat_path(self.path, f"{path.name}.tmp")
        try:
            with self.fs.create_stream(unfinished, "wb") as stream:
                yield stream
                self._sync(stream)
        except BaseException:
            if self.fs.exists(unfinished):
                self.fs.rm_file(unfinished)
            raise
        if self.fs.exists(path):
            self.fs.rm_file(path)
        self.fs.rename(unfinished, path)

    def _sync(self, stream):
        if self.sync_files:
            stream.flush()
            try:
                os.fsync(stream.fileno())
            except (AttributeError, io.UnsupportedOperation):
                os.sync()

    def finish(self, metadata, results):
        """Writes the table of contents."""
        metadata.version = CURRENT_DCP_VERSION
        metadata.storage_data = {one.index: one.storage_data for written in results for one in written}
        metadata.storage_meta = self.storage_meta()
        path = self._get_metadata_path(None if self.use_collectives else self.rank)
        with self._whole(path) as stream:
            whole.dump(metadata, stream)

    def storage_meta(self):
        """Where the checkpoint is, and this saving's mark."""
        return StorageMeta(checkpoint_id=self.checkpoint_id, save_id=self.save_id)


def _alone(tensor):
    """A tensor on the CPU whose memory has nothing else in it."""
    if not isinstance(tensor, jtensor.Tensor):
        raise AssertionError("Data must be torch.Tensor for non-BYTE_IO write items")
    tensor = tensor.detach().cpu()
    return tensor if tensor.untyped_storage().nbytes() == tensor.nbytes else tensor.clone()


def _split(count, items):
    """The items in as many lists, in each about as many bytes."""
    if count == 1:
        return [items]
    objects = [item for item in items if item.type is WriteItemType.BYTE_IO]
    tensors = [item for item in items if item.type is not WriteItemType.BYTE_IO]
    parts, sizes = [objects[at::count] for at in range(count)], [0] * count
    for item in sorted(tensors, key=lambda item: item.tensor_storage_size(), reverse=True):
        least = sizes.index(min(sizes))
        parts[least].append(item)
        sizes[least] += item.tensor_storage_size()
    return parts


class FileSystemReader(_InFolder, StorageReader):
    """Reads a checkpoint from the folder ``path``. The table of contents may import what it names: for checkpoints that you trust."""

    def __init__(self, path, _extension_registry=None):
        if _extension_registry:
            raise missing("checkpoints in other formats, or compressed", "those that FileSystemWriter writes")
        self._in(path)
        self.storage_data, self.load_id = {}, str(uuid.uuid4())

    def reset(self, checkpoint_id=None):
        """Begins with a checkpoint, in another folder if one is given."""
        self.storage_data = {}
        if checkpoint_id:
            self.path = self.fs.init_path(checkpoint_id)
        self.load_id = str(uuid.uuid4())

    def read_metadata(self, *args, **kwargs):
        """The table of contents; with ``rank`` that of a process."""
        with self.fs.create_stream(self._get_metadata_path(kwargs.get("rank")), "rb") as stream:
            metadata = whole.load(stream)
        if getattr(metadata, "storage_meta", None) is None:
            metadata.storage_meta = StorageMeta()
        metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        """Hears what there is, and which process this is."""
        self.storage_data = metadata.storage_data
        self.rank, self.use_collectives = kwargs.get("rank"), kwargs.get("use_collectives", True)
        if self.storage_data is None:
            raise AssertionError("storage_data must not be None in metadata")

    def prepare_local_plan(self, plan):
        """The plan as it is."""
        return plan

    def prepare_global_plan(self, plans):
        """The plans as they are."""
        return plans

    def read_data(self, plan, planner):
        """Reads what the plan says, file by file; answers a done future of None."""
        by_file = {}
        for item in plan.items:
            by_file.setdefault(self.storage_data[item.storage_index].relative_path, []).append(item)
        for name, items in by_file.items():
            with self.fs.create_stream(self.fs.concat_path(self.path, name), "rb") as stream:
                for item in items:
                    self._take(item, planner, self._part(stream, self.storage_data[item.storage_index]))
        done = Future()
        done.set_result(None)
        return done

    @staticmethod
    def _part(stream, info):
        if info.transform_descriptors:
            raise missing("checkpoints that are compressed", "those that FileSystemWriter writes")
        stream.seek(info.offset)
        return io.BytesIO(stream.read(info.length))

    @staticmethod
    def _take(item, planner, data):
        if item.type is LoadItemType.BYTE_IO:
            planner.load_bytes(item, data)
            return
        tensor = narrowed(jtensor.load(data, map_location="cpu", weights_only=True), item.storage_offsets, item.lengths)
        place = planner.resolve_tensor(item).detach()
        if place.size() != tensor.size():
            raise AssertionError(f"req {item.storage_index} mismatch sizes {place.size()} vs {tensor.size()}")
        place.copy_(tensor)
        planner.commit_tensor(item, place)


def _storage_setup(storage, checkpoint_id, reader=False):
    """The writer or reader that was given, or that of a folder."""
    if storage:
        if checkpoint_id is not None:
            storage.reset(checkpoint_id)
        return storage
    if not checkpoint_id:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    kind = FileSystemReader if reader else FileSystemWriter
    if not kind.validate_checkpoint_id(checkpoint_id):
        raise RuntimeError("Cannot detect which StorageReader or StorageWriter to use. Please specify the storage_reader/storage_writer.")
    return kind(checkpoint_id)
