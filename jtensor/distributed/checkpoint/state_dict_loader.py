"""Reading checkpoints: each process reads the table of contents and says what it wants, and fills it.

Owns: that order. May not know: who reads what, where it is kept.
"""
import inspect
import logging

from ...base import sites
from ..world import is_initialized
from .default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from .filesystem import _storage_setup
from .stateful import Stateful
from .utils import _api_bc_check, _DistWrapper

__all__ = ["load", "load_state_dict"]

_log = logging.getLogger()          # PyTorch's tells the root


def load_state_dict(state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    """The older `load`."""
    sites.warn("`load_state_dict` is deprecated and will be removed in future versions. Please use `load` instead.", FutureWarning)
    storage_reader.reset()
    _load_state_dict(state_dict, storage_reader, process_group, coordinator_rank, no_dist, planner)


@_api_bc_check
def load(state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False):
    """Fills a state from the folder ``checkpoint_id``, or by a `StorageReader`: tensors in place, other objects in their places, what has
    a `load_state_dict` by that. All processes of the group call this together; without a group, or with ``no_dist=True``, one reads by
    itself, with a warning.

    `CheckpointException` if a process fails: RuntimeError for a name that the checkpoint lacks, ValueError for another size.
    """
    no_dist = no_dist or not is_initialized()
    if no_dist:
        sites.warn("torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to load in a single process.")
    storage_reader = _storage_setup(storage_reader, checkpoint_id, reader=True)
    names = sorted(state_dict.keys())
    states = {name: one.state_dict() if isinstance(one, Stateful) else one for name, one in ((name, state_dict[name]) for name in names)}
    _load_state_dict(states, storage_reader, process_group, no_dist=no_dist, planner=planner)
    for name in names:
        if isinstance(state_dict[name], Stateful):
            state_dict[name].load_state_dict(states[name])
        else:
            state_dict[name] = states[name]


def _metadata(reader, rank):
    """(the table of contents, or that of this process, whether it is the one of all)."""
    said = []
    try:
        found = reader.read_metadata()
        if found:
            return found, True
    except Exception as error:
        said.append(f"global metadata read failed: {error}")
        _log.warning("Global metadata is not found. Falling back to rank local metadata.", exc_info=True)
    if "kwargs" in inspect.signature(reader.read_metadata).parameters:
        try:
            return reader.read_metadata(rank=rank), False
        except Exception as error:
            said.append(f"rank local metadata read failed: {error}")
            _log.warning("Rank local metadata is not found.", exc_info=True)
    raise AssertionError("; ".join(["metadata is None", *said]))


def _load_state_dict(state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None):
    processes = _DistWrapper(process_group, not no_dist, coordinator_rank)
    planner, of_all = DefaultLoadPlanner() if planner is None else planner, True

    def mine():
        nonlocal of_all
        metadata, of_all = _metadata(storage_reader, processes.rank)
        planner.set_up_planner(state_dict, metadata, processes.is_coordinator)
        told = "kwargs" in inspect.signature(storage_reader.set_up_storage_reader).parameters
        more = {"rank": processes.rank, "use_collectives": of_all} if told else {}
        storage_reader.set_up_storage_reader(metadata, processes.is_coordinator, **more)
        return storage_reader.prepare_local_plan(planner.create_local_plan())

    def together(plans):
        return storage_reader.prepare_global_plan(planner.create_global_plan(plans))

    def read():
        storage_reader.read_data(planner.finish_plan(plan), planner).wait()
    plan = processes.reduce_scatter("plan", mine, together)
    if of_all:
        processes.all_gather("read", read)
    else:
        read()
        processes.barrier()


def _load_state_dict_from_keys(keys=None, *, checkpoint_id=None, storage_reader=None, process_group=None):
    """All of a checkpoint, or what has one of the names, or names that begin so, as a new state."""
    if not is_initialized():
        sites.warn("torch.distributed is unavailable or uninitialized, assuming the intent is to load in a single process.")
    reader, state = _storage_setup(storage_reader, checkpoint_id, reader=True), {}
    _load_state_dict(state, reader, process_group, no_dist=not is_initialized(),
                     planner=_EmptyStateDictLoadPlanner({keys} if isinstance(keys, str) else keys))
    return state
