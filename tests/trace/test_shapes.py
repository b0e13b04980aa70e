"""What is remembered of operations: the second process infers nothing, and what does not fit is not believed."""
import subprocess
import sys

import pytest

import jtensor as torch
from jtensor.trace import spec
from jtensor.trace.cache import shapes, store

SCRIPT = """
import jtensor as torch
from jtensor.trace import plan
from jtensor.trace.cache import store
store.sources = lambda: b"not edited meanwhile"
inferred, infer = [], plan.infer
def counted(function, inputs, scalar_kinds=(), device=None):
    inferred.append(inputs)
    return infer(function, inputs, scalar_kinds, device)
plan.infer = counted
x = torch.arange(6.0, dtype=torch.float16).reshape(2, 3)
a = (x * 2).softmax(1).topk(2)
b = torch.complex(x.float(), x.float()).abs().sum()
print(b.item(), a[0].shape, a[1].dtype, a[0].tolist())
print(len(inferred))
"""


@pytest.mark.parametrize("end", ["", "import os; from jtensor.trace.cache import store; store.flush(); os._exit(0)"], ids=["end", "killed"])
def test_a_second_process_infers_nothing(cache, end):
    runs = [subprocess.run([sys.executable, "-c", SCRIPT + end], capture_output=True, text=True, check=True).stdout.splitlines()
            for _ in range(2)]
    assert runs[0][0] == runs[1][0] and int(runs[0][1]) > 5 and int(runs[1][1]) == 0


def outputs(remembered, key, dtype=torch.float32):
    asked = []                          # `__wrapped__`: the law in conftest.py asks always
    infer = lambda: asked.append(key) or (spec.aval((2, 0), dtype),)
    found = shapes.Remembered.outputs.__wrapped__(remembered, key, torch.device("cpu"), infer)
    return found, bool(asked)


def test_an_address_or_a_switched_off_cache_is_not_remembered(cache, monkeypatch):
    remembered = shapes.Remembered()
    for dtype in (torch.bool, torch.bfloat16, torch.complex128, torch.float8_e5m2, torch.uint16):
        (made,), asked = outputs(remembered, f"{dtype}", dtype)
        assert asked and outputs(remembered, f"{dtype}", dtype) == ((made,), False) and made.dtype is dtype
    assert [outputs(remembered, "<function f at 0x7f00>")[1] for _ in range(2)] == [True, True]
    monkeypatch.setenv("JTENSOR_CACHE", "0")
    store.reset()
    assert outputs(remembered, f"{torch.bool}", torch.bool)[1]


def test_the_newest_are_kept_beside_those_of_others(cache, monkeypatch):
    monkeypatch.setattr(shapes, "KEPT", 4)
    one, other = shapes.Remembered(), shapes.Remembered()
    for key in "abc":
        outputs(one, key)
    outputs(other, "d"), outputs(other, "e")
    one.keep(wait=True), other.keep(wait=True)
    later = shapes.Remembered()
    assert [outputs(later, key)[1] for key in "bcde"] == [False] * 4
    assert not later.table.new and outputs(later, "a")[1] and later.table.new == 1
