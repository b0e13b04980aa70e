"""`torch.futures`: values that will be there later, set by whoever promised them. Owns: `Future`, as a layer over Python's own."""
import concurrent.futures
import sys
import types

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A value that will be there later, or an error in its place. ``devices`` is taken and not needed: values are ready when they are read.

    >>> later = torch.futures.Future()
    >>> doubled = later.then(lambda done: done.value() * 2)
    >>> later.set_result(21)
    >>> doubled.wait()
    42
    """

    __module__ = "torch.futures"
    __class_getitem__ = classmethod(types.GenericAlias)        # Future[int], in annotations

    def __init__(self, *, devices=None):
        self._held = concurrent.futures.Future()

    def done(self):
        """Whether the value, or an error, is there."""
        return self._held.done()

    def wait(self):
        """The value, once it is there; raises the error, if that is what comes."""
        return self._held.result()

    def value(self):
        """The value that is there. RuntimeError if none is yet."""
        if not self.done():
            raise RuntimeError("the Future is not completed: value() waits for nothing, wait() does")
        return self._held.result()

    def set_result(self, result):
        """Sets the value. RuntimeError for a second one."""
        self._once(self._held.set_result, result)

    def set_exception(self, result):
        """Sets an error, which `wait` and `value` raise."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._once(self._held.set_exception, result)

    @staticmethod
    def _once(setter, result):
        try:
            setter(result)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed "
                               "once.") from None

    def add_done_callback(self, callback):
        """Calls ``callback(self)`` when the value is there, or at once. An error in it is written to standard error."""
        def called(_):
            try:
                callback(self)
            except Exception as error:
                print(f"Got the following error when running the callback: {type(error).__name__}: {error}", file=sys.stderr)
        self._held.add_done_callback(called)

    def then(self, callback):
        """A `Future` of what ``callback(self)`` answers once the value is there; of a RuntimeError, if it raises something."""
        after = Future()

        def called(_):
            try:
                answer = callback(self)
            except Exception as error:
                failed = RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")
                failed.__cause__ = error
                after.set_exception(failed)
            else:
                after.set_result(answer)
        self._held.add_done_callback(called)
        return after


def collect_all(futures):
    """A `Future` of the list of these, done when all of them are; of the first error that one of them has.

    >>> parts = [torch.futures.Future(), torch.futures.Future()]
    >>> both = torch.futures.collect_all(parts)
    >>> parts[0].set_result(1)
    >>> both.done()
    False
    >>> parts[1].set_result(2)
    >>> [part.value() for part in both.wait()]
    [1, 2]
    """
    import threading
    futures, together, lock = list(futures), Future(), threading.Lock()
    left = len(futures)

    def called(held):
        nonlocal left
        with lock:
            left -= 1
            if together.done():
                return
            if held.exception() is not None:
                together.set_exception(held.exception())
            elif left == 0:
                together.set_result(futures)
    if not futures:
        together.set_result([])
    for future in futures:
        future._held.add_done_callback(called)
    return together


def wait_all(futures):
    """The values of all of these, once they are there; raises the first error.

    >>> ready = torch.futures.Future()
    >>> ready.set_result(1)
    >>> torch.futures.wait_all([ready])
    [1]
    """
    return [future.wait() for future in collect_all(futures).wait()]
