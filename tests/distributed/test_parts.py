"""Stores, connections and patterns by themselves, without processes."""
import datetime
import threading
import time

import numpy as np
import pytest

from jtensor.distributed import patterns, stores, tcp_store, work
from jtensor.distributed.errors import DistNetworkError, DistStoreError, QueueEmptyError
from jtensor.distributed.reducing import ReduceOp, function_of
from jtensor.distributed.rendezvous import rendezvous
from jtensor.distributed.wires import Wires

SHORT = datetime.timedelta(milliseconds=50)


def a_store(kind, folder):
    if kind == "tcp":
        return tcp_store.TCPStore("127.0.0.1", 0, 1, is_master=True)
    return stores.FileStore(str(folder / "store"), 2) if kind == "file" else stores.HashStore()


@pytest.mark.parametrize("kind", ["hash", "file", "tcp"])
def test_a_store_holds_waits_and_counts(kind, tmp_path):
    store = a_store(kind, tmp_path)
    store.set("key", "value")
    assert store.get("key") == b"value" and store.check(["key"]) and not store.check(["key", "other"])
    assert [store.add("count", 2), store.add("count", 3)] == [2, 5] and store.num_keys() == 2
    assert [store.compare_set("c", "x", "y"), store.compare_set("c", "", "one"), store.compare_set("c", "one", "two"),
            store.compare_set("c", "no", "three")] == [b"x", b"one", b"two", b"two"]
    store.append("key", b"\x00more")
    assert store.get("key") == b"value\x00more" and store.delete_key("key")
    with pytest.raises(RuntimeError if kind == "file" else DistStoreError, match="(?i)wait timeout"):
        store.wait(["never"], SHORT)
    threading.Timer(0.05, store.clone().set, ("late", "1")).start()
    assert store.get("late") == b"1"


@pytest.mark.parametrize("kind", ["hash", "tcp"])
def test_queues_are_no_keys(kind, tmp_path):
    inner = a_store(kind, tmp_path)
    for store in (inner, stores.PrefixStore("p", inner)):
        store.queue_push("q", "1")
        assert store.queue_len("q") == 1 and store.check(["q"]) and store.num_keys() == 0
        assert store.queue_pop("q") == b"1" and store.queue_len("q") == 0
        with pytest.raises(QueueEmptyError, match="queue is empty"):
            store.queue_pop("q", block=False)
        store.queue_push("q", "2")
        with pytest.raises(DistStoreError, match="(?i)wait timeout"):
            store.wait(["q"], 0.05)


def test_a_store_of_ones_own():
    class Own(stores.Store):
        def __init__(self):
            self.held = {}

        def set(self, key, value):
            self.held[key] = value

        def get(self, key):
            return self.held[key]
    store = stores.PrefixStore("p", Own())
    store.set("k", "v")
    assert store.get("k") == b"v" and store.underlying_store.held == {"p/k": b"v"}
    with pytest.raises(NotImplementedError, match="Own has no add of its own"):
        store.add("n", 1)


def test_a_port_is_free_when_its_store_has_gone():
    store = tcp_store.TCPStore("127.0.0.1", 0, 1, is_master=True)
    port = store.port
    del store
    assert tcp_store.TCPStore("127.0.0.1", port, 1, is_master=True).port == port


def test_two_clients_of_a_file_see_each_other_and_the_last_deletes_it(tmp_path):
    one, two = (stores.FileStore(str(tmp_path / "store"), 2) for _ in range(2))
    one.set("a", "1")
    assert two.get("a") == b"1" and two.add("n", 1) == 1 and one.add("n", 1) == 2
    assert (tmp_path / "store").exists()
    del one, two
    assert not (tmp_path / "store").exists()


def test_a_store_that_is_not_there_and_a_port_that_is_taken():
    with pytest.raises(DistNetworkError, match="timed out after 50ms"):
        tcp_store.TCPStore("127.0.0.1", 1, timeout=SHORT)
    there = tcp_store.TCPStore("127.0.0.1", 0, 1, is_master=True)
    with pytest.raises(DistNetworkError, match="EADDRINUSE"):
        tcp_store.TCPStore("127.0.0.1", there.port, 1, is_master=True)
    with pytest.raises(DistStoreError, match="1/2 clients joined"):
        tcp_store.TCPStore("127.0.0.1", 0, 2, is_master=True, timeout=SHORT)


@pytest.mark.parametrize(("url", "text"), [
    ("tcp://localhost", "port number missing"), ("tcp://localhost:1", "rank parameter missing"), ("file://", "path missing"),
    ("file:///tmp/x?rank=0", "world size parameter missing"), ("env://", "environment variable RANK expected, but not set")])
def test_an_address_that_lacks_something(url, text, monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ValueError, match=text):
        next(rendezvous(url))


def in_threads(size, run, timeout=10):
    """Has members of a group, a thread each, run ``run(member)``; their answers."""
    store, found = stores.HashStore(), [None] * size

    class Member:
        def __init__(self, rank):
            self.rank, self.size, self.wires = rank, size, Wires(store, rank, size, timeout)

        def send(self, other, array):
            self.wires.send(other, "label", np.ascontiguousarray(array).view(np.uint8))

        def take(self, other, array):
            array[...] = np.frombuffer(self.wires.take(other, "label", timeout), array.dtype)

    def begin(rank):
        member = Member(rank)
        try:
            found[rank] = run(member)
        finally:
            member.wires.close()
    threads = [threading.Thread(target=begin, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
    return found


@pytest.mark.parametrize("size", [2, 4, 5])
def test_patterns(size):
    def run(member):
        total = np.arange(7) + member.rank
        patterns.all_reduce(member, total, function_of(ReduceOp.SUM, total.dtype))
        sent = np.full(3, member.rank)
        patterns.broadcast(member, sent, size - 1)
        patterns.barrier(member)
        into = [np.zeros(2, int) for _ in range(size)]
        patterns.all_gather(member, np.full(2, member.rank), into)
        return total.tolist(), sent.tolist(), [part.tolist() for part in into]
    expected = ([size * at + size * (size - 1) // 2 for at in range(7)], [size - 1] * 3, [[at, at] for at in range(size)])
    assert in_threads(size, run) == [expected] * size


def test_the_parts_of_a_ring_cover_everything():
    for length in (0, 1, 2, 6, 7, 100, 3_000_001):
        for size in (1, 2, 3, 8):
            begins = patterns.bounds(length, 4, size)
            assert begins[0] == 0 and begins[-1] == length and begins == sorted(begins)


def test_processes_meet_again_by_a_store_that_stays():
    store, found = stores.HashStore(), []

    def meet(rank):
        for turn in range(3):
            wires = Wires(store, rank, 2, 10)
            wires.send(1 - rank, "x", bytes([turn]))
            found.append(wires.take(1 - rank, "x", 10) == bytes([turn]))
            wires.close()
    threads = [threading.Thread(target=meet, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [True] * 6


def test_who_waits_for_one_that_has_gone_is_told():
    def run(member):
        if member.rank == 0:
            return None
        with pytest.raises(RuntimeError, match="Connection closed by peer"):
            member.take(0, np.empty(1))
        return "told"
    assert in_threads(2, run)[1] == "told"


def test_who_waits_too_long_is_told():
    def run(member):
        if member.rank:
            with pytest.raises(RuntimeError, match="Timed out waiting 100ms"):
                member.wires.take(0, "never", 0.1)
        else:
            time.sleep(0.3)
        return "told"
    assert in_threads(2, run) == ["told", "told"]


def test_works_are_done_one_after_the_other_and_keep_their_errors():
    line, done = work.Line(), []

    def slow():
        time.sleep(0.05)
        done.append(1)
    first = line.begin(work.Work(slow))
    line.do(work.Work(lambda: done.append(2)))
    assert done == [1, 2] and first.is_completed()

    def fails():
        raise RuntimeError("lost")
    failed = line.begin(work.Work(fails, lambda: done.append(3)))
    with pytest.raises(RuntimeError, match="lost"):
        failed.wait()
    assert done == [1, 2] and not failed.is_success()
    with pytest.raises(RuntimeError, match="lost"):
        failed.get_future().wait()
