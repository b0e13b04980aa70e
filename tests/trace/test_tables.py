"""Tables on disk that processes fill together: what stays, what is believed, and that they are not written time and again."""
import marshal

import pytest

from jtensor.trace.cache import store, tables


def test_two_processes_fill_one_table_whose_newest_entries_stay(cache):
    one, other = tables.Table("tests", 4), tables.Table("tests", 4)
    for key in "abc":
        one.add(key, key.encode())
    other.add("d", b"d"), other.add("e", b"e")
    one.keep(wait=True), other.keep(wait=True)
    later = tables.Table("tests", 4)
    assert [later.get(key) for key in "bcdea"] == [b"b", b"c", b"d", b"e", None] and not later.new


@pytest.mark.parametrize("body", [b"", b"no table", b"[\x00\x00\x00\x00", marshal.dumps([1])])
def test_what_is_not_ours_is_not_believed(cache, body):
    table = tables.Table("tests", 4)
    store.write(table.entry, lambda: body, wait=True)
    assert len(list(cache.glob("*.xla"))) == 1
    assert table.on_disk() == {} and table.get("a") is None
    table.add("a", b"1")
    table.keep(wait=True)
    assert tables.Table("tests", 4).get("a") == b"1"


def test_it_is_written_as_often_as_that_takes_little_time(cache, monkeypatch):
    now = [100.0]

    def monotonic():
        now[0] += 0.5
        return now[0]
    monkeypatch.setattr(tables.time, "monotonic", monotonic)
    table, other = tables.Table("tests", 4), tables.Table("tests", 4)
    table.keep(wait=True)
    assert not list(cache.glob("*.xla"))                # there was nothing to write
    table.add("a", b"1")
    table.keep()
    assert store.flush() and other.on_disk() == {"a": b"1"}
    table.add("b", b"2")
    table.keep()
    assert store.flush() and other.on_disk() == {"a": b"1"} and table.new
    now[0] += 0.5 * tables.PAUSE
    table.keep()
    assert store.flush() and other.on_disk() == {"a": b"1", "b": b"2"} and not table.new
    table.add("c", b"3")
    table.keep(wait=True)                               # the end of a process does not ask for the time
    assert other.on_disk() == {"a": b"1", "b": b"2", "c": b"3"}
