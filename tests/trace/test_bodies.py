"""Steps that begin in many ways and go on alike: one program serves them, and no number depends on it."""
import random

import numpy as np
import pytest

import jtensor as torch
from jtensor.trace import bodies, executor, tiers
from jtensor.trace.lowering import lower


@pytest.fixture
def compiled(settled, afresh, monkeypatch):
    """How many nodes each program had that was made, in order."""
    made, program = [], lower.program

    def making(nodes, *given, **how):
        made.append(len(nodes))
        return program(nodes, *given, **how)
    monkeypatch.setattr(lower, "program", making)
    executor.flush("a new start")
    executor.TRIE.forget()
    executor.LOCAL.segment = executor.Segment()
    tiers.PAST.forget()
    return made


def model_and_optimizer():
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 8), nn.Linear(8, 3))
    return model, torch.optim.Adam(model.parameters(), 1e-2)


def ran(monkeypatch):
    """How many nodes each tape, or part of one, will have had that was run, in order."""
    parts, run = [], executor._run
    monkeypatch.setattr(executor, "_run", lambda segment, asked: (parts.append(len(segment.nodes)), run(segment, asked))[1])
    return parts


def train(steps, prepare):
    """The losses of a training, each input of which is prepared somehow."""
    model, optimizer = model_and_optimizer()
    data, losses = torch.tensor(np.linspace(-1, 1, 240, dtype=np.float32).reshape(4, 10, 6)), []
    for at in range(steps):
        loss = model(prepare(at, data[at % 4])).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def augmented(seed):
    choices = random.Random(seed)

    def prepare(at, x):
        for _ in range(choices.randint(1, 4)):
            x = choices.choice([lambda x: x.flip(0), lambda x: x.roll(1, 1), lambda x: -x, lambda x: x * 2, lambda x: x + 1])(x)
        return x
    return prepare


def test_one_program_serves_steps_that_begin_at_random(compiled):
    losses = train(30, augmented(1))
    assert sum(nodes >= bodies.LEAST for nodes in compiled) == 1
    with torch.eager():
        assert train(30, augmented(1)) == losses


def test_a_preparation_that_comes_again_is_part_of_the_program_in_the_end(compiled, monkeypatch):
    parts = ran(monkeypatch)
    losses = train(2 * tiers.PATIENT + 4, lambda at, x: x * 2 + 1)
    body, *_, last = [nodes for nodes in parts if nodes >= bodies.LEAST]
    assert last > body and parts.count(last) >= 2 and parts.count(body) >= 2 * tiers.PATIENT
    assert sum(nodes >= bodies.LEAST for nodes in compiled) == 2
    with torch.eager():
        assert train(2 * tiers.PATIENT + 4, lambda at, x: x * 2 + 1) == losses


def test_what_is_waited_for_may_stand_on_either_side(compiled):
    """Of the tape's values one is read first: of the preparation, or of the step."""
    model, optimizer = model_and_optimizer()
    found, choose = [], augmented(2)
    for at in range(12):
        x = choose(at, torch.full((10, 6), 0.5))
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append((x[0, 0].item(), loss.item()) if at % 2 else (loss.item(), x[0, 0].item())[::-1])
    with torch.eager():
        model, optimizer = model_and_optimizer()
        choose = augmented(2)
        for x0, seen in found:
            x = choose(0, torch.full((10, 6), 0.5))
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert (x[0, 0].item(), loss.item()) == (x0, seen)


def test_a_buffer_that_every_step_replaces_ends_no_tape(compiled):
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(6, 2)
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls = self.calls + 1
            return self.inner(x * 2) + self.inner(x)

    def flushes():
        return sum(n for (why, _), n in torch.report().flushes.items() if why == "parameters")

    model, x, before = Counting(), torch.ones(3, 6), flushes()
    for _ in range(5):
        model(x).sum().backward()
        model.inner.weight.grad.tolist()
    assert flushes() - before == 1 and model.calls.item() == 5


def lengths_of(steps, sizes):
    """The losses of a training on batches of these sizes in turns, and how far each weight has come."""
    model, optimizer = model_and_optimizer()
    data, losses = torch.tensor(np.linspace(-1, 1, 240, dtype=np.float32).reshape(40, 6)), []
    for at in range(steps):
        loss = model(data[:sizes[at % len(sizes)]]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach().numpy().copy() for p in model.parameters()]


def test_batches_of_many_sizes_share_the_program_of_the_update(compiled, monkeypatch):
    parts = ran(monkeypatch)
    sizes = list(range(10, 18))
    losses, weights = lengths_of(24, sizes)
    whole = max(parts)                                      # the first two sizes' tapes are not cut
    assert parts.count(whole) == 2 * 3
    update = max(set(parts) - {whole}, key=parts.count)
    assert update >= bodies.LEAST_UPDATE and parts.count(update) == 24 - 2 * 3 and parts.count(whole - update) == 24 - 2 * 3
    assert compiled.count(update) == 1
    with torch.eager():
        again, others = lengths_of(24, sizes)
    assert again == losses and all((one == other).all() for one, other in zip(weights, others, strict=True))


def test_a_smaller_last_batch_has_a_program_of_its_own(compiled, monkeypatch):
    parts = ran(monkeypatch)
    lengths_of(12, [10, 10, 10, 7])
    assert len(parts) == 12 + 1 and len(set(parts[1:])) == 1           # the constructors' first


def test_a_size_that_stays_gets_one_program_in_the_end(compiled, monkeypatch):
    parts = ran(monkeypatch)
    sizes = [10, 11, *[12] * (2 * tiers.PATIENT + 4)]
    losses, _ = lengths_of(len(sizes), sizes)
    whole = max(parts)
    assert parts[1:3] == [whole, whole] and parts[3] < whole and parts[-1] == whole
    with torch.eager():
        assert lengths_of(len(sizes), sizes)[0] == losses


def test_a_closure_computes_the_loss_within_the_step(compiled):
    """What an update begins with is not known then: nothing is cut, and the numbers are those of any other order."""
    def train():
        model, optimizer = model_and_optimizer()
        data, losses = torch.tensor(np.linspace(-1, 1, 240, dtype=np.float32).reshape(40, 6)), []
        for size in range(10, 16):
            def closure(size=size):
                optimizer.zero_grad()
                loss = model(data[:size]).square().mean()
                loss.backward()
                return loss
            losses.append(optimizer.step(closure).item())
        return losses
    losses = train()
    with torch.eager():
        assert train() == losses
