"""A backward that keeps coming is recorded by a function written out for it: nothing may show, and what is not as it was must be seen."""
import pytest

import jtensor as torch
from jtensor.tensor.replaying import rehearsed, replay
from jtensor.trace import macros
from jtensor.trace.tape import LOCAL

F = torch.nn.functional
ROUNDS = rehearsed.AFTER + 4


def leaf(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(*shape, generator=generator, dtype=torch.float64) + 0.5).to(dtype).requires_grad_()


# name: (function of (a, b), whether its last node's backward is written out); a is 2x3 and b is 3x4, unless it says otherwise
CASES = {
    "chain": (lambda a, b: (a * 2.5).relu().softmax(1).log()[0, 1], True),
    "number": (lambda a, b: (a * 0.3 + 2) / 1.7, True),
    "power": (lambda a, b: a ** 3, True),
    "product": (lambda a, b: a @ b, True),
    "linear": (lambda a, b: F.linear(a, b.t(), b[0]), True),
    "broadcast": (lambda a, b: (a + b[:, 0]) * b[:, 1], True),
    "view": (lambda a, b: a.t().reshape(-1)[1:5].unsqueeze(0).expand(3, 4), True),
    "sums": (lambda a, b: a.sum(0) * b.sum(), True),
    "both": (lambda a, b: (a @ b).tanh() * a.sum(), True),
    "joined": (lambda a, b: torch.cat([a, b.t()[:, :3]]), True),
    "stacked": (lambda a, b: torch.stack([a, a * 2]), True),
    "choice": (lambda a, b: torch.where(a > 1, a, a * 2), True),
    "cast": (lambda a, b: a.double() * b[:, 0].double(), True),
    "indexed": (lambda a, b: a[torch.tensor([0, 1, 1])], True),
    "the same twice": (lambda a, b: a * a, False),
    "several results": (lambda a, b: a.max(1)[0], False),
    "in place": (lambda a, b: (a * 2).mul_(b[:, 0]), True),
    "norm": (lambda a, b: F.layer_norm(a, (3,), b[:, 0], b[:, 1]), False),
    "loss": (lambda a, b: F.cross_entropy(a, torch.tensor([0, 2])), None),
}


def shown(t):
    base = t._base
    return (t.tolist(), t.dtype, t.stride(), t.storage_offset(), t._version, t.requires_grad, t.is_leaf, t.grad_fn is None,
            None if base is None else (base.shape, base.stride()))


def nodes_under(t):
    found = [t.grad_fn]
    for node in found:
        found += [after for after, _ in node.next_functions if after is not None and after not in found]
    return found


def backward(function, seed, kept):
    """What one backward leaves in the leaves, and in a result that is looked at on the way; and what it recorded."""
    a, b = leaf(2, 3, seed=seed), leaf(3, 4, seed=seed + 1)
    if kept:
        a.grad = torch.ones(2, 3)
    out = function(a, b)
    weight = torch.linspace(0.5, 1.5, out.numel(), dtype=out.dtype).reshape(out.shape)
    begun = len(LOCAL.segment.nodes)
    out.backward(weight)
    plans = [node[0] for node in LOCAL.segment.nodes[begun:]]
    return [None if t.grad is None else shown(t.grad) for t in (a, b)], plans


@pytest.mark.parametrize("name", CASES)
def test_nothing_shows(name, monkeypatch):
    function, written = CASES[name]
    monkeypatch.setattr(macros, "hopeless", lambda segment: True)          # whole graphs are another matter
    out = function(leaf(2, 3), leaf(3, 4))
    for node in nodes_under(out):
        if hasattr(node, "plan"):
            node.plan.ways.clear()
    found = [backward(function, seed, seed % 2) for seed in range(ROUNDS)]
    if written is not None:
        ways = list(out.grad_fn.plan.ways.values())
        assert (bool(ways) and callable(ways[0]) and ways[0] is not rehearsed.NEVER) == written
    monkeypatch.setattr(replay, "rehearsal", lambda node, grads, rules: rules(node, grads))
    for node in nodes_under(out):
        if hasattr(node, "plan"):
            node.plan.ways.clear()
    for seed in range(ROUNDS):
        grads, plans = backward(function, seed, seed % 2)
        assert found[seed][0] == grads
        assert sorted(map(repr, found[seed][1])) == sorted(map(repr, plans))


@pytest.fixture
def rehearsed_square(afresh):
    """x * y of two leaves, whose backward is written out."""
    def product(change=lambda x, y: None, **kwargs):
        x, y = leaf(3, seed=1), leaf(3, seed=2)
        x2, y2 = x * 1.5, y * 1.5
        out = x2 * y2
        change(x2, y2)
        torch.autograd.grad(out.sum(), (x, y), **kwargs)
        return out
    product().grad_fn.plan.ways.clear()                    # of what other tests have multiplied
    for _ in range(ROUNDS):
        out = product()
    way, = out.grad_fn.plan.ways.values()
    assert callable(way) and way is not rehearsed.NEVER
    return product


def test_what_is_not_as_it_was_is_seen(rehearsed_square):
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        rehearsed_square(lambda x, y: x.mul_(2))
    with pytest.raises(RuntimeError, match="detached in-place"):
        rehearsed_square(lambda x, y: x.detach_())
    out = rehearsed_square(retain_graph=True)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        out.sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 0 + 3, lambda t: t):
        x, y = leaf(3, seed=1), leaf(3, seed=2)
        (x * y).sum().backward()
        assert x.grad.tolist() == y.grad.tolist() == [3, 3, 3]
    out = rehearsed_square(create_graph=True)


def test_data_written_since_is_what_counts(rehearsed_square):
    x, y = leaf(3, seed=1), leaf(3, seed=2)
    out = x * y
    y.data = torch.tensor([[1., 2., 3.], [4., 5., 6.]]).t()[:, 0].clone()
    x.data = torch.tensor([[1., 2., 3.], [4., 5., 6.]]).reshape(-1)[::2]
    out.sum().backward()
    assert x.grad.tolist() == [1, 2, 3] and y.grad.tolist() == [1, 3, 5]
    x, y = leaf(3, seed=1), leaf(3, seed=2)
    out = x * y
    y.data = torch.ones(2)
    with pytest.raises(RuntimeError, match="must match the size"):
        out.sum().backward()


def test_hooks_and_anomalies_are_heard(rehearsed_square):
    x, y = leaf(3, seed=1), leaf(3, seed=2)
    out, heard = x * y, []
    out.register_hook(lambda g: heard.append("tensor") or g * 2)
    out.grad_fn.register_hook(lambda inputs, outputs: heard.append("node"))
    with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly(check_nan=False):
        out.sum().backward()
    assert heard == ["tensor", "node"] and x.grad.tolist() == (2 * y).tolist()


def test_the_text_of_a_backward_follows_its_answers():
    views = [("view", "n0_0", "grad"), ("view", "n1_0", "info.base"), ("view", "n2_0", "grad"), None, "grad"]
    assert rehearsed.origins(views) == rehearsed.origins(views[1::-1])[::-1] != rehearsed.origins(views[1::-1])      # a set has one order


def test_a_backward_without_numbers_leaves_the_tape_alone():
    for k in range(12):
        x = torch.ones(2, 3, device="meta", requires_grad=True)
        torch.autograd.grad((x * x).exp().sum(), [x])
        assert (torch.ones(2) + k).tolist() == [1. + k] * 2
