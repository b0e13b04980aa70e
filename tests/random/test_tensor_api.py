"""The law of the random functions through the public tensor API: PyTorch's numbers, dtypes, sizes, strides and generator states."""
import json
import sys
import warnings
from pathlib import Path

import pytest

import jtensor

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tensor_cases

LAW = list(tensor_cases.cases(seed=4, rounds=6))
STORED = list(tensor_cases.cases(2113, 2))


def test_the_law_speaks_of_enough_cases():
    assert len(set(LAW)) >= 200 and {case[0] for case in LAW} == set(tensor_cases.PROGRAMS)


@pytest.mark.parametrize("name", tensor_cases.PROGRAMS)
def test_as_live_torch(name):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")         # of sizes in `out=` and of dropout2d's dimensions: said by both
        for case in LAW:
            if case[0] == name:
                assert tensor_cases.run(jtensor, case) == tensor_cases.run(torch, case), case


def test_as_stored():
    goldens = json.loads(tensor_cases.GOLDENS.read_text())
    assert len(goldens) == len(STORED) >= 60
    for case, golden in zip(STORED, goldens, strict=True):
        assert tensor_cases.run(jtensor, case) == golden, case


def test_the_law_can_fail():
    case = ("uniform_", "float32", (3, 5), "transposed", 7)
    other = ("uniform_", "float32", (3, 5), "contiguous", 7)
    assert tensor_cases.run(jtensor, case)[0] != tensor_cases.run(jtensor, other)[0]
    assert tensor_cases.run(jtensor, case)[4] == tensor_cases.run(jtensor, other)[4]


@pytest.mark.parametrize("words", [0, 1, 5, 624, 1000])
def test_states_resume_on_the_other_side(words):
    """A stream saved in mid-way, by either library, goes on in the other: uniform numbers, and the normal kept back for the next call."""
    torch = pytest.importorskip("torch")
    for source, sink in ((torch, jtensor), (jtensor, torch)):
        source.manual_seed(99)
        source.rand(words)
        source.randn(3)
        state = source.get_rng_state()
        sink.manual_seed(1)
        sink.set_rng_state(sink.from_numpy(state.numpy().copy()))
        for draw in (lambda T: T.randn(1), lambda T: T.rand(700), lambda T: T.randperm(50), lambda T: T.randn(40)):
            assert draw(source).tolist() == draw(sink).tolist()
        assert source.get_rng_state().tolist() == sink.get_rng_state().tolist()


REFUSED = """
    T.normal(T.zeros(2), T.ones(3))
    T.normal(T.zeros(2, dtype=T.int64), 1.0)
    T.normal(0, 1)
    T.poisson(-T.ones(2))
    T.binomial(T.ones(2), T.ones(2, dtype=T.float64))
    T.binomial(T.ones(2), T.ones(3))
    T.bernoulli(T.ones(2), 1.5)
    T.bernoulli(T.ones(2, dtype=T.int64))
    T.multinomial(T.ones(3), 2, out=T.empty(2))
    T.multinomial(T.ones(3), 4)
    T.rand(2, out=T.empty(2, dtype=T.float64), dtype=T.float32)
    T.rand(2, out=T.empty(2, requires_grad=True))
    T.rand()
    T.rand(2, generator=3)
    T.randn(2, dtype=T.int64)
    T.randint(10, (2,), dtype=T.bool)
    T.randint(3, 3, (2,))
    T.randint(5.5, (2,))
    T.randint(2, 5)
    T.randint(1, 2, 3)
    T.randint(0, 2**63, (2,), dtype=T.uint64)
    T.randint(0, 2**25 + 1, (2,), dtype=T.float32)
    T.randperm(-1)
    T.randperm(300, dtype=T.uint8)
    T.randperm(5.0)
    T.randn_like([1.0])
    T.randint_like(T.ones(2), 2.5)
    T.empty(2).uniform_(2, 1)
    T.empty(2).uniform_("a")
    T.empty(2, dtype=T.int64).uniform_()
    T.empty(2).normal_(0, -1)
    T.empty(2).normal_(generator=3)
    T.empty(2).random_(2.5)
    T.empty(2).random_(2**26)
    T.empty(2, dtype=T.float16).random_(70000)
    T.empty(2, dtype=T.complex64).random_()
    T.empty(2).exponential_(0)
    T.empty(2).geometric_()
    T.empty(2).bernoulli_(T.tensor([0.5, 1.5]))
    T.empty(2, dtype=T.uint16).bernoulli_()
    T.empty(1).expand(3).normal_()
    T.empty(2, requires_grad=True).uniform_(2, 1)
    T.empty(2, device="meta").normal_(0, -1)
    T.zeros(2, requires_grad=True).mul(2).random_(5)
    T.zeros(2, requires_grad=True).mul(2).bernoulli_(T.ones(2))
    T.zeros(2, requires_grad=True).mul(2)[:1].log_normal_()
    T.normal(T.zeros(2, requires_grad=True), 1.0)
    T.bernoulli(T.ones(2, requires_grad=True), 0.5)
    T.rand(2, 2, device="meta")
    T.normal(1.5, T.zeros(0, dtype=T.int64))
    T.multinomial(T.ones(0), 2, True)
    T.multinomial(T.ones(0), 1)
    T.multinomial(T.ones(0, 0), 1, True)
    T.rrelu(-T.ones(2).half(), training=True)
    T.rrelu(-T.ones(2).int(), training=True)
    T.rrelu(-T.ones(2).int())
    T._sample_dirichlet(T.tensor(2.0))
    T.zeros(0, requires_grad=True).mul(2).normal_()._version
    T.zeros(0, requires_grad=True).mul(2).normal_()
    T.empty(2, device="meta").uniform_()._version
""".strip().splitlines()


def outcome(T, program):
    """What a program shows, or raises, its warnings, and where it leaves the stream."""
    T.manual_seed(7)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            shown = str(eval(program, {"T": T}))
        except Exception as error:
            shown = f"{type(error).__name__}: {error}"
    return shown, [str(w.message).split(" (Triggered")[0] for w in seen], T.rand(1).item()


@pytest.mark.parametrize("program", [line.strip() for line in REFUSED])
def test_refusals_and_histories_read_as_in_torch(program):
    torch = pytest.importorskip("torch")
    torch.set_warn_always(True)
    try:
        assert outcome(jtensor, program) == outcome(torch, program)
    finally:
        torch.set_warn_always(False)


PLACES = {
    "whole": lambda T, dtype: T.zeros(4, 5, dtype=dtype), "transposed": lambda T, dtype: T.zeros(4, 5, dtype=dtype).t(),
    "stepped": lambda T, dtype: T.zeros(40, dtype=dtype)[::2], "part": lambda T, dtype: T.zeros(6, 6, dtype=dtype)[1:5, 2:6],
    "column": lambda T, dtype: T.zeros(17, 3, dtype=dtype)[:, 1], "number": lambda T, dtype: T.zeros((), dtype=dtype),
    "permuted": lambda T, dtype: T.zeros(2, 3, 4, dtype=dtype).permute(2, 0, 1), "none": lambda T, dtype: T.zeros(0, dtype=dtype),
    "channels last": lambda T, dtype: T.empty_strided((2, 3, 4, 4), (48, 1, 12, 3), dtype=dtype).zero_(),
    "other dtype": lambda T, dtype: T.zeros(18, dtype=T.int64).view(dtype)[2:], "shared": lambda T, dtype: T.from_numpy(
        T.zeros(18, dtype=dtype).numpy()), "leaf": lambda T, dtype: T.zeros(18, dtype=dtype, requires_grad=True).detach(),
    "two cells one place": lambda T, dtype: T.zeros(1, dtype=dtype).expand(3)}
FILLS = {"uniform_": (), "normal_": (1.0, 2.0), "bernoulli_": (0.4,), "random_": (-3, 50), "exponential_": (2.0,)}


@pytest.mark.parametrize("place", PLACES)
def test_fills_write_what_and_where_pytorch_does(place):
    """Whole tensors and parts of them, with and without a record: the numbers, the memory beside them, the versions."""
    torch = pytest.importorskip("torch")

    def outcome(T, name, dtype, scope):
        T.manual_seed(12)
        with scope(T):
            x = PLACES[place](T, getattr(T, dtype))
            try:
                out = getattr(x, name)(*FILLS[name])
            except RuntimeError as error:
                return str(error)
            base = x if x._base is None else x._base
            version = None if T.is_inference_mode_enabled() else (x._version, base.tolist())
            return out is x, x.tolist(), x.stride(), version, T.get_rng_state().tolist()

    for name in FILLS:
        for dtype in ("float32", "float64"):
            for scope in (lambda T: T.enable_grad(), lambda T: T.no_grad(), lambda T: T.inference_mode()):
                assert outcome(jtensor, name, dtype, scope) == outcome(torch, name, dtype, scope), (name, dtype)


def test_seeds_are_the_functions_of_random():
    for name in ("manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state"):
        assert getattr(jtensor, name) is getattr(jtensor.random, name)
    assert jtensor.manual_seed(seed=3).initial_seed() == jtensor.initial_seed() == 3
