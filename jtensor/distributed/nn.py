"""What a group of processes does together, with gradients. Owns: the functions of that name, which say that there is no group."""
from .distributed_c10d import ReduceOp, _no_group


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_gather(tensor, group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


__all__ = ["all_gather", "all_reduce"]
