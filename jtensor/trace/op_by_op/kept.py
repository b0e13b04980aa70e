"""Kernels under their names: made when they are asked for, or begun before, and forgotten when others have been asked for since.

A script whose shapes do not come again needs new kernels at every step, and XLA takes 8 ms for the least of them. So a tape that runs op by
op says first which it is going to need: other threads compile them, or load them, while Python works out the next ones and does what
stands before. Who needs one that nobody has begun makes it there and then. Owns: how many are kept, and in which order they are made. May
not know: what a kernel computes.
"""
import collections
import threading

from ...base.background import Worker, processors
from ..report import REPORT

MAKERS = min(2 * processors(), 16)
"""How many kernels are made at a time, beside the one that somebody waits for. Each waits in between, for XLA's other threads and for
Python, so that two for a core take four fifths of the time of one by itself (two cores), and 16 that of 8 (16 cores, for a GPU)."""
_MAKER = Worker("kernels", threads=MAKERS)


class Kept:
    """Up to ``limit`` kernels, of which those are forgotten first that were asked for the longest ago; ``forgotten(name)`` hears of it.

    ``make()`` answers a kernel and where it comes from. Every name that compares equal names the same kernel.

    >>> kept = Kept(2)
    >>> kept.begin("one", lambda: (1, "compiled"))
    >>> kept.get("one", lambda: (1, "compiled")), len(kept)
    (1, 1)
    """

    def __init__(self, limit, forgotten=lambda name: None):
        self.limit, self.forgotten = limit, forgotten
        self._handles, self._lock = collections.OrderedDict(), threading.Lock()

    def __len__(self):
        return len(self._handles)

    def clear(self):
        """Forgets all of them."""
        with self._lock:
            names = list(self._handles)
            self._handles.clear()
        for name in names:
            self.forgotten(name)

    def begin(self, name, make):
        """Has a kernel made in the background, unless it is there."""
        self._handle(name, make)

    def get(self, name, make):
        """The kernel, made here and now if nobody has begun it. Raises what ``make`` raises, at every call anew."""
        handle = self._handle(name, make)
        try:
            return handle.result()
        except BaseException:               # Ctrl-C, too: whoever asks next has it made again
            with self._lock:
                if self._handles.get(name) is handle:
                    del self._handles[name]
            raise

    def _handle(self, name, make):
        with self._lock:
            handle = self._handles.get(name)
            if handle is not None:
                self._handles.move_to_end(name)
                return handle
            handle = self._handles[name] = _MAKER.submit(lambda: _counted(make), name="kernel")
            oldest = self._handles.popitem(last=False)[0] if len(self._handles) > self.limit else None
        if oldest is not None:
            self.forgotten(oldest)
        return handle


def _counted(make):
    kernel, origin = make()
    REPORT.kernel(origin)
    return kernel
