"""Rows of nodes whose backward is recorded in one piece: nothing may show, and what is not as it was must be seen."""
import pytest

import jtensor as torch
from jtensor.autograd import engine
from jtensor.tensor.replaying import chains, rehearsed, retrace
from jtensor.trace import macros

F = torch.nn.functional
ROUNDS = rehearsed.AFTER + chains.AFTER + 4


@pytest.fixture(autouse=True)
def graphs_are_new(monkeypatch):
    """Whole graphs that come again have macros; here every graph counts as another one, and many have gone before."""
    monkeypatch.setattr(macros, "hopeless", lambda segment: True)
    monkeypatch.setattr(retrace, "_unknown", [2 * retrace.NEW])
    before, engine.RESHAPED[0] = engine.RESHAPED[0], False              # another test may have given a tensor another shape
    yield
    engine.RESHAPED[0] = before


def leaf(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(*shape, generator=generator) + 0.5).requires_grad_()


def policy(w, x, t):
    p = F.softmax(F.linear(F.relu(F.linear(x + t, w[0], w[1])), w[2]), -1)
    return torch.log(p[0, t % 2])


def cell(w, x, t):
    return (torch.tanh(F.linear(x, w[0][:, :3], w[1]) * 0.5 + t) * w[1]).sum()


def views(w, x, t):
    return (w[0].t()[1:3].reshape(-1)[t % 3:][:2] * 1.5).exp().sum()


def branches(w, x, t):
    a = F.linear(x, w[0], w[1])
    return (a.sigmoid() * a.tanh()).mean() / (2 + t)


def numbers(w, x, t):
    return ((w[0] * (0.5 + t)) ** 2 - t).mean(1)[t % 4]


def in_place(w, x, t):
    return (w[0] * 2).mul_(w[0] + t).sum()


# name: (function of parameters, an input and the number of the step, whether rows of it are written out)
STEPS = {"policy": (policy, True), "cell": (cell, True), "views": (views, True), "branches": (branches, True), "numbers": (numbers, True),
         "in place": (in_place, False)}


def parameters(seed=0):
    return [leaf(5, 3, seed=seed), leaf(5, seed=seed + 1), leaf(2, 5, seed=seed + 2)]


def total(step, w, length):
    x = leaf(1, 3, seed=9).detach()
    return torch.stack([step(w, x, t) for t in range(length)]).sum()


def shown(t):
    base = t._base
    return t.tolist(), t.stride(), t.storage_offset(), t._version, t.requires_grad, None if base is None else (base.shape, base.stride())


def gradients(step, length, kept):
    w = parameters()
    if kept:
        w[0].grad = torch.ones(5, 3)
    total(step, w, length).backward()
    return [None if p.grad is None else shown(p.grad) for p in w]


def counted(monkeypatch):
    """[how often a chain ran, and how often one declined]."""
    counts = [0, 0]
    written = chains._Writer.function

    def function(self):
        chain = written(self)
        if chain is None:
            return None

        def counting(*arguments):
            found = chain(*arguments)
            counts[found is None] += 1
            return found
        counting.declined = 0
        return counting
    monkeypatch.setattr(chains._Writer, "function", function)
    return counts


def forget(w, step):
    """No backward of this kind has been seen."""
    todo = [step(w, leaf(1, 3).detach(), 0).grad_fn]
    for node in todo:
        todo += [after for after, _ in node.next_functions if after is not None and after not in todo]
        if hasattr(node, "plan"):
            node.plan.ways.clear()


@pytest.mark.parametrize("name", STEPS)
def test_nothing_shows(name, monkeypatch):
    (step, written), w = STEPS[name], parameters()
    forget(w, step)
    lengths = [1, 4, 2, 5, 3, 4] + [n % 4 + 2 for n in range(ROUNDS)]
    with monkeypatch.context() as without:
        without.setattr(chains, "watch", lambda node, way, task: None)
        wanted = [gradients(step, length, length % 2) for length in lengths]
    forget(w, step)
    counts = counted(monkeypatch)
    assert [gradients(step, length, length % 2) for length in lengths] == wanted
    counts[:] = 0, 0
    assert [gradients(step, length, length % 2) for length in lengths] == wanted
    assert bool(counts[0]) == written


def known(step, monkeypatch):
    """Parameters of a step that has its chains, and their counts."""
    w = parameters()
    forget(w, step)
    counts = counted(monkeypatch)
    for n in range(ROUNDS):
        gradients(step, n % 4 + 2, False)
    assert counts[0]
    counts[:] = 0, 0
    return w, counts


def test_what_was_written_to_is_seen(monkeypatch):
    w, counts = known(policy, monkeypatch)
    loss = total(policy, w, 3)
    with torch.no_grad():
        w[2].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    assert not counts[0] and all(p.grad is None for p in w)


def test_a_second_backward_is_refused(monkeypatch):
    w, _ = known(policy, monkeypatch)
    loss = total(policy, w, 3)
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    assert loss.grad_fn.next_functions[0][0].next_functions[0][0].name() == "LogBackward0"


def test_a_graph_that_is_kept_goes_node_by_node(monkeypatch):
    w, counts = known(policy, monkeypatch)
    loss = total(policy, w, 3)
    loss.backward(retain_graph=True)
    first = [p.grad.tolist() for p in w]
    loss.backward()
    assert counts[0] == 3
    assert [p.grad.tolist() for p in w] == [(2 * torch.tensor(g)).tolist() for g in first]


def test_hooks_are_called_in_their_order(monkeypatch):
    w, counts = known(policy, monkeypatch)
    x, log = leaf(1, 3, seed=9).detach(), []
    hidden = F.linear(x, w[0], w[1])
    hidden.register_hook(lambda g: log.append("hidden"))
    late = F.softmax(F.linear(F.relu(hidden), w[2]), -1)
    late.grad_fn.register_prehook(lambda g: log.append("softmax"))
    for k, q in enumerate(w):
        q.register_post_accumulate_grad_hook(lambda q, k=k: log.append(k))
    torch.log(late[0, 1]).backward()
    assert log == ["softmax", 2, "hidden", 1, 0]


def test_gradients_of_two_uses_are_summed_first(monkeypatch):
    """A node that something else leads to as well is no part of a row."""
    w, counts = known(policy, monkeypatch)
    x = leaf(1, 3, seed=9).detach()
    p = F.softmax(F.linear(F.relu(F.linear(x, w[0], w[1])), w[2]), -1)
    (torch.log(p[0, 0]) + torch.log(p[0, 1])).backward()
    assert counts[0] < 3
    q = [v.detach().double().requires_grad_() for v in w]
    p = F.softmax(F.linear(F.relu(F.linear(x.double(), q[0], q[1])), q[2]), -1)
    (torch.log(p[0, 0]) + torch.log(p[0, 1])).backward()
    for a, b in zip(w, q, strict=True):
        assert torch.allclose(a.grad.double(), b.grad, atol=1e-5)


def test_a_mode_or_a_detached_part_declines(monkeypatch):
    w, counts = known(policy, monkeypatch)
    loss = total(policy, w, 2)
    with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly(check_nan=False):
        loss.backward()
    assert not counts[0]
    loss = total(policy, w, 2)
    torch.autograd.grad(loss, w[0])
    assert not counts[0]


def test_graphs_that_are_known_have_no_rows(monkeypatch):
    """Rows put nodes on the tape in another order: a loop that gets its macro after two steps is not to compile that, too."""
    monkeypatch.undo()
    w, counts = parameters(), counted(monkeypatch)
    monkeypatch.setattr(retrace, "_unknown", [0])
    forget(w, policy)
    for n in range(retrace.NEW):
        total(policy, w, n % 5 + 3).backward()
    assert counts == [0, 0]
    for n in range(ROUNDS):
        total(policy, w, n % 5 + 11).backward()
    assert counts[0]
