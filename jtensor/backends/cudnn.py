"""`torch.backends.cudnn`: switches that permit or demand ways of computing on a GPU, where XLA makes the choice.

``allow_tf32`` (True) permits convolutions of float32 to take TF32's precision there. The others are kept and readable and change nothing:
``benchmark`` permits what XLA does anyway. ``is_available`` is the honest answer about cuDNN being called from here.

>>> import jtensor as torch
>>> with torch.backends.cudnn.flags(allow_tf32=False):
...     torch.backends.cudnn.allow_tf32
False
"""
import sys
import types

from ..tensor.dispatch import permit_tf32
from . import switches

enabled, benchmark, benchmark_limit, deterministic, allow_tf32 = True, False, None, False, True
fp32_precision, depthwise_kernel = "none", "auto"


def _heed():
    permit_tf32("conv", bool(allow_tf32))


class _Module(types.ModuleType):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "allow_tf32":
            _heed()


sys.modules[__name__].__class__ = _Module
set_flags, flags = switches.of(globals(), _heed, enabled=False, benchmark=False, benchmark_limit=None, deterministic=False, allow_tf32=True,
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
