"""Files of TorchScript: a zip archive of programs (``code/``), of an object whose classes they define (``data.pkl``), and of its tensors.

Owns: reading such a file into objects, writing one again with other values of its attributes. May not know: what the programs mean.
"""
import io
import os
import pickle
import zipfile

from ..serialization import careful, options, reading, rebuilding, writing
from . import programs

_DAMAGED = (". This is an internal miniz error. If you are seeing this error, there is a high likelihood that your checkpoint file is "
            "corrupted. This can happen if the checkpoint was not saved properly, was transferred incorrectly, or the file was modified "
            "after saving.")


class Archive:
    """What a file holds: ``object``, whose modules are made by ``make(class)``; ``unit``, its programs; ``constants`` of these;
    ``records``: the programs as they are written, by name."""

    def __init__(self, file, make, map_location=None, extra=None):
        try:
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: failed finding central directory{_DAMAGED}") from None
        with self._zip:
            first = next(iter(self._zip.namelist()), "/")
            self._stem = first.partition("/")[0] + "/"
            self.place = reading.placer(map_location)
            ordered = self._stem + "byteorder"
            self.order = options.order_of(self._zip.read(ordered) if ordered in self._zip.namelist() else None)
            for name in extra or ():
                extra[name] = self._bytes(f"extra/{name}")
            self._bytes("constants.pkl")
            self.records = {name.removeprefix(self._stem): self._zip.read(name) for name in self._zip.namelist()
                            if name.startswith((self._stem + "code/", self._stem + "version"))}
            sources = {name.removeprefix("code/"): data.decode() for name, data in self.records.items() if name.endswith(".py")}
            self.unit = programs.Unit(sources)
            self.unit.constants = self.constants = self._unpickled("constants.pkl", "constants/", make)
            self.object = self._unpickled("data.pkl", "data/", make)

    def _bytes(self, name):
        try:
            return self._zip.read(self._stem + name)
        except KeyError:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found{_DAMAGED}") from None

    def _unpickled(self, name, folder, make):
        read = {}

        def storage_of(key, text, dtype):
            if key not in read:
                data = self._bytes(folder + key)
                read[key] = rebuilding.Storage(reading.little(data, dtype) if self.order == "big" else data, self.place(text, data))
            return read[key]
        return _Unpickler(io.BytesIO(self._bytes(name)), storage_of, self, make).load()


class _Kind:
    """A class that the file names, as unpickling takes it for one."""

    def __init__(self, found):
        self.found = found


class _Unpickler(reading.Finding, careful.Unpickler):
    """Makes tensors, plain containers and objects of the file's own classes."""

    def __init__(self, file, storage_of, archive, make):
        super().__init__(file, storage_of)
        self.archive, self.make = archive, make

    def find_other(self, module, name):
        if module == programs.ROOT or module.startswith(programs.ROOT + "."):
            return _Kind(self.archive.unit.find(f"{module}.{name}"))
        if module == "torch.jit._pickle" and name in _CONTAINERS:
            return _CONTAINERS[name]
        return super().find_other(module, name)

    def new(self):
        args, kind = self.stack.pop(), self.stack.pop()
        if type(kind) is not _Kind:
            raise pickle.UnpicklingError(f"{careful.REFUSED}The file makes an object of {kind!r}")
        found = kind.found
        if not isinstance(found, programs.Class):
            return self.append(found(*args))
        self.append(self.make(found) if found.is_module else programs.Object(found))

    def call(self):
        if type(self.stack[-2]) is _Kind:                     # of an enumeration, which is called with its value alone
            value, kind = self.stack.pop(), self.stack.pop()
            return self.append(kind.found(*value) if isinstance(value, tuple) else kind.found(value))
        super().call()

    def build(self):
        built = self.stack[-2]
        if not hasattr(type(built), "_script_state") and type(built) is not programs.Object:
            return super().build()
        state = self.stack.pop()
        if type(built) is not programs.Object:
            built._script_state(state)
        elif "__setstate__" in built._kind.methods:
            built._kind.methods["__setstate__"](built, state)
        else:
            built._values.update(state)

    dispatch = careful.Unpickler.dispatch | {pickle.NEWOBJ[0]: new, pickle.BUILD[0]: build, pickle.REDUCE[0]: call}


_CONTAINERS = {**dict.fromkeys(("build_intlist", "build_doublelist", "build_boollist", "build_tensorlist"), list),
               "restore_type_tag": lambda value, kind: value}
"""How a file makes containers whose types it tells; those are told by the classes' declarations, too."""


def read(f, make, map_location=None, extra=None):
    """The `Archive` at a path, or in an open binary file."""
    if isinstance(f, (str, os.PathLike)):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
        with open(f, "rb") as file:
            return Archive(file, make, map_location, extra)
    return Archive(io.BytesIO(f.read()), make, map_location, extra)


# -- writing ------------------------------------------------------------------------------------------------------------

class _Pickler(writing.Pickler):
    """Writes modules and objects under the names of their classes, lists with their types."""

    def __init__(self, file):
        super().__init__(file, 2, False)

    def reducer_override(self, obj):
        state = getattr(type(obj), "_script_values", None)
        if state is not None:
            kind, values = state(obj)
        elif type(obj) is programs.Object:
            if "__getstate__" in obj._kind.methods:
                kind, values = obj._kind, obj._kind.methods["__getstate__"](obj)
            else:
                kind, values = obj._kind, {name: x for name, x in obj._values.items() if name not in obj._kind.fixed}
        else:
            return super().reducer_override(obj)
        module, _, name = kind.name.rpartition(".")
        if isinstance(values, dict):                              # a class's own state can be anything
            values = {key: self._typed(kind, key, x) for key, x in values.items()}
        return _new, (writing.Global(module, name),), values

    def _typed(self, kind, key, value):
        text = kind.names.get(key, "")
        return _Typed(value, text) if text.startswith(("List[", "Dict[")) and isinstance(value, (list, dict)) else value

    def tensor(self, t):
        function, arguments = super().plain(t.detach(), t.requires_grad)
        return function, arguments

    def save_reduce(self, func, args, state=None, *rest, obj=None, **named):
        if func is not _new:
            return super().save_reduce(func, args, state, *rest, obj=obj, **named)
        self.save(args[0])
        self.save(())
        self.write(pickle.NEWOBJ)
        self.memoize(obj)
        self.save(state)
        self.write(pickle.BUILD)

    def save(self, obj, save_persistent_id=True):
        if type(obj) is _Typed:
            self.save(_TAG)
            self.save((obj.value, obj.kind))
            return self.write(pickle.REDUCE)
        return super().save(obj, save_persistent_id)


class _Typed:
    """A container with the type that the file says it has."""

    def __init__(self, value, kind):
        self.value, self.kind = value, kind


def _new():
    raise TypeError("what a file makes of a class is not made while it is written")


_TAG = writing.Global("torch.jit._pickle", "restore_type_tag")


def write(f, archive, root, extra=None):
    """Writes a module and the programs that it was read with to a path, or to an open binary file, whole or not at all."""
    records = []
    for name, value, folder in (("data.pkl", root, "data/"), ("constants.pkl", tuple(archive.constants), "constants/")):
        text = io.BytesIO()
        pickler = _Pickler(text)
        pickler.dump(value)
        records.append((name, text.getvalue()))
        records += [(folder + key, data) for key, data in pickler.bytes().items()]
    records += [(name, data) for name, data in archive.records.items() if name.startswith("code/")]
    records += [(f"extra/{name}", data.encode() if isinstance(data, str) else data) for name, data in (extra or {}).items()]
    records += [("byteorder", b"little"), ("version", archive.records.get("version", b"3\n"))]
    writing.put(f, records)


