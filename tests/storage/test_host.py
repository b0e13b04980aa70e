"""Memory shared with NumPy: how often it is compared with what was found, and the end of the process."""
import gc
import subprocess
import sys

import numpy as np
import pytest

import jtensor
from jtensor.base import comparing
from jtensor.storage.host import HostMemory
from jtensor.trace.tape import LOCAL


@pytest.fixture
def looks(monkeypatch):
    """How often memory was compared, byte by byte."""
    counted, difference = [], comparing.difference

    def counting(one, other):
        differ = difference(one, other)
        return lambda: counted.append(1) or differ()
    monkeypatch.setattr(comparing, "difference", counting)
    return counted


def _steps(x, count, between=lambda step: None):
    """The gradients of a layer's weights whose input shares memory with NumPy and is used twice."""
    weight, found = jtensor.linspace(-1, 1, x.shape[1]).requires_grad_(), []
    for step in range(count):
        weight.grad = None
        loss = (x * weight).tanh().mul(x).sum()
        between(step)
        loss.backward()
        found.append(weight.grad.numpy().copy())
    return found


def test_a_backward_that_is_known_compares_shared_memory_once(looks):
    array = np.linspace(0, 1, 4000, dtype=np.float32).reshape(40, 100)
    x, weight = jtensor.from_numpy(array), jtensor.linspace(-1, 1, 100).requires_grad_()
    for _ in range(40):
        del looks[:]
        weight.grad = None
        (x * weight).tanh().mul(x).sum().backward()
        assert weight.grad[3].item() != 0
    assert len(looks) == 3                      # two operations, between which a program may write to it, and one backward


@pytest.mark.parametrize("place", [0, 1777, 3999])
def test_a_write_between_forward_and_backward_is_seen_however_often_the_step_came(place):
    array = np.linspace(0, 1, 4000, dtype=np.float32).reshape(40, 100)

    def write(step):
        array.reshape(-1)[place] = step
    found = _steps(jtensor.from_numpy(array), 40, write)
    array.reshape(-1)[place] = 39
    before = jtensor.from_numpy(array.copy())
    before.view(-1)[place] = 38
    weight = jtensor.linspace(-1, 1, 100)
    inner = (before * weight).tanh()            # the product's input, saved by memory, is what was written since
    expected = ((1 - inner * inner) * jtensor.from_numpy(array) * jtensor.from_numpy(array)).sum(0)
    np.testing.assert_allclose(found[39], expected.numpy(), rtol=1e-5)


def test_memory_is_compared_by_its_bytes():
    array = np.zeros(2000)
    memory = jtensor.from_numpy(array)
    assert jtensor.signbit(memory).sum() == 0
    array[1999] = -0.0
    assert jtensor.signbit(memory).sum() == 1
    array[0] = np.nan
    first = memory._storage.current()
    assert memory._storage.current() is first   # a number that is not equal to itself has not changed


@pytest.mark.parametrize("count", [1, 4096, 4097, 12_345, comparing.MANY + 1])
@pytest.mark.parametrize("library", [True, False])
def test_a_difference_is_found_wherever_it_is(count, library, monkeypatch):
    if not library:
        monkeypatch.setattr(comparing, "_functions", lambda: None)
    one, other = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    differ = comparing.difference(one, other)
    for at in {0, count // 2, count - 1}:
        assert not differ()
        other[at] = 1
        assert differ()
        one[at] = 1
    assert not differ()


def test_a_glance_is_its_threads(looks):
    import threading

    from jtensor.storage.host import Glance
    memory = HostMemory(np.zeros(10_000, np.uint8), jtensor.empty(10_000, dtype=jtensor.uint8)._spec, foreign=np.zeros(1))
    memory.snapshot()
    del looks[:]
    with Glance():
        memory.snapshot(), memory.snapshot()
        assert len(looks) == 1
        gc.collect()                            # whose finalizers may write
        memory.snapshot()
        assert len(looks) == 2
    with Glance():
        memory.snapshot(), memory.snapshot()
        assert len(looks) == 3
        thread = threading.Thread(target=memory.snapshot)
        thread.start()
        thread.join()
        assert len(looks) == 4
    memory.snapshot(), memory.snapshot()
    assert len(looks) == 6


def test_a_handler_in_the_midst_of_a_backward_sees_what_it_writes(monkeypatch):
    array = np.ones((40, 100), np.float32)
    x, weight = jtensor.from_numpy(array), jtensor.linspace(-1, 1, 100).requires_grad_()
    seen, as_found = [], HostMemory._as_found

    def interrupted(self):                      # as if a signal's handler ran before the second look
        if LOCAL.glance is not None and self.glance is LOCAL.glance and not seen:
            seen.append(None)
            array[0, 0] = 7
            seen[0] = x[0, 0].item()
        return as_found(self)
    monkeypatch.setattr(HostMemory, "_as_found", interrupted)
    for _ in range(40):
        weight.grad = None
        (x * weight).tanh().mul(x).sum().backward()
    assert seen == [7]


def test_an_exported_array_that_lives_to_the_end_of_the_process_says_nothing():
    program = ("import jtensor as t; m = t.nn.Linear(3, 2); o = t.optim.Adam(m.parameters())\n"
               "for _ in range(3): o.zero_grad(); m(t.ones(4, 3)).sum().backward(); o.step()\nprint('end')")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("end\n", "")


def test_an_exported_array_that_outlives_the_library_says_nothing():
    program = ("import jtensor; from jtensor.storage import host; a = jtensor.ones(3).numpy()\n"
               "vars(host).update(dict.fromkeys(list(vars(host))))                     # as the end of the process empties modules\n"
               "del a; print('end')")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("end\n", "")
