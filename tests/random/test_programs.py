"""The compiled loops draw what Python draws one by one, to the last word used; and when a program may serve at all."""
import ml_dtypes
import numpy as np
import pytest

from jtensor.random import discrete, gammas, loops, permutation, programs, rejection, walks
from jtensor.random.mt19937 import MT19937
from jtensor.random.programs import HostProgram

_RANDOM = np.random.RandomState(8)
RATES = {
    "few": np.full(40_000, 3.0),
    "few of all kinds": _RANDOM.rand(20_000) * 9.99,
    "alike": np.full(40_000, 50.0),
    "alike and immense": np.full(20_000, 1e9),
    "alike, not many": np.full(900, 33.25),
    "many": 10 + _RANDOM.rand(20_000) * 700,
    "more": 10 + _RANDOM.rand(5_000) * 2000,
    "mixed": _RANDOM.rand(20_000) * 25,
    "immense": 10 ** (1 + _RANDOM.rand(3_000) * 13),
    "now and then none": np.maximum(_RANDOM.rand(3_000) * 20 - 5, 0),
}
TRIALS = {
    "few": (np.full(20_000, 20.0), np.full(20_000, 0.3)),
    "alike": (np.full(40_000, 1000.0), np.full(40_000, 0.6)),
    "alike, not many": (np.full(900, 90.0), np.full(900, 0.25)),
    "many": (np.floor(100 + _RANDOM.rand(20_000) * 900), np.full(20_000, 0.6)),
    "more": (np.floor(100 + _RANDOM.rand(5_000) * 100_000), _RANDOM.rand(5_000)),
    "mixed": (np.floor(_RANDOM.rand(20_000) * 60), _RANDOM.rand(20_000)),
    "fractions": (_RANDOM.rand(5_000) * 100, _RANDOM.rand(5_000)),
    "ends": (np.floor(_RANDOM.rand(3_000) * 3) * 20, np.floor(_RANDOM.rand(3_000) * 5) / 4),
}


@pytest.fixture(scope="module", autouse=True)
def _programs():
    for program in (gammas.PROGRAM, *(kind.program for kind in loops.KINDS)):
        assert program.now() is not None


def _both(monkeypatch, draw):
    """The numbers and states by the programs and by Python."""
    engines = MT19937(4), MT19937(4)
    by_program = draw(engines[0])
    for few in ("FEW", "FEW_ALIKE"):
        monkeypatch.setattr(loops, few, 1 << 30)
    return by_program, draw(engines[1]), *(engine.state_bytes() for engine in engines)


@pytest.mark.parametrize("doubtful", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RATES)
def test_poisson(name, dtype, doubtful, monkeypatch):
    if doubtful:            # every test of logarithms is left to Python
        monkeypatch.setattr(walks, "TOLERANCE", 1e9)
    rate = RATES[name][: 3_000 if doubtful else None].astype(dtype)
    made, wanted, state, wanted_state = _both(monkeypatch, lambda engine: rejection.poisson(engine, rate))
    np.testing.assert_array_equal(made, wanted)
    assert state == wanted_state


@pytest.mark.parametrize("doubtful", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TRIALS)
def test_binomial(name, dtype, doubtful, monkeypatch):
    if doubtful:
        monkeypatch.setattr(walks, "TOLERANCE", 1e9)
    count, p = (x[: 3_000 if doubtful else None].astype(dtype) for x in TRIALS[name])
    made, wanted, state, wanted_state = _both(monkeypatch, lambda engine: rejection.binomial(engine, count, p))
    np.testing.assert_array_equal(made, wanted)
    assert state == wanted_state


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rows_of_weights_are_live_torchs(dtype):
    """Rows that are worked on together, compared or searched, at once or in parts."""
    torch = pytest.importorskip("torch")
    generator, engine = torch.Generator().manual_seed(5), MT19937(5)
    for rows, categories, samples in [(3000, 10, 4), (1, 3000, 9), (70, 1000, 5), (2, 2, 40_000), (9, 2, 1000), (400, 1, 2)]:
        p = torch.rand(rows, categories, generator=generator).pow(3).add(1e-3).to(getattr(torch, dtype))
        engine.words(p.numel())
        if categories > 5:
            p[:, 3] = 0
        given = p.float().numpy().astype(ml_dtypes.bfloat16) if dtype == "bfloat16" else p.numpy()
        made = discrete.multinomial(engine, given, samples, True)
        np.testing.assert_array_equal(made, torch.multinomial(p, samples, True, generator=generator))
    assert engine.state_bytes() == generator.get_state().numpy().tobytes()


GAMMAS = {"two": np.full(40_000, 2.0), "one": np.full(5_000, 1.0), "a half": np.full(20_000, 0.5), "all kinds": _RANDOM.rand(40_000) * 3,
          "near two": np.resize([2.0, 2.5], 40_000), "large": 1 + _RANDOM.rand(3_000) * 1e6,
          "tiny": _RANDOM.rand(2_000) * 1e-3, "few": _RANDOM.rand(gammas.FEW) + 0.7}


@pytest.mark.parametrize("doubtful", [False, True])
@pytest.mark.parametrize("name", GAMMAS)
def test_gamma(name, doubtful, monkeypatch):
    """By the program, in Python and in PyTorch, with and without a normal that waits: in both dtypes, one after the other."""
    if doubtful:
        monkeypatch.setattr(gammas, "TOLERANCE", 1e9)
    alpha = GAMMAS[name][: 2_000 if doubtful else None]
    monkeypatch.setattr(gammas, "FEW_ALIKE", 1 << 30)
    engines, served, drawn = (MT19937(4), MT19937(4)), [], gammas._drawn
    monkeypatch.setattr(gammas, "_drawn", lambda *how: served.append(1) or drawn(*how))
    made = [[rejection.standard_gamma(engines[0], alpha.astype(dtype)) for dtype in ("float32", "float64")], engines[0].state_bytes()]
    assert len(served) == 2
    monkeypatch.setattr(gammas, "FEW", 1 << 30)
    wanted = [[rejection.standard_gamma(engines[1], alpha.astype(dtype)) for dtype in ("float32", "float64")], engines[1].state_bytes()]
    for ours, theirs in zip(made[0], wanted[0], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert made[1] == wanted[1] and len(served) == 2


@pytest.mark.parametrize("alpha", [1.4375, 2.0, 7.5, 300.0, 1e9])
def test_gammas_of_one_kind_are_those_one_by_one(alpha, monkeypatch):
    """From every place of the stream, with a normal that waits or without; some attempts end early, which shifts the places."""
    def made(engine):
        made = [rejection.standard_gamma(engine, np.full(n, alpha, dtype)).tolist() for n in (64, 65, 3_001) for dtype in ("f4", "f8")]
        return made, engine.state_bytes()
    for waiting, words in ((None, 0), (0.25, 3), (-9.0, 600)):
        engines = MT19937(5), MT19937(5)
        for engine in engines:
            engine.words(words)
            engine.cached_normal = waiting
        found = made(engines[0])
        with monkeypatch.context() as patch:
            patch.setattr(gammas, "FEW_ALIKE", 1 << 30)
            patch.setattr(gammas, "FEW", 1 << 30)
            assert found == made(engines[1])
    assert gammas.alike(engine, 1.0, 64, float) is gammas.alike(engine, 0.5, 64, float) is None


def test_many_gammas_of_zero_are_the_smallest_number_and_draw_nothing():
    engine = MT19937(5)
    for kind in (np.float32, np.float64):
        made = rejection.standard_gamma(engine, np.zeros(300, kind))
        assert made.tolist() == [float(np.finfo(kind).tiny)] * 300
    assert engine.state_bytes() == MT19937(5).state_bytes()


@pytest.mark.parametrize("last", [0, 1, 2, 3, 40])
def test_what_was_read_ahead_is_given_back(last):
    """Of a filling that kept two numbers of the one before, fewer may be used than those two."""
    engine, other = MT19937(5), MT19937(5)
    stretch = walks.Stretch(engine, np.zeros(walks.NUMBERS))
    stretch.refill(64)
    used = [stretch.uniform() for _ in range(62)]
    stretch.refill(64)
    used += [stretch.uniform() for _ in range(last)]
    stretch.close()
    assert used == [draw % 2**53 * 2.0**-53 for draw in other.draws(62 + last).tolist()]
    assert engine.state_bytes() == other.state_bytes()


def test_a_desk_is_nobody_elses_and_what_lies_on_it_is_seen():
    program = loops.POISSON_FEW.program
    with program.desk() as one, program.desk() as other:
        assert one is not other
    desk = programs.Desk([((3,), np.float64), ((2, 5), np.int32)])
    desk.arrays[1][1] = 7
    assert np.asarray(desk.given()[1]).tolist() == [[0] * 5, [7] * 5]
    desk._shared = False                                    # where XLA would rather have a copy
    desk.arrays[0][:] = 4.5
    assert [np.asarray(x).ravel()[-1] for x in desk.given()] == [4.5, 7]


def test_many_numbers_are_live_torchs():
    torch = pytest.importorskip("torch")
    engine, generator = MT19937(6), torch.Generator().manual_seed(6)
    for rate in RATES.values():
        for one in (rate.astype(np.float32), rate):
            np.testing.assert_array_equal(rejection.poisson(engine, one), torch.poisson(torch.from_numpy(one), generator=generator))
    for count, p in TRIALS.values():
        for pair in ((count.astype(np.float32), p.astype(np.float32)), (count, p)):
            wanted = torch.binomial(*map(torch.from_numpy, pair), generator=generator)
            np.testing.assert_array_equal(rejection.binomial(engine, *pair), wanted)
    for alpha in GAMMAS.values():
        for one in (alpha.astype(np.float32), alpha):
            np.testing.assert_array_equal(rejection.standard_gamma(engine, one), torch._standard_gamma(torch.from_numpy(one), generator))
    assert engine.state_bytes() == generator.get_state().numpy().tobytes()


@pytest.mark.parametrize("n", [257, 65536, 65537, 65536 + 16384, 65536 + 16385, 150_001])
def test_shuffles_at_once_are_those_one_by_one(n, monkeypatch):
    monkeypatch.setattr(permutation, "PROGRAMS", [])
    one, other = MT19937(n), MT19937(n)
    np.testing.assert_array_equal(permutation.randperm(one, n), permutation._swapped(other.word_list(n - 1), n))
    assert one.state_bytes() == other.state_bytes()


def test_shuffles_by_a_program_are_those_one_by_one(monkeypatch):
    served, drawn = [], permutation._by_program
    monkeypatch.setattr(permutation, "_by_program", lambda *how: served.append(how[1].most) or drawn(*how))
    for program in permutation.PROGRAMS:
        assert program.now() is not None
        for n in (257, program.most - 1, program.most):
            one, other = MT19937(n), MT19937(n)
            np.testing.assert_array_equal(permutation.randperm(one, n), permutation._swapped(other.word_list(n - 1), n))
            assert one.state_bytes() == other.state_bytes()
        assert served.count(program.most) >= 2
    assert not program._proof(lambda given: [np.arange(program.most)])


def test_a_program_serves_when_it_pays_and_is_right():
    def program(proof):
        return HostProgram("test double", lambda x: [x + x], [((2,), np.float64)], 100, proof)

    right = program(lambda run: np.asarray(run([np.ones(2)])[0]).tolist() == [2.0, 2.0])
    assert right.after(99) is None and right._handle is None
    right.after(1)
    assert np.asarray(right.now()([np.full(2, 3.0)])[0]).tolist() == [6.0, 6.0] and right.after(0) is right.now()
    with pytest.MonkeyPatch.context() as patch:             # a child of fork draws in NumPy
        patch.setattr(programs.compat, "is_forked", lambda: True)
        assert right.after(1000) is None
    wrong = program(lambda run: False)
    assert wrong.now() is None and wrong.after(1000) is None
    broken = HostProgram("test broken", lambda x: 1 / 0, [((2,), np.float64)], 0, lambda run: True)
    assert broken.now() is None
