"""What surrounds the methods of a stream of pipes: the count of its iterators and samples, and what an error says of the pipe.

Owns: the rule that a stream has one living iterator, the one begun last. A pipe keeps the number of that iterator
(``_valid_iterator_id``), how many samples it has given (``_number_of_samples_yielded``), and whether it was wound forward to where another
stood (``_snapshot_state``, ``_fast_forward_iterator``). May not know: single pipes; the children of one (`iter.combining`) answer
themselves whether an iterator lives, by the method ``_check_valid_iterator_id``.
"""
import enum
import functools
import inspect
import types

_FEEDBACK = ("\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free to comment on this issue: "
             "https://github.com/pytorch/data/issues/45.")
_THROWN = "thrown by __iter__ of"


class _SnapshotState(enum.Enum):
    """Where a pipe stands: at its beginning, wound forward, or on its way."""

    NotStarted, Restored, Iterating = range(3)


def described(pipe):
    """A pipe with those of its attributes that its constructor takes, in the order of the alphabet: ``Mapper(datapipe=..., fn=abs)``."""
    texts = []
    for name in sorted(inspect.signature(type(pipe)).parameters):
        if hasattr(pipe, name):
            value = getattr(pipe, name)
            texts.append(f"{name}={value.__name__ if isinstance(value, types.FunctionType) else repr(value)}")
    return f"{type(pipe).__name__}({', '.join(texts)})"


def _check(pipe, number):
    """Raises unless the pipe's iterator of that number is the one that lives."""
    if hasattr(pipe, "_is_child_datapipe"):
        if not pipe._check_valid_iterator_id(number):
            raise RuntimeError("This iterator has been invalidated, because a new iterator has been created from one of the ChildDataPipes "
                               f"of {described(pipe.main_datapipe)}.{_FEEDBACK}")
    elif pipe._valid_iterator_id != number:
        raise RuntimeError("This iterator has been invalidated because another iterator has been created from the same IterDataPipe: "
                           f"{described(pipe)}\nThis may be caused by multiple references to the same IterDataPipe. We recommend using "
                           f"`.fork()` if that is necessary.{_FEEDBACK}")


def _begin(pipe):
    """The number of a new iterator, which lives from now on. The pipe is reset."""
    if hasattr(pipe, "_is_child_datapipe"):
        return pipe._set_main_datapipe_valid_iterator_id()
    pipe._valid_iterator_id = 0 if pipe._valid_iterator_id is None else pipe._valid_iterator_id + 1
    pipe.reset()
    return pipe._valid_iterator_id


def _wound_forward(pipe):
    """The iterator that stands where the pipe was wound forward to, once; None of any other pipe."""
    found, pipe._snapshot_state = pipe._fast_forward_iterator, _SnapshotState.Iterating
    if found is not None:
        pipe._fast_forward_iterator = None
    return found


def _name_the_pipe(error, pipe):
    """Adds to an exception which pipe it came from; the innermost is the one that counts."""
    said = error.args[0] if error.args and isinstance(error.args[0], str) else None
    if said is not None and (_THROWN in said or "This iterator has been invalidated" in said):
        return
    text = f"\nThis exception is {_THROWN} {described(pipe)}"
    error.args = (text,) if said is None else (said + text, *error.args[1:])


class IteratorDecorator:
    """The iterator of a pipe whose ``__iter__`` returns one. ``counts``: whether that counts its samples itself."""

    def __init__(self, iterator, datapipe, iterator_id, counts):
        self.iterator, self.datapipe, self.iterator_id, self.counts = iterator, datapipe, iterator_id, counts

    def __iter__(self):
        return self

    def __next__(self):
        _check(self.datapipe, self.iterator_id)
        found = next(self.iterator)
        if not self.counts:
            self.datapipe._number_of_samples_yielded += 1
        return found

    def __getattr__(self, name):
        return getattr(self.iterator, name)


def _around_generator(function):
    """``__iter__`` that is a generator: all of it happens when the first sample is asked for."""
    @functools.wraps(function)
    def __iter__(*args, **kwargs):
        pipe = args[0]
        forward = _wound_forward(pipe) if pipe._fast_forward_iterator is not None else None
        if forward is not None:
            yield from forward
            return
        number = _begin(pipe)
        pipe._snapshot_state = _SnapshotState.Iterating
        items, sent = function(*args, **kwargs), None
        try:
            while True:
                _check(pipe, number)
                found = items.send(sent)
                pipe._number_of_samples_yielded += 1
                sent = yield found
        except StopIteration:
            return
        except Exception as error:
            _name_the_pipe(error, pipe)
            raise
        finally:
            items.close()
    return __iter__


def _around_iterator(function, counts):
    """``__iter__`` that answers an iterator: called at once."""
    @functools.wraps(function)
    def __iter__(*args, **kwargs):
        pipe = args[0]
        if pipe._fast_forward_iterator is not None:
            return _wound_forward(pipe)
        found = function(*args, **kwargs)
        pipe._snapshot_state = _SnapshotState.Iterating
        return IteratorDecorator(found, pipe, _begin(pipe), counts and found is pipe)
    return __iter__


def _around_next(function):
    @functools.wraps(function)
    def __next__(pipe):
        found = function(pipe)
        pipe._number_of_samples_yielded += 1
        return found
    return __next__


def _around_reset(function):
    """``reset``, which leaves alone what was wound forward: that is to go on from there."""
    @functools.wraps(function)
    def reset(pipe, *args, **kwargs):
        if pipe._snapshot_state is not _SnapshotState.Restored:
            pipe._number_of_samples_yielded, pipe._fast_forward_iterator = 0, None
            function(pipe, *args, **kwargs)
        pipe._snapshot_state = _SnapshotState.Iterating
    return reset


def surround(namespace):
    """Wraps the methods that the body of a pipe's class defines."""
    if "__next__" in namespace:
        namespace["__next__"] = _around_next(namespace["__next__"])
    if "reset" in namespace:
        namespace["reset"] = _around_reset(namespace["reset"])
    if "__iter__" in namespace:
        function = namespace["__iter__"]
        namespace["__iter__"] = (_around_generator(function) if inspect.isgeneratorfunction(function)
                                 else _around_iterator(function, "__next__" in namespace))
