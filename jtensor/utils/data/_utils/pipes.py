"""What a DataLoader does with a dataset that is a pipe: it holds it in a wrapper that can be sent, seeds what is random in it anew for each
pass, and tells it which part of a stream is a worker's.

Owns: these. May not know: how workers run. Nobody has a pipe who has not loaded the room of pipes, so nothing here loads it for others.
"""
import sys

import jtensor

from ..sampler import draw_seed

_HOME = __name__.rpartition("._utils")[0]


def _base(name):
    """One of the classes of pipes; the empty tuple, of which nothing is an instance, while there are none."""
    room = sys.modules.get(f"{_HOME}.datapipes.datapipe")
    return () if room is None else getattr(room, name)


def is_stream(dataset):
    """Whether a dataset is a stream of pipes."""
    return isinstance(dataset, _base("IterDataPipe"))


def held(dataset):
    """A dataset as a loader holds it."""
    if is_stream(dataset):
        return _base("_IterDataPipeSerializationWrapper")(dataset)
    if isinstance(dataset, _base("MapDataPipe")):
        return _base("_MapDataPipeSerializationWrapper")(dataset)
    return dataset


def set_shuffle(dataset, shuffle):
    """Switches the shufflers of a stream on or off. Where there is none, PyTorch warns that it adds one, which its loader does not use."""
    from ..graph_settings import apply_shuffle_settings
    apply_shuffle_settings(dataset, shuffle=shuffle)


class Place:
    """Where a loader's pass runs: the process's number among ``size`` of them (`torch.distributed`), and the seed that all share."""

    def __init__(self, loader):
        self.rank, self.size, self.seed = 0, 1, None
        distributed = jtensor.distributed
        self.several = distributed.is_available() and distributed.is_initialized()
        if self.several:
            self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self.begin(loader)

    def begin(self, loader):
        """Draws the seed of a pass, which is that of the first process, and seeds the stream."""
        self.seed = draw_seed(loader.generator)
        if self.several:
            shared = [self.seed]
            jtensor.distributed.broadcast_object_list(shared, src=0)
            self.seed, = shared
        self.set_seed(loader.dataset)

    def set_seed(self, dataset):
        """Seeds what is random in a stream."""
        from ..graph_settings import apply_random_seed
        apply_random_seed(dataset, jtensor.Generator().manual_seed(self.seed))

    def share(self, dataset, worker=0, workers=1):
        """Tells a pipe which part of a stream is a worker's of this process."""
        from ..graph_settings import apply_sharding
        apply_sharding(dataset, workers * self.size, worker * self.size + self.rank)
