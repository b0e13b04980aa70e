"""`torch._dynamo.utils`: questions that libraries ask of the compiler. Owns: the answers for what compiles here, which is everything."""
from ..base.devices import device


def is_compile_supported(device_type):
    """Whether what runs on such a device is compiled."""
    return device(device_type).type in ("cpu", "cuda")


__all__ = ["is_compile_supported"]
