"""Storages whose value stands for more than an array (`trace.lifted`): in host mode, so that fast paths step aside as for NumPy's memory.

Owns: `LIFTED_MEMORY`, which takes the place of `host.HostMemory` there; how a storage gets its first lifted value. May not know: tensors.
"""
from ..trace.lifted import levels_of, serial
from ..trace.tape import LIFTED


class LiftedMemory:
    """Has nothing of its own: the value is in the storage. What `Storage` asks of a memory."""

    __slots__ = ()
    pointed = False

    def current(self, storage):
        return storage.value

    def put(self, storage, value, spec, offset):
        """A value in the place of a lifted one; it becomes as lifted as that was."""
        had, has = levels_of(storage.value), levels_of(value)
        for level in has - had:
            level.admit()
        for level in sorted(had - has, key=serial):
            value = level.joined(value)
        storage.value = value
        if not levels_of(value):
            lower(storage)

    def address(self):
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def rebase(self, layout):
        """Nothing is here that would be another type's."""


LIFTED_MEMORY = LiftedMemory()


def lift(storage):
    """Has the fast paths step aside for a storage with a lifted value."""
    storage.host, storage.spec = LIFTED_MEMORY, None


def lower(storage):
    """Has a storage whose value is no longer lifted be like any other."""
    storage.host, storage.spec = None, storage.layout


def settle(storage):
    """Has NumPy see what levels that are closed have left of a value; an error where one is open."""
    value = storage.value
    while value.position is LIFTED:
        value = value.level.exported(value)
    storage.value = value
    lower(storage)


def put_first(storage, value):
    """Puts a lifted value into a storage that has had none, if its levels allow that."""
    for level in levels_of(value):
        level.admit()
    storage.value = value
    lift(storage)
