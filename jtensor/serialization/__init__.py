"""`torch.save` and `torch.load`: PyTorch's file format, readable by PyTorch and back.

A file is a zip archive of stored (uncompressed) records: a pickle in which a tensor is a reference to a storage, and one record of raw
bytes for each storage, so that tensors that share memory share it again when loaded. `writing` makes such files, `reading` opens them,
and those of before 1.6, whose form `pickles` knows; `names` knows which name in a file stands for what. May not know: modules and
optimizers; their state is plain containers of tensors.
"""
from collections.abc import Callable
from typing import Union

from .names import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .reading import default_restore_location, load
from .reading import rebuild_layout as _get_layout  # noqa: F401  by which a pickle has layouts
from .writing import save

MAP_LOCATION = Union[Callable[["Storage", str], "Storage"], "device", str, dict[str, str], None]        # noqa: F821  for annotations
__all__ = ["add_safe_globals", "clear_safe_globals", "default_restore_location", "get_safe_globals", "load", "safe_globals", "save"]
