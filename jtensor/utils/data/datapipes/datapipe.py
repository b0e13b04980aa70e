"""The two base classes of pipes, the batch that they make, and how a pipe goes to a worker process.

Owns: the methods by which pipes are chained (``functions``: of streams and of tables), what a pipe says of itself, and how it is pickled.
May not know: single pipes, which register themselves (`_decorator.functional_datapipe`).
"""
import functools
import pickle
from typing import TypeVar

from ....base.errors import missing
from ..dataset import Dataset, IterableDataset
from ._hook_iterator import _SnapshotState
from ._typing import _DataPipeMeta, _IterDataPipeMeta
from .utils.common import dill

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class DataChunk(list[_T]):
    """A batch: a list that remembers what it was made of (``items``).

    >>> from jtensor.utils.data import DataChunk
    >>> DataChunk(range(3)).as_str("> ")
    '> [0, 1, 2]'
    """

    def __init__(self, items):
        self.items = list(items)
        super().__init__(self.items)

    def as_str(self, indent=""):
        """The items as text behind ``indent``, each as `str` has it."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def __iter__(self):
        yield from super().__iter__()

    def raw_iterator(self):
        """The items as they were given."""
        yield from self.items


def _family(cls):
    """The base class that has the methods and hooks of a pipe's class."""
    return IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe


class _Piped:
    """What streams and tables of pipes have in common."""

    def __getattr__(self, attribute_name):
        made = _family(type(self)).functions.get(attribute_name)
        if made is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{attribute_name}")
        method = functools.partial(made, self)
        method.__doc__ = made.__doc__
        return method

    @classmethod
    def register_function(cls, function_name, function):
        """Makes ``function`` a method of all pipes of this family; it is given the pipe first."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register, enable_df_api_tracing=False):
        """Makes a method of all pipes of this family that makes a ``cls_to_register`` of the pipe."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        method = functools.partial(_chained, cls_to_register, enable_df_api_tracing)
        method.__doc__ = cls_to_register.__doc__
        cls.functions[function_name] = method

    def __getstate__(self):
        hook = _family(type(self)).getstate_hook
        return self.__dict__ if hook is None else hook(self.__dict__)

    def __reduce_ex__(self, *args, **kwargs):
        hook = _family(type(self)).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(*args, **kwargs)

    @classmethod
    def set_getstate_hook(cls, hook_fn):
        """Sets what turns a pipe's state into what is pickled (None: takes it away). RuntimeError where there is one."""
        _set_hook(cls, "getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn):
        """Sets what a pipe is pickled by (None: takes it away). RuntimeError where there is one."""
        _set_hook(cls, "reduce_ex_hook", hook_fn)

    def __repr__(self):
        return type(self).__qualname__ if self.repr_hook is None else self.repr_hook(self)

    def __str__(self):
        return type(self).__qualname__ if self.str_hook is None else self.str_hook(self)

    def __dir__(self):
        return [*super().__dir__(), *self.functions]


def _chained(kind, as_frames, source, *args, **kwargs):
    if as_frames or isinstance(source, DFIterDataPipe):
        raise missing("pipes of data frames", "pipes of samples, or of frames that a function of `map` makes")
    return kind(source, *args, **kwargs)


def _set_hook(cls, name, hook):
    family = _family(cls)
    if hook is not None and getattr(family, name) is not None:
        raise RuntimeError(f"Attempt to override existing {name}")
    setattr(family, name, hook)


class IterDataPipe(_Piped, IterableDataset[_T_co], metaclass=_IterDataPipeMeta):
    """Base of pipes that are streams: write ``__iter__``, and ``reset`` where there is something to forget before another pass.

    Other pipes are made of it by its methods. It has one living iterator, the one that was begun last: an older one raises RuntimeError.

    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).map(abs).batch(2))
    [[0, 1], [2, 3], [4]]
    """

    functions = {}
    reduce_ex_hook = getstate_hook = str_hook = repr_hook = None
    _valid_iterator_id = _fast_forward_iterator = None
    _number_of_samples_yielded, _snapshot_state = 0, _SnapshotState.NotStarted

    def __iter__(self):
        return self

    def reset(self):
        """Forgets what is left of a pass; called as another begins."""


class DFIterDataPipe(IterDataPipe):
    """Base of streams of data frames, which can be derived from; what PyTorch chains to one raises ``NotImplementedError``."""

    def _is_dfpipe(self):
        return True


class MapDataPipe(_Piped, Dataset[_T_co], metaclass=_DataPipeMeta):
    """Base of pipes that are tables: write ``__getitem__``, and ``__len__``.

    >>> from jtensor.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper([1, -2]).map(abs)[1]
    2
    """

    functions = {}
    reduce_ex_hook = getstate_hook = str_hook = repr_hook = None

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register):
        """Makes a method of all tables that makes a ``cls_to_register`` of the table."""
        super().register_datapipe_as_function(function_name, cls_to_register)


class _DataPipeSerializationWrapper:
    """What a DataLoader holds of a pipe: the pipe, pickled by the package ``dill`` where Python cannot and it is installed."""

    def __init__(self, datapipe):
        self._datapipe = datapipe

    def __getstate__(self):
        try:
            return pickle.dumps(self._datapipe), False
        except Exception:
            if dill is None:
                raise
            return dill.dumps(self._datapipe), True

    def __setstate__(self, state):
        value, by_dill = state
        self._datapipe = (dill if by_dill else pickle).loads(value)

    def __len__(self):
        try:
            return len(self._datapipe)
        except Exception as error:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from error


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe):
    def __init__(self, datapipe):
        super().__init__(datapipe)
        self._datapipe_iter = None

    def __iter__(self):
        self._datapipe_iter = iter(self._datapipe)
        return self

    def __next__(self):
        if self._datapipe_iter is None:
            raise AssertionError("Iterator has not been initialized; call __iter__() before __next__()")
        return next(self._datapipe_iter)


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe):
    def __getitem__(self, idx):
        return self._datapipe[idx]
