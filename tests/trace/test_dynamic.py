"""One program for tapes that differ in a size alone (`trace/dynamic_shapes/dynamic.py`): it gives the bits that each size gives by itself.

`VERIFY` runs what is served op by op as well and compares, `POISON` fills what is too much with NaN: so these tests only have to bring
tapes.
"""
import threading

import numpy as np
import pytest

import jtensor as torch
from jtensor.base import dtypes
from jtensor.nn import functional as F
from jtensor.ops.registry import REGISTRY
from jtensor.trace import executor, report, tiers
from jtensor.trace.dynamic_shapes import dynamic, wide
from jtensor.trace.lowering import orders
from jtensor.trace.lowering.examples import Unknown
from jtensor.trace.tape import TRIE

from . import dynamic_bits
from .test_sizes import CALLS

SIZES = 40, 41, 43, 46, 52, 57, 61, 63, 33


@pytest.fixture
def served(a_new_tape, monkeypatch):
    """Whatever has come at enough sizes is served by its bucket's program, and compared; the runs so far, as (nodes, size)."""
    if not orders.are_known():
        pytest.skip("this XLA, or this processor's, adds up in another order")
    monkeypatch.setattr(wide, "POISON", True)
    monkeypatch.setattr(wide, "SHORTEST", 1)
    for name, value in (("VERIFY", True), ("PATIENCE", 1), ("PROBES", 100), ("_KINDS", {}), ("_READY", threading.Event())):
        monkeypatch.setattr(dynamic, name, value)
    monkeypatch.setattr(executor, "choose", lambda *args, **kwargs: None)
    runs, run = [], dynamic.Fitted.run

    def noted(self, segment, *args):
        made = run(self, segment, *args)
        runs.append((len(segment.nodes), self.size))
        return made
    monkeypatch.setattr(dynamic.Fitted, "run", noted)
    return runs


@pytest.fixture
def at_work(a_new_tape, monkeypatch):
    """As in a script whose sizes change, in which programs have been made in vain."""
    if not orders.are_known():
        pytest.skip("this XLA, or this processor's, adds up in another order")
    monkeypatch.setattr(dynamic, "_KINDS", {})
    monkeypatch.setattr(dynamic, "_READY", threading.Event())
    monkeypatch.setattr(tiers.Past, "in_vain", lambda self, nodes: True)
    monkeypatch.setattr(tiers, "worth_a_program", lambda *args: False)


def looked_at(*tensors):
    """All bits of these, computed together."""
    return [x.detach().numpy().tobytes() for x in tensors]


# -- operators --------------------------------------------------------------------------------------------------------

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", """add mul exp gelu tril amax argmax maximum _softmax _log_softmax max_dim mean_dim sum_dim
    mean_all std_mean_dims linalg_vector_norm native_layer_norm mm baddbmm""".split())
def test_operators_and_their_gradients(served, name):
    draws, operator = np.random.default_rng(5), REGISTRY.operators[name]
    compared = 0
    for shape in ("n x n", "2 x n x 70", "8 x 2 x n"):
        at = dynamic_bits.plans(operator, dynamic_bits.SHAPES[shape], dtypes.float32, lambda name: {"dim": 1, "dims": (1,)}.get(name, 1))
        try:
            count = min(len([one.jaxpr() for one in at(n)]) for n in (64, 65, 126, 127))
        except Exception:               # it does not take such arguments
            continue
        for k in range(count):
            try:
                found = dynamic_bits.Served(lambda n, k=k, at=at: at(n)[k], 64, 127)
            except Unknown:
                continue
            assert not any(found.differ(n, draws) for n in (64, 100, 127)), shape
            compared += 1
    if not compared:
        pytest.skip("nothing is known of it, or it takes other arguments")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls(served, name):
    for n in SIZES:
        torch.manual_seed(n)
        made = CALLS[name](3, n)
        if made.requires_grad:
            made.sum().backward()
        looked_at(made)
    assert served or name not in ("linear", "embedding", "norms", "attention", "masks")


MOVES = {
    "of a table": lambda x, n: torch.ones(1, 61 if n < 61 else 63, 8)[:, :n] * x + 1,
    "beginnings": lambda x, n: x[:, :n - 3] * 2,
    "ends": lambda x, n: x[:, 5:] * 2,
    "one before another": lambda x, n: torch.cat([x, x * 2, x[:, :9]], 1) + 1,
    "rows that are full": lambda x, n: (x * 2).reshape(3 * n, 8) + 1,
    "and not": lambda x, n: (x * 2).reshape(3 * n, 8).reshape(3, n, 8).transpose(0, 1).reshape(n * 3, 8) + 1,
    "pads": lambda x, n: F.pad(x * 2, (0, 0, 4, 7), value=3.0) + 1,
    "the greatest": lambda x, n: (x * 2).max(1).values + (x * 2).argmax(1).to(torch.float32),
    "means": lambda x, n: (x @ torch.ones(8, 70)).mean(1) + 1,
    "counts": lambda x, n: (x > 0).sum(1) + n,
    "truths": lambda x, n: (x > 1).any(1).to(torch.float32) + (x > -9).all(1).to(torch.float32),
    "numbers in order": lambda x, n: torch.arange(n)[None, :, None] * x + n,
    "squares": lambda x, n: (x @ x.transpose(1, 2) + 1).softmax(-1) @ x,
    "places": lambda x, n: (x * 2)[:, torch.arange(n).flip(0).remainder(7)] + 1,
    "writes": lambda x, n: (x * 2).index_add(1, torch.arange(n).remainder(5), x) + 1,
}


@pytest.mark.parametrize("name", sorted(MOVES))
def test_moves(served, name):
    for n in SIZES:
        torch.manual_seed(n)
        x = torch.randn(3, n, 8)
        made = looked_at(MOVES[name](x, n))
        with torch.eager():
            assert looked_at(MOVES[name](x, n)) == made
    assert served


# -- scripts ----------------------------------------------------------------------------------------------------------

class Attention(torch.nn.Module):
    """Causal, of two heads."""

    def __init__(self, width):
        super().__init__()
        self.three, self.norm = torch.nn.Linear(width, 3 * width), torch.nn.LayerNorm(width)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in self.three(self.norm(x)).chunk(3, -1))
        weights = (q @ k.transpose(-2, -1)).masked_fill(torch.ones(x.size(1), x.size(1)).triu(1).bool(), -torch.inf)
        return x + (weights.softmax(-1) @ v).transpose(1, 2).flatten(2)


def generated(count):
    torch.manual_seed(1)
    table = torch.nn.Embedding(20, 64)
    model = torch.nn.Sequential(Attention(64), Attention(64), torch.nn.Linear(64, 20))
    text = torch.randint(20, (1, 33))
    with torch.no_grad():
        for _ in range(count):
            text = torch.cat([text, torch.multinomial(model(table(text))[:, -1].softmax(-1), 1)], 1)
    return text.tolist()


def test_a_text_that_grows(at_work, monkeypatch):
    monkeypatch.setattr(TRIE, "unknown", 0)
    before = report.REPORT.programs["compiled"] + report.REPORT.programs["disk"] + report.REPORT.programs["shared"]
    made = generated(40)
    programs = report.REPORT.programs["compiled"] + report.REPORT.programs["disk"] + report.REPORT.programs["shared"] - before
    assert 0 < programs < 20
    assert TRIE.unknown < 500           # what is served does not count among the tapes that are not worth learning
    with torch.eager():
        assert generated(40) == made


def test_what_grows_does_not_wait_for_three_sizes_of_a_bucket(at_work):
    """Its first size has the program made, unlike that of sizes that come in any order."""
    def step(n):
        x = torch.ones(n, 70)
        return looked_at((x + 1).relu() * 2 - x)

    def seen():
        return [len(bucket.seen) for kind in dynamic._KINDS.values() for bucket in kind.buckets.values() if bucket.coming or bucket.stages]
    for n in range(56, 65):
        step(n)
    assert seen() == [3, 1]                 # the bucket it was in when it was seen to grow, and the next
    dynamic._KINDS.clear()
    for n in (40, 63, 41, 60, 50, 64):
        step(n)
    assert seen() == []


def test_effort_goes_by_the_largest_size(at_work, monkeypatch):
    asked, worth = [], wide.programs.worth

    def noted(nodes, *args, **more):
        if "elements" in more:              # a bucket's; the others are of tapes with a program of their own
            asked.append((len(nodes), more["elements"]))
        return worth(nodes, *args, **more)
    monkeypatch.setattr(wide.programs, "worth", noted)
    for n in range(40, 47):
        x = torch.ones(n, 70)
        looked_at((x + 1).relu() * 2 - x)
    assert asked and all(elements == nodes * 63 * 70 for nodes, elements in asked)


def test_growing_is_a_little_at_a_time():
    kind = dynamic._Kind(None)
    assert [kind.grows(n) for n in (40, 41, 43, 44, 44, 45, 80, 81, 82, 83, 70)] == [
        False, False, False, True, True, True, False, False, False, True, False]


def trained(steps):
    torch.manual_seed(2)
    table, model = torch.nn.Embedding(20, 64), torch.nn.Sequential(Attention(64), torch.nn.Linear(64, 5))
    step = torch.optim.SGD([*table.parameters(), *model.parameters()], lr=0.1)
    losses, lengths = [], torch.randint(34, 65, (steps,)).tolist()
    for n in lengths:
        x = torch.randint(20, (4, n))
        loss = F.cross_entropy(model(table(x)).mean(1), x[:, 0].remainder(5))
        step.zero_grad()
        loss.backward()
        step.step()
        losses.append(loss.item())
    return losses


def test_training_on_batches_of_any_length(at_work):
    made = trained(14)
    assert any(kind.buckets for kind in dynamic._KINDS.values())
    with torch.eager():
        assert trained(14) == made


def test_two_sizes_at_once(at_work):
    """A tape of which no single size tells all numbers."""
    def step(n, m):
        torch.manual_seed(n)
        x = (torch.randn(n, 64) @ torch.randn(64, m) + 1).relu() * 2 - 1
        return looked_at(x.sigmoid() + 1)
    sizes = [(40, 50), (41, 47), (45, 33), (50, 61), (51, 40), (63, 62), (60, 35)]
    made = [step(*pair) for pair in sizes]
    with torch.eager():
        assert [step(*pair) for pair in sizes] == made


def test_zeros_of_both_signs(at_work):
    """Which of them is the greatest is a matter of how many numbers there are: then each size keeps its own kernel."""
    def step(n, zero):
        torch.manual_seed(n)
        return looked_at((torch.randint(0, 2, (40, n)) * 2 - 1.0).mul(zero).neg().amax(1) * 3)
    made = [step(n, zero) for zero in (1.0, 0.0) for n in range(70, 100)]
    with torch.eager():
        assert [step(n, zero) for zero in (1.0, 0.0) for n in range(70, 100)] == made


def test_a_wrong_rule_is_found_by_the_first_run(at_work, monkeypatch):
    monkeypatch.setitem(wide.RULES, "reduce_min", lambda w, e: w.as_it_is(e))

    def step(n):
        torch.manual_seed(n)
        return looked_at((torch.rand(4, n) * 2 + 3).sqrt().amin(1) * 3)
    made = [step(n) for n in range(40, 60)]
    kind, = [kind for kind in dynamic._KINDS.values() if kind.refused]
    bucket, = kind.buckets.values()
    assert bucket.refused
    bucket.refused, bucket.tried = False, True          # as another bucket, which was trusted before: it serves no more either
    made += [step(n) for n in range(40, 60)]
    with torch.eager():
        assert [step(n) for n in range(40, 60)] * 2 == made


# -- what rules count on ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shape, axes", [
    ((300, 40), (0,)), ((3, 1100, 9), (1,)), ((70000, 2), (0,)), ((8, 90, 30), (0, 1)), ((90, 8, 30), (0, 1)),
    ((4, 5, 300, 7), (0, 1, 2)), ((8, 90, 30), (0, 2))])
def test_sums_of_many(a_new_tape, shape, axes):
    x = torch.from_numpy(np.random.default_rng(0).normal(size=shape).astype(np.float32))

    def step():
        return ((x * 1.5).sum(axes) * 2).numpy()
    fused = [step() for _ in range(4)][-1]
    assert np.allclose(fused, (x.numpy().astype(np.float64) * 3).sum(axes), rtol=1e-4, atol=1e-2)
    with torch.eager():
        assert step().tobytes() == fused.tobytes()


@pytest.mark.parametrize("rows, left, right", [(300, 64, 10), (300, 10, 70), (1500, 90, 90), (255, 64, 64), (300, 20, 30)])
def test_products_over_the_first_axes(a_new_tape, rows, left, right):
    draws = np.random.default_rng(1)
    x, y = (torch.from_numpy(draws.normal(size=(rows, n)).astype(np.float32)) for n in (left, right))

    def step():
        return ((x * 1.5).t() @ (y + 1)).numpy()
    fused = [step() for _ in range(4)][-1]
    assert np.allclose(fused, (x.numpy() * 1.5).astype(np.float64).T @ (y.numpy() + 1.0), rtol=1e-3, atol=1e-2)
    with torch.eager():
        assert step().tobytes() == fused.tobytes()
