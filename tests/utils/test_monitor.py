"""`torch.monitor` against live PyTorch: events, handlers, statistics by number; spans of time by a clock of our own."""
import datetime
import re

import pytest

import jtensor

LINES = r"""
    m.EventHandlerHandle()
    m.register_event_handler(3)
    m.register_event_handler()
    m.log_event(3)
    m.log_event(e), seen
    e.name, e.timestamp, sorted(e.data.items()), type(e.data["d"])
    e.data.update(q=1); sorted(e.data)
    e.data = {"z": 1}; e.data
    e.data = {"z": [1]}; e.data
    m.Event("a", now, {}).data
    m.Event()
    m.Event(name=3, timestamp=now, data={})
    m.Event(name="a", timestamp=3, data={})
    m.Event(name="a", timestamp=now, data={"x": None})
    list(A.__members__.items()), A.VALUE, A.SUM.name, A.SUM.value, int(A.MAX), A(2), A(9), str(A.MIN), A.MIN == m.MIN, A.MIN == 5
    s = m.Stat("s", (m.SUM, m.COUNT, m.MEAN, m.MAX, m.MIN, m.VALUE), hour); s.name, s.count, s.get()
    s = m.Stat("s", (m.SUM, m.MEAN), hour); s.add(1), s.add(2.5), s.count, s.get(), seen
    s = m.Stat("s", (m.SUM, m.MAX), hour); s.add(1), s.add(-2.5); del s; seen
    s = m.Stat("s", [m.MIN], hour, 2); s.add(1), s.add(2), s.count, s.add(3), s.count, s.get(), seen
    s = m.Stat("s", [m.MIN], hour, max_samples=2); [s.add(k) for k in range(5)]; del s; seen
    s = m.Stat("s", [], hour); s.add(1); del s; seen
    s = m.Stat("s", [m.SUM], hour); del s; seen
    m.Stat("s", [m.SUM])
    m.Stat("s", [m.SUM], 5)
    m.Stat("s", [3], hour)
    m.Stat("s", [m.SUM], hour).add("x")
    h = m.register_event_handler(lambda e: seen.append(3)); m.log_event(e), m.unregister_event_handler(h), m.log_event(e), seen
    m.unregister_event_handler(3)
    w = m.TensorboardEventHandler(writer); w(e), w(m.Event(m.STAT_EVENT, now, {"v": 1})), writer.seen
    m.Stat, m.Event, m.Aggregation, m.EventHandlerHandle, m.data_value_t
    m._WaitCounter("a").guard().__enter__() is None
"""


class Writer:
    def __init__(self):
        self.seen = []

    def add_scalar(self, *args, **kwargs):
        self.seen.append((args, kwargs))


def outcome(monitor, line):
    now, seen = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901), []
    handle = monitor.register_event_handler(lambda event: seen.append((event.name, type(event.timestamp), sorted(event.data.items()))))
    scope = {"m": monitor, "A": monitor.Aggregation, "now": now, "hour": datetime.timedelta(hours=1), "seen": seen,
             "writer": Writer(), "e": monitor.Event(name="a", timestamp=now, data={"a": 1, "b": 2.5, "c": "x", "d": True})}
    *before, last = line.split("; ")
    try:
        exec("; ".join(before), scope)
        found = repr(eval(last, scope))
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    finally:
        monitor.unregister_event_handler(handle)
    return re.sub("0x[0-9a-f]+", "0x", found)


def test_as_in_pytorch():
    theirs = pytest.importorskip("torch.monitor")
    lines = [line.strip() for line in LINES.strip().splitlines()]
    assert not {line: both for line in lines if len(set(both := (outcome(theirs, line), outcome(jtensor.monitor, line)))) > 1}


def test_a_span_that_is_over_is_logged_with_the_next_number(monkeypatch):
    monitor, at, seen = jtensor.monitor, [0], []
    monkeypatch.setattr(monitor.Stat, "_now", lambda self: at[0])
    handle = monitor.register_event_handler(lambda event: seen.append(event.data))
    stat = monitor.Stat("s", [monitor.SUM], datetime.timedelta(seconds=1), 2)
    stat.add(1)
    at[0] = 1
    assert not seen
    stat.add(5)
    assert seen == [{"s.sum": 1.0}] and stat.count == 1 and stat.get() == {monitor.SUM: 1.0}
    stat.add(6)                                                   # as many as are wanted
    stat.add(7)
    assert seen[1:] == [{"s.sum": 11.0}] and stat.count == 0
    at[0] = 2
    stat.add(8)
    assert stat.count == 1 and stat.get() == {monitor.SUM: 0.0} and len(seen) == 2
    del stat
    monitor.unregister_event_handler(handle)
    assert seen[2:] == [{"s.sum": 8.0}]


def test_a_span_has_a_length():
    with pytest.raises(ValueError, match="millisecond"):
        jtensor.monitor.Stat("s", [jtensor.monitor.SUM], datetime.timedelta(0))
