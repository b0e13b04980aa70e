"""Jobs in a daemon thread: order, answers, failures, cancelling, helping, the end."""
import threading
from concurrent.futures import CancelledError

import pytest

from jtensor.base.background import Worker

WAIT = 120.0        # seconds that nothing takes, however busy the machine is


@pytest.fixture
def held():
    """A worker whose thread is busy until `release` is set, so that what is queued stays queued."""
    worker, release = Worker("test"), threading.Event()
    begun = threading.Event()
    worker.submit(lambda: begun.set() or release.wait(WAIT))
    assert begun.wait(WAIT)
    yield worker, release
    release.set()
    assert worker.flush(WAIT)


def test_priority_then_age(held):
    worker, release = held
    order = []
    for name, priority in [("a", 0), ("b", 0), ("c", 5), ("d", 5), ("e", -1)]:
        worker.submit(lambda name=name: order.append(name), priority)
    assert worker.pending() == 6
    release.set()
    assert worker.flush(WAIT) and order == ["c", "d", "a", "b", "e"] and worker.pending() == 0


def test_where_no_thread_can_be_started(monkeypatch):
    def refused(thread):                # as Python 3.12 does once the process is ending
        raise RuntimeError("can't create new thread at interpreter shutdown")
    monkeypatch.setattr(threading.Thread, "start", refused)
    worker = Worker("test")
    handle = worker.submit(lambda: 6 * 7)
    assert handle.done() and handle.result() == 42 and worker.pending() == 0


def test_cancel(held):
    worker, release = held
    ran, heard = [], []
    handle = worker.submit(lambda: ran.append(1), name="a job")
    handle.then(heard.append)
    assert handle.cancel() and handle.cancel() and handle.done() and heard == [handle]
    release.set()
    assert worker.flush(WAIT) and not ran
    with pytest.raises(CancelledError, match="a job was cancelled"):
        handle.result()


def test_what_runs_cannot_be_cancelled(held):
    worker, release = held
    running, = worker._busy
    assert not running.cancel()
    with pytest.raises(TimeoutError):
        running.result(timeout=0.01)
    release.set()
    assert running.result(WAIT) is True


def test_as_many_at_a_time_as_there_are_threads():
    worker, meeting = Worker("test", threads=3), threading.Barrier(3, timeout=WAIT)         # none ends before three have met
    handles = [worker.submit(lambda: (meeting.wait(), threading.current_thread())[1]) for _ in range(6)]
    assert worker.flush(WAIT) and 1 < len({handle.result() for handle in handles}) <= 3 and worker.pending() == 0


def test_a_thread_at_rest_is_taken_first():
    worker = Worker("test", threads=3)
    for _ in range(5):
        assert worker.submit(lambda: 1).result(WAIT, help=False) == 1 and worker.flush(WAIT)
    assert worker._started == 1


def test_who_asks_first_helps(held):
    worker, release = held
    handle = worker.submit(threading.current_thread)
    with pytest.raises(TimeoutError):
        handle.result(timeout=0.01, help=False)
    assert handle.result() is threading.current_thread()


def test_a_failure_is_kept_and_the_thread_lives_on():
    worker = Worker("test")
    failing = worker.submit(lambda: 1 / 0)
    assert worker.flush(WAIT) and isinstance(failing.failed(), ZeroDivisionError)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            failing.result()
    heard = []
    failing.then(heard.append)
    assert heard == [failing]
    assert worker.submit(lambda: 5).result(WAIT) == 5


def test_ctrl_c_in_a_helping_caller_is_theirs(held):
    worker, release = held

    def interrupted():
        raise KeyboardInterrupt

    handle = worker.submit(interrupted, name="a job")
    with pytest.raises(KeyboardInterrupt):
        handle.result()
    with pytest.raises(CancelledError, match="a job was interrupted"):
        handle.result()


def test_the_end_drops_what_is_queued_or_finishes_it():
    for finish, expected in [(0.0, []), (WAIT, [1, 2])]:
        worker, release, begun, ran = Worker("test", finish=finish), threading.Event(), threading.Event(), []
        worker.submit(lambda begun=begun, release=release: begun.set() or release.wait(WAIT))
        for i in (1, 2):
            queued = worker.submit(lambda i=i, ran=ran: ran.append(i))
        assert begun.wait(WAIT)
        if finish:
            release.set()
        else:
            queued.then(lambda handle, release=release: release.set())      # what is in hand ends when the queue has been dropped
        worker.close()
        assert ran == expected and worker.closed()
        late = worker.submit(lambda: "late")
        assert late.result() == "late"                  # by the caller: no thread takes it up
