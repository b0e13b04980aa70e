"""``torch.random``: seeds and states of the default generators.

Owns ``manual_seed``, ``seed``, ``initial_seed``, ``get_rng_state``, ``set_rng_state`` and ``fork_rng``. Knows generators and
the engines of the accelerators' default ones; `cuda_seeding` has the twins of `torch.cuda`.
"""

import contextlib

from ..base import devices as places
from . import counter
from .generator import checked_seed, default_generator


def manual_seed(seed):
    """Start the default generators of the CPU and of all accelerators anew from ``int(seed)``; returns the CPU's.

    Raises ValueError outside -2**63 .. 2**64 - 1, and whatever ``int`` raises.

    >>> manual_seed(7).initial_seed()
    7
    """
    seed = int(seed)
    default_generator.manual_seed(seed)
    counter.seed_all(checked_seed(seed))
    return default_generator


def seed():
    """Start the default generators from the operating system's randomness; returns the seed."""
    seed = default_generator.seed()
    counter.seed_all(seed)
    return seed


def initial_seed():
    """The seed that the default generator was last started from."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the default generator as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Resume the default generator from ``new_state``, a tensor that ``get_rng_state`` gave, here or in PyTorch."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type=None):
    """Within the block random numbers are drawn as ever; behind it the default generator stands where it stood before.

    ``devices``: the accelerators of which the same is true, all by default.

    >>> state = default_generator.state_bytes()
    >>> with fork_rng():
    ...     _ = manual_seed(0)
    >>> state == default_generator.state_bytes()
    True
    """
    if not enabled:
        yield
        return
    state = default_generator.state_bytes()
    chosen = range(len(places.accelerators())) if devices is None else [places.place(places.device(device_type or "cuda", d) if isinstance(
        d, int) else places.device(d)).index for d in devices]
    others = [(counter.default(index), counter.default(index).state_bytes()) for index in chosen]
    try:
        yield
    finally:
        default_generator.set_state_bytes(state)
        for engine, bytes_before in others:
            engine.set_state_bytes(bytes_before)


def thread_safe_generator():
    """The generator of a loader's worker thread, or None outside of one, which means the default generator."""
    return None
