"""`torch._dynamo.utils`: questions that libraries ask of the compiler. Owns: the answers for what compiles here, which is everything."""
import contextlib
import sys

from ..base import sites
from ..base.devices import device
from . import config


def is_compile_supported(device_type):
    """Whether what runs on such a device is compiled."""
    return device(device_type).type in ("cpu", "cuda")


_said = set()


def warn_once(msg, stacklevel=1):
    """Warns, the first time that it is told this text."""
    if msg not in _said:
        _said.add(msg)
        sites.warn(msg)


@contextlib.contextmanager
def disable_cache_limit():
    """A context in which the settings say that a function may be compiled any number of times, as it may here at all times.

    >>> with torch._dynamo.utils.disable_cache_limit():
    ...     torch._dynamo.config.recompile_limit > 10**6
    True
    """
    with config.patch(recompile_limit=sys.maxsize, accumulated_recompile_limit=sys.maxsize):
        yield


__all__ = ["disable_cache_limit", "is_compile_supported", "warn_once"]
