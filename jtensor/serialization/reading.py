"""`torch.load`: files of PyTorch's zip format. Unless told otherwise it makes tensors and plain containers only, whatever the file asks
for."""
import _compat_pickle
import io
import mmap as mmap_flags
import os
import pickle
import pickletools
import warnings
import zipfile

import numpy as np

from ..base import devices, dtypes, sites
from ..base.errors import missing
from ..tensor.creating import from_data
from ..tensor.memory import storages
from ..utils.serialization import config
from . import careful, names, options, pickles, strange
from .rebuilding import Memory, Storage, found_name


def _device_of(place):
    """The device that a file or `map_location` names, where it can be had."""
    try:
        found = devices.device(place)
    except RuntimeError:
        raise RuntimeError(f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {place})") from None
    if found.type == "cuda" and not devices.accelerators():
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running "
                           "on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the "
                           "CPU.")
    return found


def default_restore_location(storage, location):
    """The storage on the device that ``location`` names; what functions for ``map_location`` answer with.

    ``RuntimeError`` where there is no such device.

    >>> torch.serialization.default_restore_location(torch.ones(2).untyped_storage(), "cpu").device
    device(type='cpu')
    """
    where = _device_of(location)
    return storage if storage.device == where else storage._made(storage._tensor().to(where))


class Finding:
    """What unpicklers find: names in our lists, and memory."""

    def __init__(self, file, storage_of, **options):
        super().__init__(file, **options)
        self.storage_of = storage_of

    def find(self, module, name):
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), (_compat_pickle.IMPORT_MAPPING.get(module, module), name))
        found = found_name(module, name)
        if found is not None:
            return found
        return self.find_other(module, name)

    def find_other(self, module, name):
        shown = name if module == "builtins" else f"{module}.{name}"                     # what a program would write
        raise pickle.UnpicklingError(f"{careful.REFUSED}{careful.NOT_ALLOWED.format(shown)}")

    def persistent_load(self, entry):
        if isinstance(entry, tuple) and len(entry) == 6 and entry[5] is None:            # of files from before PyTorch 1.6
            entry = pickles.decoded(entry[:5])
        if not isinstance(entry, tuple) or len(entry) != 5 or entry[0] != "storage" or not isinstance(entry[1], names.StorageName):
            raise pickle.UnpicklingError(f"unknown reference in the file: {entry!r}")
        _, kind, key, place, elements = entry
        return Memory(self.storage_of(key, place, kind.dtype), kind.dtype)


class _OfWeights(Finding, careful.Unpickler):
    pass


class _OfAnything(Finding, pickle.Unpickler):
    """Imports what is in none of our lists."""

    find_class = Finding.find

    def find_other(self, module, name):
        return names.imported(module, name)


def _unpickler(file, storage_of, anything, options):
    return (_OfAnything if anything else _OfWeights)(file, storage_of, **options)


def placer(map_location):
    """A function from a file's device text and the bytes of a storage to a device; for `map_location` of each kind."""
    if map_location is None:
        return lambda place, data: _device_of(place)
    if isinstance(map_location, dict):
        return lambda place, data: _device_of(map_location.get(place, place))
    if isinstance(map_location, (str, devices.device)):
        return lambda place, data: _device_of(map_location)
    if callable(map_location):
        def placed(place, data):
            bytes_ = from_data.from_host(np.frombuffer(data, np.uint8).copy(), dtypes.uint8)
            answer = map_location(storages.UntypedStorage._on(bytes_._storage), place)
            return _device_of(place) if answer is None else answer.device
        return placed
    raise TypeError(f"'{type(map_location).__name__}' object is not callable")


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what `save`, here or in PyTorch, wrote: from a path, or an open binary file that can seek, from where it is.

    ``map_location``: a device, a dictionary of device names, or a function (storage, name) -> storage, for tensors of other devices.
    ``weights_only`` (the default): a file may ask for tensors, plain containers and `add_safe_globals` only, anything else raises
    ``pickle.UnpicklingError``; False lets a file import and call whatever it names: for files that you trust.
    ``weights_only=None`` is True, unless there is a ``pickle_module`` or ``TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1`` in the environment;
    ``TORCH_FORCE_WEIGHTS_ONLY_LOAD=1`` is stronger than both and the argument.
    ``mmap``: the file is read at once all the same. Files from before PyTorch 1.6 are read, too; those from before 0.2 are refused.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save([torch.arange(3), "three"], file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    [tensor([0, 1, 2]), 'three']
    """
    anything = _anything(weights_only, pickle_module)
    if pickle_module is not None and not anything:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if pickle_module not in (None, pickle):
        raise NotImplementedError("jtensor reads with Python's own pickle only")
    if pickle_load_args and not anything:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    mapped = config.load.mmap if mmap is None else mmap
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file, map_location, anything, pickle_load_args, mapped and f)
    for needed in ("seek", "tell", "read"):
        if not hasattr(f, needed):
            raise AttributeError(f"'{type(f).__name__}' object has no attribute '{needed}'. You can only torch.load from a file that is "
                                 "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.")
    return _read(f, map_location, anything, pickle_load_args, mapped)


def _anything(weights_only, pickle_module):
    """Whether a file may name what it likes: what the call says, or what the environment says of it."""
    forced, freed = (os.environ.get(name, "0").lower() in ("1", "y", "yes", "true")
                     for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"))
    if forced and freed:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were "
                           "set.")
    if forced:
        return False
    if weights_only is not None:
        return not weights_only
    if freed:
        warnings.warn("Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not explicitly "
                      "passed to `torch.load`, forcing weights_only=False.", UserWarning, stacklevel=3)
    return freed or pickle_module is not None


def get_unsafe_globals_in_checkpoint(f):
    """The full names in a file, of the zip format, that `load` does not make what they stand for of unless they are added to the safe ones.

    >>> import fractions, io
    >>> file = io.BytesIO()
    >>> torch.save([fractions.Fraction(1, 2)], file)
    >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
    ['fractions.Fraction']
    """
    found = {}
    with zipfile.ZipFile(f) as archive:
        pickled = archive.read(next(path for path in archive.namelist() if path.endswith("/data.pkl")))
    texts = []
    for code, argument, _ in pickletools.genops(pickled):
        if isinstance(argument, str):
            texts.append(argument)
        if code.name in ("GLOBAL", "STACK_GLOBAL"):
            module, name = argument.split(" ") if code.name == "GLOBAL" else texts[-2:]
            module, name = _compat_pickle.NAME_MAPPING.get((module, name), (_compat_pickle.IMPORT_MAPPING.get(module, module), name))
            if found_name(module, name) is None:
                found[f"{module}.{name}"] = True
    return list(found)


def _read(file, map_location, anything, pickled, mapped):
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError(*["Ran out of input"] * anything)
    if head[:2] != b"PK":
        if mapped:
            named = f"{mapped}, " if isinstance(mapped, str) else ""
            raise RuntimeError(f"mmap can only be used with files saved with `torch.save({named}_use_new_zipfile_serialization=True), "
                               "please torch.save your checkpoint with this option in order to use mmap.")
        return _read_pickles(file, map_location, anything, pickled)
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise strange.cut_off(file, start) from error
    with archive:
        paths = archive.namelist()
        stem = strange.folder_of(paths)
        if stem + "constants.pkl" in paths:
            return _of_torchscript(file, start, map_location, anything)
        if mapped:
            _check_mapped(mapped)
        for record in archive.infolist():
            if record.CRC == options.NO_SUM:
                record.CRC = None                          # which has zipfile not compare it
        order = options.order_of(archive.read(stem + "byteorder") if stem + "byteorder" in paths else None)
        place, read = placer(map_location), {}

        def storage_of(key, text, dtype):
            if key not in read:
                record = archive.getinfo(f"{stem}data/{key}")
                data = bytes(record.file_size) if options.skipping() else archive.read(record)
                read[key] = Storage(little(data, dtype) if order == "big" else data, place(text, data))
            return read[key]
        try:
            return _unpickler(io.BytesIO(archive.read(stem + "data.pkl")), storage_of, anything, pickled).load()
        except zipfile.BadZipFile as error:
            raise RuntimeError(f"PytorchStreamReader failed reading file: {error}") from error


def _of_torchscript(file, start, map_location, anything):
    """What `torch.jit.load` makes of a file."""
    if not anything:
        raise RuntimeError(f"Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. {careful.NO_LONGER}")
    sites.warn("'torch.load' received a zip file that looks like a TorchScript archive dispatching to 'torch.jit.load' (call "
               "'torch.jit.load' directly to silence this warning)")
    import jtensor
    file.seek(start)
    return jtensor.jit.load(file, map_location)


def _check_mapped(path):
    """Refuses to map what cannot be mapped; what is mapped privately is read at once."""
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if options.get_default_mmap_options() == getattr(mmap_flags, "MAP_SHARED", None):
        raise missing("files whose memory tensors share (`mmap.MAP_SHARED`)", "`mmap.MAP_PRIVATE`")


def little(data, dtype):
    """Bytes of big-endian numbers as those of little-endian ones, a complex number's parts each by itself."""
    if dtype is None:                          # memory without a type is taken as it is, as PyTorch takes it
        return data
    width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    return np.frombuffer(data, f"V{width}").view((np.uint8, width))[:, ::-1].tobytes() if width > 1 else data


def _read_pickles(file, map_location, anything, pickled):
    """A file from before PyTorch 1.6."""
    if not pickles.is_one(file):
        strange.refuse(file, None if anything else _unpickler(file, None, False, {}).find_class)
    place, read = placer(map_location), {}

    def unpickler(file, bytes_of):
        def storage_of(key, text, dtype):
            if key not in read:
                data = bytes_of(key)
                read[key] = Storage(data, place(text, data))
            return read[key]
        return _unpickler(file, storage_of, anything, pickled)

    def named(module, name):
        found = names.allowed(module, name)
        return found if isinstance(found, names.StorageName) else None
    return pickles.read(file, named, unpickler, pickled)
