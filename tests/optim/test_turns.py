"""Optimizers that take turns: whose step ends the tape is learnt from their order, and changes no number."""
import gc

import pytest

import jtensor as torch
from jtensor.trace import executor
from jtensor.trace.tape import LOCAL


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
    ((0, 1), None, [False, False] + [True, False] * 7),                     # the first of two that alternate
    ((0, 1, 2), None, [False] * 3 + [True, True, False] * 7),
    ((0, 0, 1), None, [False] * 24),                                        # the other one does not always come next
    # somebody looks at what it has done: tried again now and then
    ((0, 1), lambda step, which: which == 0, [False, False, True, False] + [False] * 8 + [True] + [False] * 3),
    ((0, 1), lambda step, which: which == 1, [False, False] + [True, False] * 7),
])
def test_the_tape_goes_on_where_another_step_always_follows(order, looks, expected):
    went_on, found = _play(order, looks)
    assert went_on == expected
    with torch.eager():
        _, wanted = _play(order, looks)
    assert found == wanted


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
    step(second)
    assert not LOCAL.segment.nodes
    del second
    gc.collect()
    step(first)
    assert not LOCAL.segment.nodes
