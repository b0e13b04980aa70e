"""`torch.backends.cudnn`: switches that permit or demand ways of computing on a GPU, where XLA makes the choice.

They are kept and readable and change nothing: ``benchmark`` and ``allow_tf32`` permit what is not made use of. ``is_available`` is the
honest answer about cuDNN being called from here.
"""
enabled, benchmark, deterministic, allow_tf32, benchmark_limit = True, False, False, True, 10


def is_available():
    """Whether this library calls cuDNN: no. XLA does as it sees fit."""
    return False


def version():
    """The version of cuDNN: None without it."""
    return None
