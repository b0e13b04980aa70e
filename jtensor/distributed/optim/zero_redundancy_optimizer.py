"""An optimizer whose state is spread over the processes: each steps with some of the parameters, and sends them to the others.

Owns: `ZeroRedundancyOptimizer`, whose parameters are whose. May not know: how tensors travel.
"""
import collections.abc
import copy
import logging
from itertools import chain

import jtensor

from ...base.errors import missing
from ...nn.parallel.joining import Join, Joinable, JoinHook
from ...optim import Optimizer
from ..objects import gather_object
from ..reducer import broadcast_together
from ..world import _group, get_global_rank, get_rank, get_world_size, group

__all__ = ["ZeroRedundancyOptimizer"]

_log = logging.getLogger(__name__)


def _on(device, value):
    """A nest of lists, tuples and dictionaries with its tensors on a device."""
    if isinstance(value, jtensor.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(_on(device, one) for one in value)
    if isinstance(value, collections.abc.Mapping):
        return {key: _on(device, one) for key, one in value.items()}
    return value


class _ZeROJoinHook(JoinHook):
    """Steps beside the others, so that all have the parameters that this process sends."""

    def __init__(self, zero):
        if not isinstance(zero, ZeroRedundancyOptimizer):
            raise AssertionError("ZeRO join hook requires passing in a ZeroRedundancyOptimizer instance as the state")
        self.zero = zero

    def main_hook(self):
        self.zero.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Steps as ``optimizer_class`` does, of which each process of a group has one for its part of the parameters, and thereby its part of
    the state; after a step all have all parameters.

    Parameters are dealt out by size, the largest first, to the process that has the least. ``parameters_as_bucket_view``: those of one
    process lie in one tensor. ``defaults`` go to the optimizer. A state dict has to be gathered (`consolidate_state_dict`) by the process
    that asks for it. TypeError and ValueError for what are no parameters, or are of several types; ``overlap_with_ddp`` is not there
    (`MissingFeature`).

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> layer = torch.nn.Linear(2, 1)
    >>> from jtensor.distributed.optim import ZeroRedundancyOptimizer
    >>> optimizer = ZeroRedundancyOptimizer(layer.parameters(), torch.optim.SGD, lr=0.5, momentum=0.9)
    >>> layer(torch.ones(1, 2)).sum().backward()
    >>> optimizer.step()
    >>> optimizer.consolidate_state_dict()
    >>> optimizer.state_dict()["state"][0]
    {'momentum_buffer': tensor([[1., 1.]])}
    >>> torch.distributed.destroy_process_group()

    https://docs.pytorch.org/docs/2.13/distributed.optim.html
    """

    def __init__(self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False, **defaults):
        if overlap_with_ddp:
            raise missing("ZeroRedundancyOptimizer(overlap_with_ddp=True)", "its steps after the backward")
        params, self._all_params = _checked(params)
        _check_types(self._all_params)
        self.initialized = False
        Optimizer.__init__(self, params, defaults)
        Joinable.__init__(self)
        self._partition, self._is_trainable_mask = None, self._get_is_trainable_mask()
        self._default_device = self._all_params[0].device
        self.process_group = group.WORLD if process_group is None else process_group
        self.world_size, self.rank = get_world_size(self.process_group), get_rank(self.process_group)
        self.global_rank = get_global_rank(self.process_group, self.rank)
        self._overlap_with_ddp, self._optim_defaults, self._optim_constructor = False, defaults, optimizer_class
        self.optim = optimizer_class(self._partition_parameters()[self.rank], **defaults)
        self._sync_param_groups(self.optim.param_groups, self.param_groups)
        self.parameters_as_bucket_view, self._buckets = parameters_as_bucket_view, []
        self._build_param_buckets()
        self._all_state_dicts = []
        self.initialized = True

    # -- whose parameters are whose ------------------------------------------------------------------------------------

    def _partition_parameters(self):
        """For each process its groups of parameters: as many as there are, some of them without any."""
        if self._partition is None:
            self._partition, sizes = [[] for _ in range(self.world_size)], [0] * self.world_size
            for given in self.param_groups:
                parts = [[] for _ in range(self.world_size)]
                for param in sorted(given["params"], key=lambda p: p.numel(), reverse=True):
                    least = sizes.index(min(sizes))
                    parts[least].append(param)
                    sizes[least] += param.numel()
                for mine, part in zip(self._partition, parts, strict=True):
                    mine.append({**given, "params": part})
        return self._partition

    def _of(self, rank):
        """All parameters of a process."""
        return [p for given in self._partition_parameters()[rank] for p in given["params"]]

    @property
    def _param_to_rank(self):
        return {p: rank for rank in range(self.world_size) for p in self._of(rank)}

    @property
    def _index_to_param(self):
        return list(chain.from_iterable(given["params"] for given in self.param_groups))

    @property
    def _param_to_index(self):
        return {p: at for at, p in enumerate(self._index_to_param)}

    def _get_is_trainable_mask(self):
        return [p.requires_grad for p in self._all_params]

    def add_param_group(self, param_group):
        """Adds a group, which is dealt out as well: all processes call this alike."""
        super().add_param_group(param_group)
        if not self.initialized:
            return
        self._partition = None
        groups = self._partition_parameters()[self.rank]
        if len(groups) == len(self.optim.param_groups) + 1:
            self.optim.add_param_group(groups[-1])
        self._build_param_buckets()

    def _build_param_buckets(self):
        """Has the parameters of each process lie in one tensor per device, if they are to; those that are not trained stay out of it."""
        if not self.parameters_as_bucket_view:
            return
        self._buckets = []
        for device in dict.fromkeys(p.device for rank in range(self.world_size) for p in self._of(rank)):
            self._buckets.append([self._bucket([p for p in self._of(rank) if p.device == device], device)
                                  for rank in range(self.world_size)])

    @staticmethod
    def _bucket(params, device):
        for p in params:
            if not p.requires_grad:
                p.data = p.data.clone()                        # it may have lain in a bucket before
        trained = [p for p in params if p.requires_grad]
        if not sum(p.numel() for p in trained):
            return jtensor.zeros(1, device=device)
        bucket = jtensor.cat([p.data.flatten() for p in trained])
        for p, part in zip(trained, bucket.split([p.numel() for p in trained]), strict=True):
            p.data = part.view_as(p.data)
        return bucket

    # -- stepping ------------------------------------------------------------------------------------------------------

    def step(self, closure=None, **kwargs):
        """One step of this process's optimizer, then all have all parameters. Answers what that answers; all processes call this."""
        loss = self._local_step(closure=closure, **kwargs)
        self._sync_params()
        return loss

    def _local_step(self, closure=None, **kwargs):
        Join.notify_join_context(self)
        mask = self._get_is_trainable_mask()
        if mask != self._is_trainable_mask:
            _log.warning("ZeroRedundancyOptimizer detected that the trainable parameters changed; "
                         "rebuilding the parameter buckets if enabled")
            self._build_param_buckets()
            self._is_trainable_mask = mask
        self._sync_param_groups(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        self._sync_param_groups(self.optim.param_groups, self.param_groups)
        return loss

    def _sync_params(self):
        for rank in range(self.world_size):
            sent = [buckets[rank] for buckets in self._buckets] if self.parameters_as_bucket_view else [p.data for p in self._of(rank)]
            broadcast_together(_group(self.process_group), sent, rank)

    @staticmethod
    def _sync_param_groups(src_param_groups, dst_param_groups):
        """Takes over the options of groups."""
        if len(src_param_groups) != len(dst_param_groups):
            raise AssertionError("Mismatch between number of source and destination parameter groups")
        for source, target in zip(src_param_groups, dst_param_groups, strict=True):
            target.update((name, value) for name, value in source.items() if name != "params")

    def join_hook(self, **kwargs):
        """What steps beside the other processes that have more steps; see `Joinable`."""
        return _ZeROJoinHook(self)

    @property
    def join_device(self):
        """The device of the first parameter."""
        return self._default_device

    @property
    def join_process_group(self):
        """The group whose processes share the state."""
        return self.process_group

    # -- state dicts ---------------------------------------------------------------------------------------------------

    def consolidate_state_dict(self, to=0):
        """Has process ``to`` of the group have the states of all, on the CPU, for `state_dict`. All processes call this."""
        self._sync_param_groups(self.param_groups, self.optim.param_groups)
        mine, here = self.optim.state_dict(), self.rank == to
        found = [None] * self.world_size if here else None
        gather_object(None if here else mine, found, group=self.process_group, group_dst=to)
        if here:
            found[to] = mine
        self._all_state_dicts = [_on("cpu", one) for one in found] if here else []

    def state_dict(self):
        """That of one optimizer for all parameters, as `consolidate_state_dict` has gathered it last; RuntimeError if it has not."""
        if not self._all_state_dicts:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call "
                               f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the global state.")
        found, index = super().state_dict(), self._param_to_index
        for local, mine in zip(self._all_state_dicts, self._partition_parameters(), strict=True):
            if len(local["param_groups"]) != len(mine):
                raise AssertionError("Mismatch between number of local and global parameter groups")
            for numbers, given in zip(local["param_groups"], mine, strict=True):
                if len(numbers["params"]) != len(given["params"]):
                    raise AssertionError("Mismatch between number of local and global parameters in parameter group")
                for number, p in zip(numbers["params"], given["params"], strict=True):
                    if number in local["state"]:
                        found["state"][index[p]] = local["state"][number]
        found["state"] = dict(sorted(found["state"].items()))
        return found

    def load_state_dict(self, state_dict):
        """Takes over what `state_dict` of one for as many parameters gave: each process its part. In ``state_dict`` the others' become
        None.
        """
        params, owner = self._index_to_param, self._param_to_rank
        for number, value in state_dict["state"].items():
            p = params[number]
            if owner[p] != self.rank:
                state_dict["state"][number] = None
                continue
            self.optim.state[p] = state = _on(p.device, value)
            state.update((name, one.cpu()) for name, one in state.items() if isinstance(one, jtensor.Tensor) and one.dim() == 0)
        super().load_state_dict(state_dict)
        self._sync_param_groups(state_dict["param_groups"], self.param_groups)
        self._sync_param_groups(self.param_groups, self.optim.param_groups)


# -- what are parameters ---------------------------------------------------------------------------------------------------

def _checked(params):
    """(the parameters, or groups of them, in a list; all parameters)."""
    opening = "`params` argument should be an iterable of Tensors"
    if isinstance(params, jtensor.Tensor):
        raise TypeError(f"{opening}, but got {jtensor.typename(params)}")
    try:
        given = list(params)
    except TypeError as error:
        raise TypeError(f"{opening} or dicts, but got {jtensor.typename(params)}") from error
    if not given:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if all(isinstance(one, jtensor.Tensor) for one in given):
        return given, copy.copy(given)
    if not all(isinstance(one, dict) for one in given):
        raise TypeError(f"{opening} or dicts")
    if not all("params" in one for one in given):
        raise ValueError("Each parameter group passed-in via `params` must have a 'params' key mapping to the parameters in the group")
    return given, [p for one in given for p in one["params"]]


def _check_types(params):
    opening = "ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got "
    first = jtensor.typename(params[0])
    if params[0].is_sparse:
        raise ValueError(opening + first)
    for p in params[1:]:
        if jtensor.typename(p) != first:
            raise ValueError(f"{opening}both {first} and {jtensor.typename(p)}")
