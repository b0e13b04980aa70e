"""A client of the CPU that passes for a GPU, where there is none."""
from jtensor.base import compat, devices
from jtensor.base.compat import arrays, forked, programs


def pass_for_a_gpu(place, put=setattr):
    """Has ``cuda:0`` be ``place``, a device of `compat.cpu_apart`, and JAX's default device; in a child of fork there is none.

    ``put(room, name, value)`` changes a room. Such a device shares no buffer with JAX's own CPU.
    """
    real = arrays.default_device
    put(devices, "_accelerators", lambda: (place,))
    for room in (compat, arrays, programs):
        put(room, "default_device", lambda: real() if forked.is_forked() else place)
