"""Devices in a grid: there is none. Owns: the names that programs import for it."""
from ..base.absent import kind

_ABOUT = "meshes of devices", "groups of processes: init_process_group, new_group"

DeviceMesh = kind(__name__, "DeviceMesh", *_ABOUT)


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """Raises ``NotImplementedError``."""
    return DeviceMesh(device_type, mesh_shape)


__all__ = ["DeviceMesh", "init_device_mesh"]
