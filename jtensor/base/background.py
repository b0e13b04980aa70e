"""Work that need not be waited for: daemon threads of a `Worker`, jobs by priority, a clean end.

Owns: the queue, handles (done, result, cancel), what happens at exit and on Ctrl-C, and that a fork finds all at rest (`forking`).
May not know: programs, files.

A thread that is inside XLA when the interpreter is torn down aborts the process, so the end of the process waits for the job
in hand (never for the queue, unless the worker's jobs are to be finished). Ctrl-C cuts that wait short.

>>> worker = Worker("example")
>>> worker.submit(lambda: 6 * 7).result()
42
"""
import atexit
import contextlib
import heapq
import os
import threading
import time
import weakref
from concurrent.futures import CancelledError
from itertools import count

_QUEUED, _RUNNING, _DONE, _CANCELLED = range(4)
_ORDER = count()
_WORKERS = weakref.WeakSet()


class Handle:
    """A job's future answer.

    ``done()``: it has ended (also by failure or `cancel`). ``result(timeout=None)``: its answer, or its exception raised, or
    `TimeoutError`; a job that nobody has begun is run by the caller there and then, unless ``help=False``. ``cancel()``: True if it
    will never run. ``then(callback)``: call ``callback(handle)`` at its end.
    """

    __slots__ = ("priority", "_order", "_job", "_state", "_value", "_error", "_ended", "_lock", "_callbacks", "name")

    def __init__(self, job, priority, name):
        self.priority, self._order, self._job, self.name = priority, next(_ORDER), job, name
        self._state, self._value, self._error = _QUEUED, None, None
        self._ended, self._lock, self._callbacks = threading.Event(), threading.Lock(), []

    def __lt__(self, other):                    # the heap: higher priority first, then older first
        return (-self.priority, self._order) < (-other.priority, other._order)

    def done(self):
        return self._state >= _DONE

    def failed(self):
        """The exception that the job ended with, or None; does not wait."""
        return self._error

    def cancel(self):
        if not self._claim(_CANCELLED):
            return self._state == _CANCELLED
        self._error = CancelledError(f"{self.name} was cancelled before it began")
        self._end(_CANCELLED)
        return True

    def result(self, timeout=None, help=True):
        if help:
            self.run()
        if not self._ended.wait(timeout):
            raise TimeoutError(f"{self.name} is still running")
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, callback):
        """Call ``callback(self)`` when the job has ended: in the thread that ran it, or at once if it has."""
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        callback(self)

    def run(self):
        """Run the job here unless it has begun elsewhere. Its exception is kept for `result`."""
        if not self._claim(_RUNNING):
            return
        state = _CANCELLED                      # what Ctrl-C in the caller's thread leaves behind
        try:
            self._value = self._job()
            state = _DONE
        except Exception as error:
            self._error, state = error, _DONE
        finally:
            if state == _CANCELLED:
                self._error = CancelledError(f"{self.name} was interrupted")
            self._end(state)

    def _claim(self, state):
        with self._lock:
            if self._state != _QUEUED:
                return False
            self._state = state
            return True

    def _end(self, state):
        with self._lock:
            self._state, self._job = state, None
            callbacks, self._callbacks = self._callbacks, []
        self._ended.set()
        for callback in callbacks:
            callback(self)


class Worker:
    """Daemon threads that run jobs by priority and then by age, each one at a time; a thread is started by a job that finds none at rest.

    ``threads``: how many at most. ``finish``: seconds that the end of the process may spend on the jobs still queued; with 0 they are
    dropped, and only those in hand are waited for, ``patience`` seconds at most.
    """

    def __init__(self, name, *, threads=1, finish=0.0, patience=120.0):
        self.name, self.threads, self.finish, self.patience = name, threads, finish, patience
        self._registered = False
        self._reset()
        _WORKERS.add(self)

    def _reset(self):                           # also in a forked child, which inherits the queue but no thread
        self._queue, self._busy, self._closed = [], [], False
        lock = threading.RLock()
        self._ready, self._ended = threading.Condition(lock), threading.Condition(lock)     # heard by the threads, by who waits for them
        self._started = self._resting = 0       # threads

    def submit(self, job, priority=0, name="job"):
        """Queue ``job()``; higher ``priority`` first. Answers a `Handle`. At the end of the process only ``result()`` runs it."""
        handle = Handle(job, priority, name)
        with self._ready:
            if self._closed:
                return handle
            # One at rest takes it up, else a new one; where there can be no more, one that is there, when it is done with another.
            if self._resting > len(self._queue) or self._started == self.threads or self._start() or self._started:
                heapq.heappush(self._queue, handle)
                self._ready.notify()
                return handle
        handle.run()
        return handle

    def pending(self):
        """How many jobs are queued or running."""
        with self._ready:
            return sum(h._state == _QUEUED for h in self._queue) + len(self._busy)

    def flush(self, timeout=None):
        """Wait until nothing is queued or running; False if that took longer than ``timeout`` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._ready:
            while self._queue or self._busy:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._ended.wait(left)
        return True

    def closed(self):
        """Whether the process is ending, so that no thread will take up a job any more."""
        return self._closed

    def close(self):
        """The end of the process: drop or finish the queue, wait for the jobs in hand."""
        try:
            with self._ready:
                self._closed = True
            if self.finish:
                self.flush(self.finish)
            with self._ready:
                dropped, self._queue = self._queue, []
            for handle in dropped:
                handle.cancel()
            self.flush(self.patience)
        except KeyboardInterrupt:               # the user does not want to wait
            pass

    def _start(self):
        """Whether there is one more thread now: once the process is ending, Python 3.12 starts none."""
        if not self._registered:                # registered after JAX's own handlers, hence run before them
            self._registered = True
            atexit.register(self.close)
        thread = threading.Thread(target=self._loop, name=f"jtensor-{self.name}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._started += 1
        return True

    def _loop(self):
        ready, handle = self._ready, None
        while True:
            with ready:
                if handle is not None:
                    self._busy.remove(handle)
                    handle = None
                self._ended.notify_all()
                self._resting += 1
                while not self._queue:
                    ready.wait()
                self._resting -= 1
            with _inside():
                with ready:
                    if self._queue:                 # else another thread was quicker
                        handle = heapq.heappop(self._queue)
                        self._busy.append(handle)
                if handle is not None:
                    with contextlib.suppress(BaseException):    # kept in the handle; the thread lives on
                        handle.run()


def processors():
    """How many processors this process may use.

    >>> processors() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def settle():
    """Wait until no worker of this process has anything left to do: a job may have queued another one elsewhere."""
    while busy := [worker for worker in list(_WORKERS) if worker.pending()]:
        for worker in busy:
            worker.flush()


# -- fork -------------------------------------------------------------------------------------------------------------
# A child inherits what a worker's thread has locked, but not the thread. So a fork waits until no worker is in the midst of something. What
# goes on inside XLA meanwhile does not matter to the child, which has a client of its own (`base.compat.forked`).

_gate = threading.Condition()
_working, _forking = set(), [0]                             # threads that are inside of a job; how many are about to fork


@contextlib.contextmanager
def _inside():
    mine = threading.get_ident()
    _enter(mine)
    try:
        yield
    finally:
        _leave(mine)


@contextlib.contextmanager
def outside():
    """Around a call into XLA that may take long: a fork does not wait for it."""
    mine = threading.get_ident()
    if mine not in _working:
        yield
        return
    _leave(mine)
    try:
        yield
    finally:
        _enter(mine)


def _enter(thread):
    with _gate:
        while _forking[0]:
            _gate.wait()
        _working.add(thread)


def _leave(thread):
    with _gate:
        _working.discard(thread)
        _gate.notify_all()


def hold():
    """Before a fork: waits until no worker is inside of a job, and keeps them out of the next ones."""
    with _gate:
        _forking[0] += 1
        while _working - {threading.get_ident()}:
            _gate.wait()


def go_on():
    """After a fork, in the parent."""
    with _gate:
        _forking[0] -= 1
        _gate.notify_all()


def begin_anew():
    """After a fork, in the child: no worker has a thread; what was begun is run by who asks for it."""
    global _gate
    _gate, _forking[0] = threading.Condition(), 0
    _working.clear()
    for worker in _WORKERS:
        for handle in worker._busy:
            if not handle.done():               # its thread stayed with the parent: `result` runs it here
                handle._lock, handle._ended, handle._state = threading.Lock(), threading.Event(), _QUEUED
        worker._reset()

