"""`torch.distributed`: several processes that compute together, over a Gloo of our own.

A process has its own jtensor and its own tape; what goes between them are host arrays. From the top down:

    distributed_c10d.py   PyTorch's room of all the names below
    collectives.py, messages.py, objects.py    what members of a group do together, and two of them: tensors, and what can be pickled
    reducer.py            the gradients of `nn.parallel.DistributedDataParallel`
    nn.py                 what groups do together, with gradients (loaded when it is imported)
    world.py, backends.py   which groups there are; init_process_group; by which libraries processes talk
    tensors.py            tensors as arrays of the host, and back
    groups.py, work.py    a group as its member sees it; what is under way in it
    patterns.py           who sends what to whom, and in which order numbers are added up; reducing.py: what adding is
    wires.py              connections between processes
    rendezvous.py, stores.py, tcp_store.py, errors.py    how processes find each other
    run.py, launcher/, elastic/    ``torchrun``
    optim/, algorithms/   optimizers over several processes; hooks for gradients, means of models, uneven numbers of steps
    checkpoint/           folders that processes write and read together
    utils.py, _functional_collectives.py    what libraries ask for besides
    autograd.py, constants.py, device_mesh.py, fsdp/, pipelining.py, rpc.py, tensor/, _composable/, _tensor/
                          names that libraries import of what is not there
"""
from . import algorithms as algorithms
from . import constants as constants
from . import device_mesh as device_mesh
from . import distributed_c10d as distributed_c10d
from . import rpc as rpc
from .device_mesh import DeviceMesh, init_device_mesh
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import __all__ as _listed
from .distributed_c10d import _rank_not_in_group  # noqa: F401

__all__ = ["DeviceMesh", "algorithms", "constants", "device_mesh", "distributed_c10d", "init_device_mesh", "rpc", *_listed]
