"""`torch.futures`: values that are there later."""
import threading

import pytest

from jtensor.futures import Future, collect_all, wait_all


def test_a_value_comes_later():
    later, seen = Future(), []
    later.add_done_callback(lambda done: seen.append(done.value()))
    after = later.then(lambda done: done.wait() + 1)
    assert not later.done() and not after.done()
    threading.Timer(0.01, later.set_result, [3]).start()
    assert (later.wait(), after.wait(), seen, later.done()) == (3, 4, [3], True)
    with pytest.raises(RuntimeError, match="Attempting to mark a completed Future as complete again"):
        later.set_result(4)
    assert Future[int] is not None                               # in annotations


def test_errors_come_later(capsys):
    failed = Future()
    after = failed.then(lambda done: done.wait())
    with pytest.raises(RuntimeError, match="not completed"):
        failed.value()
    with pytest.raises(AssertionError, match="3 is of type <class 'int'>, not an Exception."):
        failed.set_exception(3)
    failed.set_exception(ValueError("bad"))
    for ask in (failed.wait, failed.value):
        with pytest.raises(ValueError, match="bad"):
            ask()
    with pytest.raises(RuntimeError, match="Got the following error when running the callback: ValueError: bad"):
        after.wait()
    failed.add_done_callback(lambda done: 1 / 0)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_several_at_once():
    parts = [Future(), Future()]
    both = collect_all(parts)
    parts[1].set_result(2)
    assert not both.done()
    parts[0].set_result(1)
    assert both.wait() == parts and wait_all(parts) == [1, 2] and collect_all([]).wait() == []
    bad = Future()
    bad.set_exception(ValueError("bad"))
    with pytest.raises(ValueError, match="bad"):
        wait_all([*parts, bad])
