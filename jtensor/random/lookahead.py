"""Random numbers handed out one by one, for the samplers that reject and retry.

Owns the reading ahead and the giving back. Knows the engine and the pair-wise normal; knows no distribution.
"""

import numpy as np

from .normals import one_pair


class Lookahead:
    """Numbers handed out one by one, for samplers whose need is known only while they run.

    Draws u53 numbers in blocks ahead of use; ``close`` gives back the rest, so the engine stands where number-by-number drawing would
    have left it. To be used under the engine's lock.

    >>> from jtensor.random.mt19937 import MT19937
    >>> engine = MT19937(0)
    >>> ahead = Lookahead(engine, 8)
    >>> first = ahead.uniform()
    >>> ahead.close()
    >>> len(engine.words(2)), first == (((2357136044 << 32) | 2546248239) % 2**53) / 2**53
    (2, True)
    """

    __slots__ = ("_engine", "_mark", "_ready", "_used", "_block")

    def __init__(self, engine, expected):
        self._engine = engine
        self._mark = engine.mark()
        self._block = min(max(int(expected), 8), 1 << 16)
        self._ready = []
        self._used = 0

    def uniform(self):
        """The next double in [0, 1): 53 low bits of a 64-bit draw."""
        if not self._ready:
            self._refill()
        return self._ready.pop()

    def _refill(self):
        drawn = (self._engine.draws(self._block) & np.uint64(0x1FFFFFFFFFFFFF)).astype(np.float64) * 2.0**-53
        self._ready = drawn[::-1].tolist()
        self._used += self._block

    def normal(self):
        """The next standard normal of the pair-wise path; its partner waits in the engine's cache."""
        engine = self._engine
        cached = engine.cached_normal
        if cached is not None:
            engine.cached_normal = None
            return cached
        value, engine.cached_normal = one_pair(self.uniform(), self.uniform())
        return value

    def close(self):
        """Set the engine to just behind the last number handed out."""
        self._engine.rewind(self._mark, 2 * (self._used - len(self._ready)))
