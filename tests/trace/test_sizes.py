"""What is worked out of an operation at sizes that were never traced (`trace/sizes.py`) is what tracing gives.

`VERIFY` traces what is predicted all the same, and raises where the two differ in anything: so these tests only have to bring operations.
"""
import random

import pytest

import jtensor
from jtensor import nn
from jtensor.base import dtypes
from jtensor.nn import functional as F
from jtensor.ops import build, gradient
from jtensor.ops import operator as kinds
from jtensor.ops.registry import REGISTRY
from jtensor.trace import elementwise, plan, sizes, spec

LENGTHS = 9, 12, 17, 20, 21, 30, 31, 33, 40, 50, 63, 64, 65, 90, 100, 127, 128, 129, 200, 300, 511, 512, 513, 700, 1100


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


def asked(operator, shape, dtype):
    """The plan of an operator on tensors of one shape, its numbers and statics the simplest that it takes; None if there is none."""
    template = []
    for parameter in operator.parameters:
        if parameter.kind in (kinds.Tensor, kinds.TensorOrNumber):
            template.append(spec.spec(shape, None, dtype, spec.devices.cpu))
        elif parameter.kind is kinds.Number and parameter.required:
            template.append(build.WRAPPED[float])
        elif parameter.kind is kinds.OptTensor:
            template.append(None)
        elif parameter.required:
            template.append({"dim": 0, "dims": (0,)}.get(parameter.name, 1))
        else:
            template.append(parameter.default)
    return build.plan_for(operator, tuple(template))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int64])
@pytest.mark.parametrize("shape", [lambda n: (n,), lambda n: (n, n), lambda n: (3, n), lambda n: (n, 10), lambda n: (2, n, 16)],
                         ids=["n", "n x n", "3 x n", "n x 10", "2 x n x 16"])
def test_operators_and_their_gradients(predicted, dtype, shape):
    known = set()
    for operator in REGISTRY.operators.values():
        for n in LENGTHS[::2 if len(shape(9)) > 1 else 1]:
            try:
                made = asked(operator, shape(n), dtype)
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
    assert len(known) > 150 and len(predicted) > 400, (len(known), len(predicted))


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
    "sorts": lambda b, n: jtensor.randn(b, n, requires_grad=True).sort(-1).values + jtensor.randn(b, n, requires_grad=True).topk(8).values.sum(),
    "running sums": lambda b, n: jtensor.randn(b, n, requires_grad=True).cumsum(1).logsumexp(0),
    "joins": lambda b, n: jtensor.cat([jtensor.randn(b, n, requires_grad=True), jtensor.randn(b, 13)], 1).flip(1).roll(3, 1),
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
    for _ in range(26):
        plans.clear()
        made = CALLS[name](some.choice((8, 12, 16, 30)), some.choice((some.randint(14, 140), 64, 65, 300)))
        if made.requires_grad:
            made.sum().backward()
        for one in plans:
            if one.inputs:
                elementwise.graph_of(one)
    assert len(predicted) > 20, len(predicted)
