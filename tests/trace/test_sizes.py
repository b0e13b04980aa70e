"""What is worked out of an operation at sizes that were never traced (`trace/lowering/sizes.py`) is what tracing gives.

`VERIFY` traces what is predicted all the same, and raises where the two differ in anything: so these tests only have to bring operations.
"""
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jtensor
from jtensor import nn
from jtensor.base import dtypes
from jtensor.nn import functional as F
from jtensor.ops import gradient
from jtensor.ops.registry import REGISTRY
from jtensor.trace import plan, spec
from jtensor.trace.lowering import sizes
from jtensor.trace.op_by_op import elementwise

from .concrete import concrete

FLOAT32 = np.dtype(np.float32)
LENGTHS = 18, 20, 21, 25, 31, 33, 40, 45, 50, 57, 63, 64, 70, 90, 101, 260, 300, 411, 510
IN_VAIN = 40            # what has not been predicted up to this length is left


@pytest.fixture
def predicted(monkeypatch):
    """How many operations were predicted, and compared; from here on, nothing is known."""
    monkeypatch.setattr(sizes, "VERIFY", True)
    monkeypatch.setattr(sizes, "_KNOWN", {})
    seen, compare = [], sizes._compare

    def counted(made, true, text):
        seen.append(text)
        compare(made, true, text)
    monkeypatch.setattr(sizes, "_compare", counted)
    return seen


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape, dtype", [
    (lambda n: (n,), dtypes.float32), (lambda n: (n,), dtypes.int64), (lambda n: (n, n), dtypes.float32), (lambda n: (n, n), dtypes.int64),
    (lambda n: (n, 10), dtypes.float32), (lambda n: (2, n, 16), dtypes.float32)],
    ids=["n", "n integers", "n x n", "n x n integers", "n x 10", "2 x n x 16"])
def test_operators_and_their_gradients(predicted, monkeypatch, shape, dtype):
    """Every operator at all lengths, unless nothing can be learnt of it."""
    known, learnt, learn = set(), [], sizes._learn

    def noted(kind, *rest):
        learn(kind, *rest)
        if kind.tried <= sizes.PATIENCE:
            learnt.append(kind)
    monkeypatch.setattr(sizes, "_learn", noted)
    for operator in REGISTRY.operators.values():
        before, done = len(predicted), None
        for n in LENGTHS:
            if n > IN_VAIN and len(predicted) == before or done == len(predicted) + len(learnt):
                break
            done = len(predicted) + len(learnt)
            try:
                made = concrete(operator, shape(n), dtype, statics=lambda name: {"dim": 0, "dims": (0,)}.get(name, 1))
                plans = [made]
                if made.differentiable and made.differentiable[0] and dtype is dtypes.float32:
                    plans.append(gradient.backward_plan(made, tuple(range(len(made.inputs))), (0,)))
                for one in plans:
                    elementwise.graph_of(one)
            except AssertionError:
                raise
            except Exception:               # it does not take such arguments, or has no gradient
                break
            known.add(operator.name)
    assert len(known) > 200 and len(predicted) > 1000, (len(known), len(predicted))


def texts(shape, high):
    return jtensor.randint(0, high, shape)


def attention(b, n):
    q = jtensor.randn(b, 4, n, 8, requires_grad=True)
    return F.scaled_dot_product_attention(q, q * 2, q + 1, is_causal=True)


def written(b, n):
    x = jtensor.randn(b, n, requires_grad=True) * 1
    x[:, 1:-2] = x[:, :-3] * 2
    x[:, texts((5,), n)] += 1
    return x


CALLS = {
    "linear": lambda b, n: nn.Linear(20, 30)(jtensor.randn(b, n, 20)),
    "embedding": lambda b, n: nn.Embedding(50, 12)(texts((b, n), 50)),
    "norms": lambda b, n: nn.LayerNorm(12)(nn.GroupNorm(3, 12)(jtensor.randn(b, 12, n, requires_grad=True)).transpose(1, 2)),
    "batch norm": lambda b, n: nn.BatchNorm1d(12)(jtensor.randn(b, 12, n)),
    "attention": attention,
    "losses": lambda b, n: F.cross_entropy(jtensor.randn(b * n, 20, requires_grad=True), texts((b * n,), 20)) + F.mse_loss(
        jtensor.randn(b, n, requires_grad=True), jtensor.randn(b, n)),
    "masks": lambda b, n: jtensor.randn(b, n, n, requires_grad=True).masked_fill(jtensor.ones(n, n).triu(1).bool(), -9.0).softmax(-1),
    "convolution": lambda b, n: nn.Conv1d(8, 12, 5, padding=2)(jtensor.randn(b, 8, n)),
    "strides": lambda b, n: nn.Conv2d(3, 9, 3, stride=2)(jtensor.randn(b, 3, n, 9)),
    "pooling": lambda b, n: F.max_pool1d(jtensor.randn(b, 8, n, requires_grad=True), 2) + F.avg_pool1d(
        jtensor.randn(b, 8, n, requires_grad=True), 2),
    "adaptive": lambda b, n: F.adaptive_avg_pool1d(jtensor.randn(b, 8, n, requires_grad=True), 4),
    "resize": lambda b, n: F.interpolate(jtensor.randn(b, 2, n, requires_grad=True), scale_factor=2, mode="linear"),
    "gather": lambda b, n: jtensor.randn(b, n, requires_grad=True).gather(1, texts((b, 9), n)),
    "scatter": lambda b, n: jtensor.zeros(b, n).scatter_add(1, texts((b, 30), n), jtensor.randn(b, 30, requires_grad=True)),
    "sorts": lambda b, n: jtensor.randn(b, n, requires_grad=True).sort(-1).values + jtensor.randn(
        b, n, requires_grad=True).topk(8).values.sum(),
    "running sums": lambda b, n: jtensor.randn(b, n, requires_grad=True).cumsum(1).logsumexp(0),
    "joins": lambda b, n: jtensor.cat([jtensor.randn(b, n, requires_grad=True), jtensor.randn(b, 13)], 1).flip(1).roll(3, 1),
    "fills": lambda b, n: jtensor.cat([jtensor.randn(n, b, requires_grad=True), jtensor.randn(9, b), jtensor.randn(311 + b % 2 - n, b)]),
    "first ones": lambda b, n: jtensor.randn(b, n, requires_grad=True).topk(10).values,
    "turns": lambda b, n: jtensor.randn(b, n, requires_grad=True).roll(100, 1) + jtensor.randn(b, n, requires_grad=True).roll(-500),
    "stacks": lambda b, n: jtensor.stack([jtensor.randn(b, n, requires_grad=True)] * 3).mean((0, 2)),
    "padding": lambda b, n: F.pad(jtensor.randn(b, 2, n, requires_grad=True), (3, 9), mode="reflect").repeat(1, 2, 1),
    "writes": written,
    "products": lambda b, n: jtensor.einsum("bij,bkj->bik", jtensor.randn(b, n, 9, requires_grad=True), jtensor.randn(b, 11, 9)),
    "distances": lambda b, n: jtensor.cdist(jtensor.randn(b, n, 9, requires_grad=True), jtensor.randn(b, 10, 9)),
    "diagonals": lambda b, n: jtensor.diag_embed(jtensor.randn(b, n, requires_grad=True)).tril(9).diagonal(dim1=1, dim2=2, offset=2),
    "windows": lambda b, n: jtensor.randn(b, n, requires_grad=True).unfold(1, 8, 3).std(-1),
    "spectra": lambda b, n: jtensor.fft.rfft(jtensor.randn(b, n, requires_grad=True)).abs(),
    "moments": lambda b, n: jtensor.randn(b, n, requires_grad=True).var(1) + jtensor.randn(b, n, requires_grad=True).norm(dim=1),
    "gates": lambda b, n: F.glu(jtensor.randn(b, 2 * n, requires_grad=True)) + F.softplus(jtensor.randn(b, n, requires_grad=True)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_two_sizes(predicted, monkeypatch, name):
    """Batches of some sizes, each of any length: what is on the tape, forward and backward. Nothing is run."""
    plans, begin = [], plan.Plan.__init__

    def noted(self, *given, **named):
        plans.append(self)
        begin(self, *given, **named)
    monkeypatch.setattr(plan.Plan, "__init__", noted)
    some = random.Random(name)
    for _ in range(22):
        plans.clear()
        made = CALLS[name](some.choice((12, 12, 12, 15)), some.choice((some.randint(34, 63), some.randint(66, 125), 256)))
        if made.requires_grad:
            made.sum().backward()
        for one in plans:
            if one.inputs:
                elementwise.graph_of(one)
    assert len(predicted) > 3, len(predicted)


def ask(function, *shapes):
    """The equations of a function of arrays, as those of an operation that is named by their shapes alone."""
    inputs = tuple([spec.aval(shape, dtypes.float32, spec.devices.cpu) for shape in shapes])
    made = plan.make(("asked",), function, inputs)
    return sizes.graph(sizes.named(made.key, made.inputs, ()), made.outputs, made.jaxpr)


def test_numbers_in_equations_are_sizes_products_and_sizes_and_something(predicted):
    def function(x, y):
        both = jnp.concatenate([x, y], 1)
        return (both.reshape(-1) / x.shape[1], jnp.pad(both, ((0, 2), (1, 0))) * both.size, both.T[5:-3])

    for n, m in ((40, 60), (41, 50), (45, 55), (47, 61), (43, 57), (44, 49)):
        graph = ask(function, (n, m), (n, m))
    assert predicted and [graph.avals[v].shape for v in graph.outputs] == [(44 * 98,), (46, 99), (90, 44)]


def test_three_values_of_a_size_are_not_enough(predicted):
    for n in (40, 50, 47, 40, 50, 50, 40, 47):
        ask(lambda x: (x + x.shape[0],), (n,))
    assert not predicted


def test_what_a_function_goes_by_is_asked_for_again(predicted):
    """A limit that is a power of two, another size, the number of elements."""
    def function(x, y):
        x = x * 2 if x.shape[0] > 64 else x + 2
        x = x - 1 if x.shape[0] < y.shape[0] else x
        return (jnp.sqrt(x) if x.size * 2 > 1 << 13 else x, y)

    some = random.Random(0)
    for _ in range(120):
        ask(function, (some.randint(34, 126), 50), (some.randint(34, 126),))
    assert len(predicted) > 20


def test_remainders_are_told_from_examples_that_are_alike(predicted):
    """All lengths odd until an even one comes."""
    def function(x):
        return (x if x.shape[0] % 2 else -x,)

    for n in (35, 41, 43, 47, 61, 59):
        ask(function, (n,))
    assert len(predicted) == 2
    for n in (36, 50, 38, 51, 44):
        graph = ask(function, (n,))
    assert [e.name for e in graph.equations] == ["neg"]


def test_what_has_been_filled_up_to_one_length_says_nothing_of_another(predicted):
    def function(x, y, z):
        return (jnp.concatenate([x, y, z]),)

    for total in (120, 120, 120, 120, 121, 124, 118, 121):
        for n, m in ((40, 37), (43, 39), (45, 35), (41, 34)):
            graph = ask(function, (n,), (m,), (total - n - m,))
            assert graph.avals[graph.outputs[0]].shape == (total,)
    assert len(predicted) > 8


@pytest.mark.parametrize("shapes", [[(40, 20, 80), (41, 25, 66), (45, 30, 60), (47, 21, 84)], [(3, 10, 20), (6, 20, 40), (9, 30, 60)]])
def test_relations(shapes):
    columns = list(zip(*shapes, strict=True))
    for relation in sizes._relations(columns, [0, 1, 2]):
        assert len({sum(shape[at] * weight for at, weight in relation) for shape in shapes}) == 1
    assert len(sizes._relations(columns, [0, 1, 2])) == (2 if shapes[0][0] == 3 else 0)


PAIRS = (24, 21), (28, 18), (21, 24), (18, 28), (17, 30), (19, 27), (22, 23), (17, 24), (25, 20), (23, 29), (30, 17), (27, 19), (24, 17)


@pytest.mark.parametrize("name, function", [
    ("batch norm", lambda x: nn.BatchNorm1d(3)(x)), ("half", lambda x: x.mean((0, 2), dtype=jtensor.bfloat16) + x.amax((0, 2))),
    ("variance", lambda x: x.var((0, 2)))])
def test_products_that_are_equal_by_chance(predicted, monkeypatch, name, function):
    """What differs between sizes in more than whole numbers is not looked for among those that agree: 504 is no constant."""
    plans, begin = [], plan.Plan.__init__

    def noted(self, *given, **named):
        plans.append(self)
        begin(self, *given, **named)
    monkeypatch.setattr(plan.Plan, "__init__", noted)
    for n, m in PAIRS * 2:
        plans.clear()
        function(jtensor.randn(n, 3, m, requires_grad=True)).sum().backward()
        for one in plans:
            if one.inputs:
                elementwise.graph_of(one)
    assert predicted


def in_tens(x):
    plan.is_particular()
    return (x[:len(x) // 10 * 10],)


@pytest.mark.parametrize("function", [
    in_tens, lambda x: (x[::3],), lambda x: (jnp.cumsum(x),), lambda x: (x + np.arange(len(x), dtype=FLOAT32),),
    lambda x: (jax.lax.reduce_window(x, 0.0, jax.lax.add, (5,), (5,), "VALID"),)], ids=["multiples", "steps", "loops", "arrays", "windows"])
def test_nothing_is_concluded_from(predicted, function):
    for n in (40, 41, 42, 43, 44, 45, 46, 57, 59, 61):
        ask(function, (n,))
    assert not predicted
