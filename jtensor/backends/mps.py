"""`torch.backends.mps`: Apple's Metal is not used, XLA computes."""


def is_available():
    """Whether it is used: no."""
    return False


def is_built():
    """Whether it is part of the library: no."""
    return False
