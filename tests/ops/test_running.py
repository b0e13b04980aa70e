"""What runs along a dimension has PyTorch's bits: it goes from place to place, in the type PyTorch adds up in."""
import jax
import numpy as np
import pytest

import jtensor
from jtensor.ops.families import running, scan
from jtensor.trace import plan

torch = pytest.importorskip("torch")
SHAPES = [((1,), 0), ((7,), 0), ((37,), 0), ((5, 17), 0), ((5, 17), 1), ((3, 1), 1), ((1, 40), 1), ((2, 0), 1), ((), 0)]
ODD = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0]


def numbers(shape, dtype, seed=0):
    x = np.random.default_rng(seed).normal(size=shape) * 3
    if seed:
        flat = x.reshape(-1)
        flat[::4] = (ODD * len(flat))[:len(flat[::4])]
    return [T.tensor(x.tolist(), dtype=T.float64).reshape(shape).to(getattr(T, dtype)) for T in (torch, jtensor)]


def same(theirs, ours):
    assert str(theirs.dtype) == str(ours.dtype)
    theirs, ours = (np.asarray(t.detach().double().tolist()) for t in (theirs, ours))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours) & ~np.isnan(ours), np.signbit(theirs) & ~np.isnan(theirs))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "int64", "uint8"])
def test_sums_products_and_extremes_have_pytorchs_bits(dtype):
    for seed in (0, 1) if "float" in dtype else (0,):
        for shape, dim in SHAPES:
            theirs, ours = numbers(shape, dtype, seed)
            same(theirs.cumsum(dim), ours.cumsum(dim))
            same((theirs / 4 if dtype == "float16" else theirs).cumprod(dim), (ours / 4 if dtype == "float16" else ours).cumprod(dim))
            for one, other in zip(theirs.cummax(dim), ours.cummax(dim), strict=True):
                same(one, other)


def test_gradients_of_products_with_zeros_and_of_logarithms():
    for shape, dim in SHAPES:
        for zeros in (False, True):
            theirs, ours = numbers(shape, "float64")
            if zeros:
                theirs, ours = (t * (t > -2) for t in (theirs, ours))
            for function in ("cumprod", "logcumsumexp", "cumsum"):
                found = []
                for t in (theirs, ours):
                    x = t.clone().requires_grad_()
                    y = getattr(x, function)(dim)
                    (y * t.cos()).sum().backward()
                    found.append([np.asarray(y.tolist()), np.asarray(x.grad.tolist())])
                for one, other in zip(*found, strict=True):
                    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-12)


def test_logarithms_of_sums_at_infinities_and_of_small_shares():
    inf = float("inf")
    for row in ([-inf, -inf, 0.0, -46.0, 5.0], [inf, 0.0, inf, -inf], [-inf, inf, inf], [0.0, float("nan"), inf], [0.0, -46.0, -46.0],
                [100.0, 100.0, -100.0, 103.0]):
        for dtype in ("float32", "float64"):
            x = torch.tensor(row, dtype=getattr(torch, dtype)).logcumsumexp(0)
            y = jtensor.tensor(row, dtype=getattr(jtensor, dtype)).logcumsumexp(0)
            np.testing.assert_allclose(y.tolist(), x.tolist(), rtol=1e-15 if dtype == "float64" else 0)


def test_under_transformations():
    x = jtensor.arange(1.0, 13.0).reshape(3, 4)
    assert jtensor.func.vmap(lambda row: row.cumsum(0))(x).tolist() == x.cumsum(1).tolist()
    assert jtensor.func.jvp(lambda t: t.cumprod(1), (x,), (jtensor.ones(3, 4),))[1][0].tolist() == [1.0, 3.0, 11.0, 50.0]
    assert jtensor.func.vmap(lambda row: row.prod())(x).tolist() == x.prod(1).tolist()


def test_on_an_accelerator_it_is_a_tree(monkeypatch):
    """There a turn of a loop would be a kernel."""
    x = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    found = []
    for on_cpu in (True, False):
        for module in (running, plan):
            monkeypatch.setattr(module, "is_for_cpu", lambda on_cpu=on_cpu: on_cpu)
        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(lambda a: running.running_sum(a, 1))(x)
            assert ("scan" in {e.primitive.name for e in jaxpr.eqns}) is on_cpu
            found.append(jax.jit(lambda a: [running.running_sum(a, 1, reverse=True), scan._log_running(a, 1),
                                            *scan._running_extremum(a, 1, scan._less)])(x))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
