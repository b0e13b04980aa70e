"""Where values lie on the tape, as parts of the keys by which backward passes and updates are known again (`trace.macros`).

Owns: `place` of a tensor, and `Named`, the values that a key names. May not know: graphs, what the keys are for.
"""
from ...storage.host import seen_again
from ...trace.tape import LIFTED


def place(segment, named, tensor):
    """Where a tensor's value is on the tape, as a part of a key; None if NumPy may have changed it. Adds the value to ``named``."""
    return place_of(segment, named, tensor._storage, tensor._spec, tensor._offset, tensor._cached)


def place_of(segment, named, storage, spec, offset, cached=None, shared=False):
    """The same of a geometry over a storage. ``shared``: it will only be read, so that NumPy may have the memory, too: the value is what
    lies there now."""
    if storage.host is None:
        value = storage.value
    elif storage.host is storage:           # a sparse tensor's
        return None
    elif shared and (value := seen_again(storage, spec, offset, cached)) is not None:
        named.append(value)
        return value.position if value.segment is segment else named.at(segment, value), spec
    else:
        value = storage.current()           # which notices that nobody else has the memory any more
        if storage.host is not None and not shared or value.position is LIFTED:
            return None
    at = value.position if value.segment is segment else named.at(segment, value)
    named.append(value)
    if spec is (storage.spec or storage.layout):
        return at
    if cached is not None and cached[0]() is value:
        read = cached[1]                    # which says where it was read, so that the offset need not be told
        lies = read.position if read.segment is segment else named.at(segment, read)
        named.append(read)
        return at, storage.layout, spec, (lies,)
    return at, storage.layout, spec, offset


class Named(list):
    """The values that a key names. ``fresh``: places of those that the tape has not read yet: it numbers them when it does."""

    __slots__ = ("fresh",)

    def __init__(self):
        self.fresh = {}

    def at(self, segment, value):
        """The place of a value that the tape did not make."""
        at = segment.slots.get(id(value))
        if at is None:
            fresh = self.fresh
            at = fresh.get(id(value))
            if at is None:
                at = fresh[id(value)] = ~(len(segment.inputs) + len(fresh))
        return at
