"""Processes whose numbers of steps differ: who has ended its own goes on beside the others, with nothing to give, until all have.

Owns: `Join`, `Joinable`, `JoinHook`, which PyTorch has in ``torch.distributed.algorithms.join``. May not know: which modules and optimizers
take part, and what their hooks do.
"""
import abc
import warnings
from typing import NamedTuple

import jtensor

_MANY = 1000


class JoinHook:
    """What a process that has ended its steps does beside the others. To be subclassed."""

    def main_hook(self):
        """Takes part in what the others do together in one step. Called as often as others still have steps."""

    def post_hook(self, is_last_joiner):
        """Called once when all have ended theirs. ``is_last_joiner``: this process had none to wait for."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config():
        """That of what is in no `Join`."""
        return _JoinConfig(False, False, False)


class Joinable(abc.ABC):
    """What can take part in a `Join`: it has a `join_hook`, and calls `Join.notify_join_context` before each step's own exchanges."""

    @abc.abstractmethod
    def __init__(self):
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abc.abstractmethod
    def join_hook(self, **kwargs):
        """A `JoinHook`, made of what the `Join` was given besides."""

    @property
    @abc.abstractmethod
    def join_device(self):
        """The device of the tensors by which processes tell each other that they are still there."""

    @property
    @abc.abstractmethod
    def join_process_group(self):
        """The group of processes that wait for each other."""


def _sum(value, device, group, **kwargs):
    """(a tensor of one number, in which the group's members add theirs up, the work that does it)."""
    told = jtensor.full((1,), value, dtype=jtensor.float32, device=device)
    return told, jtensor.distributed.all_reduce(told, group=group, **kwargs)


class Join:
    """Within it the processes of a group may do different numbers of steps with the ``joinables``: who leaves it first goes on beside the
    others, by the hooks of its joinables, until the last has left.

    ``enable=False``: nothing of that. ``throw_on_early_termination``: RuntimeError in all of them once one has ended its steps. ``kwargs``
    go to each `Joinable.join_hook`. ValueError for no joinables, or for those of several groups.

    >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> with torch.distributed.algorithms.join.Join([model]):
    ...     for _ in range(3):
    ...         model(torch.ones(1, 1)).sum().backward()
    >>> model.module.weight.grad
    tensor([[3.]])
    >>> torch.distributed.destroy_process_group()

    https://docs.pytorch.org/docs/2.13/distributed.algorithms.join.html
    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enable, self._throw_on_early_termination = joinables, enable, throw_on_early_termination
        self._join_hooks = [one.join_hook(**kwargs) for one in joinables]
        for at, one in enumerate(joinables):
            one._join_config = _JoinConfig(enable, throw_on_early_termination, at == 0)
        self._process_group = joinables[0].join_process_group
        for one in joinables:
            if one.join_process_group != self._process_group:
                raise ValueError("Using join context manager with multiple process groups")
        self._device = joinables[0].join_device
        self._rank = jtensor.distributed.get_rank(self._process_group)

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        if not self._enable or kind:
            return
        last, times = True, 0
        warnings.simplefilter("once")                          # as PyTorch does here, for the rest of the process
        while self._left():
            if times > _MANY:
                warnings.warn(f"Detected uneven input skew of greater than {_MANY}. This means that rank {self._rank} has at least {_MANY} "
                              "fewer inputs than other currently-active ranks. This level of skew could lead to performance degradation "
                              "during training.", stacklevel=2)
            if self._throw_on_early_termination:
                _sum(1, self._device, self._process_group)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            last, times = False, times + 1
        for hook in self._join_hooks:
            hook.post_hook(last)

    def _left(self):
        """How many processes still have steps."""
        return _sum(0, self._device, self._process_group)[0].item()

    @staticmethod
    def notify_join_context(joinable):
        """Tells those who wait that this process has another step. Answers the `Work` that does it, whose tensor is how many have; None
        where that is another joinable's to tell, or there is no `Join`.

        RuntimeError in a `Join` with ``throw_on_early_termination`` if another process has ended its steps.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        work = _sum(1, device, group, async_op=True)[1]
        if config.throw_on_early_termination and _sum(0, device, group)[0].item():
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work


__all__ = ["Join", "JoinHook", "Joinable"]
