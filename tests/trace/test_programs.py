"""Programs: compiled briefly, then with all effort; the same bits, and the change at the same run each time."""
import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.base import compat
from jtensor.trace import executor, plan, programs, spec
from jtensor.trace.cache import store
from jtensor.trace.lowering import executable, lower


@pytest.fixture(autouse=True)
def without_disk(settled, monkeypatch):
    monkeypatch.setenv("JTENSOR_CACHE", "0")
    store.reset()
    yield
    monkeypatch.undo()
    store.reset()


@pytest.fixture
def efforts(monkeypatch):
    """What tapes were compiled with, in order."""
    made, compile_program = [], lower.compile_program

    def compiling(*given, effort, **how):
        made.append(effort)
        return compile_program(*given, effort=effort, **how)
    monkeypatch.setattr(lower, "compile_program", compiling)
    return made


def forget():
    """From here on nobody has seen any tape."""
    executor.flush("a new start")
    executor.TRIE.forget()
    executor.LOCAL.segment = executor.Segment()
    lower._SHARED.clear()


def steps(count, efforts):
    """The bits of some steps of a training, and the programs compiled up to the end of each."""
    forget()
    torch.manual_seed(0)
    w, x = torch.randn(29, 3, requires_grad=True), torch.randn(17, 29)
    w.tolist(), x.tolist()
    efforts.clear()
    bits, made = [], []
    for _ in range(count):
        w.grad = None
        loss = ((x @ w).tanh().exp() / 3).log_softmax(1).square().mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(w.grad * 0.1)
        bits.append([loss.item().hex(), w.detach().numpy().tobytes()])
        made.append(list(efforts))
    return bits, made


def test_the_change_comes_at_its_run_and_changes_no_bit(monkeypatch, efforts):
    monkeypatch.setattr(programs, "worth", lambda *given: {"all": 0})
    wanted, made = steps(9, efforts)
    assert {"brief"}.isdisjoint(made[-1]) and made[2] == made[-1]
    monkeypatch.setattr(programs, "worth", lambda *given: {"brief": 6})
    report = torch.report()
    again = report.again
    bits, made = steps(9, efforts)
    assert bits == wanted
    brief = [e for e in made[2] if e != "kernel"]
    assert set(brief) == {"brief"} and made[-1][len(made[2]):] == ["all"] * len(made[-1][len(made[2]):]) != []
    assert report.again > again and f"({report.again} again)" in str(report)


def test_a_better_program_that_does_not_compile_leaves_the_brief_one(monkeypatch, efforts):
    monkeypatch.setattr(programs, "worth", lambda *given: {"brief": 4})
    wanted, _ = steps(4, efforts)
    program = lower.program

    def failing(*given, efforts, **how):
        if efforts == ("all",):
            raise jax.errors.JaxRuntimeError("INTERNAL: all effort was too much")
        return program(*given, efforts=efforts, **how)
    monkeypatch.setattr(lower, "program", failing)
    bits, _ = steps(8, efforts)
    assert bits[:4] == wanted and "all effort was too much" in str(torch.report())


CONVOLUTIONS = {                # and what they are given
    "few features": (lambda nn: nn.Sequential(nn.Conv2d(1, 9, 3, padding=1), nn.BatchNorm2d(9), nn.Tanh(), nn.Conv2d(9, 1, 3, padding=1)),
                     (5, 1, 11, 11)),
    "a picture that grows": (lambda nn: nn.Sequential(nn.Conv2d(2, 8, 1, padding=2), nn.ReLU(), nn.Conv2d(8, 7, 2, padding=1)),
                             (5, 2, 28, 28))}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_networks_of_convolutions_train_to_the_same_bits_in_every_way(name, monkeypatch):
    def trained():
        torch.manual_seed(0)
        net, x = CONVOLUTIONS[name][0](torch.nn), torch.randn(CONVOLUTIONS[name][1])
        optimizer, bits = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9), []
        for _ in range(3):
            loss = net(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bits += [loss.item().hex(), *[p.detach().numpy().tobytes() for p in net.parameters()]]
        return bits
    found = []
    for chosen in ({"brief": 1000}, {"all": 0}):
        forget()
        monkeypatch.setattr(programs, "worth", lambda *given, chosen=chosen: chosen)
        found.append(trained())
    with torch.eager():
        assert found[0] == found[1] == trained()


def test_large_arrays_and_loops_are_not_worth_brevity():
    def worth(size, count, loop=False):
        aval = spec.aval((size,), torch.float32)
        nodes = [(plan.Plan("a", None, (aval,), (aval,)), (0,), (), None)] * count
        return programs.worth(nodes, compat.default_device(), loop)
    if not executable.efforts():
        assert worth(10, 30) == {"all": 0}
        pytest.skip("this device has one effort")
    most, fewest = programs.MANY // programs.SURE, programs.FEW["brief"]
    assert worth(10, 30) == worth(10, 30, True) == {"rough": most, "brief": most} and list(worth(10, 30)) == ["rough", "brief"]
    assert worth(4_000_000, 30) == {"swift": 33} and list(worth(65_536, 64, True)) == ["swift", "brief"]
    assert list(worth(1_000_000, 64, True)) == ["swift"]
    assert worth(150_000, 30) == {"brief": fewest}
    assert list(worth(1_000, 30, True)) == ["rough", "brief"] and list(worth(5_500, 30, True)) == ["brief"]
    assert fewest < worth(30_000, 3)["brief"] < most


def test_a_sum_is_not_compiled_swiftly():
    """Its bits would be others: the effort that a program gets is the one that it is known by, in memory and on disk."""
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    for function, sums in ((lambda a: a * 2 + jax.numpy.tanh(a), False), (lambda a: a.sum(), True), (lambda a: jax.numpy.cumsum(a), True),
                           (lambda a: a.reshape(8, 8) @ a.reshape(8, 8), False), (lambda a: a.reshape(8, 8) @ a[:8], True)):
        jaxpr = jax.make_jaxpr(function)(x)
        assert executable.possible(["swift"], jaxpr) == ("all" if sums or not executable.efforts() else "swift")
        assert executable.possible(["all"], jaxpr) == "all"


def test_xla_hears_what_only_a_message_can_say():
    x = np.ones((37, 64), np.float32)

    def size(options):
        with compat.x64():
            jaxpr = compat.trace(lambda a: [(a * a).sum(0)], [x])
            return len(compat.build(jaxpr, options=options).dump())
    brief = dict(executable.options_of("brief", jax.make_jaxpr(lambda a: a)(x)))
    if not brief or not compat.short_way():
        pytest.skip("this device has no brief effort, or JAX is entered by its public door")
    extra = brief.pop("xla_backend_extra_options")
    assert size({**brief, "xla_backend_extra_options": extra}) < size(brief) - 100


def test_tapes_that_begin_alike_share_what_is_waited_for(monkeypatch, efforts):
    """Where step one makes the optimizer's state, step two has it: the forward pass of both is one program."""
    forget()
    w, x = torch.linspace(-0.01, 0.01, 400 * 300).reshape(400, 300).clone(), torch.linspace(0, 1, 7 * 400).reshape(7, 400).clone()
    w.tolist(), x.tolist()
    w.requires_grad_()
    optimizer = torch.optim.SGD([w], lr=1e-5, momentum=0.9, dampening=0.1)
    report, efforts[:] = torch.report(), []
    shared, losses = report.programs["shared"], []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (x @ w).tanh().square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert report.programs["shared"] == shared + 1 and len(efforts) == 3, "one forward pass, two ways to go on"
    assert losses[0] > losses[1] > losses[2]


def test_nothing_of_a_models_constructors_stands_before_its_first_step():
    """It would make the first step's tape another one than the next one's."""
    forget()
    model, found = torch.nn.Sequential(torch.nn.BatchNorm1d(30), torch.nn.Linear(30, 20)), []
    model[0].register_forward_pre_hook(lambda *_: found.append(len(executor.LOCAL.segment.nodes)))
    before = len(executor.LOCAL.segment.nodes)
    x, second = torch.tensor(np.ones((8, 30), np.float32)), torch.ones(3)
    model(x)
    assert before > 0 and found == [0] and second.tolist() == [1, 1, 1]


def test_what_would_tell_is_not_compiled_roughly():
    """XLA writes some functions out as products and sums that only an optimizer contracts, and so it does products of thin matrices."""
    x, wide = np.linspace(0.1, 1, 64, dtype=np.float32), np.ones((8, 16), np.float32)
    rough, spared = "rough" if executable.efforts() else "all", "all"
    for function, effort in ((lambda a: jax.numpy.exp(a) * a + a.sum(), rough), (lambda a: jax.jit(jax.numpy.sort)(a) - a[::-1], rough),
                             (jax.numpy.tanh, spared), (jax.lax.rsqrt, spared), (jax.jit(jax.lax.lgamma), spared),
                             (jax.numpy.cumsum, spared),
                             (lambda a: wide @ a.reshape(16, 4), spared), (lambda a: wide @ a[:16], spared),
                             (lambda a: wide.T @ a.reshape(8, 8), rough), (lambda a: jax.lax.complex(a, a), spared)):
        assert executable.possible(["rough"], jax.make_jaxpr(function)(x)) == effort
    with jax.enable_x64(True):
        for function, effort in ((jax.numpy.exp, spared), (lambda a: a * a + a, rough)):
            assert executable.possible(["rough"], jax.make_jaxpr(function)(x.astype(np.float64))) == effort
