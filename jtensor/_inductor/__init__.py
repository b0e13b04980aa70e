"""`torch._inductor`, as far as scripts touch it: the settings of a compiler that is not here."""
from . import config

__all__ = ["config"]
