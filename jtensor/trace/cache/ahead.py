"""What a script will load, loaded while it still records: its second start finds its programs ready.

Owns: one table of the cache on disk (`tables`) that says which programs were used after a process had made its first operations, these
named by a chain of digests; a thread that loads what such an entry names, and runs on zeros what has parts that the runtime makes at
their first run (matrix products, sums). Guessed wrongly, it has warmed the machine; no result depends on it. May not know: operators,
tapes, what a program computes.
"""
import hashlib
import math

import numpy as np

from ...base import compat
from ...base.background import Worker
from . import first_product, store
from .tables import Table

MILESTONES = frozenset((2, 4, 8, 16, 32, 64))      # after so many operations it is asked what comes
MOST = 12                       # programs that are loaded ahead
LARGEST = 1 << 24               # bytes of a program's inputs and results beyond which it is not run on zeros: that is no beginning any more
KEPT = 512                      # milestones that the table remembers
_ENTRY = "ahead"
PRODUCTS = "products"           # stands among the programs' names where some of them multiply matrices
_LOADER, _REHEARSER = Worker("ahead"), Worker("rehearsal")


class Ahead:
    """``table``: milestone -> names of programs; ``passed``: (milestone, how many programs had been used by then) of this process."""

    def __init__(self):
        self.table, self.passed, self.chain, self.count = Table(_ENTRY, KEPT), [], hashlib.blake2b(digest_size=12), 0

    def after(self, digest):
        """An operation, named by a digest, was made for the first time in this process."""
        self.count += 1
        if self.count > max(MILESTONES):
            return
        self.chain.update(digest)
        if self.count in MILESTONES:
            at = self.chain.digest()
            self.passed.append((at, len(store.used)))
            names = self.table.get(at)
            if names is not None and compat.backend_started():       # which is the script's to start
                begin(names.decode().split())

    def keep(self, wait=False):
        """Writes what followed on this process's milestones, if the table says something else."""
        products = [PRODUCTS] if first_product.has_begun() else []
        for at, first in self.passed:
            names = store.used[first:first + MOST]
            if names and self.table.get(at) != (named := " ".join([*products, *names]).encode()):
                self.table.add(at, named)
        self.table.keep(wait)


def begin(names):
    """Loads these programs in the background; what an earlier guess named beside them is given up."""
    if PRODUCTS in names:
        first_product.begin()
        names = [name for name in names if name != PRODUCTS]
    for name in set(store.coming) - set(names):
        handle = store.coming.pop(name, None)
        if handle is not None:
            handle.cancel()
    for name in names:
        if name not in store.coming and name not in store.used:
            handle = store.coming[name] = _LOADER.submit(lambda name=name: store.load_named(name), name="load ahead")
            _REHEARSER.submit(lambda name=name, handle=handle: _rehearse(name, handle), name="rehearse")


def _rehearse(name, handle):
    """Runs a program on zeros, unless somebody has taken it meanwhile."""
    program = handle.result() if store.coming.get(name) is handle else None
    if program is None or not program.slow_to_begin:
        return
    if sum(math.prod(shape) * dtype.itemsize for shape, dtype in (*program.inputs, *program.outputs)) <= LARGEST:
        for array in program.run([compat.put(np.zeros(shape, dtype)) for shape, dtype in program.inputs]):
            array.block_until_ready()


AHEAD = Ahead()
