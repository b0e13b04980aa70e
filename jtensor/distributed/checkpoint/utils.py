"""Processes that take a step of a checkpoint together: each does its part, one puts the parts together, and if one fails all do.

Owns: that exchange, and what a name stands for in a state. May not know: checkpoints.
"""
import functools
import inspect

import jtensor

from ...base import sites
from ..collectives import barrier
from ..objects import all_gather_object, broadcast_object_list, gather_object, scatter_object_list
from ..world import get_global_rank, get_rank, get_world_size
from .api import CheckpointException, _is_wrapped_exception, _wrap_exception

__all__ = ["find_state_dict_object", "find_tensor_shard"]


def _tried(function, *args):
    """What a function answers, or its error as it is sent."""
    try:
        return function(*args)
    except BaseException as error:
        return _wrap_exception(error)


def _failures(results):
    return {rank: one for rank, one in enumerate(results) if _is_wrapped_exception(one)}


class _DistWrapper:
    """A group, or one process alone (``use_dist=False``), of which process ``coordinator_rank`` puts things together."""

    def __init__(self, group, use_dist, coordinator_rank):
        self.group, self.use_dist, self.coordinator_rank = group, use_dist, coordinator_rank
        self.global_coordinator_rank = get_global_rank(group, coordinator_rank) if use_dist and group is not None else coordinator_rank
        self.rank = get_rank(group) if use_dist else 0
        self.is_coordinator = not use_dist or self.rank == coordinator_rank

    def get_rank(self):
        """The number of this process."""
        return self.rank

    def get_world_size(self):
        """How many processes there are."""
        return get_world_size(self.group) if self.use_dist else 1

    def _gathered(self, mine):
        if not self.use_dist:
            return [mine]
        found = [None] * self.get_world_size() if self.is_coordinator else None
        gather_object(mine, found, dst=self.global_coordinator_rank, group=self.group)
        return found

    def _put_together(self, step, parts, function):
        """What a function makes of the parts, or a `CheckpointException`."""
        failed = _failures(parts)
        if not failed:
            made = _tried(function, parts)
            if not _is_wrapped_exception(made):
                return made
            failed[self.rank] = made
        return CheckpointException(step, failed)

    def reduce_scatter(self, step, map_fun, reduce_fun):
        """Of what ``map_fun()`` answers in all processes ``reduce_fun`` makes a list in one of them, of which each gets its part."""
        parts, made = self._gathered(_tried(map_fun)), None
        if self.is_coordinator:
            made = self._put_together(step, parts, reduce_fun)
            made = [made] * self.get_world_size() if isinstance(made, CheckpointException) else made
        mine = made
        if self.use_dist:
            mine = [None]
            scatter_object_list(mine, made, src=self.global_coordinator_rank, group=self.group)
        return _unless_failed(mine[0])

    def all_reduce(self, step, map_fun, reduce_fun):
        """The same, of which each gets the whole."""
        parts, made = self._gathered(_tried(map_fun)), [None]
        if self.is_coordinator:
            made = [self._put_together(step, parts, reduce_fun)]
        if self.use_dist:
            broadcast_object_list(made, src=self.global_coordinator_rank, group=self.group)
        return _unless_failed(made[0])

    def all_gather(self, step, map_fun):
        """What ``map_fun()`` answers in all processes, in a list."""
        found = [_tried(map_fun)]
        if self.use_dist:
            mine, found = found[0], [None] * self.get_world_size()
            all_gather_object(found, mine, group=self.group)
        failed = _failures(found)
        if failed:
            raise CheckpointException(step, failed)
        return found

    def barrier(self):
        """Comes back once every process has come."""
        if self.use_dist:
            barrier(self.group)


def _unless_failed(made):
    if isinstance(made, CheckpointException):
        raise made
    return made


def find_tensor_shard(tensor, index):
    """The part of a tensor that begins at an index's offset: the tensor, ValueError for other parts."""
    if index.offset is not None and index.offset != jtensor.Size([0] * tensor.dim()):
        raise ValueError(f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'")
    return tensor


def find_state_dict_object(state_dict, index):
    """What an index means in a flat state. ValueError if it is not there."""
    if index.fqn not in state_dict:
        raise ValueError(f"Could not find FQN: '{index.fqn}'")
    found = state_dict[index.fqn]
    if isinstance(found, jtensor.Tensor):
        return find_tensor_shard(found, index)
    if index.offset is not None:
        raise ValueError(f"FQN: '{index.fqn}' is not a ShardedTensor, can't find by offset: '{index.offset}'")
    return found


def _api_bc_check(function):
    """Lets the writer or reader come second without its name, as it did once, with a warning."""
    names = [p.name for p in inspect.signature(function).parameters.values()]
    second = "storage_writer" if "storage_writer" in names else "storage_reader"

    @functools.wraps(function)
    def called(*args, **kwargs):
        if len(args) == 2:
            sites.warn(f"The argument order of {function.__name__} has been changed. Please check the document to avoid future breakages.")
            if second in kwargs:
                raise AssertionError(f"{second} in kwargs: {(args, kwargs)}")
            return function(args[0], **{second: args[1]}, **kwargs)
        return function(*args, **kwargs)
    return called
