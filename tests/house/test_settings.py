"""Settings and old names answer as PyTorch's do, or say what they cannot give."""
import subprocess
import sys
import threading

import numpy as np
import pytest

import jtensor
from jtensor.base import denormals
from jtensor.trace.cache import store

CALLS = [
    "typename(t.ones(1))",
    "typename(3)",
    "typename(int)",
    "FloatTensor([1, 2])",
    "LongTensor(2, 0).shape",
    "isinstance(t.ones(1), t.FloatTensor)",
    "isinstance(t.ones(1), t.LongTensor)",
    "FloatTensor.dtype",
    "ones(1).type(t.LongTensor)",
    "ones(1).type(t.Tensor).dtype",
    "ones(1).type('torch.DoubleTensor').dtype",
    "ones(1).type(t.nn.Parameter)",
    "ones(1).type('LongTensor')",
    "ones(1).type(3)",
    "nn.Linear(1, 1).type(t.HalfTensor).weight.dtype",
    "FloatTensor.__class__",
    "get_deterministic_debug_mode()",
    "set_num_threads(0)",
    "set_num_threads('a')",
    "set_deterministic_debug_mode('x')",
    "set_deterministic_debug_mode(5)",
    "use_deterministic_algorithms(1)",
    "use_deterministic_algorithms(False, warn_only=1)",
    "set_warn_always(1)",
    "set_flush_denormal(1)",
    "get_float32_matmul_precision()",
    "newaxis",
    "compiler.is_compiling()",
    "jit.is_scripting()",
    "backends.mps.is_available()",
    "backends.cudnn.benchmark",
    "backends.cudnn.set_flags(None)",
    "backends.cudnn.set_flags(_benchmark=False)",
    "backends.cudnn.is_acceptable(t.ones(1))",
    "backends.mkldnn.set_flags()",
    "cuda.OutOfMemoryError.__name__",
    "cuda.device(-1).__enter__()",
    "cuda.device('cpu')",
    "cuda.device_of(t.ones(1)).__enter__()",
]
NO_GPU = ["cuda.device(0).__enter__()", "cuda.device('cuda:1').__enter__()", "cuda.init()", "cuda.ipc_collect()"]


def outcome(library, call):
    try:
        return str(eval(call if call.startswith("isinstance") else "t." + call, {"t": library}))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call):
    assert outcome(jtensor, call) == outcome(pytest.importorskip("torch"), call)


@pytest.mark.skipif(jtensor.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("call", NO_GPU)
def test_without_a_gpu(call):
    assert outcome(jtensor, call) == outcome(pytest.importorskip("torch"), call)


def test_deterministic_mode_is_kept():
    assert not jtensor.are_deterministic_algorithms_enabled()
    jtensor.use_deterministic_algorithms(True, warn_only=True)
    assert jtensor.is_deterministic_algorithms_warn_only_enabled()
    jtensor.use_deterministic_algorithms(False, warn_only=True)
    assert jtensor.is_deterministic_algorithms_warn_only_enabled() and not jtensor.are_deterministic_algorithms_enabled()
    jtensor.use_deterministic_algorithms(False)
    assert jtensor.get_deterministic_debug_mode() == 0 and not jtensor.is_deterministic_algorithms_warn_only_enabled()


def test_threads_are_chosen_before_xla_starts_and_kept_after():
    code = """
import os, warnings
import jtensor as torch
torch.set_num_threads(7)
torch.ones(2).sum().item()
assert torch.get_num_threads() == 7 and len(os.listdir("/proc/self/task")) > 7
with warnings.catch_warnings(record=True) as said:
    torch.set_num_threads(1)
assert torch.get_num_threads() == 7 and "keeps them" in str(said[0].message)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def mode():
    """Switches the mode of denormal numbers, which is the processor's, and in the end off."""
    if not jtensor.set_flush_denormal(False):
        pytest.skip("the mode can only be set on Linux on x86-64")
    yield jtensor.set_flush_denormal
    assert jtensor.set_flush_denormal(False)


@pytest.mark.parametrize("asked", [True, False])
def test_denormals_are_flushed_wherever_it_is_computed(mode, asked):
    small = jtensor.full((40_000,), 1e-310, dtype=jtensor.float64)
    small.tolist()
    mode(asked)
    products = []

    def compute():
        with jtensor.eager():
            products.append(small * 1.5)
        products.append(small * 1.5)
        products.append((small * 1.5 + small) * 2)
    compute(), compute()
    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    mode(False)
    assert [product.abs().max().item() for product in products] == [0.0] * 9
    assert jtensor.tensor([1e-323], dtype=jtensor.float64).tolist() == [1e-323] and small[::2].clone()[3].item() == 1e-310
    assert small.tolist()[0] == 1e-310 and "1.0000e-310" in str(small[:2])


SMALL = [
    "t.tensor([x], dtype=t.float64)", "t.tensor(x, dtype=t.float64)", "t.tensor([x], dtype=t.float64).tolist()", "t.tensor([-1e-40])",
    "t.full((2,), x, dtype=t.float64)", "t.tensor([1.0, x], dtype=t.float64)", "t.tensor(x, dtype=t.float64).item() == 0",
    "x, x * 1, 0.0 == x", "t.tensor([0.0, -0.0])", "t.from_numpy(numpy.array([x])).clone()", "t.tensor([x + 1e-320j])",
    "t.tensor([1e-320])[0] == 0",
]


@pytest.mark.parametrize("text", SMALL)
def test_the_mode_of_denormals_is_pytorchs(mode, text):
    torch, names = pytest.importorskip("torch"), {"x": 1e-323, "numpy": np}
    found = []
    for library in (torch, jtensor):
        for asked in (True, False):
            assert library.set_flush_denormal(asked)
            found.append(str(eval(text, {**names, "t": library})))
    assert found[:2] == found[2:]


def test_what_was_zero_in_the_mode_is_not_taken_for_zero_behind_it(mode):
    with jtensor.eager():
        mode(True)
        texts = [str(jtensor.full((3,), number, dtype=jtensor.float64)) for number in (1e-322, -1e-322)]
        surroundings = store._surroundings(None)
        mode(False)
        assert texts == [f"tensor([{zero}, {zero}, {zero}], dtype=torch.float64)" for zero in ("0.", "-0.")]
        assert [jtensor.full((3,), number, dtype=jtensor.float64).tolist() for number in (0.0, 1e-322)] == [[0.0] * 3, [1e-322] * 3]
    assert store._surroundings(None) != surroundings                   # the programs on disk are others


def test_the_mode_of_denormals_is_a_threads(mode):
    mode(True)
    answers = []
    thread = threading.Thread(target=lambda: answers.extend([denormals.flushed(), mode(False), denormals.flushed()]))
    thread.start()
    thread.join()
    assert answers == [True, True, False] and denormals.flushed()


def test_a_backends_switches_are_put_back():
    cudnn = jtensor.backends.cudnn
    with pytest.raises(KeyError), cudnn.flags(enabled=False, deterministic=True):
        assert (cudnn.enabled, cudnn.deterministic, cudnn.benchmark) == (False, True, False)
        raise KeyError
    assert (cudnn.enabled, cudnn.deterministic) == (True, False)
    assert cudnn.set_flags(_deterministic=True)[3] is False and cudnn.deterministic
    cudnn.set_flags(_deterministic=False)
    with pytest.raises(TypeError):
        cudnn.set_flags(speed=True)


def test_what_is_not_there_says_so():
    with pytest.raises(NotImplementedError, match="TorchScript"):
        jtensor.jit.save(jtensor.nn.Linear(1, 1), "model.pt")
    with pytest.raises(NotImplementedError, match="backends of torch.compile"):
        jtensor.compile(lambda x: x, backend=lambda graph, inputs: graph)


def test_threads_for_operations_side_by_side_are_kept(monkeypatch):
    monkeypatch.setitem(jtensor.settings._state, "interop", None)
    assert jtensor.get_num_interop_threads() == jtensor.get_num_threads()
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(RuntimeError, match="set_num_interop_threads expects"):
            jtensor.set_num_interop_threads(wrong)
    jtensor.set_num_interop_threads(7)
    assert jtensor.get_num_interop_threads() == 7
    with pytest.raises(RuntimeError, match="cannot set number of interop threads after parallel work has started or"):
        jtensor.set_num_interop_threads(7)
