"""Gradients where a derivative does not exist or jumps: stored, as PyTorch 2.13 gives them."""
import math

import pytest

import jtensor as torch

INF, NAN = math.inf, math.nan

# (what, inputs, gradients of the sum of the result)
TABLE = [
    (lambda x: torch.relu(x), [[-1.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]]),
    (lambda x: x.clamp(0, 1), [[0.0, 0.5, 1.0, 2.0]], [[1.0, 1.0, 1.0, 0.0]]),
    (lambda x: x.clamp_min(0), [[-1.0, 0.0, 1.0]], [[0.0, 1.0, 1.0]]),
    (lambda x: x.abs(), [[-1.0, 0.0, 1.0]], [[-1.0, 0.0, 1.0]]),
    (lambda x: torch.nn.functional.hardtanh(x), [[-1.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]]),
    (lambda x: torch.nn.functional.leaky_relu(x, 0.1), [[-1.0, 0.0, 1.0]], [[0.1, 0.1, 1.0]]),
    (lambda x: torch.nn.functional.elu(x), [[0.0, 1.0]], [[1.0, 1.0]]),
    (lambda x: torch.nn.functional.hardshrink(x), [[-0.5, 0.0, 0.6]], [[0.0, 0.0, 1.0]]),
    (lambda x: torch.nn.functional.hardswish(x), [[-3.0, 0.0, 3.0]], [[0.0, 0.5, 1.0]]),
    (lambda x: torch.threshold(x, 1.0, 0.0), [[1.0, 2.0]], [[0.0, 1.0]]),
    (lambda x: x.norm(), [[0.0, 0.0]], [[0.0, 0.0]]),
    (lambda x: x.norm(INF), [[3.0, -3.0, 1.0]], [[0.5, -0.5, 0.0]]),
    (lambda x: x.norm(1), [[0.0, -2.0]], [[0.0, -1.0]]),
    (lambda x: x.std(), [[2.0, 2.0]], [[0.0, 0.0]]),
    (lambda x: x ** 0.0, [[0.0, 2.0]], [[0.0, 0.0]]),
    (lambda x: x ** 2, [[0.0, -2.0]], [[0.0, -4.0]]),
    (lambda x: x ** 0.5, [[0.0]], [[INF]]),
    (lambda x: x.sqrt(), [[0.0, 4.0]], [[INF, 0.25]]),
    (lambda x, y: x ** y, [[0.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]),
    (lambda x, y: torch.atan2(x, y), [[0.0], [0.0]], [[0.0], [0.0]]),
    (lambda x: x.max(), [[1.0, 3.0, 3.0]], [[0.0, 0.5, 0.5]]),
    (lambda x: x.max(0)[0], [[1.0, 3.0, 3.0]], [[0.0, 1.0, 0.0]]),
    (lambda x: x.min(0)[0], [[1.0, 1.0, 3.0]], [[1.0, 0.0, 0.0]]),
    (lambda x: x.amax(0), [[1.0, 3.0, 3.0]], [[0.0, 0.5, 0.5]]),
    (lambda x: x.median(), [[4.0, 1.0, 2.0, 3.0]], [[0.0, 0.0, 1.0, 0.0]]),
    (lambda x, y: torch.maximum(x, y), [[1.0, 2.0], [1.0, 1.0]], [[0.5, 1.0], [0.5, 0.0]]),
    (lambda x, y: torch.fmax(x, y), [[1.0, NAN], [1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]),
    (lambda x: x.prod(), [[0.0, 2.0, 3.0]], [[6.0, 0.0, 0.0]]),
    (lambda x: x.prod(), [[0.0, 0.0, 3.0]], [[0.0, 0.0, 0.0]]),
    (lambda x: x.prod(), [[0.0, INF, 2.0]], [[INF, 0.0, NAN]]),
    (lambda x: x.prod(0), [[0.0, 0.0, INF]], [[NAN, NAN, 0.0]]),
    (lambda x: x.cumprod(0), [[2.0, 0.0, 3.0]], [[1.0, 8.0, 0.0]]),
    (lambda x: torch.sinc(x), [[0.0]], [[0.0]]),
    (lambda x, y: torch.xlogy(x, y), [[0.0], [0.0]], [[0.0], [NAN]]),
    (lambda x, y: torch.copysign(x, y), [[0.0, 2.0], [-1.0, -1.0]], [[0.0, -1.0], [0.0, 0.0]]),
    (lambda x: x.nan_to_num(), [[NAN, INF, 1.0]], [[0.0, 0.0, 1.0]]),
    (lambda x: torch.special.entr(x), [[1.0]], [[-1.0]]),
    (lambda x: x.logsumexp(0), [[0.0, 0.0]], [[0.5, 0.5]]),
    (lambda x, y: torch.hypot(x, y), [[0.0], [0.0]], [[NAN], [NAN]]),
    *((lambda x, p=p: torch.renorm(x[None] * torch.tensor([[1.0, 1.0], [0.0, 0.0]]), p, 0, 1.0), [[0.0, 0.5]], [[1.0, 1.0]])
      for p in (0.5, 2, 3, INF)),                                                                                  # a row of zeros stays
]


@pytest.mark.parametrize("function, inputs, gradients", TABLE, ids=[str(i) for i in range(len(TABLE))])
def test_gradient_at_a_corner(function, inputs, gradients):
    leaves = [torch.tensor(x, requires_grad=True) for x in inputs]
    for recorded in (False, True):                                         # it has a formula of its own where it is differentiated again
        found = torch.autograd.grad(function(*leaves).sum(), leaves, create_graph=recorded)
        for gradient, expected in zip(found, gradients, strict=True):
            assert gradient.tolist() == pytest.approx(expected, nan_ok=True, rel=1e-6)


@pytest.mark.parametrize("others", [[INF], [NAN, 2.0]])
def test_two_factors_of_zero_leave_nothing_of_the_others(others):
    """Unless the gradient is to be differentiated again, for which PyTorch multiplies them."""
    x = torch.tensor([0.0, 0.0, *others], requires_grad=True)
    plain, = torch.autograd.grad(x.prod(), x)
    recorded, = torch.autograd.grad(x.prod(), x, create_graph=True)
    assert plain.tolist() == [0.0] * len(x) and recorded.requires_grad and recorded[:2].isnan().all()


def test_the_norm_that_counts_has_no_gradient():
    for function in (lambda x: x.norm(0), lambda x: torch.linalg.vector_norm(x, 0.0, 0), lambda x: torch.dist(x, x * 2, 0)):
        leaf = torch.tensor([1.0, 0.0], requires_grad=True)
        result = function(leaf)
        result.backward()
        assert result.requires_grad and leaf.grad is None


@pytest.mark.parametrize("function, inputs, gradients", TABLE, ids=[str(i) for i in range(len(TABLE))])
def test_the_table_is_pytorchs(function, inputs, gradients):
    oracle = pytest.importorskip("torch")
    leaves = [oracle.tensor(x, requires_grad=True) for x in inputs]
    rebound = type(function)(function.__code__, {**globals(), "torch": oracle}, argdefs=function.__defaults__)
    rebound(*leaves).sum().backward()
    for leaf, expected in zip(leaves, gradients):
        assert leaf.grad.tolist() == pytest.approx(expected, nan_ok=True, rel=1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("value", [1.5, INF, -INF, NAN])
def test_softmax_of_a_number_is_that_of_one_element(name, value):
    """Also where the result was changed behind the graph's back before its gradient is asked for."""
    found = []
    for shape in ((), (1,)):
        x = torch.full(shape, value, requires_grad=True)
        y = getattr(torch, name)(x, 0)
        found.append(y.item())
        y.data.add_(1)
        y.sum().backward()
        found.append(x.grad.item())
    assert repr(found[:2]) == repr(found[2:])
