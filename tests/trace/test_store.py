"""The program cache on disk: what was saved comes back, what is damaged, foreign or unsafe does not."""
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import jax
import numpy as np
import pytest

from jtensor.base import compat
from jtensor.trace.cache import package, store
from jtensor.trace.lowering.executable import compile_program

ROOT = Path(__file__).resolve().parents[2]

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of POSIX")
X = np.arange(4, dtype=np.int64)


@pytest.fixture(scope="module")
def program():
    return compile_program(lambda a: [a * 3], [jax.ShapeDtypeStruct(X.shape, X.dtype)])


def entries(cache):
    return sorted(cache.glob("*.xla"))


def saved(key, program):
    store.save(key, program)
    assert store.flush(300)


def test_what_was_saved_comes_back(cache, program):
    for key in ("text", b"bytes", "ünïcode\n" * 1000):
        assert store.load(key) is None
        saved(key, program)
        np.testing.assert_array_equal(store.load(key).run([X])[0], X * 3)
    assert store.load("another") is None
    seen = store.statistics()
    assert (seen["hits"], seen["misses"], seen["saves"], seen["damaged"], seen["failed"]) == (3, 4, 3, 0, 0)
    assert seen["folder"] == str(cache) and seen["off"] is None
    store.clear()
    assert store.load("text") is None and not entries(cache)


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:10], lambda data: data[:-1], lambda data: data + b"x", lambda data: b"x" + data[1:],
    lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:], lambda data: b"\x80\x04N." * 50,
], ids=["empty", "head only", "cut", "longer", "other magic", "one bit", "a pickle"])
def test_a_damaged_entry_is_no_entry(cache, program, damage):
    saved("key", program)
    path, = entries(cache)
    path.write_bytes(damage(path.read_bytes()))
    assert store.load("key") is None and store.statistics()["damaged"] == 1
    assert not entries(cache)
    saved("key", program)
    assert store.load("key") is not None


def test_whole_yet_not_understood(cache, program):
    class Odd:
        portable = True

        def dump(self):
            return program.dump()[:-200]

    saved("key", Odd())
    assert store.statistics()["saves"] == 1 and store.load("key") is None and store.statistics()["damaged"] == 1


def test_a_whole_entry_for_which_there_is_no_room_stays(cache, program, monkeypatch):
    saved("key", program)

    def no_room(*args):
        raise MemoryError
    with monkeypatch.context() as patched:
        patched.setattr(store.compat, "load", no_room)
        assert store.load("key") is None and store.statistics()["damaged"] == 0
    assert store.load("key") is not None


def test_a_failure_to_write_is_counted_not_raised(cache, program):
    class Odd:
        portable = True

        def dump(self):
            raise OSError("no space")

    saved("key", Odd())
    assert store.statistics()["failed"] == 1 and store.load("key") is None
    assert [name for name in os.listdir(cache) if not name.endswith(".sources")] == []


def test_what_else_decides_the_code_is_in_the_key(cache, program, monkeypatch):
    saved("key", program)
    changes = [lambda: monkeypatch.setenv("XLA_FLAGS", "--xla_something"),
               lambda: monkeypatch.setattr(store, "_processor", lambda: "other"),
               lambda: monkeypatch.setattr(store, "sources", lambda: b"edited"),
               lambda: monkeypatch.setattr(store, "processors", lambda: 999),
               lambda: monkeypatch.setattr(compat, "configuration", lambda device: ["another jaxlib"])]
    for change in changes:
        change()
        store._environment.clear()
        assert store.load("key") is None
        monkeypatch.undo()
        monkeypatch.setenv("JTENSOR_CACHE_DIR", str(cache))
    store._environment.clear()
    assert store.load("key") is not None


@pytest.mark.parametrize("kept", [True, False])
def test_the_sources_digest_sees_an_edit(kept, cache, tmp_path, monkeypatch):
    if not kept:
        monkeypatch.setattr(store, "folder", lambda: None)
    room = tmp_path / "jtensor" / "trace"
    room.mkdir(parents=True)
    (room / "a.py").write_text("x = 1")
    monkeypatch.setattr(package, "root", lambda: str(tmp_path / "jtensor"))
    first = store.sources()
    assert len(list(cache.glob("*.sources"))) == kept
    (room / "notes.txt").write_text("nothing to do with it")
    assert store.sources() == first
    seen = os.stat(room / "a.py")
    (room / "a.py").write_text("x = 2")
    os.utime(room / "a.py", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    second = store.sources()
    (room / "a.py").rename(room / "b.py")
    assert len({first, second, store.sources()}) == 3


def test_the_sources_are_those_of_the_whole_package():
    """An operator that is written anew is another one: programs are known by the names of operators."""
    names = {source.name.replace(os.sep, "/") for source in package.files()}
    assert {"/__init__.py", "/ops/registry.py", "/ops/families/reduce.py", "/trace/cache/package.py", "/base/dtypes.py"} <= names
    assert len(names) == len(list((ROOT / "jtensor").rglob("*.py")))


def test_it_can_be_switched_off(tmp_path, cache, program, monkeypatch):
    monkeypatch.setenv("JTENSOR_CACHE", "0")
    store.reset()
    saved("key", program)
    assert store.load("key") is None and not cache.exists()
    assert store.statistics()["off"] == "switched off (JTENSOR_CACHE=0)"


@POSIX
@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_open_to_others_is_neither_read_nor_written(cache, program, mode):
    saved("key", program)
    os.chmod(cache, mode)
    store.reset()
    with pytest.warns(RuntimeWarning, match="open to other users") as found:
        assert store.load("key") is None
    assert found[0].filename == __file__        # the user's line, not one of ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")          # said once
        saved("other", program)
    assert len(entries(cache)) == 1 and f"mode {mode:o}" in store.statistics()["off"]


@POSIX
def test_a_link_or_a_file_is_not_a_folder(cache, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "mine")
    for name in ("cache", "file"):
        (tmp_path / "file").touch()
        monkeypatch.setenv("JTENSOR_CACHE_DIR", str(tmp_path / name))
        store.reset()
        with pytest.warns(RuntimeWarning, match="is not a folder"):
            assert store.folder() is None


@POSIX
def test_a_folder_of_another_user(cache, program, monkeypatch):
    saved("key", program)
    store.reset()
    monkeypatch.setattr(os, "getuid", lambda: os.stat(cache).st_uid + 1)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert store.load("key") is None


@POSIX
def test_the_folder_is_made_for_the_user_alone(cache, program, monkeypatch, tmp_path):
    assert store.folder() == str(cache) and cache.stat().st_mode & 0o777 == 0o700
    monkeypatch.delenv("JTENSOR_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    store.reset()
    assert store.folder() == str(tmp_path / "xdg" / "jtensor")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    store.reset()
    assert store.folder() == str(tmp_path / "home" / ".cache" / "jtensor")


def test_the_least_recently_used_go_first(cache, program, monkeypatch):
    paths = []
    for i in range(10):
        before = set(entries(cache))
        saved(f"key {i}", program)
        path, = set(entries(cache)) - before
        paths.append(path)
        os.utime(path, (time.time() - 10000 + i,) * 2)
    assert store.load("key 0") is not None                      # used: its date is renewed
    size = paths[0].stat().st_size
    left = cache / ".new-left-by-a-killed-process"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    (cache / "a file of somebody's").write_bytes(b"x" * 10 * size)
    store.sweep()
    assert len(entries(cache)) == 10 and not left.exists()
    monkeypatch.setenv("JTENSOR_CACHE_SIZE", str(size * 6))
    store.sweep()
    assert set(entries(cache)) == {paths[0], *paths[7:]} and store.statistics()["evicted"] == 6
    assert (cache / "a file of somebody's").exists()


def test_saving_sweeps_now_and_then(cache, program, monkeypatch):
    assert store.folder()
    swept = []
    monkeypatch.setitem(store._state, "unswept", 0)
    monkeypatch.setattr(store, "sweep", lambda: swept.append(1))
    monkeypatch.setattr(store, "_SWEEP_EVERY", 3)
    for i in range(7):
        saved(f"{i}", program)
    assert len(swept) == 2

    def gone():
        raise FileNotFoundError
    monkeypatch.setattr(store, "sweep", gone)
    saved("8", program)
    saved("9", program)
    assert store.statistics()["failed"] == 0


def test_another_process_finds_it_and_the_end_waits_for_saves(cache):
    script = """
import jax, numpy as np
from jtensor.trace.cache import package, store
from jtensor.trace.lowering.executable import compile_program
found = store.load("shared")
if found is None:
    found = compile_program(lambda a: [a + 1], [jax.ShapeDtypeStruct((2,), np.int64)], donate=(0,))
    store.save("shared", found)
print(found.run([np.array([1, 2**40])])[0].tolist(), sorted(found.seconds), found.donated)
"""
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert runs == ["[2, 1099511627777] ['compile', 'lower', 'trace'] (0,)\n", "[2, 1099511627777] ['load'] (0,)\n"]
