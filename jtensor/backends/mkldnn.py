"""`torch.backends.mkldnn`: oneDNN is not used, XLA computes. Its switches are kept, readable, and change nothing."""
from . import switches

enabled, deterministic, allow_tf32, fp32_precision = True, False, None, "none"
set_flags, flags = switches.of(globals(), enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none")


def is_available():
    """Whether it is used: no."""
    return False
