"""The counter-based stream of PyTorch's GPU generator, from its published numbers: Philox4x32-10, vectorised.

Owns the ten rounds, which thread of which kernel call gets which word, and the conversions to float32. A pure function of (seed, offset):
no state, no lock. Knows numpy. The words are exact; normals depend on the GPU's own log, sin and cos in their last bits.

Nothing here serves a tensor yet: the streams of jtensor's tensors are the CPU's.
"""

import numpy as np

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_THREADS = 256  # of a block
_LOW32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def philox(seed, counter, subsequence):
    """The four words of each call, a uint32 array with a last axis of 4.

    ``seed``: 64 bits. ``counter`` and ``subsequence``: uint64 arrays of one shape, the low and high halves of the 128-bit counter.

    >>> [f"{int(w):08x}" for w in philox(0, np.zeros(1, np.uint64), np.zeros(1, np.uint64))[0]]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1 = counter & _LOW32, counter >> _32
    c2, c3 = subsequence & _LOW32, subsequence >> _32
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ np.uint64(k0), p1 & _LOW32, (p0 >> _32) ^ c3 ^ np.uint64(k1), p0 & _LOW32
        k0, k1 = (k0 + _KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], -1).astype(np.uint32)


def elementwise_words(seed, offset, n, processors, threads_of_processor=2048, per_call=4):
    """The words that an elementwise GPU kernel over ``n`` elements gives each, and the generator's offset afterwards.

    ``processors`` and ``threads_of_processor`` describe the GPU, since the numbers depend on them once n exceeds its threads.
    ``per_call``: values made of one call's four words, 4 of a word each or 2 of two words each. Answers with a uint32 array
    (n, 4 // per_call) and the new offset.
    """
    words, value, offset = _calls(seed, offset, n, processors, threads_of_processor, per_call)
    return words.reshape(n, per_call, 4 // per_call)[np.arange(n), value], offset


def _calls(seed, offset, n, processors, threads_of_processor, per_call):
    """For each element the four words of the call that makes it, which of the call's values it is, and the new offset."""
    blocks = min(processors * (threads_of_processor // _THREADS), -(-n // _THREADS))
    threads = _THREADS * max(blocks, 1)
    element = np.arange(n, dtype=np.uint64)
    slot, thread = element // np.uint64(threads), element % np.uint64(threads)
    words = philox(seed, np.uint64(offset // 4) + slot // np.uint64(per_call), thread)
    value = (slot % np.uint64(per_call)).astype(np.int64)
    return words, value, offset + (4 * ((n - 1) // (threads * per_call) + 1) if n else 0)


def rand(seed, offset, n, processors, **gpu):
    """``n`` float32 numbers as ``torch.rand(n, device="cuda")`` makes them, and the new offset.

    >>> numbers, offset = rand(0, 0, 4, 132)
    >>> [f"{x:.4f}" for x in numbers], offset
    (['0.3990', '0.5167', '0.0249', '0.9401'], 4)
    """
    words, offset = elementwise_words(seed, offset, n, processors, **gpu)
    x = words[:, 0].astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33)
    x[x == 1] = 0  # (0, 1] becomes [0, 1)
    return x, offset


def randn(seed, offset, n, processors, threads_of_processor=2048):
    """``n`` float32 numbers as ``torch.randn(n, device="cuda")`` makes them, to the last bits of log, sin and cos, and the new offset."""
    words, value, offset = _calls(seed, offset, n, processors, threads_of_processor, 4)
    at = np.arange(n)
    first, second = words[at, value & ~1], words[at, value | 1]
    tiny = np.float32(2.0**-33)
    u = first.astype(np.float32) * np.float32(2.0**-32) + tiny
    v = (second.astype(np.float32) * np.float32(2.0**-32) + tiny) * np.float32(6.2831855)
    radius = np.sqrt(np.float32(-2.0) * np.log(u))
    return np.where(value & 1, radius * np.cos(v), radius * np.sin(v)), offset
