"""`torch._dynamo.utils`: questions that libraries ask of the compiler. Owns: the answers for what compiles here, which is everything."""
from ..base import sites
from ..base.devices import device


def is_compile_supported(device_type):
    """Whether what runs on such a device is compiled."""
    return device(device_type).type in ("cpu", "cuda")


_said = set()


def warn_once(msg, stacklevel=1):
    """Warns, the first time that it is told this text."""
    if msg not in _said:
        _said.add(msg)
        sites.warn(msg)


__all__ = ["is_compile_supported", "warn_once"]
