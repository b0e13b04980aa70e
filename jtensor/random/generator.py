"""``Generator``: one stream of the CPU's random numbers, and the default one that everybody shares.

Owns PyTorch's manners around the engine: seeds and their limits, states as tensors, copies and pickles. A sampler takes
``generator.engine`` and its lock. May know Tensors only late, when a state is asked for as one.
"""

import operator
import os

import numpy as np

from ..base.devices import accelerators, device
from ..base.errors import missing
from .mt19937 import MT19937

_FIRST_SEED = 67280421310721  # of every new Generator


class Generator:
    """A stream of random numbers of its own, on the CPU: ``Generator(device="cpu")``. It starts at seed 67280421310721.

    Raises RuntimeError for a device that has no generator.

    >>> Generator().manual_seed(3).initial_seed()
    3
    """

    __slots__ = ("engine", "__weakref__")
    __module__ = "torch._C"

    def __new__(cls, device="cpu"):
        _check_device(device)
        self = object.__new__(cls)
        self.engine = MT19937(_FIRST_SEED)
        return self

    @property
    def device(self):
        """Where the generator makes its numbers."""
        return device("cpu")

    def manual_seed(self, seed):
        """Start the stream anew from ``seed``, -2**63 <= seed < 2**64, a negative one being its two's complement; returns the generator.

        Raises RuntimeError for anything but an integer and ValueError for one out of range.
        """
        if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        self.engine.reseed(checked_seed(operator.index(seed)))
        return self

    def initial_seed(self):
        """The seed the stream was last started from, as a number in [0, 2**64)."""
        return self.engine.seed

    def seed(self):
        """Start anew from 64 bits of the operating system's randomness; returns them as a number."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.engine.reseed(seed)
        return seed

    # -- states ------------------------------------------------------------------------------------------------------------------

    def state_bytes(self):
        """The state in PyTorch's own layout: 5056 bytes, which PyTorch resumes from as well."""
        return self.engine.state_bytes()

    def set_state_bytes(self, data):
        """Resume from 5056 bytes, written here or by PyTorch. RuntimeError if they are no such state; nothing changes then."""
        self.engine.set_state_bytes(bytes(data))

    def get_state(self):
        """The state as a uint8 tensor of 5056 elements."""
        from jtensor import from_numpy

        return from_numpy(np.frombuffer(bytearray(self.state_bytes()), np.uint8))

    def set_state(self, new_state):
        """Resume from a tensor that ``get_state`` gave.

        Raises TypeError for anything but a uint8 CPU tensor, RuntimeError for one that is not contiguous or no state.
        """
        self.set_state_bytes(_bytes_of(new_state))

    def clone_state(self):
        """A new generator that stands where this one stands."""
        other = type(self)()
        other.set_state_bytes(self.state_bytes())
        return other

    def get_offset(self):
        """For counter-based generators only: RuntimeError."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset):
        """For counter-based generators only: RuntimeError."""
        raise RuntimeError("CPU Generator does not use offset")

    def graphsafe_get_state(self):
        """For generators of captured graphs only: NotImplementedError."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state):
        """For generators of captured graphs only: NotImplementedError."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __reduce__(self):
        # by way of a function: the class bears PyTorch's name, under which pickle would look for it in vain
        return _again, (), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, saved):
        seed, _, state = saved
        self.manual_seed(seed)
        self.set_state(state)

    def __repr__(self):
        return f"<torch._C.Generator object at {id(self):#x}>"


def _again():
    return Generator()


def checked_seed(seed):
    """A seed as the 64 bits that are kept of it. ValueError outside -2**63 .. 2**64 - 1."""
    if not -(1 << 63) <= seed < 1 << 64:
        raise ValueError("Overflow when unpacking long long")
    return seed % (1 << 64)


def _check_device(given):
    if given is None:
        return
    if isinstance(given, int):
        if not accelerators():
            raise RuntimeError("Cannot access accelerator device when none is available.")
        given = device("cuda", given)
    kind = device(given).type
    if kind == "cpu":
        return
    if kind == "cuda":
        if not accelerators():
            raise RuntimeError("Cannot get CUDA generator without ATen_cuda library. jtensor sees no GPU through JAX")
        raise missing("generators of its own on a GPU", "Generator('cpu')")
    if kind == "meta":
        raise RuntimeError("META device type not an accelerator.")
    raise RuntimeError(f"Device type {kind.upper()} is not supported for torch.Generator() api.")


def _bytes_of(state):
    from jtensor import Tensor, uint8

    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if state.dtype is not uint8 or state.device.type != "cpu":
        raise TypeError("RNG state must be a torch.ByteTensor")
    if not state.is_contiguous():
        raise RuntimeError("RNG state must be contiguous")
    return state.detach().numpy().tobytes()


def _random_start():
    generator = Generator()
    generator.seed()
    return generator


default_generator = _random_start()
