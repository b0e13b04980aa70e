"""Running: failures leave every tensor whole, donation harms nobody, programs are chosen by cost."""
import gc
import itertools
import sys

import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.base import background
from jtensor.trace import choosing, executor
from jtensor.trace.dynamic_shapes import dynamic
from jtensor.trace.lowering import lower
from jtensor.trace.op_by_op import by_numpy, equations, kernels

pytestmark = pytest.mark.usefixtures("a_new_tape")


class Failing:
    """An executable that raises the first ``times`` it is run, and is itself from then on."""

    def __init__(self, executable, error, times=1):
        self.executable, self.error, self.times = executable, error, times

    def __getattr__(self, name):
        return getattr(self.executable, name)

    def run(self, arrays):
        if self.times:
            self.times -= 1
            raise self.error
        return self.executable.run(arrays)

    def run_kept(self, arrays, kept):
        kept.append(self.run(arrays))
        return kept[0]

    def taken(self, kept):
        return kept[0]


@pytest.fixture
def base():
    """A tensor that is there already; nothing that has been compiled for other tests serves what is recorded on it."""
    made = torch.arange(12.0).reshape(3, 4)
    made.tolist()
    executor.TRIE.forget()
    executor.LOCAL.segment = executor.Segment()
    return made


@pytest.fixture
def whole(monkeypatch):
    """Tapes are compiled whole from their first run on, by whoever wants them."""
    monkeypatch.setattr(choosing.tiers, "PROGRAM_COST", -1e9)
    monkeypatch.setattr(choosing, "WORTH_A_THREAD", 1 << 30)


def recorded(base):
    """Tensors of every kind with work pending, and the values they must have."""
    view = base[1:, ::2]
    view += 10
    base[0] = base[2]
    other = (base @ base.t()).relu()
    whole = np.arange(12.0).reshape(3, 4)
    whole[1:, ::2] += 10
    whole[0] = whole[2]
    return (base, view, other), (whole, whole[1:, ::2], whole @ whole.T)


ERRORS = {
    "interrupt": KeyboardInterrupt(),
    "memory": jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte"),
    "other": jax.errors.JaxRuntimeError("INTERNAL: something else"),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("tier", ["program", "kernel", "equation"])
def test_a_failed_run_leaves_every_tensor_whole(monkeypatch, request, base, tier, name):
    if tier == "program":
        request.getfixturevalue("whole")
        make, error = lower.program, [ERRORS[name]]

        def program(*given, **how):
            made, *rest = make(*given, **how)
            return Failing(made, error.pop()) if error else made, *rest
        monkeypatch.setattr(lower, "program", program)
    elif tier == "equation":
        monkeypatch.setattr(choosing.tiers, "KERNEL_COST", 0)
        kernels.KERNELS.clear()
        done, error = equations.Shared.done, [ERRORS[name]]

        def fail(self, arrays):
            if error:
                raise error.pop()
            return done(self, arrays)
        monkeypatch.setattr(equations.Shared, "done", fail)
    else:
        monkeypatch.setattr(choosing.tiers, "KERNEL_COST", 0)
        monkeypatch.setattr(by_numpy, "of", lambda plan: None)
        make, failing = kernels.kernel_of, []

        def kernel_of(plan):
            if not failing:
                failing.append(Failing(make(plan), ERRORS[name]))
                return failing[0]
            return make(plan)
        monkeypatch.setattr(kernels, "kernel_of", kernel_of)
    tensors, wanted = recorded(base)
    versions = [t._version for t in tensors]
    if name == "memory" and tier == "program":                      # runs op by op there and then
        tensors[2].tolist()
        assert "RESOURCE_EXHAUSTED" in str(torch.report())
    else:
        with pytest.raises(type(ERRORS[name])):
            tensors[2].tolist()
    assert [t._version for t in tensors] == versions
    for tensor, array in zip(reversed(tensors), reversed(wanted), strict=True):
        np.testing.assert_allclose(tensor.numpy(), array)
    tensors[0].add_(1)                                              # and they go on as tensors
    np.testing.assert_allclose(tensors[1].numpy(), wanted[1] + 1)


def test_a_program_that_does_not_compile_runs_op_by_op(monkeypatch, whole, base):

    def compiling(*given, **how):
        raise jax.errors.JaxRuntimeError("INTERNAL: the compiler gave up")
    monkeypatch.setattr(lower, "program", compiling)
    tensors, wanted = recorded(base)
    for tensor, array in zip(tensors, wanted, strict=True):
        np.testing.assert_allclose(tensor.numpy(), array)
    assert "the compiler gave up" in str(torch.report())


def test_ctrl_c_while_compiling(monkeypatch, whole, base):
    wait, calls = background.Handle.result, []

    def interrupted(self, *given, **how):
        calls.append(self.name)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return wait(self, *given, **how)
    monkeypatch.setattr(background.Handle, "result", interrupted)
    tensors, wanted = recorded(base)
    with pytest.raises(KeyboardInterrupt):
        tensors[0].sum().item()
    assert calls == ["program"]
    for tensor, array in zip(tensors, wanted, strict=True):
        np.testing.assert_allclose(tensor.numpy(), array)


def test_what_failed_can_be_recorded_on(monkeypatch):
    x = torch.ones(3)
    y = x + 1
    with monkeypatch.context() as patch:
        patch.setattr(executor, "execute", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            y.tolist()
    z = y * y                                                       # y is still owed to it by the tape that failed
    y += 5
    assert z.tolist() == [4.0] * 3 and y.tolist() == [7.0] * 3


# -- the choice between the tiers -------------------------------------------------------------------------------------


def test_kernels_first_then_one_program_then_that_one(afresh):
    x = torch.rand(7)
    report = torch.report()

    def step():
        return (x + 1).sin().exp().cos().sum().item()
    x.sin().tolist(), x.exp().tolist(), x.cos().tolist(), x.sum().tolist()       # every kernel is there, but for the addition's
    programs, hits = sum(report.programs.values()), report.hits
    first = step()
    assert sum(report.programs.values()) == programs                # op by op
    assert step() == first and sum(report.programs.values()) == programs + 1
    assert step() == first and sum(report.programs.values()) == programs + 1 and report.hits == hits + 1


def test_tapes_that_are_always_others_get_kernels_in_the_end(afresh, monkeypatch):
    monkeypatch.setattr(choosing.tiers, "TRIED", 99)                # which would come before
    x, report = torch.rand(11), torch.report()
    turns = [lambda y: y.cos(), lambda y: y.exp(), lambda y: y.sin(), lambda y: y.asinh(), lambda y: y.erf(), lambda y: y.sigmoid()]
    orders = itertools.islice(itertools.permutations(turns), 0, None, 37)

    def made_by(order):
        """How many programs and kernels are compiled for the operations in this order."""
        before, y = (sum(report.programs.values()), sum(report.kernels.values())), x
        for turn in order:
            y = turn(y)
        assert y.isfinite().all()
        return sum(report.programs.values()) - before[0], sum(report.kernels.values()) - before[1]
    made = [made_by(order) for order, _ in zip(orders, range(choosing.tiers.OFTEN + 3), strict=False)]
    assert all(programs and not kernels for programs, kernels in made[1:choosing.tiers.OFTEN])
    assert not any(programs for programs, _ in made[-2:]) and sum(kernels for _, kernels in made) == len(turns)


def test_tapes_that_do_not_come_again_stop_being_compiled(afresh):
    report, tried, patient = torch.report(), choosing.tiers.TRIED, choosing.tiers.PATIENT

    def batch(n):
        """One more length: a tape that was never there. How many programs and kernels are compiled for it."""
        x = torch.rand(n)
        before = sum(report.programs.values()), sum(report.kernels.values())
        y = x
        for _ in range(8):
            y = (y * 0.5 + x).sin()
        assert y.isfinite().all()
        return sum(report.programs.values()) - before[0], sum(report.kernels.values()) - before[1]
    assert [batch(801 + n) for n in range(tried + 2)] == [(1, 0)] * tried + [(0, 1), (0, 0)]      # one kernel for all sines, NumPy
    comes_again = [batch(801 + tried)[0] for _ in range(patient)]
    assert comes_again == [0] * (patient - 1) + [1]         # and gets its program in the end, of which the last step but one knew
    assert batch(801) == (0, 0)                             # as this one has come again: it was not in vain after all
    assert batch(800)[0] == 1


def test_a_step_that_comes_on_another_size_is_not_compiled_again(afresh, monkeypatch):
    """Until programs of its kind have been run as often as there are of them: where there are a few sizes, each gets one. (Here as where
    none serves them all.)"""
    monkeypatch.setattr(dynamic, "SAMPLES", 1000)
    report, kinds = torch.report(), np.random.default_rng(1).choice([torch.sin, torch.cos, torch.tanh], 40)

    def step(n, kinds=kinds):
        x = torch.linspace(0, 1, n)
        before = sum(report.programs.values())
        for kind in kinds:
            x = kind(x)
        assert x.isfinite().all()
        return sum(report.programs.values()) - before
    assert [step(700 + n) for n in range(6)] == [1, 0, 0, 0, 0, 0]
    assert [step(701), step(702)] == [0, 0]                 # they have come again, but no program has
    assert step(700) == 0 and (step(701), step(701)) == (0, 1)          # now one has: the next may be made, beside a run
    assert (step(702), step(702)) == (0, 0)                 # two programs, that have been run again but once
    assert step(701) == 0 and (step(702), step(702)) == (0, 1)
    assert step(699, kinds[::-1]) == 1                      # another step is another matter
    assert [step(698, kinds[::-1]) for _ in range(4)] == [0, 0, 0, 1]           # three in a row: it goes on, compiled beside the third
    assert [step(690 + n, kinds[::-1]) for n in range(4)] == [0, 0, 0, 0]


def test_equal_layers_at_lengths_that_do_not_come_again_are_no_loop(afresh):
    """As where a network writes a text, which grows: that its layers share a program does not make it worth one for every length."""
    report, kinds = torch.report(), np.random.default_rng(0).choice([torch.sin, torch.cos, torch.tanh], 9)

    def asked(n):
        x = torch.linspace(0, 1, n)
        before = sum(report.programs.values())
        for _ in range(6):
            for kind in kinds:
                x = kind(x)
        assert x.isfinite().all()
        return sum(report.programs.values()) - before
    made = [asked(900 + n) for n in range(6)]
    assert made[0] > 0 and not any(made[choosing.tiers.TRIED:])


def programs_of(step):
    """How many programs are compiled for it, and what it answers."""
    before = sum(torch.report().programs.values())
    answer = step()
    return sum(torch.report().programs.values()) - before, answer


def test_a_loop_over_sequences_of_any_length_runs_op_by_op_at_first(afresh):
    """Few kinds of operations at many shapes each: kernels of all shapes serve it, and a program has each of them in it."""
    weight = torch.tensor([[0.5, -0.25], [0.125, 0.75]], requires_grad=True)

    def step():
        total = 0
        for n in range(3, 27):
            total = total + (torch.ones(n, 2) @ weight).tanh().mean()
        weight.grad = None
        total.backward()
        return weight.grad.tolist()
    patience = choosing.tiers.TIMES
    made, answers = zip(*[programs_of(step) for _ in range(patience + 3)], strict=True)
    assert not any(made[:patience - 1]) and sum(made) == 1
    with torch.eager():
        assert {tuple(map(tuple, answer)) for answer in answers} == {tuple(map(tuple, step()))}


def test_layers_of_any_sizes_are_not_taken_for_such_a_loop(afresh):
    sizes = [10, 12, 14, 9, 7, 8, 11, 6, 5, 4]
    net = torch.nn.Sequential(*[layer for a, b in itertools.pairwise(sizes) for layer in (torch.nn.Linear(a, b), torch.nn.Tanh())])
    optimizer = torch.optim.Adam(net.parameters())

    def step():
        optimizer.zero_grad()
        loss = net(torch.ones(3, 10)).square().sum()
        loss.backward()
        optimizer.step()
        return loss.item()
    made = [programs_of(step)[0] for _ in range(4)]
    assert made[0] and not any(made[2:])


def test_a_recursion_runs_op_by_op_at_first(afresh):
    """Over a tree here, whose branches are of any lengths; the same operations round after round are compiled."""
    def folded(numbers, choose):
        if len(numbers) == 1:
            return (numbers[0] * 0.5).sin()
        at = choose(len(numbers))
        left, right = folded(numbers[:at], choose), folded(numbers[at:], choose)
        return (left * 0.5 + right).tanh().exp()
    leaves, rng = [torch.full((3,), 0.25)] * 150, np.random.default_rng(0)
    one, several = programs_of(lambda: folded(leaves, lambda n: int(rng.integers(1, n))).tolist())[0], []
    for _ in range(3):
        made, total = programs_of(lambda: folded(leaves, lambda n: 1).tolist())
        several.append(made)
        with torch.eager():
            assert total == folded(leaves, lambda n: 1).tolist()
    assert one == 0 and several[0] > 0


def test_memory_is_flat_where_the_collector_never_runs():
    x = torch.ones(64)

    def run(times):
        for _ in range(times):
            x.mul_(1.0)
            executor.flush("test")
        return sys.getallocatedblocks()

    gc.disable()
    try:
        run(2048)
        # Each run leaves one or two objects behind, until JAX is asked. What another thread makes meanwhile it makes once.
        assert min(-run(0) + run(4096) for _ in range(2)) < 2000
    finally:
        gc.enable()


def test_a_look_at_less_is_served_by_the_same_program():
    x = torch.rand(9)

    def step(keep):
        y = (x * 3).cosh()
        z = y - x
        w = z.tan() if keep else None
        del w
        return z.sum().item(), y
    for _ in range(3):
        step(False)
    programs = sum(torch.report().programs.values())
    step(False)
    assert sum(torch.report().programs.values()) == programs


# -- keys ----------------------------------------------------------------------------------------------------------------


def test_programs_of_different_operations_have_different_keys():
    """A number before a tensor and one behind it are the same avals and kinds: on disk they must not be one entry."""
    x, c = torch.tensor([1.0, 2.0]), torch.tensor([True, False])
    keys = set()
    for record in (
        lambda: torch.where(c, 0.0, x),
        lambda: torch.where(c, x, 0.0),
        lambda: torch.clamp(x, min=1.5),
        lambda: torch.clamp(x, max=1.5),
    ):
        executor.flush("test")
        kept = record()
        nodes = executor.LOCAL.segment.nodes
        keys.add(lower.key_of(nodes, (0,), [v.aval for v in executor.LOCAL.segment.inputs], [("f", 1)], ()))
        assert len(nodes) == 1 and kept.shape == (2,)
    assert len(keys) == 4
    assert torch.where(c, 0.0, x).tolist() == [0, 2] and torch.where(c, x, 0.0).tolist() == [1, 0]


def test_a_number_is_told_from_one_that_equals_it():
    with torch.eager():                                                 # kernels take their numbers one at a time
        for number in (0j, complex(0.0, -0.0), complex(-0.0, 0.0), complex(1.0, 0.0), complex(1.0, -0.0)):
            assert repr(torch.full((1,), number).tolist()) == repr([number])
        for number in (0.0, -0.0):
            assert repr(torch.full((1,), number).tolist()) == repr([number])
