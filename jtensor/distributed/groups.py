"""A group of processes as one of its members sees it.

Owns: `ProcessGroup`: who is in it, by which connections they talk, and in which line. May not know: tensors, which groups there are.
"""
import itertools

import numpy as np

from .work import Line


class Member:
    """A group for the length of one thing that its members do together: what patterns are written in terms of."""

    __slots__ = ("rank", "size", "_wires", "_ranks", "_label", "_timeout")

    def __init__(self, group, label, timeout=None):
        self.rank, self.size, self._label = group._rank, group._size, label
        self._wires, self._ranks, self._timeout = group._wires, group._ranks, group._timeout if timeout is None else timeout

    def send(self, other, array):
        """Sends an array to member ``other``."""
        self._wires.send(self._ranks[other], self._label, np.ascontiguousarray(array).view(np.uint8))

    def take(self, other, array):
        """Fills an array with what ``other`` has sent."""
        self._put(self._wires.take(self._ranks[other], self._label, self._timeout), array)

    def take_from_any(self, array):
        """The same of whichever member sends something first; answers which."""
        others = {rank: at for at, rank in enumerate(self._ranks) if at != self.rank}
        rank, found = self._wires.take_from_any(list(others), self._label, self._timeout)
        self._put(found, array)
        return others[rank]

    @staticmethod
    def _put(found, array):
        if len(found) != array.nbytes:
            raise RuntimeError(f"op.preamble.length <= op.nbytes. {len(found)} vs {array.nbytes}: the processes' tensors differ in size")
        array[...] = np.frombuffer(found, array.dtype)

    def send_bytes(self, other, data):
        """Sends bytes of any number."""
        self._wires.send(self._ranks[other], self._label, data)

    def take_bytes(self, other):
        """The bytes that ``other`` has sent."""
        return self._wires.take(self._ranks[other], self._label, self._timeout)


class ProcessGroup:
    """Several processes that compute together; made by `init_process_group` and `new_group`.

    `rank()` is this process's number among its members, `size()` how many there are.
    """

    def __init__(self, wires, ranks, name, desc, timeout, store):
        self._wires, self._ranks, self._timeout, self._store = wires, list(ranks), timeout.total_seconds(), store
        self._rank, self._size = self._ranks.index(wires.rank), len(self._ranks)
        self.group_name, self.group_desc, self.bound_device_id = name, desc, None
        self._counted, self._line = itertools.count(), Line()

    def rank(self):
        """The number of this process in the group."""
        return self._rank

    def size(self):
        """How many processes the group has."""
        return self._size

    def name(self):
        """By what the group's members talk: "gloo"."""
        return "gloo"

    def get_group_store(self):
        """Where its members have found each other."""
        return self._store

    def set_timeout(self, timeout):
        """How long members wait for each other from now on, a `timedelta`."""
        self._timeout = timeout.total_seconds()

    def _together(self, timeout=None):
        """The next thing that all members do: they count alike, since they do the same things in the same order."""
        return Member(self, f"{self.group_name}/{next(self._counted)}", timeout)

    def _by_tag(self, tag):
        """Messages from one member to another that bear this tag."""
        return Member(self, f"{self.group_name}/tag {tag}")

    def __reduce__(self):
        raise TypeError("a group of processes stays in its process: each makes its own by init_process_group or new_group")


__all__ = ["ProcessGroup"]
