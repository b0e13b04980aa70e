"""Groups of processes: none is ever made. What is asked before one is made answers as PyTorch does then; what needs one says so.

Owns: `torch.distributed`'s functions, and the types that programs name of it: operations, backends, a group of which there is no instance.
May not know: tensors.
"""
import enum
import os
from datetime import timedelta

from ..base.errors import missing

default_pg_timeout = timedelta(minutes=30)


def _refused():
    return missing("groups of processes (torch.distributed)", "one process; torch.distributed.is_available() is False")


class RedOpType(enum.IntEnum):
    """How the tensors of several processes become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self):
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self):
        return f"RedOpType.{self.name}"


RedOpType.__qualname__ = "ReduceOp.RedOpType"


class ReduceOp:
    """How the tensors of several processes become one: `ReduceOp.SUM` and its kind.

    >>> torch.distributed.ReduceOp.MAX
    <RedOpType.MAX: 4>
    """

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, PREMUL_SUM = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR, RedOpType.PREMUL_SUM

    def __init__(self, op):
        self.op = RedOpType(op)

    def __eq__(self, other):
        return self.op == getattr(other, "op", other)

    def __hash__(self):
        return hash(self.op)


class Backend(str):
    """The name of a library by which processes would talk, in small letters."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish but got {type(name)}")
        return str.__new__(cls, name.lower())


class _NotMade:
    """What there is no instance of without a group of processes."""

    def __new__(cls, *args, **kwargs):
        raise _refused()


class ProcessGroup(_NotMade):
    """Several processes that compute together. To be named alone: there is no instance."""


class Work(_NotMade):
    """What is under way between processes. To be named alone: there is no instance."""


class GradBucket(_NotMade):
    """Gradients that processes exchange at once. To be named alone: there is no instance."""


class P2POp(_NotMade):
    """A message from one process to another. To be named alone: there is no instance."""


class Store(_NotMade):
    """Where processes find each other. To be named alone: there is no instance."""


class FileStore(Store):
    """A `Store` in a file."""


class HashStore(Store):
    """A `Store` in the memory of one process."""


class TCPStore(Store):
    """A `Store` on the network."""


class group:
    """`group.WORLD`, the group of all processes: None while there is none."""

    WORLD = None


class GroupMember:
    """The older place of `group.WORLD`, and what stands for a group that a process is not in."""

    WORLD = None
    NON_GROUP_MEMBER = -100


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


def is_ucc_available():
    """Whether UCC is part of the library: no."""
    return False


def is_xccl_available():
    """Whether XCCL is part of the library: no."""
    return False


def is_backend_available(backend):
    """Whether a library by which processes talk is there: none is."""
    return False


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None):
    """Raises ``NotImplementedError``."""
    raise _refused()


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


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None,
              sort_ranks=True):
    """Raises ValueError: there is no group."""
    raise _no_group()


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def get_process_group_ranks(group):
    """Raises ValueError: there is no group."""
    raise _no_group()


def get_backend_config(group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_gather_object(object_list, obj, group=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def batch_isend_irecv(p2p_op_list):
    """Raises ValueError: there is no group."""
    raise _no_group()


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Raises ValueError: there is no group."""
    raise _no_group()


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """Raises ValueError: there is no group."""
    raise _no_group()


def destroy_process_group(group=None):
    """Raises AssertionError: there is no group."""
    raise AssertionError("Process group cannot be None")


def get_global_rank(group, group_rank):
    """The number among all processes of a group's member. The group of all, which need not be there for it, counts as all do; of another
    there is no instance.
    """
    if group is not GroupMember.WORLD:
        raise _no_group()
    return group_rank


def get_group_rank(group, global_rank):
    """The number of a process in a group; as `get_global_rank`."""
    return get_global_rank(group, global_rank)


def get_node_local_rank(fallback_rank=None):
    """The number of this process on its machine, as ``torchrun`` has set it in the environment; else ``fallback_rank``."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
                           "assuming you are not running in a multi-device context and want the code to run locally instead.")
    return int(fallback_rank)


def get_pg_count():
    """How many groups there are: 0."""
    return 0


def _get_default_group():
    raise _no_group()


__all__ = ["Backend", "FileStore", "GradBucket", "GroupMember", "HashStore", "P2POp", "ProcessGroup", "ReduceOp", "Store", "TCPStore",
           "Work", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single", "barrier",
           "batch_isend_irecv", "broadcast", "broadcast_object_list", "default_pg_timeout", "destroy_process_group", "gather",
           "gather_object", "get_backend", "get_backend_config", "get_global_rank", "get_group_rank", "get_node_local_rank",
           "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "irecv",
           "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
           "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group", "recv",
           "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
           "send_object_list"]
