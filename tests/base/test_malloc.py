"""The allocator's settings: made once, explained, and never against the user's own."""
import os
import subprocess
import sys

import pytest

from jtensor.base import malloc

LINUX = sys.platform.startswith("linux")


@pytest.mark.parametrize("environ, reason", [
    ({"JTENSOR_MALLOC": "0"}, "JTENSOR_MALLOC=0"),
    ({"MALLOC_ARENA_MAX": "2"}, "MALLOC_ARENA_MAX is set"),
    ({"MALLOC_TRIM_THRESHOLD_": "1", "MALLOC_ARENA_MAX": "2"}, "MALLOC_ARENA_MAX is set"),
    ({"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}, "GLIBC_TUNABLES is set"),
    ({"LD_PRELOAD": "/usr/lib/libjemalloc.so.2"}, "LD_PRELOAD names another allocator"),
])
@pytest.mark.skipif(not LINUX, reason="mallopt is glibc's")
def test_the_users_own_choice_wins(environ, reason):
    assert malloc._reason_against(environ) == reason


@pytest.mark.parametrize("environ", [{}, {"JTENSOR_MALLOC": "1"}, {"GLIBC_TUNABLES": "glibc.cpu.x=1"}, {"LD_PRELOAD": "libfoo.so"}])
@pytest.mark.skipif(not LINUX, reason="mallopt is glibc's")
def test_otherwise_nothing_speaks_against_it(environ):
    assert malloc._reason_against(environ) is None


def test_elsewhere_there_is_no_mallopt(monkeypatch):
    monkeypatch.setattr(malloc.sys, "platform", "darwin")
    assert malloc._reason_against({}) == "darwin has no mallopt"


SCRIPT = """
import os, resource, sys, types
sys.modules["base"] = room = types.ModuleType("base")        # without the rest of the package, which would have configured it
room.__path__ = [os.path.dirname(sys.argv[1])]
from base import malloc
assert malloc.explain() == "not asked yet"
text = malloc.configure()
assert malloc.configure() is text and malloc.explain() is text
import ctypes, threading
def churn():
    for _ in range(4):
        block = b"x" * (48 << 20)
        del block
def count():
    churn()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    churn()
    counts.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
counts = []
count()
thread = threading.Thread(target=count)             # another arena's
thread.start()
thread.join()
print(max(counts), text)
"""
STEPS = """
import resource
import jtensor as torch
x, v, w = torch.ones(5_000_000, 2), torch.ones(2, 2), torch.ones(2, 2)
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    ((x @ v) * (x @ w)).sum().item()                # two values of 40 MB at a time
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
# Taken in pieces once it has run 32 times; an arena grows then, once for each thread that runs programs.
print(sorted([faults() for _ in range(64)][40:])[12], "in the middle")
"""


def _faults(script=SCRIPT, **environ):
    own = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "JTENSOR_MALLOC")
    environ |= {name: value for name, value in os.environ.items() if not name.startswith(own)}
    answer = subprocess.run([sys.executable, "-c", script, malloc.__file__], env=environ, capture_output=True, text=True, check=True)
    count, _, text = answer.stdout.strip().partition(" ")
    return int(count), text


@pytest.mark.skipif(not LINUX, reason="mallopt is glibc's")
def test_freed_blocks_are_kept_unless_left_alone():
    faults, text = _faults()
    if "glibc" in text:
        pytest.skip(text)
    alone, reason = _faults(JTENSOR_MALLOC="0")
    assert text.startswith("what is freed is kept") and reason == "left alone: JTENSOR_MALLOC=0"
    assert faults < 100 and alone > faults, "four blocks above glibc's largest threshold: new pages each time, or none"


@pytest.mark.skipif(not LINUX, reason="mallopt is glibc's")
def test_what_a_program_takes_for_a_time_is_kept_whoever_runs_it():
    if "glibc" in _faults()[1]:
        pytest.skip("the C library is not glibc")
    assert _faults(STEPS)[0] < 2000, "80 MB in one block are 20,000 pages, given back by all threads but one"


GROWING = """
import os
import numpy as np
import jtensor
from jtensor.base import malloc
malloc.FREE = 1 << 26
def resident():
    with open("/proc/self/statm") as about:
        return int(about.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
kept = []
for n in range(60):                             # each a little larger than the one before, with something small behind it
    block = np.ones((1 << 18) + (n << 10))
    kept.append(np.ones(64))
    del block
held = [np.ones(1 << 18) for _ in range(100)]
before = resident()
del held
print(malloc.trim(), before - resident(), malloc.trim())
"""


@pytest.mark.skipif(not LINUX, reason="mallopt is glibc's")
def test_free_memory_is_given_back_where_it_is_a_lot():
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_", "LD_", "JTENSOR_MALLOC"))}
    done = subprocess.run([sys.executable, "-c", GROWING], env=environ, capture_output=True, text=True, check=True)
    first, given, again = done.stdout.split()
    if malloc._library is None:
        pytest.skip("this C library does not tell how much is free")
    assert first == "True" and again == "False" and int(given) > 150
