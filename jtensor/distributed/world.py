"""Which groups of processes there are, and who is in them.

Owns: making and ending groups, and what is asked about them. May not know: tensors, what groups do.
"""
import atexit
import os
import sys
import traceback
import warnings
from datetime import timedelta

from .backends import Backend, BackendConfig, checked
from .groups import ProcessGroup
from .rendezvous import rendezvous
from .stores import PrefixStore
from .wires import Wires

default_pg_timeout = timedelta(minutes=30)


class _World:
    """All groups of this process. ``groups``: group -> the name of its backend."""

    def __init__(self):
        self.default, self.groups, self.count, self.wires = None, {}, 0, None


_world = _World()


class _WorldMeta(type):
    @property
    def WORLD(cls):
        """The group of all processes; None while there is none."""
        return _world.default


class group(metaclass=_WorldMeta):
    """`group.WORLD`, the group of all processes: None while there is none."""


class GroupMember(metaclass=_WorldMeta):
    """The older place of `group.WORLD`, and what stands for a group that this process is not in."""

    NON_GROUP_MEMBER = -100


# -- what is there -----------------------------------------------------------------------------------------------------

def is_initialized():
    """Whether a group of all processes has been made."""
    return _world.default is not None


def is_torchelastic_launched():
    """Whether this process was started by ``torchrun``."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


# -- making and ending -------------------------------------------------------------------------------------------------

def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
                       device_id=None):
    """Makes the group of all processes, which find each other by ``init_method`` ("env://", as ``torchrun`` starts them, "tcp://host:port",
    "file:///path") or ``store``, and comes back when all are there.

    ``timeout``: how long each waits for the others, a `timedelta`. The backend is "gloo", here a library of our own; RuntimeError for
    others. ValueError if there is a group already.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> t = torch.ones(2)
    >>> torch.distributed.all_reduce(t)
    >>> t
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    https://docs.pytorch.org/docs/2.13/distributed.html
    """
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None and not world_size > 0:
        raise AssertionError("world_size must be positive if using store")
    if store is not None and not rank >= 0:
        raise AssertionError("rank must be non-negative if using store")
    backend = checked(Backend.UNDEFINED if backend is None else backend)
    timeout = _timeout(timeout)
    if store is None:
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=timeout))
        store.set_timeout(timeout)
    store = PrefixStore("default_pg", store)
    _world.wires = Wires(store, rank, world_size, timeout.total_seconds())
    _world.default = ProcessGroup(_world.wires, range(world_size), "0", "default_pg", timeout, store)
    _world.groups[_world.default] = backend
    _world.count = 1
    _name_the_rank_in_errors(rank)


def _timeout(timeout):
    timeout = default_pg_timeout if timeout is None else timeout
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout


def _name_the_rank_in_errors(rank):
    """An error that ends this process says whose it is in each line, as PyTorch's do: the lines of several processes come together."""
    before = sys.excepthook

    def told(kind, error, trace):
        if before is not sys.__excepthook__:
            before(kind, error, trace)
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        print("\n".join(f"[rank{rank}]: {line}" if line else "" for line in text.split("\n")), end="", file=sys.stderr, flush=True)
    sys.excepthook = told


@atexit.register
def _let_go():
    if _world.wires is not None:
        _world.wires.close()


def destroy_process_group(group=None):
    """Ends a group; without one, or with that of all processes, all of them. AssertionError if there is none."""
    if group is GroupMember.NON_GROUP_MEMBER or group == GroupMember.NON_GROUP_MEMBER:
        return
    ended = _world.default if group is None else group
    if ended is None:
        raise AssertionError("Process group cannot be None")
    if ended not in _world.groups:
        raise ValueError("Invalid process group specified")
    if ended is not _world.default:
        ended._line.drain(ended._timeout)
        del _world.groups[ended]
        return
    for one in _world.groups:
        one._line.drain(one._timeout)
    wires = _world.wires
    _world.__init__()
    wires.close()


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None,
              sort_ranks=True):
    """Makes a group of some of the processes, or of all: every process calls this, in the same order. Who is not in it gets
    `GroupMember.NON_GROUP_MEMBER`. ValueError for ranks that there are not, or twice.
    """
    world = _get_default_group()
    if timeout is not None:
        _timeout(timeout)
    size = world.size()
    ranks = list(range(size)) if ranks is None else sorted(ranks) if sort_ranks else list(ranks)
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
    if len(ranks) > size:
        raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
    for rank in ranks:
        if not 0 <= rank < size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    name, _world.count = str(_world.count), _world.count + 1
    if world.rank() not in ranks:
        return GroupMember.NON_GROUP_MEMBER
    backend = checked(_world.groups[world] if backend is None else backend)
    timeout = timedelta(seconds=world._timeout) if timeout is None else timeout
    made = ProcessGroup(_world.wires, ranks, name, group_desc or "undefined", timeout, PrefixStore(f"{name}/", world.get_group_store()))
    _world.groups[made] = backend
    return made


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """(the group of this process, all groups) of so many neighbours each. ValueError if that does not divide all."""
    if group_size is None:
        raise ValueError("Default group size only takes effect when CUDA is available.If your subgroup using a backend that does not "
                         "depend on CUDA,please pass in 'group_size' correctly.")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    world_size = get_world_size(group)
    if world_size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({world_size})")
    if world_size % group_size:
        raise ValueError(f"The world size ({world_size}) must be divisible by '{group_size=}'")
    ranks = get_process_group_ranks(group)
    return new_subgroups_by_enumeration([ranks[at:at + group_size] for at in range(0, world_size, group_size)], timeout, backend,
                                        pg_options, group_desc)


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """(the group of this process, or None, all groups), one for each list of ranks. ValueError for a rank in two of them."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen, groups, mine = {}, [], None
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
        if get_rank() in ranks:
            mine = made
    return mine, groups


# -- asking ------------------------------------------------------------------------------------------------------------

def _get_default_group():
    if _world.default is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world.default


def _group(group):
    """The group, or that of all processes."""
    return _get_default_group() if group is None else group


def _is_outside(group):
    """Whether this process is not in the group."""
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _is_in(group, what):
    """Whether this process is in the group; warns that it does nothing if not."""
    if not _is_outside(group):
        return True
    rank = -1 if _world.default is None else _world.default.rank()
    warnings.warn(f"Running {what} on global rank {rank} which does not belong to the given group.", stacklevel=3)
    return False


def _registered(group):
    if group not in _world.groups:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return group


def get_rank(group=None):
    """The number of this process in a group, or among all; -1 if it is not in the group."""
    if _is_outside(group):
        return -1
    world = _get_default_group()
    return world.rank() if group is None or group is world else get_group_rank(group, world.rank())


def get_world_size(group=None):
    """How many processes a group has, or how many there are; -1 if this one is not in the group."""
    return -1 if _is_outside(group) else _group(group).size()


def get_backend(group=None):
    """By what a group's members talk. ValueError if this process is not in it."""
    group = _group(group)
    if _is_outside(group):
        raise ValueError("Invalid process group specified")
    if group not in _world.groups:
        raise ValueError(f"Process group {group} is not initialized in the world group map. Please initialize the group first.")
    return _world.groups[group]


def get_backend_config(group=None):
    """The same, by the devices' types, as text."""
    return repr(BackendConfig(get_backend(group)))


def get_process_group_ranks(group=None):
    """The numbers among all processes of a group's members."""
    return list(_group(group)._ranks)


def get_global_rank(group, group_rank):
    """The number among all processes of a group's member."""
    if group is GroupMember.WORLD:
        return group_rank
    for at, rank in enumerate(_registered(group)._ranks):
        if at == group_rank:
            return rank
    raise ValueError(f"Group rank {group_rank} is not part of group {group}")


def get_group_rank(group, global_rank):
    """The number of a process in a group."""
    if group is GroupMember.WORLD:
        return global_rank
    if global_rank not in _registered(group)._ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group._ranks.index(global_rank)


def _member(group, global_rank, group_rank):
    """The number in a group of what is named by either number."""
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return group_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, global_rank)


def _check_other(group, member, which):
    """ValueError if a member that is to send something, or to get it, is this process."""
    if group.rank() == member:
        raise ValueError(f"Invalid {which} rank: {which} rank should not be the same as the rank of the current process.")


def _check_given(group, root, name, which, given):
    """ValueError unless member ``root`` alone has given the list of that name."""
    if group.rank() == root and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {which} rank.")
    if group.rank() != root and given:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{which} ranks.")


def get_node_local_rank(fallback_rank=None):
    """The number of this process on its machine, as ``torchrun`` has set it in the environment; else ``fallback_rank``."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
                           "assuming you are not running in a multi-device context and want the code to run locally instead.")
    return int(fallback_rank)


def get_pg_count():
    """How many groups have been made."""
    return _world.count
