"""Random numbers of an accelerator (`conftest.gpu`): drawn by the program, out of a seed and an offset."""
import math
import pickle

import jax
import numpy as np
import pytest

import jtensor as T
from jtensor.random import by_counter
from jtensor.random.philox import philox

pytestmark = pytest.mark.usefixtures("gpu")


def test_philox_known_answers():
    def call(seed, low, high):
        halves = [np.array([half], np.uint32) for x in (seed, low, high) for half in (x & 0xFFFFFFFF, x >> 32)]
        return [f"{int(word[0]):08x}" for word in philox(halves[:2], halves[2:])]

    assert call(0, 0, 0) == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    assert call(2**64 - 1, 2**64 - 1, 2**64 - 1) == ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"]
    assert call(0x299F31D0A4093822, 0x85A308D3243F6A88, 0x0370734413198A2E) == ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"]


def test_a_program_draws_the_words_of_seed_offset_and_place():
    seed, offset = 0x123456789ABCDEF, 40
    with jax.enable_x64(True):
        made = by_counter._words(10, jax.numpy.int64(seed), jax.numpy.int64(offset), 1)[0]
    place = np.arange(3, dtype=np.uint32)
    zero = np.zeros(3, np.uint32)
    key = (np.full(3, seed & 0xFFFFFFFF, np.uint32), np.full(3, seed >> 32, np.uint32))
    wanted = np.stack(philox(key, (zero + np.uint32(offset // 4), zero, place, zero)), -1).reshape(-1)[:10]
    np.testing.assert_array_equal(made, wanted)
    u = T.rand(10, generator=_at(seed, offset), device="cuda").cpu().numpy()
    np.testing.assert_array_equal(u, (wanted >> 8).astype(np.float32) * np.float32(2.0**-24))


def _at(seed, offset):
    generator = T.Generator("cuda").manual_seed(seed)
    generator.set_offset(offset)
    return generator


DRAWS = {
    "rand": lambda n: T.rand(n, device="cuda"),
    "uniform_": lambda n: T.empty(n, device="cuda").uniform_(-2, 3),
    "randn": lambda n: T.randn(n, device="cuda"),
    "normal_": lambda n: T.empty(n, device="cuda").normal_(1, 2),
    "normal": lambda n: T.normal(T.zeros(n, device="cuda"), T.ones(n, device="cuda")),
    "randint": lambda n: T.randint(-3, 10, (n,), device="cuda"),
    "randint_like": lambda n: T.randint_like(T.zeros(n, device="cuda"), 10),
    "random_": lambda n: T.empty(n, dtype=T.int64, device="cuda").random_(),
    "randperm": lambda n: T.randperm(n, device="cuda"),
    "bernoulli_": lambda n: T.empty(n, device="cuda").bernoulli_(0.3),
    "bernoulli": lambda n: T.bernoulli(T.full((n,), 0.3, device="cuda")),
    "dropout": lambda n: T.nn.functional.dropout(T.ones(n, device="cuda"), 0.3),
    "alpha_dropout": lambda n: T.nn.functional.alpha_dropout(T.ones(n, device="cuda"), 0.3, True),
    "rrelu": lambda n: T.nn.functional.rrelu(-T.ones(n, device="cuda"), 0.1, 0.3, True),
    "exponential_": lambda n: T.empty(n, device="cuda").exponential_(0.5),
    "geometric_": lambda n: T.empty(n, device="cuda").geometric_(0.3),
    "cauchy_": lambda n: T.empty(n, device="cuda").cauchy_(1, 2),
    "log_normal_": lambda n: T.empty(n, device="cuda").log_normal_(0, 0.5),
    "complex": lambda n: T.randn(n, dtype=T.complex64, device="cuda"),
    "multinomial": lambda n: T.multinomial(T.ones(n, device="cuda"), 3),             # from here on by the host
    "poisson": lambda n: T.poisson(T.full((n,), 3.0, device="cuda")),
    "binomial": lambda n: T.binomial(T.full((n,), 20.0, device="cuda"), T.full((n,), 0.3, device="cuda")),
    "gamma": lambda n: T._standard_gamma(T.full((n,), 2.0, device="cuda")),
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_follow_seed_and_state_and_nothing_else(name):
    draw = DRAWS[name]
    T.manual_seed(5)
    cpu = T.get_rng_state()
    first = draw(50)
    assert first.device.type == "cuda" and T.cuda.get_rng_state().tolist() == [5, *[0] * 7, 4, *[0] * 7]
    state = T.cuda.get_rng_state()
    second = draw(50).tolist()
    assert second != first.tolist()
    T.cuda.set_rng_state(state)
    with T.eager():
        assert draw(50).tolist() == second
    T.cuda.manual_seed(5)
    assert draw(50).tolist() == first.tolist()
    assert T.get_rng_state().equal(cpu)                     # the CPU's generator has nothing to do with it


MOMENTS = {  # mean and standard deviation
    "rand": (0.5, 1 / math.sqrt(12)), "uniform_": (0.5, 5 / math.sqrt(12)), "randn": (0, 1), "normal_": (1, 2), "normal": (0, 1),
    "randint": (3, math.sqrt((13**2 - 1) / 12)), "randint_like": (4.5, math.sqrt((10**2 - 1) / 12)),
    "random_": (2**62, 2**63 / math.sqrt(12)),
    "bernoulli_": (0.3, math.sqrt(0.21)), "bernoulli": (0.3, math.sqrt(0.21)), "dropout": (1, math.sqrt(0.3 / 0.7)),
    "rrelu": (-0.2, 0.2 / math.sqrt(12)), "exponential_": (2, 2), "geometric_": (1 / 0.3, math.sqrt(0.7) / 0.3),
    "log_normal_": (math.exp(0.125), math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))), "poisson": (3, math.sqrt(3)),
    "binomial": (6, math.sqrt(4.2)), "gamma": (2, math.sqrt(2)),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name):
    mean, deviation = MOMENTS[name]
    T.manual_seed(11)
    n = 40_000
    x = DRAWS[name](n).cpu().numpy().astype(np.float64)
    assert abs(x.mean() - mean) < 4 * deviation / math.sqrt(n)
    assert abs(x.std() - deviation) < 0.05 * deviation
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 4 / math.sqrt(n)


def test_whole_distributions():
    stats = pytest.importorskip("scipy.stats")
    T.manual_seed(12)
    for name, law in {"rand": stats.uniform(), "randn": stats.norm(), "exponential_": stats.expon(scale=2), "cauchy_": stats.cauchy(1, 2),
                      "log_normal_": stats.lognorm(0.5)}.items():
        assert stats.kstest(DRAWS[name](20_000).cpu().numpy(), law.cdf).pvalue > 1e-3, name
    orders = [tuple(T.randperm(3, device="cuda").tolist()) for _ in range(300)]
    seen = [orders.count(order) for order in set(orders)]
    assert len(seen) == 6 and stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.parametrize("dtype", [T.float16, T.bfloat16, T.float32, T.float64])
def test_float_dtypes_stay_within_their_bounds(dtype):
    T.manual_seed(1)
    x = T.empty(30_000, dtype=dtype, device="cuda").uniform_(1.0, 1.5)
    assert x.dtype is dtype and x.min() >= 1 and x.max() < 1.5
    assert T.randn(1000, dtype=dtype, device="cuda").isfinite().all()
    x = T.empty(3000, dtype=dtype, device="cuda").random_()
    assert x.min() >= 0 and (x == x.floor()).all()
    assert T.empty(30_000, dtype=dtype, device="cuda").exponential_().min() >= 0
    if dtype is T.float64:
        assert (T.rand(100, dtype=dtype, device="cuda") * 2**30 % 1 > 0).all()       # more than a float32's digits


@pytest.mark.parametrize("dtype", [T.bool, T.uint8, T.int8, T.int16, T.int32, T.int64])
def test_integer_dtypes_reach_their_ends(dtype):
    T.manual_seed(1)
    x = T.empty(20_000, dtype=dtype, device="cuda").random_().cpu()
    top = 1 if dtype is T.bool else T.iinfo(dtype).max
    assert int(x.min()) >= 0 and int(x.max()) <= top and int(x.to(T.int64).max()) > top * 0.99 - 1
    assert T.empty(10, dtype=dtype, device="cuda").bernoulli_(1.0).to(T.int64).tolist() == [1] * 10
    for low, high in ((-3, 4), (0, 2**28 + 5), (-2**63, 2**63 - 1), (2**62, 2**62 + 3)):
        if dtype is T.int64:
            x = T.randint(low, high, (20_000,), device="cuda").cpu().numpy()
            least, most = int(x.min()), int(x.max())
            assert low <= least and most < high and most - least > (high - low) * 0.999 - 2
    x = T.empty(20_000, dtype=T.int64, device="cuda").random_(-2**63, None).cpu().numpy()
    assert x.min() < -2**62 and x.max() > 2**62


def test_fills_run_in_memory_order_and_small_draws_begin_large_ones():
    def seeded(make):
        T.manual_seed(3)
        return make()

    base = seeded(lambda: T.empty(4, 6, device="cuda").uniform_())
    assert seeded(lambda: T.empty(6, 4, device="cuda").t().uniform_()).t().flatten().equal(base.flatten())
    turned = T.empty(6, 4, device="cuda").t()
    assert seeded(lambda: T.rand_like(turned)).stride() == turned.stride()
    whole = T.zeros(4, 12, device="cuda")
    seeded(lambda: whole[:, ::2].uniform_())
    assert whole[:, ::2].equal(base) and not whole[:, 1::2].any()
    assert seeded(lambda: T.randn(7, device="cuda")).equal(seeded(lambda: T.randn(40, device="cuda"))[:7])
    p = T.linspace(0, 1, 24, device="cuda").reshape(6, 4).t()
    assert seeded(lambda: T.zeros_like(p).bernoulli_(p)).t().equal(seeded(lambda: T.bernoulli(p.t())))


def test_empty_and_zero_dimensional():
    T.manual_seed(0)
    assert T.rand(0, device="cuda").shape == (0,) and T.randperm(0, device="cuda").tolist() == []
    assert T.empty(0, device="cuda").normal_().numel() == 0
    assert T.cuda.get_rng_state()[8:].sum() == 0            # nothing drawn
    assert T.rand((), device="cuda").shape == () and 0 <= T.rand((), device="cuda").item() < 1


def test_a_new_mask_each_step_compiles_nothing_and_waits_for_nothing():
    from jtensor.trace import executor

    weights = T.ones(64, 64, device="cuda", requires_grad=True)

    def step():
        loss = T.nn.functional.dropout(weights, 0.5).mul(T.randn(64, 64, device="cuda")).sum()
        loss.backward()
        return weights.grad.sum().item()

    sums = [step() for _ in range(4)]
    report = T.report()
    programs, compiled = sum(report.programs.values()), len(report.compiled)
    sums += [step() for _ in range(4)]
    report = T.report()
    assert (sum(report.programs.values()), len(report.compiled)) == (programs, compiled) and len(set(sums)) == 8
    executor.flush("a new start")
    x = T.rand(5, device="cuda") + T.bernoulli(T.full((5,), 0.5, device="cuda")) + T.randperm(5, device="cuda")
    assert x._storage.value.array is None                   # drawn by nobody yet


def test_histories_are_pytorchs():
    x = T.ones(3, device="cuda", requires_grad=True) * 1
    assert x.clone().uniform_().grad_fn.name() == "UniformBackward0"
    assert x.clone().bernoulli_(T.full((3,), 0.5, device="cuda")).grad_fn.name() == "BernoulliBackward1"
    assert T.bernoulli(x.clamp(0, 1)).grad_fn.name() == "BernoulliBackward0"
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        T.ones(3, device="cuda", requires_grad=True).bernoulli_(T.ones(3, device="cuda"))
    with pytest.raises(NotImplementedError, match="bernoulli_tensor_cpu_p_"):
        T.ones(3, device="cuda").bernoulli_(T.ones(3, device="cuda", dtype=T.int64))


def test_generators_of_a_device():
    g = T.Generator(device="cuda")
    assert g.device == T.device("cuda:0") and g.initial_seed() == 67280421310721 and g.get_offset() == 0
    assert g.manual_seed(2**64 - 1) is g and g.get_state().tolist() == [255] * 8 + [0] * 8
    T.rand(3, generator=g, device="cuda")
    assert g.get_offset() == 4
    twin = g.clone_state()
    assert pickle.loads(pickle.dumps(g)).get_state().equal(g.get_state())
    assert T.randn(9, generator=g, device="cuda").equal(T.randn(9, generator=twin, device="cuda")) and g.get_offset() == 8
    g.set_offset(0)
    with pytest.raises(RuntimeError, match="offset must be a multiple of 4"):
        g.set_offset(3)
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        g.set_state(T.get_rng_state())
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        T.rand(3, generator=T.Generator(), device="cuda")
    for draw in (lambda: T.rand(3, generator=g), lambda: T.zeros(3).normal_(generator=g), lambda: T.poisson(T.ones(3), generator=g)):
        with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
            draw()
    assert g.get_offset() == 0


def test_seeds_of_all_devices():
    T.manual_seed(9)
    assert T.cuda.initial_seed() == 9 == T.initial_seed()
    T.cuda.manual_seed_all(10)
    assert T.cuda.initial_seed() == 10 and T.initial_seed() == 9
    assert T.seed() == T.cuda.initial_seed() == T.initial_seed()
    T.cuda.seed()
    assert T.cuda.initial_seed() != T.initial_seed()
    states = T.cuda.get_rng_state_all()
    with T.random.fork_rng():
        first = T.rand(4, device="cuda")
    assert T.rand(4, device="cuda").equal(first)
    T.cuda.set_rng_state_all(states)
    assert T.rand(4, device="cuda").equal(first)
    with T.random.fork_rng(devices=[]):
        T.rand(4, device="cuda")
    assert not T.cuda.get_rng_state().equal(states[0])


def test_checkpoints_draw_the_same_mask_again():
    x = T.ones(40, device="cuda", requires_grad=True)
    y = T.utils.checkpoint.checkpoint(lambda x: T.nn.functional.dropout(x, 0.5) * 3, x, use_reentrant=False)
    y.sum().backward()
    assert x.grad.equal(y.detach())


def test_the_switch_to_the_cpus_stream():
    T.random.use_cpu_stream(True)
    try:
        for draw in DRAWS.values():
            T.manual_seed(4)
            there = draw(40).tolist()
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(globals(), "T", _Here())
                T.manual_seed(4)
                assert draw(40).tolist() == there
        one, other = T.Generator().manual_seed(1), T.Generator().manual_seed(1)
        assert T.rand(3, generator=one, device="cuda").tolist() == T.rand(3, generator=other).tolist()
    finally:
        T.random.use_cpu_stream(False)
    with pytest.raises(TypeError, match="expects a bool"):
        T.random.use_cpu_stream(1)


class _Here:
    """jtensor, where ``device="cuda"`` means the CPU."""

    def __getattr__(self, name):
        import jtensor
        found = getattr(jtensor, name)
        if not callable(found):
            return found
        return lambda *args, **how: found(*args, **{key: value for key, value in how.items() if key != "device"})
