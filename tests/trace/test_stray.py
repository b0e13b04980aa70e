"""Tapes that are not learnt: a script whose operations are others at every step gets its numbers all the same, and no trie of them."""
import random

import pytest

import jtensor as torch
from jtensor.trace import cuts, executor
from jtensor.trace.tape import LOCAL, TRIE

PATIENCE = 600


@pytest.fixture(autouse=True)
def impatient(afresh, monkeypatch):
    """What other tests have recorded does not count, nor what they left pending."""
    monkeypatch.setattr(TRIE, "patience", PATIENCE)
    TRIE.unknown = 0
    TRIE._met.clear()


class Cell(torch.nn.Module):
    """What each node of a tree does with those below it."""

    def __init__(self):
        super().__init__()
        self.below, self.here = torch.nn.Linear(3, 3), torch.nn.Linear(2, 3)

    def forward(self, tree, x):
        children, at = tree
        h = torch.tanh(self.here(x[at:at + 1]))
        if children:
            h = h * 1.5 + torch.cat([self(child, x) for child in children]).sum(0, keepdim=True).relu() / len(children)
        return torch.sigmoid(self.below(h)) - 0.25


def trees(seed):
    choices = random.Random(seed)

    def tree(left):
        return [tree(left - 1) for _ in range(choices.randint(0, 2 if left else 0))], choices.randrange(4)
    while True:
        yield [tree(3) for _ in range(2)], 0


def trained(steps, seed=0):
    """Losses of a training on trees, and what a tensor is that is written to in between; and how many states each step has learnt."""
    torch.manual_seed(seed)
    net, x, rows, losses, learnt = Cell(), torch.randn(4, 2), torch.zeros(5, 3), [], []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for at, tree in zip(range(steps), trees(seed), strict=False):
        before = TRIE.size
        y = net(tree, x)
        rows[at % 5] += y[0].detach() * (at + 1)
        rows[1:3].mul_(0.5)
        loss = y.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        learnt.append(TRIE.size - before)
    return losses, rows.tolist(), learnt


def test_what_never_comes_again_is_not_learnt():
    losses, rows, learnt = trained(30)
    assert sum(learnt[:4]) > PATIENCE / 2
    assert sum(learnt[-10:]) < sum(learnt[:4]) and TRIE.unknown >= PATIENCE
    with torch.eager():
        expected = trained(30)
    assert (losses, rows) == expected[:2]


def test_what_comes_again_is_learnt_after_all():
    trained(30)
    assert TRIE.unknown >= PATIENCE
    x, found = torch.linspace(0, 1, 6), []
    for _ in range(5):
        y = x
        for n in range(40):
            y = (y * 0.75 + n).sin() if n % 3 else y - x
        found.append(y.tolist())
    assert TRIE.unknown < PATIENCE and all(one == found[0] for one in found)
    y = x * 0.75
    assert LOCAL.segment.state.depth == 1
    executor.flush("test")


def test_the_update_is_learnt_by_itself():
    """What stands before it has no end that is known, but it has a beginning of its own."""
    trained(30)
    replayed = torch.report().replayed
    trained(12, seed=1)
    assert TRIE.unknown >= PATIENCE and torch.report().replayed - replayed >= 6


def test_a_stray_tape_of_any_length_is_cut():
    trained(30)
    x = y = torch.ones(3)
    for n in range(3000):
        y = y + x if n % 7 else y - x
        if n == 2500:
            assert len(LOCAL.segment.nodes) < 2500
    assert y.tolist() == [1.0 + sum(1 if n % 7 else -1 for n in range(3000))] * 3


def test_the_rest_of_a_learnt_tape_is_learnt():
    """It may be cut again, and its program is found by its state."""
    x = torch.ones(3)
    y = x * 2
    for n in range(20):
        y = y + x if n % 7 else y - x
    whole, TRIE.unknown = LOCAL.segment, PATIENCE
    LOCAL.segment = type(whole)()
    parts = [whole]
    for length in (5, 6):
        parts.append(cuts.split(parts[-1], length))
    for part in parts:
        executor.run(part)
    assert [part.state.depth for part in parts] == [5, 6, 11]
    assert y.tolist() == [2.0 + 14] * 3
