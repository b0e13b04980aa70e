"""`torch.save`: tensors and containers of them into PyTorch's zip format, or the one before it, whole or not at all."""
import collections
import functools
import io
import operator
import os
import pickle
import sys
import tempfile
import types
import warnings
import zipfile

import numpy as np

import jtensor

from ..base import devices, dtypes
from ..base.errors import missing
from ..base.naming import TorchNamed
from ..base.size import Size
from ..tensor import convert, states
from ..tensor.core import Tensor
from ..tensor.memory import storages
from ..utils.hooks import warn_if_has_hooks
from ..utils.serialization import config
from . import names, options, pickles, rebuilding


class Global:
    """A name that is written as it is; what it stands for is the reader's matter."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self, *args):
        raise TypeError("a name in a file is not called while the file is written")


_TENSOR, _TENSOR_OF_TYPE = Global("torch._utils", "_rebuild_tensor_v2"), Global("torch._utils", "_rebuild_tensor_v3")
_SUBCLASS = Global("torch._tensor", "_rebuild_from_type_v2")
_PARAMETER, _PARAMETER_WITH_STATE = Global("torch._utils", "_rebuild_parameter"), Global("torch._utils", "_rebuild_parameter_with_state")
_WRAPPER = Global("torch._utils", "_rebuild_wrapper_subclass")
_META = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
_SPARSE, _LAYOUT = Global("torch._utils", "_rebuild_sparse_tensor"), Global("torch.serialization", "_get_layout")
_BYTES = Global("torch.storage", "UntypedStorage")
_STORAGES = {dtype: Global("torch", name) for dtype, name in names.STORAGES.items()}


class _Reference:
    """A storage, inside the pickle."""

    def __init__(self, entry):
        self.entry = entry


class Pickler(pickle._Pickler):
    """Python's own pickler in Python: the one that lets names be written without importing what they stand for."""

    def __init__(self, file, protocol, older):
        super().__init__(file, protocol)
        self.older = older                     # whether the format is the one before zip archives
        self.cells = {}                        # id of a storage: (key, storage, dtype)

    def persistent_id(self, obj):
        if storages.is_storage(obj):               # of bytes, too, a file says what type their elements are
            return self.reference(obj._cell, getattr(obj, "dtype", dtypes.uint8), str(obj.device))
        return obj.entry if type(obj) is _Reference else None

    def save_global(self, obj, name=None):
        if type(obj) is dtypes.dtype:
            return self._write(obj, names.THEIRS, obj.name)
        if isinstance(obj, TorchNamed):
            return self._write(obj, obj.__module__, obj.__qualname__)
        if isinstance(obj, types.FunctionType) and obj in rebuilding.WRITTEN:         # a class that says itself how it is put together
            return self._write(obj, *rebuilding.WRITTEN[obj])
        module = getattr(obj, "__module__", None)
        if module is not None and names.as_written(module) != module:
            name = name or obj.__qualname__
            holder, _, last = name.rpartition(".")
            if holder and "<locals>" not in name and isinstance(obj, types.FunctionType):            # a function of a class, by way of it
                return self.save_reduce(getattr, (operator.attrgetter(holder)(sys.modules[module]), last), obj=obj)
            return self._write(obj, names.shown_in(obj, name), name)
        try:
            return super().save_global(obj, name)
        except pickle.PicklingError as error:                     # in the words of the pickler in C, which PyTorch uses
            name = name or getattr(obj, "__qualname__", obj.__name__)
            if "<locals>" in name:
                raise AttributeError(f"Can't pickle local object {name!r}") from None
            place = pickle.whichmodule(obj, name)                     # where code ran that names no module: "__main__"
            raise pickle.PicklingError(str(error).replace(f"it's not found as {place}.{name}",
                                                          f"attribute lookup {name} on {place} failed")) from None

    dispatch = pickle._Pickler.dispatch | {types.FunctionType: save_global}

    def _write(self, obj, module, name):
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def save(self, obj, save_persistent_id=True):
        if type(obj) is Global:
            known = self.memo.get(id(obj))
            return self.write(self.get(known[0])) if known is not None else self._write(obj, obj.module, obj.name)
        return super().save(obj, save_persistent_id)

    def reducer_override(self, obj):
        if isinstance(obj, Tensor):
            if obj.is_nested:
                return _nested(obj)
            return self.tensor(obj) if _has_memory(type(obj)) else NotImplemented
        if isinstance(obj, TorchNamed):
            return obj.__qualname__
        if type(obj).__module__ == "torch._C":                     # a generator, which plain pickles have by way of a function
            _, *rest = obj.__reduce__()
            return Global("torch._C", type(obj).__name__), *rest
        if type(obj) in _WRITTEN:
            return _WRITTEN[type(obj)](obj)
        if isinstance(obj, (type, types.FunctionType)) and names.as_written(obj.__module__) != obj.__module__:
            return obj.__qualname__
        return NotImplemented

    def tensor(self, t):
        """How a tensor is put together again: (function, arguments)."""
        warn_if_has_hooks(t)
        if states.is_wrapper(t):
            kind, dtype, size, stride, offset, device, requires_grad = convert.wrapper_parts(t)
            parts = kind, dtype, size, stride, offset, t.layout, jtensor.device(device), requires_grad
            return _SUBCLASS, (_WRAPPER, kind, parts, states.state_of(t))
        parameter = _is_parameter(t)
        state = states.state_of(t) if t.layout.name == "strided" else dict(t.__dict__)
        data = t.detach() if parameter else t
        function, arguments = self.plain(data, t.requires_grad and not parameter)
        if parameter:
            if t.layout.name != "strided":
                state.pop("_is_param", None)
            data = _Reduced(function, arguments)
            if state:
                return _PARAMETER_WITH_STATE, (data, t.requires_grad, collections.OrderedDict(), state)
            return _PARAMETER, (data, t.requires_grad, collections.OrderedDict())
        kind = Tensor if names.is_ours(type(t).__module__) or t.layout.name != "strided" else type(t)
        if kind is not Tensor or state:
            return _SUBCLASS, (function, _KINDS.get(kind, kind), arguments, state)
        return function, arguments

    def plain(self, t, requires_grad):
        """The same for its memory and geometry; a sparse tensor's for its parts."""
        if t.layout.name != "strided":
            _, (layout, *parts) = t.__reduce_ex__(2)
            return _SPARSE, (_Reduced(_LAYOUT, (f"torch.{layout}",)), tuple(parts))
        if t.is_meta:
            if options.skipping():
                warnings.warn("Serializing tensors on the meta device under skip_data context manager is a no-op", stacklevel=2)
            return _META, (t.dtype, tuple(t.size()), tuple(t.stride()), requires_grad)
        metadata = {name: True for name, is_set in (("conj", t.is_conj()), ("neg", t.is_neg())) if is_set}
        dtype = t.dtype
        reference = _Reference(self.reference(t._storage, dtype, str(t.device)))
        arguments = (reference, t.storage_offset(), tuple(t.size()), tuple(t.stride()), requires_grad, collections.OrderedDict())
        if dtype not in _STORAGES:
            arguments += (Global("torch", dtype.name),)
        return (_TENSOR if dtype in _STORAGES else _TENSOR_OF_TYPE), arguments + ((metadata,) if metadata else ())

    def bytes(self):
        """{key: bytes} of the storages that the pickle refers to."""
        skipping = options.skipping()
        return {key: np.zeros(cell.nbytes(), np.uint8).data if skipping else storages.UntypedStorage._on(cell)._bytes().data
                for key, cell, _ in self.cells.values()}

    def reference(self, cell, dtype, place):
        """What the pickle has for memory; its bytes are a record of the file."""
        key, _, known = self.cells.setdefault(id(cell), (str(len(self.cells)), cell, dtype))
        if known is not dtype and cell.nbytes():
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        typed = dtype in _STORAGES
        if self.older:
            if not typed:
                raise missing(f"a place for {dtype} in PyTorch's older format", "the zip format, which is the default")
            return "storage", _STORAGES[dtype], key, place, cell.nbytes() // dtype.itemsize, None
        elements = cell.nbytes() // dtype.itemsize if typed else cell.nbytes()
        return "storage", _STORAGES.get(dtype, _BYTES), key, place, elements


def _nested(t):
    """How a nested tensor is put together again. PyTorch's tell what is known of the lengths by the shapes of tensors."""
    if t.layout.name != "jagged":
        return Global("torch._utils", "_rebuild_nested_tensor"), t.__reduce_ex__(2)[1]
    parts = {"values": t._values, "offsets": t._offsets, "lengths": t._lengths, "_ragged_idx": t._ragged_idx,
             "_metadata_cache": {name: jtensor.zeros(length, 0) for name, length in t._metadata_cache.items()},
             "requires_grad": t.requires_grad}
    return _SUBCLASS, (Global(_NESTED, "_rebuild_njt"), Global(_NESTED, "NestedTensor"), (parts,), {})


_NESTED = "torch.nested._internal.nested_tensor"


class _Reduced:
    """Something already taken apart."""

    def __init__(self, function, arguments):
        self.parts = function, arguments

    def __reduce__(self):
        return self.parts


def _has_memory(kind):
    """Whether a class of tensors is written as memory and geometry: not if what it is mixed with takes it apart (a lazy parameter)."""
    return issubclass(next(one for one in kind.__mro__ if "__reduce_ex__" in vars(one)), Tensor)


def _is_parameter(t):
    if t.layout.name != "strided":
        return getattr(t, "_is_param", False)                # of a sparse one there is no class
    return any(kind.__name__ == "Parameter" and names.as_written(kind.__module__) == "torch.nn.parameter" for kind in type(t).__mro__)


_KINDS = {Tensor: Global("torch", "Tensor")}
_SIZE, _DEVICE = Global("torch", "Size"), Global("torch", "device")
_WRITTEN = {dtypes.dtype: lambda d: d.name,
            jtensor.layout: lambda one: (_LAYOUT, (repr(one),)),
            Size: lambda size: (_SIZE, (tuple(size),)),
            devices.device: lambda d: (_DEVICE, (d.type,) if d.index is None else (d.type, d.index))}


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Writes an object to a file (a path, or an open binary file) that `load`, here or in PyTorch, reads.

    Tensors keep dtype, geometry, shared memory and ``requires_grad``; a path is written whole or not at all.
    ``_use_new_zipfile_serialization=False`` writes the format that PyTorch had before 1.6, for types that it had.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"w": torch.ones(2)}, file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    {'w': tensor([1., 1.])}
    """
    if pickle_module is not pickle:
        raise NotImplementedError("jtensor writes with Python's own pickle only")
    skipping = options.skipping()
    if skipping and not _use_new_zipfile_serialization:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    data = io.BytesIO()
    pickler = Pickler(data, pickle_protocol, not _use_new_zipfile_serialization)
    pickler.dump(obj)
    held = pickler.bytes()
    if not _use_new_zipfile_serialization:
        held = {key: (dtype.itemsize, held[key]) for key, _, dtype in pickler.cells.values()}
        return _put(f, functools.partial(pickles.write, pickled=data.getvalue(), storages=held, protocol=pickle_protocol))
    alignment = str(config.save.storage_alignment).encode()
    records = [("data.pkl", data.getvalue()), (".format_version", b"1"), (".storage_alignment", alignment)]
    if not _disable_byteorder_record:
        records.append(("byteorder", b"little"))
    records += [(f"data/{key}", content) for key, content in held.items()]
    records.append(("version", b"3\n"))
    return put(f, records, {f"data/{key}" for key in held} if skipping else ())


def put(f, records, unsummed=()):
    """Writes a zip archive of (name, bytes) to a path or an open binary file, whole or not at all; those ``unsummed`` have no check sum."""
    stem = os.path.splitext(os.path.basename(os.fspath(f)))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    return _put(f, functools.partial(_archive, stem=stem, records=records, unsummed=unsummed))


def _put(f, write):
    """Writes a file, at a path or in an open one, whole or not at all."""
    if not isinstance(f, (str, os.PathLike)):
        if not hasattr(f, "write"):
            raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
        whole = io.BytesIO()
        write(whole)
        f.write(whole.getbuffer())
        f.flush()                              # so that it can be read by its name before it is closed
        return
    path = os.path.abspath(os.fspath(f))
    if not os.path.isdir(os.path.dirname(path)):
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(f))} does not exist.")
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".jtensor-save-")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _archive(file, stem, records, unsummed):
    """The zip archive: stored records, each begun where it can be mapped into memory; those that are ``unsummed`` have no check sum."""
    aligned, summed = config.save.storage_alignment, config.save.compute_crc32
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, content in records:
            info = zipfile.ZipInfo(f"{stem}/{name}", (1980, 1, 1, 0, 0, 0))
            large = len(content) >= zipfile.ZIP64_LIMIT
            start = archive.start_dir + zipfile.sizeFileHeader + len(info.filename.encode()) + 4 + (20 if large else 0)
            gap = -start % aligned
            info.extra = b"FB" + gap.to_bytes(2, "little") + b"Z" * gap
            with archive.open(info, "w", force_zip64=large) as record:
                record.write(content)
            if name in unsummed or not summed:
                info.CRC = options.NO_SUM                  # in the directory at the end, which is what readers go by
