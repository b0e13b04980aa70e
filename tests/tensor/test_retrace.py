"""What is put on the tape in one piece is what would have been recorded node by node: same bits, versions, strides, views and errors."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.tensor.replaying import retrace, updates, written
from jtensor.trace import executor, macros

F = torch.nn.functional


def leaf(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32), requires_grad=True)


def network(turn, state):
    x, w, b, v = state.setdefault("t", [leaf(4, 6), leaf(5, 6, seed=1), leaf(5, seed=2), leaf(3, 5, seed=3)])
    y = torch.tensor([0, 2, 1, 2])
    for t in (x, w, b, v):
        t.grad = None
    loss = F.cross_entropy(F.linear(torch.relu(F.linear(x, w, b)), v), y)
    loss.backward()
    return [loss, x.grad, w.grad, b.grad, v.grad]


def accumulating(turn, state):
    x, = state.setdefault("t", [leaf(3, 4)])
    (x.t().reshape(2, 6) * (x[0, 0] + turn * 0.5)).sum().backward()
    return [x.grad]


def numbers(turn, state):
    x, y = state.setdefault("t", [leaf(3), leaf(3, seed=1)])
    x.grad = y.grad = None
    z = (x * 0.5 + y * (0.25 + turn) - x * 0.5) * 0.5
    z.backward(torch.tensor([1., 2., 3.]) * (turn + 0.5))
    return [x.grad, y.grad]


def integers(turn, state):
    x, = state.setdefault("t", [leaf(4)])
    x.grad = None
    (x[turn % 2:] * 2).pow(2 + turn // 5).sum().backward()
    return [x.grad]


def retained(turn, state):
    x, = state.setdefault("t", [leaf(3)])
    x.grad = None
    z = (x * x).sum()
    z.backward(retain_graph=True)
    z.backward()
    return [x.grad]


def ordered(turn, state):
    """The same graph, its branches made in another order in odd turns: gradients are summed in that order."""
    x, = state.setdefault("t", [leaf(5)])
    x.grad = None
    parts = [None] * 3
    for at in ((0, 1, 2), (2, 0, 1))[turn % 2]:
        parts[at] = torch.exp(x.detach() * 0 + x) if at else x * 1e-3
    (parts[0] + parts[1] + parts[2] * 1e4).sum().backward()
    return [x.grad]


def hooked(turn, state):
    x, = state.setdefault("t", [leaf(3)])
    x.grad = None
    z = x * x
    if turn == 2:
        z.register_hook(lambda g: g * 2)
    z.sum().backward()
    return [x.grad]


def written_to(turn, state):
    x, = state.setdefault("t", [leaf(3)])
    x.grad = None
    y = x * 1
    z = (y * y).sum()
    if turn == 2:
        y += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
        return []
    z.backward()
    return [x.grad]


def detached(turn, state):
    x, = state.setdefault("t", [leaf(3)])
    x.grad = None
    y = x * 3.
    z = (y * y).sum()
    if turn == 2:
        y.detach_()
        with pytest.raises(RuntimeError, match="detached in-place"):
            z.backward()
        return []
    z.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        z.backward()
    return [x.grad]


def replaced(turn, state):
    """`.data =` and memory shared with NumPy between the forward and the backward."""
    x, w = state.setdefault("t", [leaf(3), leaf(3, seed=1)])
    x.grad = w.grad = None
    z = (x * w).sum()
    if turn == 2:
        w.data = torch.ones(3)
    if turn == 3:
        x.detach().numpy()[0] = 7
    z.backward()
    return [x.grad, w.grad]


def optimized(make):
    def program(turn, state):
        if not state:
            state["t"] = [leaf(3, 4), leaf(4, seed=1)]
            state["o"] = make(state["t"])
        w, b = state["t"]
        optimizer = state["o"]
        optimizer.zero_grad()
        ((w + b) ** 2).mean().backward()
        for group in optimizer.param_groups:
            group["lr"] *= 0.9
        optimizer.step()
        buffers = [x for s in optimizer.state.values() for x in s.values() if isinstance(x, torch.Tensor)]
        return [w, b, w.grad, *buffers]
    program.__name__ = f"optimized with {make([leaf(2)])!r}".split(" (")[0]
    return program


def sharing(turn, state):
    """An update of two parameters: apart, then with one value in two memories, then in one memory."""
    if not state:
        state["t"] = [leaf(4), leaf(4, seed=1)]
        state["o"] = torch.optim.SGD(state["t"], lr=0.1, momentum=0.9)
    w, b = state["t"]
    if turn >= 8:
        b.data = w.data
    elif turn >= 4:
        with torch.no_grad():
            b.copy_(w)
    state["o"].zero_grad()
    (w * b * (turn + 0.5)).sum().backward()
    state["o"].step()
    return [w, b, w.grad, *[s["momentum_buffer"] for s in state["o"].state.values()]]


def long_loop(turn, state):
    """A backward that is cut on its way, at rounds of the loop; gradients are added up in every round."""
    if not state:
        state["t"] = [leaf(3, 4), leaf(4, 4, seed=1), leaf(4, seed=2)]
    x, w, b = state["t"]
    if turn % 3 == 0:
        x.grad = w.grad = b.grad = None
    h = x * (1 + turn / 8)
    for _ in range(40):
        h = torch.tanh(h @ w + b) * 0.5
    h.sum().backward(retain_graph=turn == 4)
    if turn == 4:
        h.sum().backward()
    return [x.grad, w.grad, b.grad]


def long_update(turn, state):
    """A step over many parameters, cut on its way."""
    if not state:
        state["t"] = [leaf(3, 4, seed=at) for at in range(40)]
        state["o"] = torch.optim.Adam(state["t"], lr=0.1)
    for at, p in enumerate(state["t"]):
        p.grad = torch.full((3, 4), 0.1 * at + turn)
    state["o"].step()
    return [*state["t"], *[s["exp_avg"] for s in state["o"].state.values()]]


def unusual(turn, state):
    """An update of memory shared with NumPy, with another number, of gradients that lie otherwise, in inference mode."""
    if not state:
        state["t"] = [leaf(4), leaf(3, seed=1)]
        state["o"] = torch.optim.SGD(state["t"], lr=0.1, momentum=0.9)
    w, b = state["t"]
    w.grad, b.grad = torch.full((4,), 0.5 + turn), torch.full((3,), 1.5 + turn)
    if turn == 1:
        state["kept"] = w.detach().numpy()
    if turn == 2:
        del state["kept"]
        state["o"].param_groups[0]["lr"] = 0.05
    if turn == 3:
        state["o"].param_groups[0]["weight_decay"] = 1
        b.grad = torch.arange(3.)[:1].expand(3)
    with torch.inference_mode(turn == 4):
        state["o"].step()
    return [w, b, *[s["momentum_buffer"] for s in state["o"].state.values()]]


PROGRAMS = [network, long_loop, long_update, sharing, accumulating, numbers, integers, retained, ordered, hooked, written_to, detached,
            replaced, *map(optimized, [
                lambda p: torch.optim.SGD(p, lr=0.1),
                lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
                lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, dampening=0.25, maximize=True),
                lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1),
                lambda p: torch.optim.AdamW(p, lr=0.1),
            ])]


def shown(t):
    info = t._info
    return (t.detach().clone().numpy().tobytes(), t.stride(), t.storage_offset(), t.dtype, t._version, t.requires_grad, t._is_view(),
            None if info is None else (info.base.shape, info.creation, info.differentiable), t.untyped_storage().nbytes())


def play(program, before=()):
    state, seen = {}, []
    for turn in (*before, *range(12 if program is sharing else 6)):
        seen.append([shown(t) for t in program(turn, state)])
    return seen


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_nothing_shows(program, monkeypatch, afresh):
    played = []
    real = macros.play
    monkeypatch.setattr(macros, "play", lambda macro, *given: played.append(len(macro.pieces)) or real(macro, *given))
    again = play(program)
    count = len(played)
    monkeypatch.setattr(macros, "find", lambda segment, key: macros.UNKNOWN)
    assert again == play(program)
    assert len(played) == count > 0
    assert not program.__name__.startswith("long") or max(played) > 2


@pytest.mark.parametrize("program", [*(p for p in PROGRAMS if p is not long_update), unusual], ids=lambda p: p.__name__)
def test_nothing_shows_where_they_are_written_out(program, monkeypatch, afresh):
    monkeypatch.setattr(written, "AFTER", 1)
    asked, keys, real, update_key = [], [], retrace._as_written, updates._key
    monkeypatch.setattr(retrace, "_as_written", lambda *given: asked.append(real(*given)) or asked[-1])
    monkeypatch.setattr(updates, "_key", lambda *given: keys.append(1) or update_key(*given))
    before = [0, 1, 3] * 4 if program is integers else [0] * 6
    again = play(program, before)
    known = sum(macro is not None for macro, _ in asked)
    if program in (sharing, unusual) or program.__name__.startswith("optimized"):
        assert len(keys) < len(again) - 4
    monkeypatch.setattr(macros, "find", lambda segment, key: macros.UNKNOWN)
    executor.TRIE.forget()
    executor.flush("test")
    executor.LOCAL.segment = executor.Segment()
    assert again == play(program, before)
    assert program is unusual or known > 2 and (program not in (hooked, detached, replaced) or known < len(asked))


def test_what_a_written_graph_expects_is_all_that_the_key_names(monkeypatch, afresh):
    """Each graph differs from the first in one thing, and is run after it has been written out."""
    monkeypatch.setattr(written, "AFTER", 1)
    x, w, twin = leaf(4), leaf(4, seed=1), leaf(4, seed=2)
    x.grad = w.grad = twin.grad = None

    def graph(change=None):
        a = twin if change == "another leaf" else x
        second = a if change == "one leaf twice" else w
        y = a * second
        z = y.tanh()
        if change == "an order":
            z, y = None, y
            other = y * 2.0
            z = y.tanh()
        else:
            other = y * (3.0 if change == "a float" else 2 if change == "an integer" else 2.0)
        if change == "hooks":
            y.register_hook(lambda g: g * 3)
        if change == "a detached tensor":
            other = other.detach()
        loss = (z + other * (w if change == "a needed input" else w.detach())).sum()
        if change == "a version":
            with torch.no_grad():
                w.mul_(1)
        return loss

    def run(change):
        for t in (x, w, twin):
            t.grad = torch.ones(4) if change == "a gradient" else None
        try:
            graph(change).backward(retain_graph=change == "kept")
        except RuntimeError as error:
            return str(error).partition("[")[0]
        return [None if t.grad is None else (t.grad.tolist(), t.grad._version) for t in (x, w, twin)]
    changes = ["another leaf", "one leaf twice", "an order", "a float", "an integer", "a detached tensor", "a needed input", "a version",
               "a gradient", "kept", "hooks"]
    for _ in range(6):
        usual = run(None)
    asked, real = [], retrace._as_written
    monkeypatch.setattr(retrace, "_as_written", lambda *given: asked.append(real(*given)) or asked[-1])
    seen = []
    for change in changes:                              # hooks come last: from then on all nodes are asked for theirs
        seen.append(run(change))
        assert run(None) == usual
    assert sum(macro is not None for macro, _ in asked) >= len(changes)
    with monkeypatch.context() as plain:
        plain.setattr(retrace, "_as_written", lambda *given: (None, None))
        plain.setattr(retrace, "_graph", lambda *given: None)
        assert seen == [run(change) for change in changes]


def test_a_tape_whose_keys_keep_changing_is_asked_less_and_learns_no_more(monkeypatch, afresh):
    made, asked = [], []
    real, graph = macros.Lesson.learn, retrace._graph
    monkeypatch.setattr(macros.Lesson, "learn", lambda *given: made.append(1) or real(*given))
    monkeypatch.setattr(retrace, "_graph", lambda *given: asked.append(1) or graph(*given))
    x, g = leaf(4), torch.tensor([1. + 0j, 2., 3., 4.])
    for at in range(300):
        x.grad = None
        y = x * complex(at)                             # a complex number is part of the key
        executor.flush("the same place of the tape every time")
        y.backward(g)
        assert x.grad.tolist() == [at, 2 * at, 3 * at, 4 * at]
    assert not made and macros.PATIENCE < len(asked) < 4 * macros.PATIENCE


PICKED = {
    "a row": lambda x, i: x[i], "a column": lambda x, i: x[:, i], "an element": lambda x, i: x[i, 2], "select": lambda x, i: x.select(1, i),
    "narrow": lambda x, i: x.narrow(0, i, 1), "a window": lambda x, i: x[i:i + 2], "two": lambda x, i: x[i].log() * x[(2 * i) % 4, 3],
    "many": lambda x, i: torch.stack([x[(i + k) % 4, k % 3] for k in range(6)])}


@pytest.mark.parametrize("how", ["by its key", "written out"])
@pytest.mark.parametrize("case", PICKED)
def test_where_views_begin_is_handed_over(case, how, monkeypatch, afresh):
    if how == "written out":
        monkeypatch.setattr(written, "AFTER", 2)
    x, pick = torch.arange(1., 25.).reshape(4, 6).requires_grad_(), PICKED[case]

    def run(i):
        x.grad = None
        executor.flush("the same place of the tape every time")
        (pick(x, i) ** 2).sum().backward()
        return x.grad.tolist()
    with monkeypatch.context() as plain:
        plain.setattr(retrace, "_graph", lambda *given: None)
        expected = [run(i % 3) for i in range(12)]
    before = torch.report().replayed
    assert [run(i % 3) for i in range(12)] == expected
    assert torch.report().replayed - before >= 8


@pytest.mark.parametrize("held, written_to", [(False, ()), (True, ()), (True, (3, 4)), (True, range(6))])
@pytest.mark.parametrize("after", [1, 64])
def test_memory_that_numpy_has_is_known_again(held, written_to, after, afresh, monkeypatch):
    """What a policy was shown, step by step: arrays that nobody has any more when the episode is over, or that are kept."""
    monkeypatch.setattr(written, "AFTER", after)
    w, kept = leaf(3, 4), []

    def episode(seed):
        w.grad = None
        shown = [np.random.default_rng([seed, t]).normal(size=4).astype(np.float32) for t in range(3)]
        logs = [(torch.from_numpy(x).unsqueeze(0) @ w.t()).exp().sum() for x in shown]
        if held:
            kept.append(shown)
        if seed in written_to:
            shown[1] *= 2                                       # PyTorch's gradient is of what is there now
        del shown
        executor.flush("the same place of the tape every time")
        torch.stack(logs).log().sum().backward()
        return w.grad.tolist()
    with torch.eager():
        expected = [episode(seed) for seed in range(9)]
    before = torch.report().replayed
    assert [episode(seed) for seed in range(9)] == expected
    assert torch.report().replayed - before >= (5 if len(written_to) < 6 else 1)
