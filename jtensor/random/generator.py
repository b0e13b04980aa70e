"""``Generator``: one stream of random numbers, of the CPU or of an accelerator, and the CPU's default one that everybody shares.

Owns PyTorch's manners around the engine: seeds and their limits, states as tensors, copies and pickles. A sampler takes
``generator.engine`` and its lock. May know Tensors only late, when a state is asked for as one.
"""

import operator
import os
from typing import Any

import numpy as np

from ..base import devices
from ..base.devices import cpu
from ..base.naming import type_name
from .counter import Counter
from .mt19937 import MT19937

_FIRST_SEED = 67280421310721  # of every new Generator


class Generator:
    """A stream of random numbers of its own, for tensors on one device: ``Generator(device="cpu")``. It starts at seed 67280421310721.

    On an accelerator it is counter-based, and its state a seed and an offset. Raises RuntimeError for a device that has no generator.

    >>> Generator().manual_seed(3).initial_seed()
    3
    """

    __slots__ = ("engine", "device", "__weakref__")
    __module__ = "torch._C"

    def __new__(cls, *args: Any, **kwargs: Any):
        self = object.__new__(cls)
        self.device = _checked_device(_device_of(args, kwargs))
        self.engine = (MT19937 if self.device is cpu else Counter)(_FIRST_SEED)
        return self

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
        """The state in PyTorch's own layout: 5056 bytes, which PyTorch resumes from as well (on an accelerator 16)."""
        return self.engine.state_bytes()

    def set_state_bytes(self, data):
        """Resume from such bytes, written here or by PyTorch. RuntimeError if they are no such state; nothing changes then."""
        self.engine.set_state_bytes(bytes(data))

    def get_state(self):
        """The state as a uint8 tensor on the CPU, of 5056 elements (on an accelerator 16)."""
        from jtensor import from_numpy

        return from_numpy(np.frombuffer(bytearray(self.state_bytes()), np.uint8))

    def set_state(self, new_state):
        """Resume from a tensor that ``get_state`` gave.

        Raises TypeError for anything but a uint8 CPU tensor, RuntimeError for one that is not contiguous or no state.
        """
        self.set_state_bytes(_bytes_of(new_state))
        return self

    def clone_state(self):
        """A new generator that stands where this one stands."""
        other = type(self)(self.device)
        other.set_state_bytes(self.state_bytes())
        return other

    def get_offset(self):
        """How far an accelerator's stream has come. RuntimeError on the CPU."""
        return self._counter().offset

    def set_offset(self, offset):
        """Go to a place of an accelerator's stream, a multiple of 4. RuntimeError on the CPU."""
        self._counter().set_offset(operator.index(offset))

    def _counter(self):
        if self.device is cpu:
            raise RuntimeError("CPU Generator does not use offset")
        return self.engine

    def graphsafe_get_state(self):
        """For generators of captured graphs only: NotImplementedError."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state):
        """For generators of captured graphs only: NotImplementedError."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __reduce__(self):
        # by way of a function: the class bears PyTorch's name, under which pickle would look for it in vain
        offset = None if self.device is cpu else self.get_offset()
        return _again, (self.device,), (self.initial_seed(), offset, self.get_state())

    def __setstate__(self, saved):
        seed, _, state = saved
        self.manual_seed(seed)
        self.set_state(state)

    def __repr__(self):
        return f"<torch._C.Generator object at {id(self):#x}>"


def _again(device="cpu"):
    return Generator(device)


def checked_seed(seed):
    """A seed as the 64 bits that are kept of it. ValueError outside -2**63 .. 2**64 - 1."""
    if not -(1 << 63) <= seed < 1 << 64:
        raise ValueError("Overflow when unpacking long long")
    return seed % (1 << 64)


def _device_of(args, kwargs):
    """The argument of a call; TypeError where it is another."""
    if len(args) > 1:
        raise TypeError(f"Generator() takes from 0 to 1 positional arguments but {len(args)} were given")
    other = next((name for name in kwargs if name != "device"), None)
    if other is not None:
        raise TypeError(f"Generator() got an unexpected keyword argument '{other}'")
    if args and kwargs:
        raise TypeError("Generator() got multiple values for argument 'device'")
    given = args[0] if args else kwargs.get("device", "cpu")
    if isinstance(given, bool) or not (given is None or isinstance(given, str | int | np.integer | devices.device)):
        raise TypeError(f"Generator(): argument 'device'{' (position 1)' * len(args)} must be torch.device, not {type_name(type(given))}")
    return given


def _checked_device(given):
    """The canonical device of a generator."""
    if given is None:
        return cpu
    if isinstance(given, int):
        if not devices.accelerators():
            raise RuntimeError("Cannot access accelerator device when none is available.")
        given = devices.device("cuda", given)
    wanted = devices.device(given)
    kind = wanted.type
    if kind == "cpu":
        return cpu
    if kind == "cuda":
        if not devices.accelerators():
            raise RuntimeError("Cannot get CUDA generator without ATen_cuda library. jtensor sees no GPU through JAX")
        return devices.place(wanted)
    raise RuntimeError(_ELSEWHERE.get(kind) or f"{kind.upper()} device type not an accelerator.")


_ELSEWHERE = {
    "xpu": "Cannot get XPU generator without ATen_xpu library.",
    "xla": "Cannot get XLA generator without torch_xla library. This error has occurred because you are trying to use some XLA "
           "functionality, but the XLA library has not been loaded by the dynamic linker. You must load xla libraries by "
           "`import torch_xla`",
    **{kind: f"Cannot execute getNewGenerator() without {kind.upper()} backend." for kind in ("mps", "mtia")},
    **dict.fromkeys(("hpu", "hip"), "Backend doesn`t support getNewGenerator()"),
    "privateuseone": "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first.",
}


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
