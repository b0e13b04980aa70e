"""`torch.mtia`: Meta's accelerators, of which there are none: what PyTorch says that was built without them. Owns: these answers."""

__all__ = ["device_count", "is_available", "is_initialized", "synchronize"]


def is_available():
    """Whether there is one: False."""
    return False


def is_initialized():
    """Whether one is in use: False."""
    return False


def device_count():
    """How many there are: 0."""
    return 0


def synchronize(device=None):
    """RuntimeError, since there is none."""
    raise RuntimeError("Cannot execute getCurrentDevice() without MTIA backend.")
