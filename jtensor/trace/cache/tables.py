"""Tables of the cache on disk that processes fill together, {digest: bytes}: the newest entries stay.

Owns: what of a table this process has read, used and added, and how often it is written: the whole of it each time, beside what others have
written meanwhile, so not with every entry. May not know: what its entries say.
"""
import marshal
import math
import time

from . import store

PAUSE = 50                      # times as long as writing has taken, until it is written again; at the end of a process it is in any case


class Table:
    """``known``: what was on disk when the first was asked for; ``used``: what this process has found there or added; ``new``: how many
    the disk does not have. ``entry``: its name in the store, whose ``kept`` last used are kept; ``of_any``: by any version of this package.
    """

    def __init__(self, entry, kept, of_any=False):
        self.entry, self.kept, self.of_any = f"{entry} marshal {marshal.version}", kept, of_any
        self.known, self.used, self.new, self._due = None, {}, 0, 0.0

    def get(self, digest):
        """The bytes under a digest, or None."""
        found = self.used.get(digest)
        if found is None:
            if self.known is None:
                self.known = self.on_disk()
            found = self.known.get(digest)
            if found is not None:
                self.used[digest] = found
        return found

    def add(self, digest, value):
        """Puts bytes under a digest; `keep` writes them."""
        self.used[digest] = value
        self.new += 1

    def keep(self, wait=False):
        """Writes what is new in the background, unless it was written a short time ago; with ``wait`` it is written when this returns."""
        if self.new and (wait or time.monotonic() >= self._due):
            self.new, self._due = 0, math.inf
            store.write(self.entry, self._body, wait, self.of_any)

    def on_disk(self):
        """What is there now; nothing where that is none of ours."""
        body = store.read(self.entry, self.of_any)
        try:
            found = marshal.loads(body) if body else {}
        except (ValueError, EOFError, TypeError):
            return {}
        return found if type(found) is dict else {}

    def _body(self):
        began = time.monotonic()
        try:
            mine = self.used.copy()
            others = [entry for entry in self.on_disk().items() if entry[0] not in mine]
            return marshal.dumps(dict([*others, *mine.items()][-self.kept:]))
        finally:
            now = time.monotonic()
            self._due = now + PAUSE * (now - began)
