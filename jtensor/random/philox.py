"""The words of counter-based streams: Philox4x32-10 as a pure function of seed, offset and position.

Owns the ten rounds. No state, no lock, no distribution; the same text serves NumPy and JAX, which it is told.
"""
import numpy as np

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85


def philox(key, counter):
    """The four words of each call: a tuple of uint32 arrays.

    ``key``: two uint32 arrays, the low and the high half of the seed. ``counter``: four, from the lowest word up. All of one shape, or
    ready to become so.

    >>> zero = np.zeros(1, np.uint32)
    >>> [f"{int(word[0]):08x}" for word in philox((zero, zero), (zero,) * 4)]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for step in range(10):
        if step:
            k0, k1 = k0 + np.uint32(_KEY_STEPS[0]), k1 + np.uint32(_KEY_STEPS[1])
        high0, low0 = _product(c0, _MULTIPLIERS[0])
        high1, low1 = _product(c2, _MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _product(x, multiplier):
    wide = x.astype(np.uint64) * np.uint64(multiplier)
    return (wide >> np.uint64(32)).astype(np.uint32), wide.astype(np.uint32)
