"""The engine of an accelerator's generator: a seed and an offset, and nothing drawn on the host.

A draw takes the present offset and moves it on; the numbers are a function of (seed, offset, position) that the program computes
(`by_counter`). Owns the offset and its lock, PyTorch's 16 bytes of state, and the generators of the devices. Also the switch that puts the
CPU's stream in their place.
"""
import os
import struct
import threading

from ..base import switches
from .mt19937 import MT19937

STATE_BYTES = 16
STEP = 4                # one draw's share of the offset, which is always a multiple of it, as in PyTorch
_LAYOUT = struct.Struct("<Qq")
_CPU_STREAM = [switches.is_on("JTENSOR_CPU_STREAM", False)]


class Counter:
    """The state of one counter-based stream.

    >>> engine = Counter(7)
    >>> engine.take(), engine.take(), engine.state_bytes().hex()
    ((7, 0), (7, 4), '07000000000000000800000000000000')
    """

    __slots__ = ("lock", "seed", "offset")

    def __init__(self, seed):
        self.lock = threading.RLock()
        self.reseed(seed)

    def reseed(self, seed):
        """Start again from ``seed`` (0 <= seed < 2**64)."""
        with self.lock:
            self.seed, self.offset = seed, 0

    def take(self):
        """(seed, offset) of the next draw, whatever its size: two integers that fit 64 bits with a sign."""
        with self.lock:
            offset, self.offset = self.offset, (self.offset + STEP) % (1 << 63)
        return (self.seed - (1 << 64) if self.seed >= 1 << 63 else self.seed), offset

    def on_host(self):
        """An engine of the host for one draw that has no counter-based form; another one each time, determined by the state."""
        seed, offset = self.take()
        low, high = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
        return MT19937(_word((low, high), (offset & 0xFFFFFFFF, offset >> 32 & 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)))

    def set_offset(self, offset):
        """RuntimeError unless it is a multiple of 4."""
        if offset % STEP:
            raise RuntimeError("offset must be a multiple of 4")
        self.offset = offset

    def state_bytes(self):
        """PyTorch's layout of a GPU generator's state: the seed, the offset, 8 bytes each, little endian."""
        with self.lock:
            return _LAYOUT.pack(self.seed, self.offset)

    def set_state_bytes(self, data):
        """Resume from 16 bytes. RuntimeError if they are no such state; nothing changes then."""
        if len(data) not in (8, STATE_BYTES):
            raise RuntimeError("RNG state is wrong size")
        seed, offset = _LAYOUT.unpack(data if len(data) == STATE_BYTES else data + bytes(8))
        with self.lock:
            self.set_offset(offset)
            self.seed = seed


def _word(key, counter):
    import numpy as np

    from .philox import philox

    def one(x):
        return np.array([x], np.uint32)
    return int(philox(tuple(map(one, key)), tuple(map(one, counter)))[0][0])


# -- the default streams of the devices ----------------------------------------------------------------------------------------------

_engines = {}           # the device's index -> its engine, made when it is first asked for
_start = [None]         # the seed that later ones begin with; None: the operating system's randomness
_lock = threading.Lock()


def default(index):
    """The engine of the accelerator's default generator."""
    with _lock:
        engine = _engines.get(index)
        if engine is None:
            seed = _start[0]
            engine = _engines[index] = Counter(int.from_bytes(os.urandom(8), "little") if seed is None else seed)
        return engine


def seed_all(seed):
    """Start the default streams of all accelerators anew, those as well that nobody has used yet."""
    with _lock:
        _start[0] = seed
        for engine in _engines.values():
            engine.reseed(seed)


def present():
    """The default engines that have been used: a dict from the device's index."""
    with _lock:
        return dict(_engines)


# -- the switch ----------------------------------------------------------------------------------------------------------------------


def use_cpu_stream(mode):
    """Whether tensors on an accelerator get the CPU generator's numbers, drawn on the host and sent over.

    By default (or with ``JTENSOR_CPU_STREAM=0`` in the environment) an accelerator draws its own, by a counter-based generator inside the
    program. With ``True`` a script prints there what it prints on the CPU.

    >>> use_cpu_stream(True); uses_cpu_stream()
    True
    >>> use_cpu_stream(False)
    """
    if not isinstance(mode, bool):
        raise TypeError(f"use_cpu_stream expects a bool, but got {type(mode).__name__}")
    _CPU_STREAM[0] = mode


def uses_cpu_stream():
    """What `use_cpu_stream` was told."""
    return _CPU_STREAM[0]
