"""What is under way between processes: started now, done by another thread, waited for later.

Owns: `Work`, and the line in which a group does one thing after the other. May not know: what is done.
"""
import queue
import threading
import time

from ..futures import Future


class Work:
    """What was begun with ``async_op=True``, or a message that is sent or awaited. `wait` comes back when it is done.

    What it brings is written into its tensors when the work is asked about (`wait`, `is_completed`, `result`, its future).
    """

    def __init__(self, run, finish=None, tensors=()):
        self._run, self._finish, self._tensors = run, finish, list(tensors)
        self._done, self._over, self._error = threading.Event(), threading.Lock(), None
        self._future, self._source = None, -1

    def _do(self):
        """Does it, in whichever thread this is called."""
        try:
            self._run()
        except BaseException as error:
            self._error = error
        self._done.set()
        if self._future is not None:
            self._tell()

    def _end(self):
        """Writes what came into the tensors, once. What is wrong with that is the work's error."""
        with self._over:
            finish, self._finish = self._finish, None
            if finish is not None and self._error is None:
                try:
                    finish()
                except Exception as error:
                    self._error = error

    def _tell(self):
        self._end()
        with self._over:
            if not self._future.done():
                if self._error is None:
                    self._future.set_result(self._tensors)
                else:
                    self._future.set_exception(self._error if isinstance(self._error, Exception) else RuntimeError(str(self._error)))

    def wait(self, timeout=None):
        """Comes back, with True, when it is done; raises its error. ``timeout``: a `timedelta`, after which RuntimeError is raised."""
        if not self._done.wait(timeout.total_seconds() if timeout else None):
            raise RuntimeError(f"Work ran into timeout: waited for {round(timeout.total_seconds() * 1000)}ms")
        self._end()
        if self._error is not None:
            raise self._error
        return True

    synchronize = wait

    def is_completed(self):
        """Whether it is done, well or not."""
        done = self._done.is_set()
        if done:
            self._end()
        return done

    def is_success(self):
        """Whether it is done well."""
        return self.is_completed() and self._error is None

    def exception(self):
        """Its error; None if there is none, or none yet."""
        return self._error

    def result(self):
        """The tensors it was about, once it is done."""
        self.wait()
        return self._tensors

    def source_rank(self):
        """Who sent what was received."""
        return self._source

    def get_future(self):
        """A `torch.futures.Future` of the tensors."""
        with self._over:
            if self._future is None:
                self._future = Future()
        if self._done.is_set():
            self._tell()
        return self._future


class Line:
    """The works of one group, one after the other: in the caller's thread where nobody is before it, else in one of the line's own."""

    def __init__(self):
        self._works, self._left, self._changed, self._thread = queue.SimpleQueue(), 0, threading.Lock(), None

    def begin(self, work):
        """Puts a work into the line; answers it."""
        with self._changed:
            self._left += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="jtensor-group", daemon=True)
                self._thread.start()
        self._works.put(work)
        return work

    def do(self, work):
        """Has a work done and ended when this comes back."""
        with self._changed:
            alone = self._left == 0
            self._left += alone
        if not alone:
            self.begin(work).wait()
            return work
        try:
            work._do()
        finally:
            with self._changed:
                self._left -= 1
        work.wait()
        return work

    def drain(self, timeout):
        """Waits until nobody is left in the line, ``timeout`` seconds at most."""
        until = time.monotonic() + timeout
        while self._left and time.monotonic() < until:
            time.sleep(0.001)

    def _serve(self):
        while True:
            work = self._works.get()
            work._do()
            del work
            with self._changed:
                self._left -= 1


__all__ = ["Work"]
