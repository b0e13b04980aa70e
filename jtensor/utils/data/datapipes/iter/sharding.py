"""A part of a stream for each process: `ShardingFilter`."""
from enum import IntEnum

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from .utils import length_of

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Between what processes a stream is shared out: all of them, or first between machines' and then between workers."""

    DEFAULT, DISTRIBUTED, MULTIPROCESSING = 1, 2, 3


class _ShardingIterDataPipe(IterDataPipe):
    def apply_sharding(self, num_of_instances, instance_id, sharding_group):
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """Every n-th sample, once it is told which part is its; a DataLoader with workers tells each worker's. Before that, all samples.
    ``sharding_group_filter``: only this group counts.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> from jtensor.utils.data.graph_settings import apply_sharding
    >>> list(apply_sharding(IterableWrapper(range(5)).sharding_filter(), 2, 0))
    [0, 2, 4]
    """

    def __init__(self, source_datapipe, sharding_group_filter=None):
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(self, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT):
        """Says that this is one of so many parts of a group."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        default = SHARDING_PRIORITIES.DEFAULT
        if any((group == default) != (sharding_group == default) for group in self.groups):
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = num_of_instances, instance_id
        self._update_num_of_instances()

    def _update_num_of_instances(self):
        self.num_of_instances, self.instance_id = 1, 0
        for group in sorted(self.groups, reverse=True):
            if self.sharding_group_filter is None or group == self.sharding_group_filter:
                parts, part = self.groups[group]
                self.instance_id += self.num_of_instances * part
                self.num_of_instances *= parts

    def __iter__(self):
        for i, sample in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield sample

    def __len__(self):
        length, = length_of(self, self.source_datapipe)
        return length // self.num_of_instances + (self.instance_id < length % self.num_of_instances)
