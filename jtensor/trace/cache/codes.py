"""The code of functions that are written out at run time, remembered across processes.

To compile such a text takes half a millisecond, which a script's second start need not spend. Owns: two tables of the cache on disk
(`tables`), by digests of the texts, so that they serve any version of this package; they are written when programs are (`shapes`). May not
know: what the texts say.
"""
import hashlib
import marshal
import sys

from . import store
from .tables import Table

KEPT = 512                      # functions, some 3 KB each


class Codes(Table):
    """A table of codes, marshalled, by digests of their texts."""

    def __init__(self, entry):
        super().__init__(f"{entry} {sys.implementation.cache_tag} {sys.version}", KEPT, of_any=True)

    def compiled(self, text, name):
        """The code object of a text; ``name`` stands for a file in tracebacks.

        >>> scope = {}
        >>> exec(Codes("examples").compiled("answer = 6 * 7", "<example>"), scope)
        >>> scope["answer"]
        42
        """
        if store.folder() is None:
            return compile(text, name, "exec")
        digest = hashlib.blake2b(f"{name}\n{text}".encode(), digest_size=12).digest()
        found = self.get(digest)
        if found is None:
            found = marshal.dumps(compile(text, name, "exec"))
            self.add(digest, found)
        return marshal.loads(found)


CODES = Codes("codes")                      # of functions that a script's operations ask for
PUBLIC = Codes("public functions")          # of those that the import makes, the same for all scripts
