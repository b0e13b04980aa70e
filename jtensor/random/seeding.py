"""``torch.random``: seeds and states of the default generator.

Owns ``manual_seed``, ``seed``, ``initial_seed``, ``get_rng_state``, ``set_rng_state`` and ``fork_rng``. Knows generators; states of GPUs
are none of its business, since jtensor has no stream of its own there.
"""

import contextlib

from .generator import default_generator


def manual_seed(seed):
    """Start the default generator anew from ``int(seed)``; returns the generator.

    Raises ValueError outside -2**63 .. 2**64 - 1, and whatever ``int`` raises.

    >>> manual_seed(7).initial_seed()
    7
    """
    return default_generator.manual_seed(int(seed))


def seed():
    """Start the default generator from the operating system's randomness; returns the seed."""
    return default_generator.seed()


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

    ``devices`` and ``device_type`` choose among accelerators, whose numbers come from the same generator here.

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
    try:
        yield
    finally:
        default_generator.set_state_bytes(state)


def thread_safe_generator():
    """The generator of a loader's worker thread, or None outside of one, which means the default generator."""
    return None
