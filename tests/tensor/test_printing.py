"""The printing room: PyTorch's text, character for character, and nothing compiled for it."""
import importlib.util
import json
import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jtensor.tensor import formatting, printing

_spec = importlib.util.spec_from_file_location("print_fuzz", Path(__file__).with_name("print_fuzz.py"))
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)


@pytest.fixture(autouse=True)
def default_options():
    yield
    formatting.set_printoptions(profile="default")


# -- the law ----------------------------------------------------------------------------------------------------------


@settings(max_examples=600, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**48))
def test_prints_as_pytorch_does(seed):
    """`print_fuzz.py --cases 20000` asks the same of more cases."""
    pytest.importorskip("torch")
    case = fuzz.case(random.Random(seed))
    assert fuzz.ours(case) == case["expected"]


@pytest.mark.parametrize("stored", json.loads(fuzz.GOLDENS.read_text()), ids=lambda case: case["facts"]["dtype"])
def test_prints_as_stored(stored):
    case = fuzz.unpacked(stored)
    assert fuzz.ours(case) == case["expected"]


def test_the_law_can_fail(monkeypatch):
    """A notation chosen a little differently is found among the stored cases."""
    monkeypatch.setattr(formatting, "_style", lambda counted: (".4f", False))
    stored = json.loads(fuzz.GOLDENS.read_text())
    assert sum(fuzz.ours(case) != case["expected"] for case in map(fuzz.unpacked, stored)) > 50


# -- what the random cases do not reach --------------------------------------------------------------------------------


def text(host, **facts):
    return fuzz.text_of(fuzz.Tensor(np.asarray(host), **facts))


def test_notes():
    assert text([1.5], dtype="float32", device="cuda:0") == "tensor([1.5000], device='cuda:0')"
    assert text([1], device="cuda:1", dtype="int32", requires_grad=True, node="torch::autograd::CopySlices") == (
        "tensor([1], device='cuda:1', dtype=torch.int32, grad_fn=<CopySlices>)")
    assert text(np.zeros((2, 3)), dtype="float32", device="meta") == "tensor(..., device='meta', size=(2, 3))"
    assert text([2.0], dtype="float32", requires_grad=True) == "tensor([2.], requires_grad=True)"


def test_history_that_cannot_be_asked_for():
    class Broken(fuzz.Tensor):
        __module__ = "jtensor"
        grad_fn = property(lambda self: (_ for _ in ()).throw(RuntimeError("a view made in no_grad mode")), lambda self, node: None)

    Broken.__name__ = "Tensor"
    assert printing.tensor_str(Broken(np.float32([1]))) == "tensor([1.], grad_fn=<Invalid>)"


def test_contents_given():
    tensor = fuzz.Tensor(np.zeros((2, 0), np.int8))
    assert printing.tensor_str(tensor, tensor_contents="hello") == "tensor(hello, size=(2, 0), dtype=torch.int8)"


def test_parameters_and_derived_classes():
    ones = np.ones(2, np.float32)
    assert fuzz.text_of(fuzz.Parameter(ones, requires_grad=True)) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert fuzz.text_of(fuzz.DerivedParameter(ones)) == "Parameter containing:\nParameter(DerivedParameter([1., 1.]))"
    flagged = fuzz.Derived(ones, requires_grad=True)
    flagged._is_param = True
    assert printing.tensor_str(flagged) == "Parameter(Derived([1., 1.], requires_grad=True))"


def test_format():
    number = fuzz.Tensor(np.array(2.5, np.float32))
    assert printing.tensor_format(number, "") == "2.5"
    assert printing.tensor_format(number, "8.3f") == "   2.500"
    assert printing.tensor_format(fuzz.Tensor(np.array(3)), "04d") == "0003"
    bfloat = np.array(1.5, fuzz.ml_dtypes.bfloat16)
    assert printing.tensor_format(fuzz.Tensor(bfloat), ".1f") == "1.5"
    for other in (fuzz.Tensor(np.ones(1)), fuzz.Parameter(np.array(1.0)), fuzz.Tensor(np.array(1.0), device="meta")):
        with pytest.raises(TypeError, match=f"unsupported format string passed to {type(other).__name__}.__format__"):
            printing.tensor_format(other, ".2f")


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_persist_but_sci_mode_does_not():
    formatting.set_printoptions(precision=2, sci_mode=True)
    assert formatting.array_text(np.array([1.5])) == "[1.50e+00]"
    formatting.set_printoptions(linewidth=20)
    assert formatting.get_printoptions() == {"precision": 2, "threshold": 1000, "edgeitems": 3, "linewidth": 20, "sci_mode": None}
    formatting.set_printoptions(profile="no such profile")
    assert formatting.get_printoptions()["precision"] == 2
    formatting.set_printoptions(profile="short", precision=3)
    assert (formatting.OPTIONS.precision, formatting.OPTIONS.edgeitems, formatting.OPTIONS.linewidth) == (3, 2, 80)


def test_options_inside_a_block():
    formatting.set_printoptions(sci_mode=True)
    with pytest.raises(KeyError), formatting.printoptions(precision=1):
        assert formatting.array_text(np.array([1.25])) == "[1.2]"
        raise KeyError
    assert formatting.get_printoptions() == {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": True}


@pytest.mark.parametrize(
    "options", [{"precision": 2.5}, {"precision": -1}, {"threshold": "a"}, {"linewidth": float("inf")}], ids=str)
def test_options_that_make_no_sense_fail_when_something_is_printed(options):
    torch = pytest.importorskip("torch")
    values = np.arange(2000.0).reshape(2, 1000) + 0.5
    formatting.set_printoptions(**options)
    torch.set_printoptions(**options)
    try:
        with pytest.raises(Exception) as theirs:
            repr(torch.from_numpy(values))
        with pytest.raises(theirs.type) as mine:
            formatting.array_text(values)
    finally:
        torch.set_printoptions(profile="default")
    assert str(mine.value) == str(theirs.value)


# -- cost --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "seconds"), [((10,), 100e-6), ((1000, 1000), 2e-3)])
def test_is_quick(shape, seconds):
    tensor = fuzz.Tensor(np.random.default_rng(0).standard_normal(shape, np.float32))

    def once():
        start = time.thread_time()
        printing.tensor_str(tensor)
        return time.thread_time() - start

    assert min(once() for _ in range(20)) < seconds
