"""The engine: the 32-bit words of mt19937, and the 5056 bytes in which PyTorch keeps its state.

Owns the words and their order, the cached half of a Box-Muller pair, and the lock under which a sampler works.
Knows numpy and nothing else: no distribution, no Tensor, no JAX.

numpy's own MT19937 makes the words (its legacy integer seeding is the same as PyTorch's); numpy's *distributions* are never used,
because PyTorch takes the low bits of a word where numpy takes the high ones.
"""

import ctypes
import functools
import struct
import threading

import numpy as np

WORDS_IN_BLOCK = 624
STATE_BYTES = 5056

# seed, left, seeded, next, 624 words in 64-bit slots, unused, cached normal, unused, its flag, cached float normal, its flag
_HEAD = struct.Struct("<QiiQ")
_TAIL = struct.Struct("<QdQI4sIB3s")
_WORDS_AT = _HEAD.size
_TAIL_AT = _WORDS_AT + 8 * WORDS_IN_BLOCK

# Below this many words numpy's raw call is cheaper than its bounded-integer call, above it the 64-bit slots cost more than they save.
_FEW = 1 << 13
_AHEAD = 1 << 14     # words read ahead at most, of a sampler that is asked for the same again and again
_LOW_HALF = np.uint64(32)


class MT19937:
    """One stream of random words.

    >>> engine = MT19937(0)
    >>> [int(w) for w in engine.words(3)]
    [2357136044, 2546248239, 3071714933]
    """

    __slots__ = ("lock", "seed", "cached_normal", "_bits", "_memory", "_ranged", "_idle_next", "_float_cache", "_ahead", "_alike")

    def __init__(self, seed):
        self.lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self._memory = _live(self._bits) if _may_live() else None
        self._ranged = np.random.Generator(self._bits)
        self._ahead, self._alike = None, (None, 0, 0)
        self.reseed(seed)

    def reseed(self, seed):
        """Start again from ``seed`` (0 <= seed < 2**64). Only its low 32 bits shape the numbers; all 64 are remembered."""
        with self.lock:
            self.seed = seed
            self.cached_normal = self._ahead = None
            self._float_cache = (0, 0)  # never used on the CPU, but part of the bytes
            # Between seeding and the first word PyTorch says "left 1, next 0" where a block that was used up says "left 1, next 624".
            self._idle_next = 0
            _legacy_seed(self._bits, seed & 0xFFFFFFFF)

    # -- drawing ---------------------------------------------------------------------------------------------------------------

    def words(self, n):
        """The next ``n`` words as a fresh uint32 array."""
        if n <= 0:
            return np.empty(0, np.uint32)
        if self._ahead is not None:
            self._come_back()
        self._idle_next = None
        if n < _FEW:
            return self._bits.random_raw(n).astype(np.uint32)
        return self._ranged.integers(0, 4294967296, size=n, dtype=np.uint32)

    def draws(self, n):
        """The next ``n`` 64-bit numbers, two words each with the first word on top, as a fresh uint64 array."""
        if n <= 0:
            return np.empty(0, np.uint64)
        if self._ahead is not None:
            self._come_back()
        self._idle_next = None
        if n < 256:
            raw = self._bits.random_raw(2 * n)
            high = raw[::2] << _LOW_HALF
            high |= raw[1::2]
            return high
        return self._ranged.integers(0, 18446744073709551616, size=n, dtype=np.uint64)

    def word_list(self, n):
        """The next ``n`` words as Python ints, for the samplers that work number by number."""
        if n <= 0:
            return []
        if self._ahead is not None:
            self._come_back()
        self._idle_next = None
        return self._bits.random_raw(n).tolist()

    # -- ahead -----------------------------------------------------------------------------------------------------------------

    def row(self, key, each, make):
        """What a sampler makes of the next ``each`` words: the one row of ``make(1)``, where ``make(n)`` draws the words of n calls.

        Asked for the same ``key`` again and again, with nothing drawn in between, it makes several rows at once, twice as many each time;
        whoever draws something else finds the stream where the rows that were handed out end. Whoever gets a row may write to it.
        """
        ahead = self._ahead
        if ahead is not None:
            if ahead[0] == key:
                _, _, _, rows, at = ahead
                ahead[4] = at + 1
                if at + 1 == len(rows):
                    self._ahead, self._alike = None, (key, int(self._memory[-1]), at + 1)
                return rows[at].copy()          # the block is not to live as long as a row of it
            self._come_back()
        count, alike = 1, self._alike
        if alike[0] == key and self._memory is not None and alike[1] == self._memory[-1]:
            count = min(2 * alike[2], _AHEAD // each)
        if count < 2:
            made = make(1)[0]
            if self._memory is not None:
                self._alike = key, int(self._memory[-1]), 1
            return made
        start = self._memory.copy()
        rows = make(count)
        self._ahead = [key, start, each, rows, 1]
        return rows[0].copy()

    def _come_back(self):
        """To where the rows that were handed out end."""
        _, start, each, _, at = self._ahead
        self._ahead = None
        self._go_to(start)
        self._bits.random_raw(each * at, output=False)

    # -- going back --------------------------------------------------------------------------------------------------------------

    def mark(self):
        """Where the stream stands, to be handed to ``rewind``. The cached normal is not part of it."""
        return self._words_and_position(), self._idle_next

    def rewind(self, mark, skip):
        """Go back to ``mark`` and use ``skip`` words from there: how a sampler that looked ahead gives back what it did not need."""
        words_and_position, self._idle_next = mark
        self._ahead = None
        self._go_to(words_and_position)
        if skip:
            self._idle_next = None
            self._bits.random_raw(skip, output=False)

    def _words_and_position(self):
        """The 624 words of the block and the position in it, as one uint32 array."""
        if self._ahead is not None:
            self._come_back()
        if self._memory is not None:
            return self._memory.copy()
        state = self._bits.state["state"]
        return np.append(state["key"], np.uint32(state["pos"]))

    def _go_to(self, words_and_position):
        if self._memory is not None:
            self._memory[:] = words_and_position
        else:
            key, position = words_and_position[:-1], int(words_and_position[-1])
            self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}

    # -- PyTorch's bytes ------------------------------------------------------------------------------------------------------------

    def state_bytes(self):
        """The whole state in PyTorch's layout: 5056 bytes, little endian."""
        with self.lock:
            held = self._words_and_position()
            key, pos = held[:-1], int(held[-1])
            if pos < WORDS_IN_BLOCK:
                left, following = WORDS_IN_BLOCK + 1 - pos, pos
            else:
                left, following = 1, WORDS_IN_BLOCK if self._idle_next is None else self._idle_next
            cached = self.cached_normal
            head = _HEAD.pack(self.seed, left, 1, following)
            tail = _TAIL.pack(0, 0.0 if cached is None else cached, 0, cached is not None, b"", *self._float_cache, b"")
            return head + key.astype("<u8").tobytes() + tail

    def set_state_bytes(self, data):
        """Take over a state in PyTorch's layout.

        RuntimeError if it does not have 5056 bytes or cannot be a state of mt19937; nothing changes then.
        """
        if len(data) != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be {len(data)}"
            )
        seed, left, seeded, following = _HEAD.unpack_from(data)
        if not seeded or not 0 < left <= WORDS_IN_BLOCK or following > WORDS_IN_BLOCK:
            raise RuntimeError("Invalid mt19937 state")
        if left > 1 and left + following != WORDS_IN_BLOCK + 1:
            # No generator writes such bytes: the two counters speak of different positions.
            raise RuntimeError(
                f"Invalid mt19937 state: {left} words left in a block of {WORDS_IN_BLOCK}, yet the next one is number {following}"
            )
        _, cached, _, has_cached, _, float_cached, has_float, _ = _TAIL.unpack_from(data, _TAIL_AT)
        key = np.frombuffer(data, "<u8", WORDS_IN_BLOCK, _WORDS_AT).astype(np.uint32)
        with self.lock:
            self._ahead, pos = None, WORDS_IN_BLOCK if left == 1 else following
            self._go_to(np.append(key, np.uint32(pos)))
            self._idle_next = following if left == 1 and following != WORDS_IN_BLOCK else None
            self.seed = seed
            self.cached_normal = cached if has_cached else None
            self._float_cache = (float_cached, bool(has_float))


def _live(bits):
    """The memory in which a numpy engine has its 624 words and its position: a copy takes a hundredth of the time of ``bits.state``."""
    return np.frombuffer((ctypes.c_uint32 * (WORDS_IN_BLOCK + 1)).from_address(bits.ctypes.state_address), np.uint32)


@functools.cache
def _may_live():
    """Whether that memory is laid out as it has always been: it shows what ``bits.state`` says, and a change of it counts."""
    bits = np.random.MT19937(3)
    bits.random_raw(5)
    try:
        memory = _live(bits)
    except (AttributeError, OSError, TypeError, ValueError):
        return False
    before, said = memory.copy(), bits.state["state"]
    if said["key"].tolist() != before[:-1].tolist() or said["pos"] != before[-1]:
        return False
    drawn = bits.random_raw(700)
    memory[:] = before
    return np.array_equal(bits.random_raw(700), drawn)


def _legacy_seed(bits, seed):
    """Put numpy's engine where 32-bit integer seeding puts it, by its private quick way if there is one (1 us against 60)."""
    quick = getattr(bits, "_legacy_seeding", None)
    if quick is not None:
        quick(seed)
    else:
        bits.state = np.random.RandomState(seed).get_state(legacy=False)
