"""The names in a file of PyTorch's format and what they stand for here.

Owns: the dtypes' storage classes, the list of what a file may name when only weights are loaded, and the user's additions to it.
"""
import collections
import importlib
import pickle
import sys
import types

from ..base import devices, dtypes
from ..base.size import Size
from ..tensor.core import Tensor

STORAGES = {
    dtypes.float32: "FloatStorage",
    dtypes.float64: "DoubleStorage",
    dtypes.float16: "HalfStorage",
    dtypes.bfloat16: "BFloat16Storage",
    dtypes.uint8: "ByteStorage",
    dtypes.int8: "CharStorage",
    dtypes.int16: "ShortStorage",
    dtypes.int32: "IntStorage",
    dtypes.int64: "LongStorage",
    dtypes.bool: "BoolStorage",
    dtypes.complex64: "ComplexFloatStorage",
    dtypes.complex128: "ComplexDoubleStorage",
}
OURS, THEIRS = "jtensor", "torch"


class StorageName:
    """What the name of a storage class becomes while a file is read: the dtype of its elements, None for bytes."""

    def __init__(self, dtype):
        self.dtype = dtype


def encoded(text, encoding):
    """Bytes of a text, as older protocols of pickles have them: PyTorch's name for it is `_codecs.encode`."""
    return text.encode(encoding)


PLAIN = {("_codecs", "encode"): encoded, ("collections", "OrderedDict"): collections.OrderedDict,
         ("collections", "Counter"): collections.Counter, ("builtins", "set"): set, ("builtins", "bytearray"): bytearray,
         ("builtins", "complex"): complex}
TENSORS = {(THEIRS, "Size"): Size, (THEIRS, "device"): devices.device, (THEIRS, "Tensor"): Tensor,
           ("torch.storage", "UntypedStorage"): StorageName(None),
           **{(THEIRS, name): StorageName(dtype) for dtype, name in STORAGES.items()},
           **{(THEIRS, dtype.name): dtype for dtype in dtypes.ALL}}

_allowed = {}


def _named(item):
    """(module, name) as a file has it, and the object, of an entry of a list of safe globals."""
    if isinstance(item, tuple):
        item, full = item
        module, _, name = full.rpartition(".")
        return (module, name), item
    return (as_written(item.__module__), item.__qualname__), item


def add_safe_globals(safe_globals):
    """Lets `load` with ``weights_only=True`` make these classes and call these functions: a list of them, or of pairs (object, full name).

    >>> class Point: ...
    >>> torch.serialization.add_safe_globals([Point])
    >>> torch.serialization.get_safe_globals() == [Point]
    True
    >>> torch.serialization.clear_safe_globals()
    """
    for item in safe_globals:
        key, value = _named(item)
        _allowed[key] = (value, item)


def get_safe_globals():
    """What was added by `add_safe_globals`, as a list."""
    return [item for _, item in _allowed.values()]


def clear_safe_globals():
    """Forgets what was added by `add_safe_globals`."""
    _allowed.clear()


class safe_globals:
    """`add_safe_globals` for the length of a ``with`` block."""

    def __init__(self, safe_globals):
        self.items = safe_globals

    def __enter__(self):
        self.before = dict(_allowed)
        add_safe_globals(self.items)

    def __exit__(self, *exc):
        _allowed.clear()
        _allowed.update(self.before)


def allowed(module, name):
    """The object that a file of weights may name so, or None."""
    key = (module, name)
    found = PLAIN.get(key, TENSORS.get(key))
    if found is None and name.endswith("Tensor"):
        found = _type_of_old(module, name)
    return _allowed[key][0] if found is None and key in _allowed else found


def _type_of_old(module, name):
    """``torch.FloatTensor`` and its like, or None."""
    from .. import _legacy
    if module == THEIRS + ".sparse":
        return getattr(importlib.import_module(OURS + ".sparse"), name, None) if name in _legacy.CPU else None
    return {THEIRS: _legacy.CPU, THEIRS + ".cuda": _legacy.CUDA}.get(module, {}).get(name)


def is_allowed_by_user(kind):
    """Whether a class was added by `add_safe_globals`."""
    return any(found is kind for found, _ in _allowed.values())


def as_written(module):
    """The name of one of our modules in a file: PyTorch's, so that either library finds its own."""
    return THEIRS + module[len(OURS):] if module is not None and (module + ".").startswith(OURS + ".") else module


def is_ours(module):
    """Whether a module is one of the library's, under either name."""
    return module.partition(".")[0] in (OURS, THEIRS)


def shown_in(obj, name):
    """The module that a file names for a class or function of ours: of a function the outermost that shows it; PicklingError for none."""
    module = obj.__module__
    if isinstance(obj, types.FunctionType):
        parts = module.split(".")
        rooms = [".".join(parts[:count + 1]) for count in range(len(parts))]
        module = next((one for one in rooms if getattr(sys.modules[one], name, None) is obj), None)
        if module is None:
            raise pickle.PicklingError(f"Can't pickle {obj!r}: it's not found as {obj.__module__}.{name}")
    return as_written(module)


def imported(module, name):
    """What a name of a file stands for where anything may be imported: PyTorch's names are ours."""
    if module == THEIRS or module.startswith(THEIRS + "."):
        module = OURS + module[len(THEIRS):]
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
