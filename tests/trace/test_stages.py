"""Tapes in two stages: the part that somebody waits for first, the same numbers, nothing made twice but rearrangements."""
import contextlib

import jax
import numpy as np
import pytest

import jtensor as torch
from jtensor.trace import begun, executor, programs, stages, tape
from jtensor.trace.lowering import lower
from jtensor.trace.tape import LOCAL


def training(steps, read, size=192):
    """Losses and weights of a small network; ``read(step)`` says whether the loss is looked at in this step."""
    torch.manual_seed(0)
    x, y = torch.randn(16, size), torch.randn(16, size)
    w, v = torch.randn(size, size, requires_grad=True), torch.randn(size, requires_grad=True)
    optimizer = torch.optim.SGD([w, v], lr=1e-3, momentum=0.9)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = ((torch.tanh(x @ w) * v - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item() if read(step) else loss)
    return [x if isinstance(x, float) else x.item() for x in losses], w.detach().numpy(), v.detach().numpy()


def test_when_the_loss_is_read_changes_no_number():
    losses, *weights = training(6, lambda step: True)
    for read in (lambda step: False, lambda step: step % 2):
        others, *found = training(6, read)
        assert others == losses
        for a, b in zip(weights, found, strict=True):
            np.testing.assert_array_equal(a, b)


def test_the_first_stage_is_what_was_asked_for(monkeypatch):
    x = torch.tensor(np.ones((400, 400), np.float32))
    a = (x * 2).sum()
    b = x
    for _ in range(4):
        b = torch.sin(b)
    asked = a._storage.value.position
    wanted = (asked, b._storage.value.position)
    found = stages.cut(LOCAL.segment.nodes, wanted, asked)
    assert found.first == (asked,) and found.handed == () and found.rest == (wanted[1],)
    small = stages.cut(LOCAL.segment.nodes, (asked,), asked)
    assert small is None                                            # nothing is left to do: one program
    monkeypatch.setattr(stages, "WORTH_A_CUT", (400 * 400, 400))
    assert stages.cut(LOCAL.segment.nodes, wanted, asked) is None   # too much work for recording to count
    executor.flush("test")
    assert a.item() == 320000.0


def test_the_first_stage_is_begun_when_it_is_known_what_a_tape_becomes(monkeypatch):
    calm, runs = training(12, lambda step: True), []
    executor.flush("a new start")
    go_ahead, results = begun.go_ahead, begun.results
    monkeypatch.setattr(tape, "go_ahead", lambda segment: runs.append("asked") or go_ahead(segment))
    monkeypatch.setattr(begun, "results", lambda *of: (found := results(*of), runs.append("there" if found else "not there"))[0])
    wild = training(12, lambda step: step not in (7, 9))
    assert runs[-2:] == ["asked", "there"] and runs.count("there") > 4
    assert wild[0] == calm[0] and all(np.array_equal(a, b) for a, b in zip(wild[1:], calm[1:], strict=True))

    step = torch.optim.SGD.step
    monkeypatch.setattr(torch.optim.SGD, "step", lambda self: (executor.flush("between"), step(self))[1])       # in vain at first
    again = training(12, lambda step: True)
    assert again[0] == calm[0] and all(np.array_equal(a, b) for a, b in zip(again[1:], calm[1:], strict=True))


def test_the_first_stage_takes_its_own_numbers():
    def weights(eager):
        torch.manual_seed(0)
        x, w = torch.randn(16, 192), torch.randn(192, 192, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=1e-3, momentum=0.9)
        found = []
        with torch.eager() if eager else contextlib.nullcontext():
            for step in range(8):
                optimizer.param_groups[0]["lr"] = 1e-3 / (step + 1)
                optimizer.zero_grad()
                loss = (torch.tanh(x @ w)[step] * (step + 0.5)).add(1, alpha=step).square().sum()
                loss.backward()
                w.grad.mul_(1.0 / (step + 2))
                optimizer.step()
                found.append(loss.item())
        return found, w.detach().numpy()
    (one, a), (other, b) = weights(False), weights(True)
    assert one == other
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("scale", [True, False])
def test_a_first_stage_that_takes_what_comes_later_is_not_begun(scale):
    def run():
        w = torch.linspace(0, 1, 160000).reshape(400, 400).clone().requires_grad_()
        x, told = torch.ones(400, 400), []
        for step in range(8):
            y = torch.tensor(np.full((400, 400), step + 1.0, np.float32))
            w.grad = None
            (w * x).sin().sum().backward()
            other = (w.grad * (0.5 + step)).sum() if scale else (w.grad * y).sum()      # a number, or an array, not there when it began
            with torch.no_grad():
                later = w
                for _ in range(4):
                    later = (later - w.grad * 0.1).sin()
                w.copy_(later)
            told.append(other.item())
        return told
    told = run()
    with torch.eager():
        assert told == run()


def test_values_of_the_first_stage_are_handed_over_and_views_made_again():
    executor.flush("a new start")               # what a test before this one has left on the tape is not this one's
    x = torch.tensor(np.ones((300, 400), np.float32))
    turned = x.t() * 1.0                                            # a view, read; then a product
    asked = turned.sum()
    late = (turned + 1) @ x
    nodes = LOCAL.segment.nodes
    at = asked._storage.value.position
    found = stages.cut(nodes, (at, late._storage.value.position), at)
    handed = {nodes[k][0].operator.name for k in found.handed}
    assert handed == {"mul"} and at in found.first and len(found.first) == 2
    assert late.sum().item() == 400 * 400 * 300 * 2.0 and asked.item() == 300 * 400


@pytest.mark.parametrize("keep", [True, False])
def test_what_both_stages_take_is_given_up_by_the_second(keep):
    w = torch.ones(500, 500)
    kept = []
    for step in range(5):
        loss = (w * 1e-3).sum()
        if keep:
            kept.append(w.detach().clone())
        w += torch.sin(w) * 0.5
        value = loss.item()
        if step == 0:
            assert value == pytest.approx(250.0)
    assert not keep or kept[0].sum().item() == 250000.0


def test_a_buffer_goes_to_what_its_value_has_become():
    executor.flush("a new start")
    x, y = torch.tensor(np.ones((4, 4), np.float32)), torch.tensor(np.ones((4, 4), np.float32))
    before = x._storage.value
    gradient = y * 3                                                # of the same shape, but no successor of x
    x.mul_(2).add_(gradient)
    segment = LOCAL.segment
    wanted = (gradient._storage.value.position, x._storage.value.position)
    assert lower.grown(segment.nodes, wanted)[segment.inputs.index(before)] == wanted[1]
    assert x.sum().item() == 5 * 16 and gradient.sum().item() == 3 * 16


def test_a_second_value_that_is_waited_for_ends_what_was_begun_for_the_first(monkeypatch):
    executor.flush("a new start")
    begins, go_ahead = [], begun.go_ahead
    monkeypatch.setattr(tape, "go_ahead", lambda segment: (go_ahead(segment), begins.append(segment.state)))
    x, w = torch.ones(16, 400), torch.ones(400, 400, requires_grad=True)

    def step(times):
        w.grad, losses = None, []
        for _ in range(times):
            losses.append(torch.tanh(x @ w).mean())
            losses[-1].backward()
        w.data.add_(w.grad, alpha=-0.1)
        executor.flush("test")
    for _ in range(8):                                              # until it is known what follows the first backward
        step(1)
    assert begins
    state, before = begins[-1], len(begins)
    step(2)
    assert state.ahead is None and begins[before:] == [state]        # once in vain, and then no more


def taking_turns(rounds, each=lambda p, q: None, size=400):
    """Two tensors that are overwritten in turn, as a discriminator and a generator are: one before what is looked at, one after."""
    p, q, told = torch.linspace(0, 1, size * 400).reshape(size, 400).clone(), torch.ones(size, 400), []
    for _ in range(rounds):
        p.mul_(0.5).add_(0.25)
        loss = (p * q).mean()
        each(p, q)
        q.sub_(torch.sin(p) * 0.125).sub_(torch.sin(q) * 0.125)
        told.append(loss.item())
    return told, p.numpy(), q.numpy()


def the_same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_first_stage_writes_over_what_it_alone_takes(monkeypatch):
    monkeypatch.setattr(executor.tape.Local, "threads", 1)          # while another thread has a tape, nothing is donated
    made, build, kept = [], programs.build, []
    monkeypatch.setattr(programs, "build", lambda *of: made.append(build(*of)) or made[-1])
    with torch.eager():
        wanted = taking_turns(6)
    found = taking_turns(6)
    two = [program for program, _ in made if program.rest is not None]
    assert any(program.executable.donated and program.rest.donated for program in two)
    the_same(found, wanted)
    the_same(taking_turns(6, lambda p, q: kept.append((p.detach()[:1].clone(), q.jax()))), wanted)
    assert len({float(row[0, -1]) for row, _ in kept}) == 6 and float(kept[0][1].mean()) == 1.0


def test_a_second_stage_without_memory_goes_on_with_what_the_first_has_made(monkeypatch):
    with torch.eager():
        wanted = taking_turns(8, size=401)
    error, failed = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1 byte"), []

    class Failing:
        def __init__(self, rest):
            self.rest, self.donated = rest, rest.donated

        def run(self, arrays, kept=None):
            failed.append(len(arrays))
            raise error
        run_kept = run
    build = programs.build

    def building(*of):
        program, origins = build(*of)
        if program.rest is not None:
            program.rest = Failing(program.rest)
        return program, origins
    monkeypatch.setattr(programs, "build", building)
    the_same(taking_turns(8, size=401), wanted)
    assert failed
