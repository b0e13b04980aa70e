"""The seeds and states of the accelerators' default generators, under the names that `torch.cuda` has for them."""
import os

from ..base import devices as places
from . import counter
from .generator import Generator, checked_seed


def of_device(device="cuda"):
    """The default generator of an accelerator. AssertionError where there is none."""
    device = places.place(places.device("cuda", device) if isinstance(device, int) else places.device(device))
    self = Generator(device)
    self.engine = counter.default(device.index or 0)
    return self


def manual_seed(seed):
    """Starts the stream of the current GPU anew; without a GPU nothing happens."""
    seed = int(seed)
    if places.accelerators():
        of_device().manual_seed(seed)


def manual_seed_all(seed):
    """Starts the streams of all GPUs anew; without a GPU nothing happens."""
    counter.seed_all(checked_seed(int(seed)))


def seed():
    """Starts the stream of the current GPU from the operating system's randomness."""
    if places.accelerators():
        of_device().seed()


def seed_all():
    """Starts the streams of all GPUs from the operating system's randomness, all with one seed."""
    counter.seed_all(int.from_bytes(os.urandom(8), "little"))


def initial_seed():
    """The seed that the current GPU's stream was last started from."""
    return of_device().initial_seed()


def get_rng_state(device="cuda"):
    """The state of a GPU's stream: seed and offset, a uint8 tensor of 16 elements on the CPU."""
    return of_device(device).get_state()


def set_rng_state(new_state, device="cuda"):
    """Resume a GPU's stream from what `get_rng_state` gave."""
    if places.accelerators():
        of_device(device).set_state(new_state)


def get_rng_state_all():
    """The states of all GPUs, a list."""
    return [get_rng_state(index) for index in range(len(places.accelerators()))]


def set_rng_state_all(new_states):
    """Resume the streams of all GPUs."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
