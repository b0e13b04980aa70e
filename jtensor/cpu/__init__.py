"""`torch.cpu`: the CPU asked the questions that one asks a GPU. It is one device, always there. Owns: the answers."""
from . import amp as amp

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "set_device", "synchronize"]


def is_available():
    """Whether there is a CPU: True."""
    return True


def is_initialized():
    """Whether the CPU is ready: True."""
    return True


def device_count():
    """How many CPUs PyTorch counts: 1.

    >>> torch.cpu.device_count()
    1
    """
    return 1


def current_device():
    """The name of the current CPU: "cpu"."""
    return "cpu"


def set_device(device):
    """Nothing: there is one CPU."""


def synchronize(device=None):
    """Waits for what the CPU is asked to do: runs the tape of this thread."""
    from ..trace.executor import flush
    flush("cpu.synchronize")
