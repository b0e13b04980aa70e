"""`torch.distributed`, as in a PyTorch that was built without it: it says that it is not available.

What scripts ask before they decide to run on one process answers so; the rest says what PyTorch says while no group of processes has been
made, and making one is refused. Libraries for PyTorch import names from here without asking; those are there, as types of which no instance
can be made and functions that say why.

    distributed_c10d.py   groups, what they would do together, and the types of it
    constants.py          how long a group would wait
    device_mesh.py        devices in a grid
    rpc.py                calls of functions of other processes
    tensor/               tensors that lie on several devices (loaded when it is imported); _tensor/ is its first name
    fsdp.py               modules whose parameters do (loaded when it is imported); in _composable/ by its first name
    nn.py                 what groups do together, with gradients (loaded when it is imported)
"""
from . import constants as constants
from . import device_mesh as device_mesh
from . import distributed_c10d as distributed_c10d
from . import rpc as rpc
from .device_mesh import DeviceMesh, init_device_mesh
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import __all__ as _listed

__all__ = ["DeviceMesh", "init_device_mesh", *_listed]
