"""`torch.backends.mkl`: Intel's MKL is not used, XLA computes."""


def is_available():
    """Whether it is used: no."""
    return False
