"""Optimizers that take turns: whose step ends the tape is learnt from their order, and changes no number."""
import gc

import pytest

import jtensor as torch
from jtensor.optim import _turns
from jtensor.trace import executor, programs
from jtensor.trace.tape import LOCAL


@pytest.fixture(autouse=True)
def nobody_has_been_made(monkeypatch):
    """What other tests have made does not come next, and no guess was wrong."""
    _turns.NEW.clear()
    monkeypatch.setitem(_turns.GUESS, "right", True)


def _pair(count=2):
    torch.manual_seed(3)
    nets = [torch.nn.Linear(4, 4) for _ in range(count)]
    return nets, [torch.optim.Adam(net.parameters(), lr=0.1) for net in nets]


def _play(order, look=None, steps=8):
    """Of each step that ``order`` names, again and again, whether the tape went on after it; and the weights in the end."""
    nets, optimizers = _pair(max(order) + 1)
    x, went_on = torch.ones(2, 4), []
    executor.flush("a new start")
    for step in range(steps):
        for which in order:
            optimizers[which].zero_grad()
            loss = sum((net(x) ** 2).mean() for net in nets)
            loss.backward()
            optimizers[which].step()
            went_on.append(len(LOCAL.segment.nodes) > 0)
            if look is not None and look(step, which):
                loss.item()
    return went_on, [p.tolist() for net in nets for p in net.parameters()]


@pytest.mark.parametrize(("order", "looks", "expected"), [
    ((0,), None, [False] * 8),                                              # alone
    ((0, 1), None, [True, False] * 8),                                      # the first of two that alternate
    ((0, 1, 2), None, [True, True, False] * 8),
    ((0, 0, 1), None, [True] + [False] * 23),                               # the other one does not always come next
    ((0, 1), lambda step, which: which == 0, [True, False] + [False, True] * 7),        # somebody looks at what it has done: the other
    ((0, 1), lambda step, which: which == 1, [True, False] * 8),                        # one leads
    # at both: tried again now and then
    ((0, 1), lambda step, which: True, [step in (0, 3, 13) for step in range(16)]),
])
def test_the_tape_goes_on_where_another_step_always_follows(order, looks, expected):
    went_on, found = _play(order, looks)
    assert went_on == expected
    with torch.eager():
        _, wanted = _play(order, looks)
    assert found == wanted


def test_a_first_round_is_guessed_until_that_was_wrong_once():
    assert _play((0, 0, 1), steps=1)[0] == [True, False, False] and not _turns.GUESS["right"]
    assert _play((0, 1), steps=3)[0] == [False, False] + [True, False] * 2          # as soon as it has been learnt


def test_who_was_made_and_has_gone_is_not_waited_for():
    nets, (first, second) = _pair()
    del second
    gc.collect()
    executor.flush("a new start")
    nets[0](torch.ones(2, 4)).sum().backward()
    first.step()
    assert not LOCAL.segment.nodes


def test_a_first_round_is_the_program_of_the_others(afresh, monkeypatch):
    made, build = [], programs.build

    def counted(nodes, *args, **kwargs):
        made.append(len(nodes))
        return build(nodes, *args, **kwargs)
    monkeypatch.setattr(programs, "build", counted)
    (generator, critic), (first, second) = _pair()
    x = torch.rand(64, 4)
    for _ in range(4):
        first.zero_grad(), second.zero_grad()
        ((critic(x) - critic(generator(x))) ** 2).mean().backward()
        first.step()
        first.zero_grad(), second.zero_grad()
        loss = critic(generator(x)).mean()
        loss.backward()
        second.step()
        loss.item()
    assert len(made) == 1


@pytest.mark.parametrize("guessed", [True, False])
def test_a_step_that_comes_again_instead_is_no_part_of_the_same_program(afresh, monkeypatch, guessed):
    """A critic's steps, of which there are several for each of the generator's: in the first round, too, they are one program."""
    monkeypatch.setitem(_turns.GUESS, "right", guessed)
    made, build = [], programs.build

    def counted(nodes, *args, **kwargs):
        found = build(nodes, *args, **kwargs)
        if found is not None:
            made.append(len(nodes))
        return found
    monkeypatch.setattr(programs, "build", counted)
    nets, optimizers = _pair()
    x = torch.rand(64, 4)
    executor.flush("a new start")
    made.clear()
    for _ in range(3):
        for which in (0, 0, 1):
            optimizers[which].zero_grad()
            (nets[which](x) ** 2).mean().backward()
            optimizers[which].step()
    assert len(made) == 1


def test_steps_without_gradients_come_again():
    nets, (first, second) = _pair()
    executor.flush("a new start")
    first.step(), first.step()
    assert not LOCAL.segment.nodes and LOCAL.segment.turn is None
    nets[1](torch.ones(2, 4)).sum().backward()
    first._has_stepped, _turns.GUESS["right"] = False, True
    first.step(), first.step()
    assert not LOCAL.segment.nodes and nets[1].bias.grad.tolist() == [2.0] * 4


def test_who_has_gone_does_not_follow():
    nets, (first, second) = _pair()
    x = torch.ones(2, 4)

    def step(*optimizers):
        for optimizer in optimizers:
            optimizer.zero_grad()
            (nets[0](x) + nets[1](x)).sum().backward()
            optimizer.step()
    executor.flush("a new start")
    step(first, second, first)
    assert LOCAL.segment.nodes
    assert first._credit > 0                                # it was learnt, and not guessed
    step(second)
    assert not LOCAL.segment.nodes
    del second
    gc.collect()
    step(first)
    assert not LOCAL.segment.nodes
