"""The code of functions that are written out at run time, remembered across processes.

To compile such a text takes half a millisecond, which a script's second start need not spend. Owns: two entries of the cache on disk
(`store`), by digests of the texts, so that they serve any version of this package; they are written when programs are (`shapes`). May not
know: what the texts say.
"""
import hashlib
import marshal
import sys

from . import store

KEPT = 512                      # functions, some 3 KB each


class Codes:
    """``known``: {digest of a text: its code, marshalled}; ``used``: those of this process; ``new``: whether the disk lacks one."""

    def __init__(self, entry):
        self.entry = f"{entry} {sys.implementation.cache_tag} {sys.version}"
        self.known, self.used, self.new = None, {}, False

    def compiled(self, text, name):
        """The code object of a text; ``name`` stands for a file in tracebacks.

        >>> scope = {}
        >>> exec(Codes("examples").compiled("answer = 6 * 7", "<example>"), scope)
        >>> scope["answer"]
        42
        """
        if store.folder() is None:
            return compile(text, name, "exec")
        if self.known is None:
            self.known = self._on_disk()
        digest = hashlib.blake2b(f"{name}\n{text}".encode(), digest_size=12).digest()
        found = self.used.get(digest) or self.known.get(digest)
        if found is None:
            self.new, found = True, marshal.dumps(compile(text, name, "exec"))
        self.used[digest] = found
        return marshal.loads(found)

    def keep(self, wait=False):
        """Writes what is new, in the background, beside what other processes have written meanwhile."""
        if self.new:
            self.new = False
            store.write(self.entry, self._body, wait, of_any=True)

    def _on_disk(self):
        return store.read_table(self.entry, marshal.loads, of_any=True)

    def _body(self):
        return marshal.dumps(store.merged(self._on_disk(), self.used.copy(), KEPT))


CODES = Codes("codes")                      # of functions that a script's operations ask for
PUBLIC = Codes("public functions")          # of those that the import makes, the same for all scripts
