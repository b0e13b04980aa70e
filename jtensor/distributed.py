"""`torch.distributed`, as in a PyTorch that was built without it: it says that it is not available.

What scripts ask before they decide to run on one process answers so; the rest says what PyTorch says while no group of processes has been
made, and making one is refused.
"""
import os

from .base.errors import missing


def is_available():
    """Whether several processes can compute together: no."""
    return False


def is_initialized():
    """Whether a group of processes has been made: no."""
    return False


def is_torchelastic_launched():
    """Whether this process was started by ``torchrun``."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def is_nccl_available():
    """Whether NCCL is part of the library: no."""
    return False


def is_gloo_available():
    """Whether Gloo is part of the library: no."""
    return False


def is_mpi_available():
    """Whether MPI is part of the library: no."""
    return False


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None):
    """Raises ``NotImplementedError``."""
    raise missing("groups of processes (torch.distributed)", "one process; torch.distributed.is_available() is False")


def _no_group():
    return ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_rank(group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def get_world_size(group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def get_backend(group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_reduce(tensor, op=None, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def reduce(tensor, dst=None, op=None, group=None, async_op=False, group_dst=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def destroy_process_group(group=None):
    """Raises AssertionError: there is no group."""
    raise AssertionError("Process group cannot be None")


__all__ = ["all_gather", "all_reduce", "barrier", "broadcast", "destroy_process_group", "get_backend", "get_rank", "get_world_size",
           "init_process_group", "is_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
           "is_torchelastic_launched", "reduce"]
