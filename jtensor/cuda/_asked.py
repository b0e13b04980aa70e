"""Whether there is a GPU, and the refusals where there is none. Owns: these texts. May not know: what is asked for."""
from ..base import devices


def wanted():
    """AssertionError where JAX has no GPU."""
    if not devices.accelerators():
        raise AssertionError("Torch not compiled with CUDA enabled")


def built(name):
    """Where there is no GPU, what PyTorch built without CUDA says of a part of its core that it then has not."""
    if not devices.accelerators():
        raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


def class_wanted(name):
    """The same for a class."""
    if not devices.accelerators():
        raise RuntimeError(f"Tried to instantiate dummy base class {name}")
