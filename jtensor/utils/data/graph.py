"""Which pipes a pipe is made of, found in its attributes."""
import io
import pickle
import warnings

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

_PIPES = IterDataPipe, MapDataPipe


class _Listing(pickle.Pickler):
    """Pickles a pipe in order to see what other pipes it holds, in whatever objects."""

    def __init__(self, pipe):
        super().__init__(io.BytesIO(), pickle.HIGHEST_PROTOCOL)
        self.pipe, self.found = pipe, []

    def persistent_id(self, thing):
        if isinstance(thing, _PIPES) and thing is not self.pipe:
            self.found.append(thing)
            return id(thing)
        return None


def _in_collections(thing):
    """The pipes in a nest of lists, tuples, sets and dictionaries."""
    if isinstance(thing, _PIPES):
        yield thing
    elif isinstance(thing, (list, tuple, set, dict)):
        for inner in thing.values() if isinstance(thing, dict) else thing:
            yield from _in_collections(inner)


def _held(pipe, only_datapipe):
    if only_datapipe:
        return [found for value in vars(pipe).values() for found in _in_collections(value)]
    listing = _Listing(pipe)
    listing.dump(pipe)
    return listing.found


def _graph(pipe, only_datapipe, above):
    if not isinstance(pipe, _PIPES):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in above:
        return {}
    inner = {}
    for found in _held(pipe, only_datapipe):
        inner.update(_graph(found, only_datapipe, above | {id(pipe)}))
    return {id(pipe): (pipe, inner)}


def traverse_dps(datapipe):
    """A dictionary of the ``id`` of a pipe to the pair of the pipe and such a dictionary of the pipes it is made of: those that are its
    attributes, or in lists, tuples, sets and dictionaries that are.

    >>> from jtensor.utils.data.graph import traverse_dps
    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper([1]).batch(2)
    >>> traverse_dps(pipe)[id(pipe)][1].values()
    dict_values([(IterableWrapperIterDataPipe, {})])
    """
    return _graph(datapipe, True, frozenset())


def traverse(datapipe, only_datapipe=None):
    """Deprecated: `traverse_dps`, which also looks into other attributes unless ``only_datapipe``: in all that would be pickled."""
    text = "`traverse` function is deprecated and will be removed after 1.13. Please use `traverse_dps` instead."
    if not only_datapipe:
        text += " And, the behavior will be changed to the equivalent of `only_datapipe=True`."
    warnings.warn(text, FutureWarning, stacklevel=2)
    return _graph(datapipe, bool(only_datapipe), frozenset())
