"""Writing checkpoints: each process says what it has, one says who writes what, each writes its part, one writes the table of contents.

Owns: that order. May not know: who writes what, where it is kept.
"""
import concurrent.futures
import copy
import enum
import inspect

import jtensor

from ...base import sites
from ...base.errors import missing
from ...tensor.looking import host_copy
from ...utils._pytree import tree_map, tree_map_only
from ..world import is_initialized
from .default_planner import DefaultSavePlanner
from .filesystem import _storage_setup
from .stateful import Stateful
from .utils import _api_bc_check, _DistWrapper

__all__ = ["AsyncCheckpointerType", "async_save", "save", "save_state_dict"]


class AsyncCheckpointerType(enum.Enum):
    """Who writes while the program goes on."""

    THREAD = "thread"
    PROCESS = "process"


def save_state_dict(state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """The older `save`."""
    sites.warn("`save_state_dict` is deprecated and will be removed in future versions.Please use `save` instead.", FutureWarning)
    storage_writer.reset()
    return _save_state_dict(state_dict, storage_writer, process_group, coordinator_rank, no_dist, planner)


@_api_bc_check
def save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False, use_collectives=True):
    """Writes a state, a dictionary of tensors, containers, objects that can be pickled, and what has a `state_dict`, into the folder
    ``checkpoint_id``, or by a `StorageWriter`; answers the `Metadata`. All processes of the group call this together, and what they have
    alike is written once; without a group, or with ``no_dist=True``, one writes by itself, with a warning.

    ``planner``: a `SavePlanner` instead of the usual one. ``use_collectives=False``: each process has a table of contents of its own.
    `CheckpointException` if a process fails.

    >>> import tempfile
    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> from jtensor.distributed import checkpoint
    >>> folder, layer = tempfile.mkdtemp(), torch.nn.Linear(2, 1)
    >>> _ = checkpoint.save({"model": layer, "epoch": 3}, checkpoint_id=folder)
    >>> state = {"model": torch.nn.Linear(2, 1), "epoch": None}
    >>> checkpoint.load(state, checkpoint_id=folder)
    >>> state["epoch"], torch.equal(state["model"].weight, layer.weight)
    (3, True)
    >>> torch.distributed.destroy_process_group()

    https://docs.pytorch.org/docs/2.13/distributed.checkpoint.html
    """
    no_dist = no_dist or not is_initialized()
    if no_dist:
        sites.warn("torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to save in a single process.")
    storage_writer = _storage_setup(storage_writer, checkpoint_id)
    return _save_state_dict(_stateful_to_state_dict(state_dict), storage_writer, process_group, no_dist=no_dist, planner=planner,
                            use_collectives=use_collectives)


def async_save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None,
               async_checkpointer_type=AsyncCheckpointerType.THREAD, async_stager=None, no_dist=False, use_collectives=True):
    """`save` by another thread, of a copy that is taken now; answers a `concurrent.futures.Future` of its `Metadata`. Until it is done this
    process takes part in nothing else with the group.
    """
    if async_checkpointer_type is not AsyncCheckpointerType.THREAD or async_stager is not None:
        raise missing("async_save by another process, or with a stager", "AsyncCheckpointerType.THREAD")
    staged = tree_map(_staged, _stateful_to_state_dict(state_dict))
    tree_map_only(jtensor.Tensor, host_copy, staged)                    # computed here: the other thread only writes
    writer = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="AsyncCheckpointExecutor")
    future = writer.submit(save, staged, checkpoint_id=checkpoint_id, storage_writer=storage_writer, planner=planner,
                           process_group=process_group, no_dist=no_dist, use_collectives=use_collectives)
    future.add_done_callback(lambda _: writer.shutdown(wait=False))
    return future


def _staged(value):
    """A leaf as it is now, which nothing changes afterwards."""
    return value.detach().cpu().clone() if isinstance(value, jtensor.Tensor) else copy.deepcopy(value)


def _stateful_to_state_dict(state_dict):
    return {name: one.state_dict() if isinstance(one, Stateful) else one for name, one in state_dict.items()}


def _save_state_dict(state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None,
                     use_collectives=True):
    processes = _DistWrapper(process_group, not no_dist, coordinator_rank)
    planner = DefaultSavePlanner() if planner is None else planner
    table = []

    def mine():
        meta = storage_writer.storage_meta()
        if "storage_meta" in inspect.signature(planner.set_up_planner).parameters:
            planner.set_up_planner(state_dict=state_dict, storage_meta=meta, is_coordinator=processes.is_coordinator)
        else:
            sites.warn("The function definition for SavePlanner.set_up_planner has been updated to include the storage_meta argument. "
                       "Please update your implementation to include this parameter.")
            planner.set_up_planner(state_dict, processes.is_coordinator)
        told = "kwargs" in inspect.signature(storage_writer.set_up_storage_writer).parameters
        more = {"rank": processes.rank, "use_collectives": use_collectives} if told else {}
        storage_writer.set_up_storage_writer(processes.is_coordinator, **more)
        return storage_writer.prepare_local_plan(planner.create_local_plan())

    def together(plans):
        plans, metadata = planner.create_global_plan(plans)
        table[:] = [metadata]
        return storage_writer.prepare_global_plan(plans)

    def written():
        return storage_writer.write_data(planner.finish_plan(plan), planner).wait()

    def finished(results):
        storage_writer.finish(metadata=table[0], results=results)
        return table[0]
    if use_collectives:
        plan = processes.reduce_scatter("plan", mine, together)
        return processes.all_reduce("write", written, finished)
    plan = together([mine()])[0]
    finished([written()])
    processes.barrier()
    return table[0]
