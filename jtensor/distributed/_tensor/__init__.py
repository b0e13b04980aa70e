"""The name that `torch.distributed.tensor` had at first, which libraries go on importing. Owns: nothing."""
from ..device_mesh import DeviceMesh, init_device_mesh
from ..tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_module, distribute_tensor

__all__ = ["DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor",
           "init_device_mesh"]
