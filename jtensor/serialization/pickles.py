"""The format of files from before PyTorch 1.6: pickles one after the other, then the bytes of the storages.

In order: a magic number, the format's version, how the machine wrote numbers, the object, the keys of its storages, and for each of these
the number of its elements and the elements. Their type stands only in the object, which is therefore gone through twice: once for
what it says of storages, making nothing, and once, with the bytes at hand, by the unpickler of every format.
"""
import pickle

MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001
_MACHINE = {"protocol_version": VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


class _Nothing:
    """Stands for whatever the object names while only its storages are looked at."""

    def __init__(self, *args, **kwargs):
        pass

    def _taken(self, *args):
        return self

    __call__ = __setitem__ = __setstate__ = append = extend = add = update = _taken


class _Plain(pickle.Unpickler):
    """Makes numbers, texts, lists and dictionaries only."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the file's frame names {module}.{name}, and has nothing to name")


class Tolerant(pickle.Unpickler):
    """Goes through any pickle and makes nothing of what it names."""

    def find_class(self, module, name):
        return _Nothing


def decoded(entry):
    """A reference to a storage with its texts as text: to Python 2's, ``encoding="bytes"`` leaves them bytes."""
    kind, storage, key, place, *rest = entry
    return *(x.decode("ascii") if isinstance(x, bytes) and x is not key else x for x in (kind, storage, key, place)), *rest


class _Storages(pickle._Unpickler):
    """Notes which storages an object refers to, and gives states to nothing."""

    def __init__(self, file, named, **options):
        super().__init__(file, **options)
        self.named, self.found = named, {}

    def find_class(self, module, name):
        return self.named(module, name) or _Nothing

    def persistent_load(self, entry):
        if isinstance(entry, tuple) and len(entry) == 6 and entry[0] in ("storage", b"storage"):
            if entry[5] is not None:
                raise pickle.UnpicklingError("the file has views of storages as PyTorch 0.3 wrote them, which jtensor does not read")
            self.found[entry[2]] = entry[1].dtype.itemsize
        return _Nothing()

    def build(self):
        self.stack.pop()

    dispatch = pickle._Unpickler.dispatch | {pickle.BUILD[0]: build}


def write(file, pickled, storages, protocol):
    """Such a file: of the pickled object, and of its ``storages``, a dictionary of keys and (itemsize, bytes)."""
    for part in (MAGIC, VERSION, _MACHINE):
        pickle.dump(part, file, protocol)
    file.write(pickled)
    keys = sorted(storages)
    pickle.dump(keys, file, protocol)
    for key in keys:
        itemsize, content = storages[key]
        file.write((len(content) // itemsize).to_bytes(8, "little"))
        file.write(content)


def is_one(file):
    """Whether a file goes on in this format; it is where it was afterwards."""
    start = file.tell()
    try:
        return _Plain(file).load() == MAGIC
    except Exception:
        return False
    finally:
        file.seek(start)


def read(file, named, unpickler, options):
    """The object of such a file. ``named(module, name)`` is a storage's class or None; ``unpickler(file, bytes_of)`` makes the object."""
    _, version, machine = (_Plain(file, **options).load() for _ in range(3))
    if version != VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    if not machine.get("little_endian", True):
        raise RuntimeError("the file was written on a big-endian machine, which jtensor does not read")
    start = file.tell()
    storages = _Storages(file, named, **options)
    storages.load()
    keys = _Plain(file, **options).load()
    if not set(keys) >= storages.found.keys():
        raise pickle.UnpicklingError("the file refers to storages that it does not hold")
    data = {key: _bytes(file, storages.found.get(key, 1)) for key in keys}
    end = file.tell()
    file.seek(start)
    made = unpickler(file, data.__getitem__).load()
    file.seek(end)                                       # where another object may follow
    return made


def _bytes(file, itemsize):
    count = int.from_bytes(_exactly(file, 8), "little")
    return _exactly(file, count * itemsize)


def _exactly(file, size):
    found = file.read(size)
    if len(found) != size:
        raise RuntimeError(f"unexpected EOF, expected {size - len(found)} more bytes. The file might be corrupted.")
    return found
