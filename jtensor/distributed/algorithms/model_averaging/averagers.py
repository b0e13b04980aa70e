"""Means of the processes' parameters, taken now and then. Owns: how often."""
import abc

from ....base import sites
from ...world import _get_default_group
from . import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(abc.ABC):
    """Averages parameters over ``process_group``, by default over all processes. ``step`` counts how often it was asked to."""

    def __init__(self, process_group=None):
        self.process_group = _get_default_group() if process_group is None else process_group
        self.step = 0

    @abc.abstractmethod
    def average_parameters(self, params):
        """Averages them, if it is time."""
        raise NotImplementedError


class PeriodicModelAverager(ModelAverager):
    """Averages each ``period`` times it is asked to, beginning with the time after ``warmup_steps``. ValueError for less than 1, or 0."""

    def __init__(self, period, warmup_steps=0, process_group=None):
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            sites.warn("When period is 1, no need to use model averaging because the communication cost of all-reducing parameters will be "
                       "no less than the cost of all-reducing gradients by DistributedDataParallel in the backward pass. Therefore, only "
                       "DistributedDataParallel should be used for this case.")
        self.warmup_steps, self.period = warmup_steps, period

    def average_parameters(self, params):
        """Averages parameters, or those of an optimizer's groups, that have a gradient, if it is time; counts."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
