"""`torch.utils.serialization.config`: the settings of `torch.save` and `torch.load`. Imports nothing of the library.

``load.mmap``: what ``mmap=None`` stands for; ``load.mmap_flags``: how such a file is mapped; ``load.endianness``: the order of bytes in
a file that does not say. ``save.compute_crc32``: whether records have check sums; ``save.storage_alignment``: where records begin.
``load.calculate_storage_offsets`` and ``save.use_pinned_memory_for_d2h`` are kept, and nothing here reads them.
"""
import contextlib as _contextlib
import mmap as _mmap
import sys as _sys


class _Settings:
    """Settings of known names."""

    def __init__(self, name, **settings):
        self.__dict__.update(settings, _name=name)

    def __setattr__(self, name, value):
        if name not in self.__dict__:
            raise AttributeError(f"torch.utils.serialization.config.{self._name}.{name} does not exist")
        self.__dict__[name] = value


load = _Settings("load", mmap=False, endianness=None, mmap_flags=getattr(_mmap, "MAP_PRIVATE", None), calculate_storage_offsets=False)
save = _Settings("save", compute_crc32=True, use_pinned_memory_for_d2h=False, storage_alignment=64)


@_contextlib.contextmanager
def patch(changes, value=None):
    """A context, or decorator, of other settings: ``patch("save.storage_alignment", 4096)``, or of a dictionary of such.

    >>> config = torch.utils.serialization.config
    >>> with config.patch("save.storage_alignment", 4096):
    ...     config.save.storage_alignment
    4096
    >>> config.save.storage_alignment
    64
    """
    changes = changes if isinstance(changes, dict) else {changes: value}
    places = [(getattr(_sys.modules[__name__], group), name, new) for (group, _, name), new in
              ((full.partition("."), new) for full, new in changes.items())]
    before = [(group, name, getattr(group, name)) for group, name, _ in places]
    try:
        for group, name, new in places:
            setattr(group, name, new)
        yield
    finally:
        for group, name, old in before:
            setattr(group, name, old)
