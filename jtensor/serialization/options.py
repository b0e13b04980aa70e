"""What `torch.save` and `torch.load` are told once for many calls: byte orders, check sums, mappings, whether data is skipped."""
import enum
import mmap
import sys
import threading
import warnings

from ..utils.serialization import config

NO_SUM = 0                                     # in place of a record's check sum: it has none


class LoadEndianness(enum.Enum):
    """The order of the bytes of a number in a file that does not say."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


LoadEndianness.__module__ = "torch.serialization"


class _Skipping(threading.local):
    skip_data = materialize_fake_tensors = False


_serialization_tls = _Skipping()


def get_default_load_endianness():
    """The order of bytes that is taken of a file that does not say; None, the default, is little-endian."""
    return config.load.endianness


def set_default_load_endianness(endianness):
    """Sets which order of bytes (a `LoadEndianness`, or None) a file has that does not say.

    >>> torch.serialization.set_default_load_endianness(torch.serialization.LoadEndianness.BIG)
    >>> torch.serialization.get_default_load_endianness()
    <LoadEndianness.BIG: 3>
    >>> torch.serialization.set_default_load_endianness(None)
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    config.load.endianness = endianness


def get_crc32_options():
    """Whether `torch.save` writes a check sum for each record; True by default."""
    return config.save.compute_crc32


def set_crc32_options(compute_crc32):
    """Sets whether `torch.save` writes a check sum for each record. Without, `load` does not notice damage, and other programs that read
    zip archives may complain."""
    config.save.compute_crc32 = compute_crc32


def get_default_mmap_options():
    """How `load(mmap=True)` maps a file: ``mmap.MAP_PRIVATE`` by default."""
    return config.load.mmap_flags


class set_default_mmap_options:
    """Sets how `load(mmap=True)` maps a file, for good or for the length of a ``with`` block. Files are read at once here, which is
    ``mmap.MAP_PRIVATE`` to the program; under ``mmap.MAP_SHARED``, where writes would reach the file, `load(mmap=True)` raises
    `MissingFeature`."""

    def __init__(self, flags):
        if not hasattr(mmap, "MAP_PRIVATE"):
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError("Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                             f"but got {flags}")
        self.before, config.load.mmap_flags = config.load.mmap_flags, flags

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        config.load.mmap_flags = self.before


class skip_data:
    """A ``with`` block in which `torch.save` writes zeros where the elements of tensors would be, for somebody else to fill in, and
    `torch.load` makes tensors without reading their elements (zeros here). ``materialize_fake_tensors`` changes nothing.

    >>> import io
    >>> file = io.BytesIO()
    >>> with torch.serialization.skip_data():
    ...     torch.save(torch.ones(3), file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    tensor([0., 0., 0.])
    """

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        self.before = dict(vars(_serialization_tls))
        vars(_serialization_tls).update(skip_data=True, materialize_fake_tensors=self.materialize_fake_tensors)

    def __exit__(self, *exc):
        vars(_serialization_tls).clear()
        vars(_serialization_tls).update(self.before)


def skipping():
    """Whether this thread is inside of `skip_data`."""
    return _serialization_tls.skip_data


def order_of(mark):
    """"little" or "big", of the bytes of a file's mark of its byte order; of None, a file without one, by what was set."""
    if mark is not None:
        if mark not in (b"little", b"big"):
            raise ValueError(f"Unknown endianness type: {mark.decode()}")
        return mark.decode()
    chosen = config.load.endianness
    if chosen is LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if chosen is LoadEndianness.BIG else "little"


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Whether a module's ``__version__`` is at least what a tuple says, as far as the tuple goes.

    A version that cannot be read so is a ``RuntimeError``; with ``error_if_malformed=False`` a warning, and True.

    >>> import types
    >>> torch.serialization.check_module_version_greater_or_equal(types.SimpleNamespace(__name__="m", __version__="1.10.2"), (1, 9))
    True
    """
    try:
        parts = module.__version__.split(".")
        return tuple(type(wanted)(parts[i]) for i, wanted in enumerate(req_version_tuple)) >= req_version_tuple
    except Exception as error:
        message = (f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with tuple "
                   f"{req_version_tuple}")
        if error_if_malformed:
            raise RuntimeError(message) from error
        warnings.warn(message + ", but continuing assuming that requirement is met", stacklevel=2)
        return True
