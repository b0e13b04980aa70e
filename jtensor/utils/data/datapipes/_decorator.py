"""Decorators of pipes: a name as a method, promises that a pipe's order is always the same, and checks of types."""
import functools
import inspect
import typing

from ....base.errors import missing
from ._typing import _IterDataPipeMeta
from .datapipe import IterDataPipe, MapDataPipe

_enforced = {"determinism": False, "types": True}


class functional_datapipe:
    """Gives a class of pipes a method of that name on all pipes of its family.

    >>> from jtensor.utils.data import IterDataPipe, functional_datapipe
    >>> from jtensor.utils.data.datapipes.iter import IterableWrapper
    >>> @functional_datapipe("twice_each")
    ... class Twice(IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         for sample in self.source:
    ...             yield from (sample, sample)
    >>> list(IterableWrapper("ab").twice_each())
    ['a', 'a', 'b', 'b']
    """

    def __init__(self, name, enable_df_api_tracing=False):
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls):
        if issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        elif issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        return cls


class _During:
    """A context in which one of the rules above is as `value` says."""

    rule, value = None, None

    def __init__(self):
        self.prev = _enforced[self.rule]
        _enforced[self.rule] = self.value

    def __enter__(self):
        return None

    def __exit__(self, *raised):
        _enforced[self.rule] = self.prev


class guaranteed_datapipes_determinism(_During):
    """A context in which no pipe can be made that says of itself that it is not deterministic (TypeError)."""

    rule, value = "determinism", True


class runtime_validation_disabled(_During):
    """A context in which `runtime_validation` checks nothing."""

    rule, value = "types", False


class non_deterministic:
    """Says of a class of streams that their order is not always the same; or of which of them, by a function of the arguments they get."""

    def __init__(self, arg):
        self.cls = self.deterministic_fn = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found")
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args, **kwargs):
        if self.cls is not None:
            return self._made(True, "", args, kwargs)
        if not (isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[0].__name__} is found")
        self.cls = args[0]
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args, **kwargs):
        """A pipe of the class, if what the function says of these arguments allows it."""
        varies = self.deterministic_fn(*args, **kwargs)
        if not isinstance(varies, bool):
            raise TypeError("deterministic_fn of `non_deterministic` decorator is required to return a boolean value, but "
                            f"{type(varies)} is found")
        return self._made(varies, " with the inputs", args, kwargs)

    def _made(self, varies, when, args, kwargs):
        if varies and _enforced["determinism"]:
            raise TypeError(f"{self.cls.__name__} is non-deterministic{when}, but you set 'guaranteed_datapipes_determinism'. You can turn "
                            "off determinism for this DataPipe if that is acceptable for your application")
        return self.cls(*args, **kwargs)


def _refuse_type(pipe):
    """Asks for the type of a pipe's samples, which pipes no longer have: AttributeError, as in PyTorch 2.13."""
    raise missing(f"checks of samples against {pipe.type}", "a check in `map`")


def argument_validation(f):
    """Checks that arguments that are annotated as streams are streams (TypeError). In PyTorch 2.13 a stream that passes is then asked for a
    type that it no longer has (AttributeError), unless the annotation has brackets, which are not looked at."""
    signature, hints = inspect.signature(f), typing.get_type_hints(f)

    @functools.wraps(f)
    def checked(*args, **kwargs):
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if isinstance(hints.get(name), _IterDataPipeMeta):
                if not isinstance(value, IterDataPipe):
                    raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
                _refuse_type(value)
        return f(*args, **kwargs)
    return checked


def runtime_validation(f):
    """Checks the samples of a stream's ``__iter__`` against the type of the stream, which in PyTorch 2.13 streams no longer have: raises
    AttributeError at the first sample, except inside `runtime_validation_disabled`."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @functools.wraps(f)
    def __iter__(self):
        for sample in f(self):
            if _enforced["types"]:
                _refuse_type(self)
            yield sample
    return __iter__
