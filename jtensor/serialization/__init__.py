"""`torch.save` and `torch.load`: PyTorch's file format, readable by PyTorch and back.

A file is a zip archive of stored (uncompressed) records: a pickle in which a tensor is a reference to a storage, and one record of raw
bytes for each storage, so that tensors that share memory share it again when loaded. `writing` makes such files, `reading` opens them,
and those of before 1.6, whose form `pickles` knows; `names` knows which name in a file stands for what, `options` what
is set for many calls. May not know: modules and optimizers; their state is plain containers of tensors.
"""
from collections.abc import Callable
from typing import Union

from .names import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .options import (
    LoadEndianness,
    _serialization_tls,  # noqa: F401  what `skip_data` has said
    check_module_version_greater_or_equal,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from .reading import default_restore_location, get_unsafe_globals_in_checkpoint, load
from .rebuilding import rebuild_layout as _get_layout  # noqa: F401  by which a pickle has layouts
from .writing import save

MAP_LOCATION = Union[Callable[["Storage", str], "Storage"], "device", str, dict[str, str], None]        # noqa: F821  for annotations
DEFAULT_PROTOCOL = 2
__all__ = ["LoadEndianness", "SourceChangeWarning", "add_safe_globals", "check_module_version_greater_or_equal", "clear_safe_globals",
           "default_restore_location", "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals",
           "get_unsafe_globals_in_checkpoint", "load", "location_tag", "safe_globals", "save", "set_crc32_options",
           "set_default_load_endianness", "set_default_mmap_options", "skip_data"]


class SourceChangeWarning(Warning):
    """What PyTorch warns with when a model that was saved whole has another source by now; never given here."""

    __module__ = "torch.serialization"


def location_tag(storage):
    """How a file names the device of a storage.

    >>> torch.serialization.location_tag(torch.ones(2).untyped_storage())
    'cpu'
    """
    return str(storage.device)
