"""DistributedSampler: each process its share of a dataset."""
import math

import jtensor

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """Every ``num_replicas``-th index from ``rank`` on, of an order that ``seed`` and the epoch fix for all processes alike.

    Without ``num_replicas`` and ``rank`` the process group is asked. Call ``set_epoch`` before each epoch for another order.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            group = getattr(jtensor, "distributed", None)
            if group is None or not group.is_available():
                raise RuntimeError("Requires distributed package to be available")
            num_replicas = group.get_world_size() if num_replicas is None else num_replicas
            rank = group.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        total = len(dataset)
        if drop_last and total % num_replicas != 0:
            total -= num_replicas
        self.num_samples = math.ceil(total / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        if self.shuffle:
            generator = jtensor.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = jtensor.randperm(len(self.dataset), generator=generator).tolist()
        else:
            indices = list(range(len(self.dataset)))
        if not self.drop_last:  # filled up from the front, so that all shares are of one size
            indices = indices * math.ceil(self.total_size / len(indices))
        return iter(indices[:self.total_size][self.rank::self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Chooses the order of the coming epoch."""
        self.epoch = epoch
