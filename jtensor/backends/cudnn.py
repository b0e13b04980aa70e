"""`torch.backends.cudnn`: switches that permit or demand ways of computing on a GPU, where XLA makes the choice.

They are kept and readable and change nothing: ``benchmark`` and ``allow_tf32`` permit what is not made use of. ``is_available`` is the
honest answer about cuDNN being called from here.
"""
from . import switches

enabled, benchmark, benchmark_limit, deterministic, allow_tf32 = True, False, None, False, True
fp32_precision, depthwise_kernel = "none", "auto"
set_flags, flags = switches.of(globals(), enabled=False, benchmark=False, benchmark_limit=None, deterministic=False, allow_tf32=True,
                               fp32_precision="none", depthwise_kernel="auto")


def is_available():
    """Whether this library calls cuDNN: no. XLA does as it sees fit."""
    return False


def version():
    """The version of cuDNN: None without it."""
    return None


def is_acceptable(tensor):
    """Whether an operation on the tensor would go to cuDNN: no."""
    return False
