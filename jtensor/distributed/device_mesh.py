"""Devices in a grid: there is none without a group of processes. Owns: the names that programs import for it."""
from .distributed_c10d import _NotMade, _refused


class DeviceMesh(_NotMade):
    """Devices in a grid, one for each process. To be named alone: there is no instance."""


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """Raises ``NotImplementedError``, as `init_process_group`, which it would call."""
    raise _refused()


__all__ = ["DeviceMesh", "init_device_mesh"]
