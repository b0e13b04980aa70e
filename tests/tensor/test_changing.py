"""Views of memory that has another size every time."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.base import devices, dtypes
from jtensor.tensor import changing
from jtensor.trace import spec
from jtensor.trace.tiers import PATIENT


def layouts(numbers):
    return [spec.spec((n, 3), None, dtypes.float32, devices.cpu) for n in numbers]


ROW = spec.spec((3,), None, dtypes.float32, devices.cpu)


@pytest.fixture
def kinds(monkeypatch):
    monkeypatch.setattr(changing, "MANY", 5)


def met(numbers):
    """For each of the sizes, whether a row of such a memory is read on the host."""
    return [kind.apart and kind.on_host(layout) for layout in layouts(numbers) for kind in [changing.kind_of(layout, ROW)]]


def test_the_first_sizes_are_read_by_programs_always(kinds):
    few = changing.FEW
    assert met([*range(10, 10 + few)] * 3) == [False] * (3 * few)
    assert met([50, 50, 51, 10, 52, 11]) == [True, True, True, False, True, False]


def test_what_comes_again_soon_is_read_by_programs(kinds):
    step = range(10, 20)                                           # the same sizes in every step
    assert [any(met(step)) for _ in range(changing.SURE + 2)] == [True] * changing.SURE + [False] * 2


def test_what_comes_again_late_is_not(kinds):
    step = range(10, 10 + changing.FEW + changing.NEAR + 2)
    for _ in range(changing.SURE + 3):
        assert all(met(step[changing.FEW:]) if met(step[:changing.FEW]) else ())


def test_what_stays_is_read_by_programs_in_the_end(kinds, monkeypatch):
    monkeypatch.setattr(changing, "LONG", 5)
    assert met([*range(10, 10 + changing.FEW)]) == [False] * changing.FEW
    assert met([30] * 9) == [True] * 6 + [False] * 3


def test_only_parts_of_plain_memory(kinds):
    for at in range(changing.FEW + 3):
        base = torch.arange(float(24 + 2 * at)).reshape(-1, 2)
        for view in (base, base.t(), base[:0], base.reshape(2, -1)):
            assert not changing.kind_of(base._storage.layout, view._spec).apart


def steps_of(x, h):
    for t in range(x.shape[0]):
        h = (x[t] * 0.5 + h) * 0.75
    return h


def gradients(x, w):
    outs = [(w * (t + 1)).sum() for t in range(x.shape[0])]
    torch.stack(outs).backward(x[:, 0].to(torch.float32))
    return w.grad


def columns(x, h):
    x = x.t().contiguous()
    for t in range(x.shape[1]):
        h = h + x[:, t]
    return h


def pieces(x, h):
    for piece in x.split(1):
        h = h - piece.squeeze(0)
    return h


def written_between(x, h):
    for t in range(x.shape[0]):
        h = h + x[t]
        x[t] = 7
        h = h * x[t]
    return h


def lists(x, h):
    rows = [x[t % 3] + t for t in range(x.shape[0] + 2)]
    return h + torch.stack(rows, -1).sum(1) * torch.cat([r.unsqueeze(1) for r in rows], dim=-1).select(1, -1)


def gradients_of_lists(x, w):
    outs = [(w * (t + 1)).sum() for t in range(x.shape[0] + 2)]
    (torch.stack(outs) * torch.cat([o.reshape(1) for o in outs])).sum().backward()
    return w.grad


RUNS = {"lists": lists, "gradients of lists": gradients_of_lists,
        "rows": steps_of, "gradients": gradients, "columns": columns, "pieces": pieces, "written between": written_between}


def flushed(reason):
    return sum(n for (why, _), n in torch.report().flushes.items() if why == reason)


CASES = [(run, dtype) for run in RUNS for dtype in ("float32", "bfloat16", "complex64") if "gradients" not in run or dtype == "float32"]


@pytest.mark.parametrize("run, dtype", CASES)
def test_nothing_shows(run, dtype, kinds, monkeypatch, afresh):
    def all_lengths():
        answers = []
        for n in range(3, 7):
            x = torch.tensor(np.random.default_rng(n).integers(-9, 9, (n, 3)).astype(np.float32)).to(getattr(torch, dtype))
            h = torch.ones(3, dtype=getattr(torch, dtype), requires_grad="gradients" in run)
            answers.append(RUNS[run](x.clone(), h).tolist())
        return answers
    monkeypatch.setattr(changing, "FEW", 1)
    why = "a list of changing length" if "lists" in run else "a view of changing memory"
    before = flushed(why)
    usual = all_lengths()
    assert flushed(why) > before
    monkeypatch.setattr(changing.Kind, "on_host", lambda *given: False)
    assert all_lengths() == usual


def test_lists_that_differ_in_more_than_their_length_are_put_together_by_programs(kinds, afresh):
    for n in range(6, 6 + 2 * changing.FEW):
        for tensors in ([torch.ones(n % 3 + k % 2) for k in range(n)],
                        [torch.ones(2, dtype=torch.int8 if k else torch.int16) for k in range(n)]):
            assert torch.cat(tensors)._storage.value.segment.__class__ is not np.ndarray


def test_the_rounds_of_all_lengths_are_the_same_programs(kinds, afresh):
    def made(n):
        before, x, h = sum(torch.report().programs.values()), torch.tensor(np.ones((n, 3), np.float32)), torch.zeros(3)
        for t in range(n):
            h = ((x[t] * 0.5 + h) * 0.75 - 1) * 2 + x[t] * 0.25 - h * 0.5             # ten nodes: some seven rounds are a program
        h.tolist()
        return sum(torch.report().programs.values()) - before
    first = [made(n) for _ in range(PATIENT) for n in range(20, 32)]    # among them all numbers of rounds that can be left over, often
    assert sum(first) and not any(made(n) for n in range(32, 40))
