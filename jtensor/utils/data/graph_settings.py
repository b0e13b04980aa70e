"""What is set in all pipes that a pipe is made of: seeds, whether they shuffle, and which part of a stream is theirs."""
import inspect
import warnings

from .datapipes.iter.sharding import SHARDING_PRIORITIES, _ShardingIterDataPipe
from .graph import traverse_dps
from .sampler import draw_seed

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings", "get_all_graph_pipes"]


def get_all_graph_pipes(graph):
    """The pipes of a graph that `traverse_dps` made, each once, outer ones first."""
    found = {}
    _collect(graph, found)
    return list(found.values())


def _collect(graph, found):
    for key, (pipe, inner) in graph.items():
        if key not in found:
            found[key] = pipe
            _collect(inner, found)


def _has_methods(pipe, *names):
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def apply_sharding(datapipe, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT):
    """Tells every pipe that can share a stream out (``sharding_filter``) which part is its: one of ``num_of_instances``. RuntimeError where
    one of them would share out what another has."""
    def share(graph, shared=None):
        for pipe, inner in graph.values():
            applied = shared
            if isinstance(pipe, _ShardingIterDataPipe) or _has_methods(pipe, "apply_sharding"):
                if shared is not None:
                    raise RuntimeError("Sharding twice on a single pipeline is likely unintended and will cause data loss. Sharding "
                                       f"already applied to {shared} while trying to apply to {pipe}")
                groups = {} if len(inspect.signature(pipe.apply_sharding).parameters) < 3 else {"sharding_group": sharding_group}
                pipe.apply_sharding(num_of_instances, instance_id, **groups)
                applied = pipe
            share(inner, applied)

    share(traverse_dps(datapipe))
    return datapipe


def apply_shuffle_settings(datapipe, shuffle=None):
    """Switches all pipes that shuffle on or off; without one, ``shuffle=True`` warns and answers one behind the pipe. None: nothing."""
    if shuffle is None:
        return datapipe
    pipes = [pipe for pipe in get_all_graph_pipes(traverse_dps(datapipe)) if _has_methods(pipe, "set_shuffle", "set_seed")]
    if shuffle and not pipes:
        warnings.warn("`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware that the "
                      "default buffer size might not be sufficient for your task.", stacklevel=2)
        datapipe = datapipe.shuffle()
        pipes = [datapipe]
    for pipe in pipes:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_shuffle_seed(datapipe, rng):
    """Deprecated: `apply_random_seed`."""
    warnings.warn("`apply_shuffle_seed` is deprecated since 1.12 and will be removed in the future releases. Please use "
                  "`apply_random_seed` instead.", FutureWarning, stacklevel=2)
    return apply_random_seed(datapipe, rng)


def apply_random_seed(datapipe, rng):
    """Draws a seed of the generator for each pipe that takes one (``set_seed``).

    >>> import jtensor as torch
    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> from jtensor.utils.data.graph_settings import apply_random_seed
    >>> pipe = apply_random_seed(IterableWrapper(range(4)).shuffle(), torch.Generator().manual_seed(1))
    >>> sorted(pipe)
    [0, 1, 2, 3]
    """
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has_methods(pipe, "set_seed"):
            pipe.set_seed(draw_seed(rng))
    return datapipe
