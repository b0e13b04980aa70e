"""PyTorch's room of groups of processes: the names that programs import from here, put together of the rooms beside this one.

Owns: which names there are. May not know: how anything is done.
"""
from ..base import homes, sites
from .backends import (
    Backend,
    BackendConfig,
    get_default_backend_for_device,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_ucc_available,
    is_xccl_available,
)
from .collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
    scatter,
)
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from .groups import ProcessGroup
from .messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .reducer import GradBucket
from .reducing import ReduceOp
from .rendezvous import register_rendezvous_handler, rendezvous
from .stores import FileStore, HashStore, PrefixStore, Store
from .tcp_store import TCPStore
from .work import Work
from .world import (
    GroupMember,
    _get_default_group,  # noqa: F401  which libraries ask for
    _is_outside,
    _world,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    is_torchelastic_launched,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
)

for _cls in (ProcessGroup, Work, P2POp, Store, PrefixStore, Backend, BackendConfig, GroupMember, group):
    homes.settle(__name__, _cls)

__all__ = ["Backend", "BackendConfig", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "GradBucket",
           "GroupMember", "HashStore", "P2POp", "PrefixStore", "ProcessGroup", "QueueEmptyError", "ReduceOp", "Store", "TCPStore", "Work",
           "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_gather_single", "all_reduce",
           "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast",
           "broadcast_object_list", "default_pg_timeout", "destroy_process_group", "gather", "gather_object", "get_backend",
           "get_backend_config", "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank",
           "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "irecv",
           "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
           "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group",
           "new_subgroups", "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce", "reduce_scatter",
           "reduce_scatter_single", "reduce_scatter_tensor", "register_rendezvous_handler", "rendezvous", "scatter",
           "scatter_object_list", "send", "send_object_list"]

_rank_not_in_group = _is_outside


def _get_global_rank(group, rank):
    """The older name of `get_global_rank`."""
    sites.warn("torch.distributed.distributed_c10d._get_global_rank is deprecated please use torch.distributed.distributed_c10d."
               "get_global_rank instead", FutureWarning)
    return get_global_rank(group, rank)


def __getattr__(name):
    if name == "_pg_map":                              # which groups there are: {group: (its backend, its store)}
        return {one: (backend, one._store) for one, backend in _world.groups.items()}
    raise AttributeError(f"module 'jtensor.distributed.distributed_c10d' has no attribute '{name}'")
