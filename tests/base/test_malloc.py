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
import resource, sys
import importlib.util
spec = importlib.util.spec_from_file_location("malloc", sys.argv[1])
malloc = importlib.util.module_from_spec(spec); spec.loader.exec_module(malloc)
assert malloc.explain() == "not asked yet"
text = malloc.configure()
assert malloc.configure() is text and malloc.explain() is text
import ctypes
def churn():
    for _ in range(4):
        block = b"x" * (48 << 20)
        del block
churn()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
churn()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, text)
"""


def _faults(**environ):
    own = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "JTENSOR_MALLOC")
    environ |= {name: value for name, value in os.environ.items() if not name.startswith(own)}
    answer = subprocess.run([sys.executable, "-c", SCRIPT, malloc.__file__], env=environ, capture_output=True, text=True, check=True)
    count, _, text = answer.stdout.strip().partition(" ")
    return int(count), text


@pytest.mark.skipif(not LINUX, reason="mallopt is glibc's")
def test_freed_blocks_are_kept_unless_left_alone():
    faults, text = _faults()
    if "glibc" in text:
        pytest.skip(text)
    alone, reason = _faults(JTENSOR_MALLOC="0")
    assert text.startswith("blocks of any size") and reason == "left alone: JTENSOR_MALLOC=0"
    assert faults < 100 and alone > faults, "four blocks above glibc's largest threshold: new pages each time, or none"
