"""Methods: the same trajectories, states, texts and errors as PyTorch's."""
import copy
import pickle

import numpy as np
import pytest

import jtensor
from jtensor.tensor.replaying import updates
from jtensor.trace import executor, tape
from jtensor.trace.tape import LOCAL

from ..nn.both import both, close, raised, same, warned

METHODS = [
    "SGD(p, .1)", "SGD(p, .1, momentum=.9, weight_decay=.01)", "SGD(p, .1, momentum=.9, nesterov=True)",
    "SGD(p, .1, .5, .3, maximize=True)",
    "Adam(p, .05)", "Adam(p, .05, amsgrad=True, weight_decay=.1)", "AdamW(p, .05)",
    "Adagrad(p, .1, lr_decay=.1, initial_accumulator_value=.2)",
    "Adadelta(p)", "Adamax(p, .05)", "NAdam(p, .05)", "NAdam(p, .05, weight_decay=.1, decoupled_weight_decay=True)", "RAdam(p, .05)",
    "RMSprop(p, .05, centered=True, momentum=.5)", "Rprop(p, .05)", "ASGD(p, .05, t0=2, lambd=.1)", "Adafactor(p, .05)",
]


def _parameters(torch):
    rng = np.random.default_rng(0)
    return [torch.nn.Parameter(torch.tensor(rng.standard_normal(shape).tolist())) for shape in ((3, 2), (2,))]


def _steps(torch, optimizer, params, n):
    x = torch.tensor([[1., 2., 3.], [4., -5., 6.]])
    for _ in range(n):
        optimizer.zero_grad()
        ((x @ params[0]).tanh() + params[1]).pow(2).mean().backward()
        optimizer.step()


@pytest.mark.parametrize("method", METHODS)
def test_trajectory(method):
    def program(torch):
        params = _parameters(torch)
        optimizer = eval(f"torch.optim.{method}", {"torch": torch, "p": params})
        _steps(torch, optimizer, params, 4)
        saved = copy.deepcopy(optimizer.state_dict())
        _steps(torch, optimizer, params, 1)
        other = eval(f"torch.optim.{method}", {"torch": torch, "p": params})
        other.load_state_dict(saved)
        _steps(torch, other, params, 2)
        return [repr(optimizer), params, optimizer.state_dict(), other.state_dict()]

    close(program, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", [m for m in METHODS if "Adafactor" not in m])
def test_steps_like_others_come_in_one_piece_and_are_the_same_bits(method, monkeypatch):
    def weights():
        tape.TRIE.forget()         # nothing was seen before
        LOCAL.segment = tape.Segment()
        params = _parameters(jtensor)
        optimizer = eval(f"jtensor.optim.{method}", {"jtensor": jtensor, "p": params})
        found, pieces = [], []
        for _ in range(12):
            optimizer.zero_grad()
            ((jtensor.tensor([[1., 2., 3.], [4., -5., 6.]]) @ params[0]).tanh() + params[1]).pow(2).mean().backward()
            before = jtensor.report().replayed
            optimizer.step()
            pieces.append(jtensor.report().replayed - before)
            found.append([p.detach().numpy().copy() for p in params])
        return found, pieces

    executor.flush("a new start")
    found, pieces = weights()
    assert pieces[-2:] == [1, 1]
    monkeypatch.setattr(updates, "update", lambda identity, tensors, numbers, run: run(numbers))
    plain, pieces = weights()
    assert sum(pieces) == 0
    for one, other in zip(found, plain, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32))


def test_methods_that_look_at_values():
    def program(torch):
        answers = []
        for settings in ({}, {"line_search_fn": "strong_wolfe"}):
            params = _parameters(torch)
            optimizer = torch.optim.LBFGS(params, max_iter=4, **settings)

            def closure():
                optimizer.zero_grad()  # noqa: B023
                loss = sum((p ** 2).sum() + p.sum() for p in params)  # noqa: B023
                loss.backward()
                return loss

            answers += [optimizer.step(closure), params, optimizer.state_dict()["state"][0]["n_iter"]]
        matrix = [torch.nn.Parameter(torch.eye(3))]
        matrix[0].grad = torch.tensor([[1., 2., 0.], [0., 1., 0.], [0., 0., 3.]])
        muon = torch.optim.Muon(matrix, lr=.1)
        muon.step()
        return answers + [repr(muon)]

    close(program, rtol=1e-4, atol=1e-5)


def test_groups_and_their_errors():
    def program(torch):
        a, b = _parameters(torch)
        optimizer = torch.optim.SGD([{"params": [a], "lr": .5}, {"params": b, "name": "bias"}], lr=.1)
        answers = [repr(optimizer), optimizer.state_dict()["param_groups"]]
        named = torch.optim.Adam([("a", a), ("b", b)])
        answers += [named.state_dict()["param_groups"][0]["param_names"]]
        return answers + [raised(f) for f in (
            lambda: torch.optim.SGD([]), lambda: torch.optim.SGD(a), lambda: torch.optim.SGD([1]), lambda: torch.optim.SGD([a * 2]),
            lambda: torch.optim.SGD([a], lr=-1), lambda: torch.optim.SGD([a], momentum=-1), lambda: torch.optim.SGD([a], nesterov=True),
            lambda: torch.optim.Adam([a], betas=(1., .9)), lambda: torch.optim.Adam([a], betas=(0, .9)),
            lambda: torch.optim.Adam([a], eps=-1),
            lambda: torch.optim.Rprop([a], etas=(2, 1)), lambda: torch.optim.Muon([b]), lambda: torch.optim.Adafactor([a], d=0),
            lambda: torch.optim.SGD([{"params": {a}}]), lambda: optimizer.add_param_group({"params": [a]}),
            lambda: optimizer.add_param_group([a]), lambda: named.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))]}),
            lambda: torch.optim.SGD([("a", a), b]), lambda: torch.optim.Optimizer([a], {}).step(),
            lambda: torch.optim.SGD([a], fused=True, foreach=True), lambda: torch.optim.SGD([a]).load_state_dict(optimizer.state_dict()),
            lambda: torch.optim.SGD([a]).load_state_dict(torch.optim.SGD([a, b]).state_dict()))]

    same(program)


def test_hooks():
    def program(torch):
        log, params = [], _parameters(torch)
        optimizer = torch.optim.SGD(params, lr=.1)
        optimizer.register_step_pre_hook(lambda opt, args, kwargs: log.append("pre"))
        optimizer.register_step_post_hook(lambda opt, args, kwargs: log.append("post"))
        optimizer.register_state_dict_pre_hook(lambda opt: log.append("save"))
        optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1})
        optimizer.register_load_state_dict_pre_hook(lambda opt, state: log.append(sorted(state)))
        optimizer.register_load_state_dict_post_hook(lambda opt: log.append("loaded"))
        _steps(torch, optimizer, params, 1)
        optimizer.load_state_dict(optimizer.state_dict())
        return [log, optimizer.step(lambda: 7)]

    same(program)


def test_a_subclass_written_with_tensors():
    def program(torch):
        class Sign(torch.optim.Optimizer):
            def __init__(self, params, lr):
                super().__init__(params, {"lr": lr})

            @torch.no_grad()
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        p.add_(p.grad.sign(), alpha=-group["lr"])

        params = _parameters(torch)
        _steps(torch, Sign(params, .5), params, 2)
        return params

    close(program)


def test_step_counts_are_live_tensors():
    p = jtensor.nn.Parameter(jtensor.ones(2))
    optimizer = jtensor.optim.Adam([p])
    p.grad = jtensor.ones(2)
    optimizer.step()
    count = optimizer.state[p]["step"]
    optimizer.step()
    assert count is optimizer.state[p]["step"] and count.item() == 2
    count.fill_(10)  # what the user writes counts
    optimizer.step()
    assert count.item() == 11


def test_pickles_and_copies():
    p = jtensor.nn.Parameter(jtensor.ones(2))
    optimizer = jtensor.optim.Adam([p], lr=.5)
    p.grad = jtensor.ones(2)
    optimizer.step()
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        q = other.param_groups[0]["params"][0]
        q.grad = jtensor.ones(2)
        other.step()
        assert other.state[q]["step"].item() == 2 and optimizer.state[p]["step"].item() == 1
        assert repr(other) == repr(optimizer)


def test_a_changing_rate_compiles_nothing():
    p = jtensor.nn.Parameter(jtensor.ones(4))
    optimizer = jtensor.optim.Adam([p], lr=.5)

    def steps(n):
        for i in range(n):
            p.grad = jtensor.full((4,), float(i))
            optimizer.param_groups[0]["lr"] *= .9
            optimizer.step()
            p.tolist()
        report = jtensor.report()
        return report.programs["compiled"] + report.kernels["compiled"], sum(report.flushes.values())

    compiled, _ = steps(12)
    again, flushes = steps(6)
    assert again == compiled
    assert steps(6)[1] - flushes <= 18  # the step counts are no observations


SCHEDULES = [
    "LambdaLR(o, lambda n: .9 ** n)", "MultiplicativeLR(o, lambda n: .9)", "StepLR(o, 2)", "MultiStepLR(o, [2, 3, 3], .5)", "ConstantLR(o)",
    "LinearLR(o, .2, .9, 4)", "ExponentialLR(o, .8)", "PolynomialLR(o, 4, 2.)", "CosineAnnealingLR(o, 3, .01)",
    "CosineAnnealingWarmRestarts(o, 2, 2)", "CyclicLR(o, .01, .2, 2, 3, mode='triangular2')", "OneCycleLR(o, .5, total_steps=9)",
    "OneCycleLR(o, .5, total_steps=9, three_phase=True, anneal_strategy='linear')", "ReduceLROnPlateau(o, patience=1)",
    "SequentialLR(o, [s.ConstantLR(o, .1, 2), s.ExponentialLR(o, .9)], [3])",
    "ChainedScheduler([s.ConstantLR(o, .1, 3), s.ExponentialLR(o, .9)])",
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedule(schedule):
    def program(torch):
        space = torch.optim.lr_scheduler
        weight, bias = _parameters(torch)
        optimizer = torch.optim.SGD([{"params": [weight]}, {"params": [bias], "lr": .03}], lr=.1, momentum=.9)
        scheduler = eval(f"s.{schedule}", {"s": space, "o": optimizer})
        seen = []
        for i in range(8):
            optimizer.step()
            scheduler.step(*[i * .5] if "Plateau" in schedule else [])
            seen.append([[g["lr"], g["momentum"]] for g in optimizer.param_groups])
        state = scheduler.state_dict()
        scheduler.load_state_dict(copy.copy(state))
        return [seen, scheduler.get_last_lr(), list(state)]

    theirs, ours = both(program)
    assert ours[:2] == theirs[:2]
    assert [key for key in ours[2] if key in theirs[2]] == [key for key in theirs[2] if key in ours[2]]
    assert not {key for key in theirs[2] if not key.startswith("_")} - set(ours[2])


def test_schedules_warn_and_refuse():
    def program(torch):
        space = torch.optim.lr_scheduler
        optimizer = torch.optim.SGD(_parameters(torch), lr=.1)
        first = space.StepLR(optimizer, 2)
        early = warned(first.step)
        optimizer.step()
        return [early, warned(lambda: first.step(5)), warned(first.get_lr), optimizer.param_groups[0]["lr"]] + [raised(f) for f in (
            lambda: space.StepLR(3, 1), lambda: space.LambdaLR(optimizer, [print, print]), lambda: space.ConstantLR(optimizer, 2.),
            lambda: space.OneCycleLR(optimizer, .1), lambda: space.CyclicLR(optimizer, .1, .2, mode="x"),
            lambda: space.SequentialLR(optimizer, [], []),
            lambda: space.ReduceLROnPlateau(optimizer, "x"), lambda: space.CosineAnnealingWarmRestarts(optimizer, 0),
            lambda: space.StepLR(torch.optim.SGD(_parameters(torch)), 2, last_epoch=3))]

    same(program)


def test_averages():
    def program(torch):
        swa, model = torch.optim.swa_utils, torch.nn.Linear(2, 1)
        mean, moving = swa.AveragedModel(model), swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(.5))
        for _ in range(3):
            with torch.no_grad():
                model.weight.add_(1)
            mean.update_parameters(model)
            moving.update_parameters(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=.1)
        scheduler, seen = swa.SWALR(optimizer, .5, 3), []
        for _ in range(5):
            optimizer.step()
            scheduler.step()
            seen += scheduler.get_last_lr()
        return [mean.module.weight, mean.n_averaged, moving.module.weight, seen, list(mean.state_dict())]

    close(program)


def test_a_differentiable_step_in_inference_mode_records_nothing():
    """Gradients are said to be enabled there, as in PyTorch, and are not."""
    seen = []
    with jtensor.inference_mode():
        p = jtensor.nn.Parameter(jtensor.ones(2))
        p.grad = jtensor.ones(2)
        jtensor.optim.SGD([p], 0.5, differentiable=True).step(lambda: seen.append((jtensor.is_grad_enabled(), (p * 2).requires_grad)))
        assert not jtensor.is_grad_enabled()
    assert seen == [(True, False)] and p.tolist() == [0.5, 0.5] and jtensor.is_grad_enabled()


def test_asgd_with_foreach_counts_in_the_precision_of_its_steps():
    """The step's length is then a float32 number, which doubles show."""
    def program(torch):
        p = torch.nn.Parameter(torch.tensor([1., -2.], dtype=torch.float64))
        optimizer, lengths = torch.optim.ASGD([p], lr=0.02, lambd=0.1, foreach=True), []
        for _ in range(4):
            p.grad = torch.tensor([0.5, 1.5], dtype=torch.float64)
            optimizer.step()
            lengths.append(optimizer.state[p]["eta"].item())
        return [p, lengths]

    close(program, rtol=1e-13, atol=0)


@pytest.mark.parametrize("method", [
    lambda p: jtensor.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01), jtensor.optim.AdamW,
    lambda p: jtensor.optim.RMSprop(p, momentum=0.5, centered=True)], ids=["SGD", "AdamW", "RMSprop"])
def test_a_first_step_is_the_program_of_the_next(method, afresh):
    """What a state begins with is numbers, not operations; what a model's constructors have recorded runs before its first call."""
    jtensor.manual_seed(0)
    net = jtensor.nn.Sequential(jtensor.nn.Linear(4, 5), jtensor.nn.BatchNorm1d(5), jtensor.nn.Tanh(), jtensor.nn.Linear(5, 3))
    net.register_buffer("mask", jtensor.tril(jtensor.ones(6, 3)))
    optimizer, x = method(net.parameters()), jtensor.randn(6, 4)

    def step():
        before = sum(jtensor.report().programs.values())
        loss = ((net(x + 1) * net.mask) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return sum(jtensor.report().programs.values()) - before
    assert step() > 0 and [step() for _ in range(3)] == [0] * 3


def test_a_momentum_buffer_begins_as_the_gradient():
    grad = jtensor.tensor([0.0, -0.0, 1.5, float("nan"), float("-inf"), -3.0])
    p = jtensor.nn.Parameter(jtensor.ones(6))
    optimizer = jtensor.optim.SGD([p], lr=0.5, momentum=0.9)
    p.grad = grad
    optimizer.step()
    buffer = optimizer.state[p]["momentum_buffer"]
    assert buffer.numpy().tobytes() == grad.numpy().tobytes() and buffer._version == 0 and buffer.data_ptr() != grad.data_ptr()


@pytest.mark.parametrize("name", "Adagrad Adamax RAdam Adam SGD RMSprop Rprop ASGD Adadelta NAdam".split())
def test_a_differentiable_step_hands_on_gradients(name):
    torch = pytest.importorskip("torch")

    def gradients(library):
        start = library.tensor([1.0, 2.0], dtype=library.float64, requires_grad=True)
        gradient = library.tensor([0.5, -0.25], dtype=library.float64, requires_grad=True)
        p = start.clone()
        p.grad = gradient.clone()
        options = {} if name in ("SGD", "Rprop", "ASGD") else {"eps": 0.1}
        getattr(library.optim, name)([p], lr=0.1, differentiable=True, **options).step()
        p.sum().backward()
        return start.grad.numpy(), gradient.grad.numpy()
    for ours, theirs in zip(gradients(jtensor), gradients(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4 if name == "Adam" else 1e-6)     # whose steps PyTorch counts in float32 here


@pytest.mark.parametrize("name", "SGD Adam AdamW NAdam RAdam Adagrad Adamax RMSprop Rprop Adadelta".split())
def test_a_differentiable_step_hands_on_gradients_to_its_numbers(name):
    """To a learning rate, and Adam's to its other numbers too; PyTorch's other methods refuse a rate that is to get one."""
    torch = pytest.importorskip("torch")

    def gradients(library):
        def asked(number):
            return library.tensor(number, requires_grad=True)
        p, lr, others = library.tensor([1.0, 2.0], requires_grad=True).clone(), asked(0.1), {}
        if name.startswith("Adam") and name != "Adamax":
            others = {"weight_decay": asked(0.01), "betas": (asked(0.9), asked(0.99)), "eps": 0.1}
        try:
            optimizer = getattr(library.optim, name)([p], lr=lr, differentiable=True, **others)
            for _ in range(1 if name == "NAdam" else 2):        # through two of which neither library leads back
                p.grad = library.tensor([0.5, -0.25])
                optimizer.step()
            p.square().sum().backward()
        except TypeError as error:
            return str(error)
        return [one.grad.item() for one in (lr, *others.get("betas", ()), *([others["weight_decay"]] if others else []))]
    ours, theirs = gradients(jtensor), gradients(torch)
    assert ours == (theirs if isinstance(theirs, str) else pytest.approx(theirs, rel=1e-3, abs=1e-5))
