"""Generators: seeds and their limits, states in PyTorch's layout both ways, copies, threads."""

import copy
import os
import pickle
import threading
import warnings
from random import Random as Choice

import numpy as np
import pytest

from jtensor import random
from jtensor.random import Generator, continuous, discrete, integers, normals, permutation, uniforms
from jtensor.random.mt19937 import MT19937, _legacy_seed

F32 = np.dtype(np.float32)
SEEDS = [0, 1, -1, 7, 2**32 - 1, 2**32, 2**63, 2**63 + 11, 2**64 - 1, -(2**63)]
STRANGE = [2**64, -(2**63) - 1, 1.7, True, "12", "a", None, float("nan"), float("inf"), 1e30]


def _outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", SEEDS + STRANGE, ids=repr)
def test_seeds_are_taken_and_refused_as_by_torch(seed):
    torch = pytest.importorskip("torch")
    before, torchs = random.default_generator.state_bytes(), torch.get_rng_state()
    try:
        assert _outcome(lambda: Generator().manual_seed(seed).initial_seed()) == _outcome(
            lambda: torch.Generator().manual_seed(seed).initial_seed()
        )
        assert _outcome(lambda: random.manual_seed(seed).initial_seed()) == _outcome(lambda: torch.manual_seed(seed).initial_seed())
    finally:
        random.default_generator.set_state_bytes(before)
        torch.set_rng_state(torchs)


def test_a_generator_starts_where_torchs_does():
    torch = pytest.importorskip("torch")
    assert Generator().state_bytes() == torch.Generator().get_state().numpy().tobytes()
    assert Generator().initial_seed() == torch.Generator().initial_seed() == 67280421310721


def test_seed_takes_the_systems_randomness():
    g = Generator()
    first, second = g.seed(), g.seed()
    assert first != second and g.initial_seed() == second and 0 <= second < 2**64


@pytest.mark.parametrize("words", [0, 1, 5, 623, 624, 625, 1247, 1248, 5000])
def test_states_travel_both_ways(words):
    torch = pytest.importorskip("torch")
    theirs = torch.Generator().manual_seed(words + 2**40)
    torch.rand(words, generator=theirs)
    torch.randn(3, generator=theirs)  # leaves a cached normal
    mine = Generator()
    mine.set_state_bytes(theirs.get_state().numpy().tobytes())
    assert mine.state_bytes() == theirs.get_state().numpy().tobytes()
    assert mine.initial_seed() == theirs.initial_seed()
    np.testing.assert_array_equal(normals.normal(mine.engine, 4), torch.randn(4, generator=theirs).numpy())
    back = torch.Generator()
    back.set_state(torch.frombuffer(bytearray(mine.state_bytes()), dtype=torch.uint8))
    np.testing.assert_array_equal(uniforms.rand(mine.engine, 1000), torch.rand(1000, generator=back).numpy())


def _edited(at, data):
    state = bytearray(Generator().state_bytes())
    state[at : at + len(data)] = data
    return bytes(state)


DAMAGED = {
    "empty": b"",
    "short": b"1234",
    "zeros": bytes(5056),
    "long": bytes(5057),
    "no words left": _edited(8, b"\0"),
    "not seeded": _edited(12, b"\0"),
    "next beyond the block": _edited(16, b"\x71\x02"),
    "left beyond the block": _edited(8, b"\x71\x02"),
    "flag of two": _edited(5040, b"\2"),
    "cached but not valid": _edited(5024, b"\1" * 8),
    "cached float": _edited(5048, b"\x09" * 5),
    "unused places": _edited(5020, b"\1\1"),
    "upper half of a word": _edited(30, b"\1"),
}


@pytest.mark.parametrize("state", DAMAGED.values(), ids=DAMAGED)
def test_damaged_states_are_refused_or_mended_as_by_torch(state):
    torch = pytest.importorskip("torch")

    def theirs():
        g = torch.Generator()
        g.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8) if state else torch.empty(0, dtype=torch.uint8))
        return g.get_state().numpy().tobytes()

    def mine():
        g.set_state_bytes(state)
        return g.state_bytes()

    g = Generator()
    before = g.state_bytes()
    outcome = _outcome(mine)
    assert outcome == _outcome(theirs)
    assert isinstance(outcome, bytes) or g.state_bytes() == before


def test_counters_that_contradict_each_other_are_refused():
    with pytest.raises(RuntimeError, match="Invalid mt19937 state: 100 words left"):
        Generator().set_state_bytes(_edited(8, b"\x64"))


def test_copies_stand_where_the_original_stands():
    g = Generator().manual_seed(11)
    normals.normal(g.engine, 5)
    for other in (g.clone_state(), copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert other is not g and other.state_bytes() == g.state_bytes()
        uniforms.rand(other.engine, 3)
        assert other.state_bytes() != g.state_bytes()


def test_states_as_tensors():
    import jtensor

    g = Generator().manual_seed(5)
    state = g.get_state()
    assert tuple(state.shape) == (5056,) and state.dtype is jtensor.uint8
    first = uniforms.rand(g.engine, 9)
    g.set_state(state)
    np.testing.assert_array_equal(uniforms.rand(g.engine, 9), first)
    with pytest.raises(TypeError, match="expected a torch.ByteTensor, but got int"):
        g.set_state(3)
    with pytest.raises(RuntimeError, match="of size 5056 but found the input RNG state size to be 4"):
        g.set_state(state[:4])
    with pytest.raises(RuntimeError, match="RNG state must be contiguous"):
        g.set_state(state.reshape(2528, 2).t())


def test_fork_rng_leaves_no_trace_even_through_an_exception():
    state = random.default_generator.state_bytes()
    with pytest.raises(KeyError), random.fork_rng():
        random.manual_seed(1)
        raise KeyError
    assert random.default_generator.state_bytes() == state
    with random.fork_rng(), random.fork_rng(enabled=False):
        random.manual_seed(1)
        inner = random.default_generator.state_bytes()
    assert random.default_generator.state_bytes() == state != inner


@pytest.mark.parametrize("given", ["meta", 3, "foo", "cuda"])
def test_devices_without_a_generator(given):
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError) as mine:
        Generator(given)
    with pytest.raises(RuntimeError) as theirs:
        torch.Generator(given)
    assert str(mine.value).split(". ")[0] == str(theirs.value).split(". ")[0]


def test_what_a_cpu_generator_cannot():
    torch = pytest.importorskip("torch")
    for call in (
        lambda g: g.get_offset(),
        lambda g: g.set_offset(4),
        lambda g: g.graphsafe_get_state(),
        lambda g: g.graphsafe_set_state(g),
    ):
        assert _outcome(lambda call=call: call(Generator())) == _outcome(lambda call=call: call(torch.Generator()))
    assert repr(Generator()).startswith("<torch._C.Generator object at 0x")
    assert Generator("cpu").device.type == "cpu"


def test_threads_share_a_stream_without_tearing_it():
    g, n, calls = Generator().manual_seed(3), 100, 40
    drawn = []

    def draw():
        for _ in range(calls):
            drawn.append(uniforms.rand(g.engine, n))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = uniforms.rand(MT19937(3), 4 * calls * n).reshape(-1, n)
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, whole))


def test_going_back_without_numpys_memory():
    """The engine reads numpy's own memory where that is laid out as ever; the public way says and does the same."""
    by_memory, public = MT19937(3), MT19937(3)
    public._memory = None
    assert by_memory._memory is not None
    for words in (0, 5, 619, 1000):
        drawn, marks = [], [engine.mark() for engine in (by_memory, public)]
        assert by_memory.words(words).tolist() == public.words(words).tolist()
        assert by_memory.state_bytes() == public.state_bytes()
        for engine, mark in zip((by_memory, public), marks, strict=True):
            engine.rewind(mark, 3)
            drawn.append(engine.word_list(700))
            engine.set_state_bytes(engine.state_bytes())
        assert drawn[0] == drawn[1] and by_memory.state_bytes() == public.state_bytes()


def test_seeding_without_numpys_private_way():
    class Bits:
        state = None

    _legacy_seed(Bits, 2**32 - 5)
    bits = np.random.MT19937(0)
    bits.state = Bits.state
    assert bits.random_raw(5).tolist() == MT19937(2**32 - 5).words(5).tolist()


def test_the_shuffle_of_the_very_large_is_inside_out():
    draws = MT19937(4).draws(50)
    expected = []
    for i, draw in enumerate(draws.tolist()):
        z = draw % (i + 1)
        expected.append(expected[z] if z < i else i)
        expected[z] = i
    assert permutation.inside_out(MT19937(4).draws, 50, at_once=7).tolist() == expected
    assert sorted(expected) == list(range(50))


class _NoAhead(MT19937):
    __slots__ = ()

    def row(self, key, each, make):
        return make(1)[0]


_F32, _F16, _F64, _I64 = (np.dtype(name) for name in ("float32", "float16", "float64", "int64"))
_MADE_AHEAD = {
    "normals": lambda e, n: normals.normal(e, n, 0.5, 2.0),
    "other normals": lambda e, n: normals.normal(e, n, 0.5, 0.25),
    "no deviation": lambda e, n: np.r_[normals.normal(e, n, 0.0, 0.0), normals.normal(e, n, -0.0, 0.0)],
    "halves": lambda e, n: normals.normal(e, n, 0.5, 2.0, _F16),
    "rand": lambda e, n: uniforms.rand(e, n),
    "uniforms": lambda e, n: uniforms.uniform(e, n, -0.3, 0.3),
    "doubles": lambda e, n: uniforms.uniform(e, n, -1.0, 2.0, _F64),
    "points": lambda e, n: np.r_[uniforms.uniform(e, n, 0.0, 0.0), uniforms.uniform(e, n, -0.0, -0.0)],
    "choices": lambda e, n: discrete.bernoulli(e, n, 0.3, _F64),
    "choices of a tensor": lambda e, n: discrete.bernoulli_from(e, np.linspace(0, 1, n)),
    "noise": lambda e, n: discrete.dropout_noise(e, n, 0.25),
    "integers": lambda e, n: integers.randint(e, n, -5, 12, _I64),
    "wide integers": lambda e, n: integers.randint(e, n, -(2**40), 2**40, _I64),
    "exponentials": lambda e, n: continuous.exponential(e, n, 0.5, _F32),
}
_BETWEEN = {
    "words": lambda e: e.words(5).tolist(), "doubles": lambda e: uniforms.u53(e, 9).tolist(),
    "a pair": lambda e: normals.normal(e, 3).tolist(), "state": lambda e: e.state_bytes(),
    "resumed": lambda e: e.set_state_bytes(e.state_bytes()), "seed": lambda e: e.reseed(e.seed + 9),
    "back": lambda e: [e.rewind(mark, skip) for mark in [e.mark()] for skip in [len(e.word_list(4))]], "nothing": lambda e: None}


@pytest.mark.parametrize("seed", range(4))
def test_numbers_made_ahead_are_those_made_one_call_at_a_time(seed):
    """Calls of equal forms in a row, and whatever else may be asked of the engine in between: numbers, states, marks, seeds."""
    choose, engines = Choice(seed), (MT19937(seed), _NoAhead(seed))
    ahead = set()
    for _ in range(100):
        n, name = choose.choice([1, 5, 9, 16, 17, 31, 32, 100, 512, 2049]), choose.choice(list(_MADE_AHEAD))
        for _ in range(choose.randrange(1, 12)):
            made = [_MADE_AHEAD[name](engine, n) for engine in engines]
            np.testing.assert_array_equal(made[0].view(np.uint8), made[1].view(np.uint8), (name, n))
            made[0][:] = 7                              # whoever has numbers may write to them
        if engines[0]._ahead is not None:
            ahead.add(name)
        step = _BETWEEN[choose.choice(list(_BETWEEN))]
        assert step(engines[0]) == step(engines[1])
    assert engines[0].state_bytes() == engines[1].state_bytes()
    assert len(ahead) > 5                               # it has been put to the test


def test_whoever_leaves_or_copies_a_stream_in_the_middle_of_a_row_goes_on_as_in_pytorch():
    torch = pytest.importorskip("torch")
    import jtensor

    def told(T):
        """States, clones, other draws and seeds after each of some calls that are alike."""
        said, g = [], T.Generator().manual_seed(8)
        def draws(generator):
            return [T.rand(6, generator=generator).tolist(), T.randn(40, generator=generator).tolist()]
        for call in (lambda: T.randn(2560, generator=g), lambda: T.rand(7, generator=g), lambda: T.randint(9, (3,), generator=g),
                     lambda: T.empty(30).bernoulli_(0.3, generator=g)):
            for calls in (1, 2, 3, 9):
                for _ in range(calls):
                    last = call()
                said.append(last.tolist())
                state, clone = g.get_state(), g.clone_state()
                said.append((bytes(state.tolist()), draws(clone)))
                said.append(call().tolist())            # the clone took nothing from it
                g.set_state(state)
                said.append(call().tolist())
                said.append(draws(g))
        g.manual_seed(2)
        said.append(call().tolist())
        return said
    assert told(jtensor) == told(torch)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_of_fork_goes_on_where_its_parent_stood():
    engine = MT19937(12)
    for _ in range(5):
        uniforms.rand(engine, 30)
    assert engine._ahead is not None
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # JAX, that its threads stay behind: the child has no use for them
        child = os.fork()
    if not child:
        try:
            os.write(writing, uniforms.rand(engine, 30).tobytes() + engine.words(3).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        heard = pipe.read()
    os.waitpid(child, 0)
    assert heard == uniforms.rand(engine, 30).tobytes() + engine.words(3).tobytes()
