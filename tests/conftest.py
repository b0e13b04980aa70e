"""What all tests share: a folder of their own for compiled programs, the CPU, and a guide to room sizes at the end of a whole run."""

import ast
import functools
import gc
import os
import re
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

# Before jax is imported anywhere; the workers of pytest-xdist and all child processes inherit both.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# PyTorch's threads (GNU OpenMP's) that have nothing to do sleep: they would keep two cores from two workers, spinning.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
_FOLDER = None
if "JTENSOR_CACHE_DIR" not in os.environ:
    _FOLDER = os.environ["JTENSOR_CACHE_DIR"] = tempfile.mkdtemp(prefix="jtensor-tests-")

ROOT = Path(__file__).resolve().parent.parent
LINES_OF_A_ROOM, LINES_OF_A_FUNCTION = 400, 60
OF_PROGRAMS, SAMPLED = ("cuda", "trace"), 8         # folders of tests; of how many others one compiles what it records as programs
IN_VAIN = SimpleNamespace(served=0)                 # a program that did not run again


@pytest.fixture(autouse=True, scope="session")
def what_is_remembered_is_what_would_be_inferred():
    """A law over every operation that any test records: the text under which its results are remembered says all they depend on."""
    from jtensor.trace.cache.shapes import Remembered
    outputs = Remembered.outputs

    @functools.wraps(outputs)
    def checked(self, key, device, infer):
        inferred = self.table.new
        found = outputs(self, key, device, infer)
        assert self.table.new > inferred or found == infer(), key
        return found
    Remembered.outputs = checked
    yield
    Remembered.outputs = outputs


@pytest.fixture(autouse=True)
def no_size_has_been_met():
    """What is learnt of memories and lists of many sizes (`tensor.changing`) is learnt in this test."""
    from jtensor.tensor import changing, values
    changing._kinds.clear()
    values.places.clear()


@pytest.fixture(autouse=True)
def nothing_was_said():
    """Warnings that are given once in a process are given in this test, too."""
    from jtensor.base import sites
    sites._said.clear()


@pytest.fixture(autouse=True)
def most_programs_were_in_vain(request):
    """What programs were worth (`trace.tiers`) is learnt in this test, or it is known already that tapes do not come again.

    Which is true of most tests: they record a few operations and look at them once. So these run by the kernels of their operations, which
    one test compiles for many, as they do in any long process of such a kind; a program for each was more than half of the suite's time.
    Programs are for those whose object they are, for a part of the others (the same ones each time), and for whoever uses `afresh`.
    """
    from jtensor.trace.tiers import LARGE, PAST, TRIED
    PAST.forget()
    if request.node.path.parts[len(ROOT.parts) + 1] not in OF_PROGRAMS and zlib.crc32(request.node.nodeid.encode()) % SAMPLED:
        for nodes in (1, LARGE) * TRIED:
            PAST.add(IN_VAIN, nodes, False)


@functools.cache
def _another_processor():
    from jtensor.base import compat
    return compat.cpu_apart(queue=True)


@pytest.fixture
def gpu(monkeypatch, settled):
    """``cuda:0`` is there, and JAX's default device: the machine's, or a client of the CPU beside JAX's own that passes for one.

    Such a client shares no buffer with the other, so that whoever mixes them up gets XLA's error. How CUDA rounds it does not show.
    What compiles beside the tests goes by the default device, so none of it may go on while that changes.
    """
    from jtensor.base import background, devices
    from jtensor.random import counter

    from .standing_in import pass_for_a_gpu
    if not devices._accelerators():
        place = _another_processor()
        if place is None:
            pytest.skip("JAX's public way makes no second client of the CPU")
        pass_for_a_gpu(place, monkeypatch.setattr)
    yield "cuda"
    background.settle()
    devices.jax_device.cache_clear()
    counter._engines.clear()
    counter._start[0] = None


@pytest.fixture(autouse=True)
def tapes_are_learnt():
    """However much other tests have recorded that never comes again."""
    from jtensor.trace.tape import TRIE
    TRIE.unknown = 0


@pytest.fixture
def only_the_young():
    """The collector does not run by itself, so that ``gc.collect(1)`` finds all that the test has left: to walk what a process of tests has
    made before takes a second.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def settled():
    """Nothing that earlier tests began goes on beside this one, for tests that count, patch or move what the background uses too."""
    from jtensor.base import background
    from jtensor.trace import choosing
    while choosing._coming:                     # tapes that wait for their program: given up, as many others are
        choosing._coming.popitem()[1][0].cancel()
    background.settle()


@pytest.fixture
def afresh(settled):
    """No tape has been begun, and none was seen before: what is learnt of tapes that come again is learnt in this test."""
    from jtensor.trace import executor
    from jtensor.trace.op_by_op import equations
    from jtensor.trace.tiers import PAST
    executor.flush("test")
    PAST.forget()
    equations.KERNELS.clear()
    executor.TRIE.forget()
    executor.LOCAL.segment = executor.Segment()
    asking = sys.modules.get("jtensor.dispatching.asking")
    if asking is not None:                             # while there are tensors of such classes, backward passes take the long way
        asking.HOLDERS.clear()
        if asking.ALIVE:
            gc.collect()


def pytest_collection_modifyitems(items):
    """What takes long comes first: at the end one worker would wait for the other."""
    items.sort(key=lambda item: "slow" not in item.keywords)


def pytest_unconfigure(config):
    if _FOLDER is not None and not hasattr(config, "workerinput"):
        shutil.rmtree(_FOLDER, ignore_errors=True)


def large_rooms():
    """(lines, what) of every room and function of the package beyond the guide, the largest first."""
    found = []
    for path in sorted((ROOT / "jtensor").rglob("*.py")):
        text = path.read_text()
        name = path.relative_to(ROOT).as_posix()
        if (lines := text.count("\n")) > LINES_OF_A_ROOM:
            found.append((lines, name))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if (lines := node.end_lineno - node.lineno + 1) > LINES_OF_A_FUNCTION:
                    found.append((lines, f"{name}: {node.name}"))
    return sorted(found, reverse=True)


def untold():
    """Rooms of the engine that `docs/how-it-works.md` does not name, by their paths or in the row of their folder. (Names there that are no
    rooms are found by `tests/house/test_rooms.py`.)"""
    text = (ROOT / "docs" / "how-it-works.md").read_text()
    told = set(re.findall(r"`(\w+/[\w/]*\.py)`", text))
    for folder, row in re.findall(r"^\| `([\w/]+/)` \| (.*)", text, re.MULTILINE):
        told |= {folder + name for name in re.findall(r"`(\w+\.py)`", row)}
    places = "base", "trace", "trace/*", "storage", "views", "ops", "autograd", "tensor", "tensor/*"
    rooms = {path.relative_to(ROOT / "jtensor").as_posix() for place in places
             for path in (ROOT / "jtensor").glob(f"{place}/*.py") if path.name != "__init__.py"}
    return sorted(rooms - told)


def pytest_terminal_summary(terminalreporter, config):
    """A guide for the eye, not a gate: a room that outgrows it wants a new room with a name of its own, which the docs tell of."""
    if hasattr(config, "workerinput") or config.args_source is not config.ArgsSource.TESTPATHS:
        return
    found = large_rooms()
    if found:
        terminalreporter.section(f"{len(found)} rooms and functions beyond {LINES_OF_A_ROOM} and {LINES_OF_A_FUNCTION} lines")
        for lines, what in found[:8]:
            terminalreporter.line(f"{lines:5d}  {what}")
    if found := untold():
        terminalreporter.section("rooms that docs/how-it-works.md does not know, or that are none")
        terminalreporter.line(", ".join(found))
