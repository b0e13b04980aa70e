"""Tensors that lie on several devices: none is ever made, so that `isinstance` of one is always False. Owns: the names of that."""
from dataclasses import dataclass

from ...base.errors import missing


def _refused():
    return missing("tensors on several devices (torch.distributed.tensor)", "torch.tensor, on one device")


class DTensor:
    """A tensor that lies on several devices. To be named alone: there is no instance, and it is no subclass of `Tensor` for that reason."""

    def __new__(cls, *args, **kwargs):
        raise _refused()

    @staticmethod
    def from_local(local_tensor, device_mesh=None, placements=None, **options):
        """Raises ``NotImplementedError``."""
        raise _refused()


class Placement:
    """How a tensor lies along one dimension of a grid of devices."""

    def is_shard(self, dim=None):
        """Whether each device has a part of it (along ``dim``, where that is given)."""
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self):
        """Whether each device has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        """Whether each device has a summand of it (to be brought together by ``reduce_op``, where that is given)."""
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each device has a part along a dimension."""

    dim: int

    def __str__(self):
        return f"S({self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Each device has all of it."""

    def __str__(self):
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Each device has a summand."""

    reduce_op: str = "sum"

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"


def distribute_tensor(tensor, device_mesh=None, placements=None, *, src_data_rank=0):
    """Raises ``NotImplementedError``."""
    raise _refused()


def distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None):
    """Raises ``NotImplementedError``."""
    raise _refused()


__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor"]
