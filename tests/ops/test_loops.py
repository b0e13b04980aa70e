"""Operators are traced as if nothing in them were jitted: the equations are the same, and XLA's loops stay loops."""
import collections
import functools
import pathlib
import re

import jax
import pytest

import jtensor as torch
from jtensor.base import compat
from jtensor.trace import executor
from jtensor.trace.lowering.flat import flattened
from jtensor.trace.plan import scalar_struct

from . import op_samples as samples

MATRIX = [[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]]
SIMPLE = [
    *[(name, (values,), {}) for name, values in samples.UNARY.items()],
    *[(name, pair, {}) for name, pair in samples.BINARY.items()],
    *[(name, *call) for name, calls in samples.REDUCTIONS.items() for call in calls],
]


def ctc():
    scores = torch.randn(5, 2, 4, requires_grad=True).log_softmax(2)
    return torch.nn.functional.ctc_loss(scores, torch.tensor([[1, 2], [3, 1]]), torch.tensor([5, 4]), torch.tensor([2, 1]))


def depthwise():
    layer = torch.nn.Conv2d(4, 4, 3, groups=4)
    return layer(torch.randn(2, 4, 12, 12))


def reflected():
    a, tau = torch.geqrf(torch.tensor(MATRIX))
    return torch.ormqr(a, tau, torch.tensor(MATRIX, requires_grad=True))


def produced():
    a, tau = torch.geqrf(torch.tensor(MATRIX))
    return torch.linalg.householder_product(a.requires_grad_(), tau)


LOOPS = {
    "cumsum": lambda: torch.randn(40, 3, requires_grad=True).cumsum(0), "cumprod": lambda: torch.rand(40, requires_grad=True).cumprod(0),
    "logcumsumexp": lambda: torch.randn(9, 2, requires_grad=True).logcumsumexp(0), "cummax": lambda: torch.randn(9, 2).cummax(0)[0],
    "LSTM": lambda: torch.nn.LSTM(3, 2)(torch.randn(4, 2, 3))[0], "GRU": lambda: torch.nn.GRU(3, 2)(torch.randn(4, 2, 3))[0],
    "ctc_loss": ctc, "depthwise": depthwise, "matrix_exp": lambda: torch.tensor(MATRIX, requires_grad=True).matrix_exp(),
    "cdist": lambda: torch.cdist(torch.rand(300, 3, requires_grad=True), torch.rand(300, 3), p=1.5), "ormqr": reflected,
    "householder_product": produced, "searchsorted": lambda: torch.searchsorted(torch.arange(9.), torch.rand(5)),
    "isin": lambda: torch.isin(torch.arange(5), torch.arange(100)),
    "embedding_bag": lambda: torch.nn.EmbeddingBag(9, 3)(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 3])),
    "cholesky": lambda: torch.linalg.cholesky(torch.tensor(MATRIX, requires_grad=True)),
}
FEW_ROUNDS = {"searchsorted", "isin", "embedding_bag", "cholesky"}       # or their loop stands within a condition


def plans_of(call):
    """What a call and its gradient put on the tape."""
    executor.flush("a new start")
    out = call()
    if isinstance(out, torch.Tensor) and out.requires_grad and out.is_floating_point():
        out.sum().backward()
    return [node[0] for node in executor.LOCAL.segment.nodes]


def with_calls(plan):
    """The jaxpr of a plan whose jitted functions are calls."""
    structs = [a.struct for a in plan.inputs] + [scalar_struct(kind) for kind in plan.scalar_kinds]
    with compat.x64():
        return compat.trace(plan.function, structs)


def primitives(closed):
    """How often each primitive stands in it; numbers that are converted may have been so before."""
    return collections.Counter(e.name for e in flattened(closed).equations if e.name != "convert_element_type")


def built(args):
    return [torch.tensor(a, requires_grad=isinstance(a[0], float) or isinstance(a[0], list) and isinstance(a[0][0], float))
            if isinstance(a, list) else a for a in args]


@pytest.mark.parametrize("name", LOOPS)
def test_loops_stay_loops(name):
    plans = plans_of(LOOPS[name])
    assert plans
    for plan in plans:
        with compat.x64():
            assert primitives(plan.jaxpr()) == primitives(with_calls(plan)), plan


@pytest.mark.parametrize("name", sorted(set(LOOPS) - FEW_ROUNDS))
def test_these_have_a_loop(name):
    assert any(primitives(plan.jaxpr())["scan"] for plan in plans_of(LOOPS[name]))


def test_the_equations_are_those_of_a_trace_with_calls():
    plans = {plan for name, args, kwargs in SIMPLE if name != "heaviside"               # which has no gradient
             for plan in plans_of(functools.partial(getattr(torch, name), *built(args), **kwargs))}
    assert len(plans) > 150
    for plan in plans:
        assert primitives(plan.jaxpr()) == primitives(with_calls(plan)), plan
        assert not any(e.primitive.name in ("jit", "pjit") for e in plan.jaxpr().eqns), plan


def test_jax_would_write_a_scan_out():
    """Why there is a room of loops: if this changes it may go."""
    with jax.disable_jit():
        made = jax.make_jaxpr(lambda x: jax.lax.scan(lambda total, y: (total + y, total), 0.0, x))(jax.numpy.ones(4))
    assert not any(e.primitive.name == "scan" for e in made.eqns)


def test_operators_take_their_loops_from_that_room():
    rooms = pathlib.Path(torch.__file__).parent / "ops"
    bare = re.compile(r"lax\.(scan|fori_loop|map)\(|jnp\.searchsorted\(|linalg\.expm\b")
    found = [str(path.relative_to(rooms)) for path in rooms.rglob("*.py") if path.name != "loops.py" and bare.search(path.read_text())]
    assert not found
