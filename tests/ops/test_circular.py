"""Circular functions of float32, and others by float64: rounded as well as can be, the same bits among many numbers as among few, near 0
and far from it."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.ops.families.trigonometry import MANY

DRAWS = np.random.default_rng(0)


@pytest.mark.parametrize("powers", [(-100, 2), (0, 20), (0, 100)])
def test_units_in_the_last_place(powers):
    x = np.ldexp(DRAWS.normal(size=MANY), DRAWS.integers(*powers, MANY)).astype(np.float32)
    x[:1000] = np.arange(1000) * np.float32(np.pi / 2)
    for ours, exact in ((torch.sin, np.sin), (torch.cos, np.cos), (torch.tan, np.tan)):
        many = ours(torch.from_numpy(x)).numpy()
        few = torch.cat([ours(t) for t in torch.from_numpy(x).chunk(4)]).numpy()
        expected = exact(x.astype(np.float64))
        assert np.array_equal(many.view(np.int32), few.view(np.int32))
        most = 1.5 if ours is torch.tan and powers[1] > 20 else 0.56                # far from 0 it is XLA's own
        assert (abs(many - expected) <= most * np.spacing(abs(expected).astype(np.float32))).all()


@pytest.mark.parametrize("name, exact, low, high", [("asin", np.arcsin, -1, 1), ("acos", np.arccos, -1, 1), ("exp2", np.exp2, -125, 127),
                                                    ("log10", np.log10, 0, 3)])
def test_units_in_the_last_place_between_two_numbers(name, exact, low, high):
    x = np.append(DRAWS.uniform(low, high, 4000), [low, high, 0.5, 1, -0.0]).astype(np.float32)
    many = getattr(torch, name)(torch.from_numpy(x)).numpy()
    few = torch.cat([getattr(torch, name)(t) for t in torch.from_numpy(x).split(500)]).numpy()
    with np.errstate(divide="ignore"):
        expected = exact(x.astype(np.float64))
    assert np.array_equal(many.view(np.int32), few.view(np.int32))
    ordinary = np.isfinite(expected)
    assert np.array_equal(many[~ordinary], expected[~ordinary]) and str(many[-1]) == str(expected[-1].astype(np.float32))
    many, expected = many[ordinary], expected[ordinary]
    assert (abs(many - expected) <= 0.51 * np.spacing(abs(expected).astype(np.float32))).all()


def test_odd_numbers_and_slopes():
    inf = float("inf")
    for count in (1, MANY // 4):
        x = torch.tensor([inf, -0.0, 0.0, float("nan")]).repeat(count)
        assert str(x.tan()[:4].tolist()) == "[nan, -0.0, 0.0, nan]" and x.exp2()[:3].tolist() == [inf, 1, 1] and bool(x.exp2()[3].isnan())
        assert x.log10()[:3].tolist() == [inf, -inf, -inf] and bool(x.log10()[3].isnan()) and (-x).log10()[0].isnan()
        assert bool(x.asin()[[0, 3]].isnan().all()) and str(x.asin()[1:3].tolist()) == "[-0.0, 0.0]" and bool(x.acos()[0].isnan())
        assert str(x.sin()[:4].tolist()) == "[nan, -0.0, 0.0, nan]" and str(x.cos()[:4].tolist()) == "[nan, 1.0, 1.0, nan]"
        x = torch.linspace(-3, 3, 4 * count, requires_grad=True)
        x.sin().sum().backward()
        assert torch.equal(x.grad, x.detach().cos())
        slopes = torch.func.jvp(torch.cos, (x.detach(),), (torch.ones(4 * count),))[1]
        assert torch.equal(slopes, -x.detach().sin())
    rows = torch.linspace(0, 9, 3 * MANY).reshape(3, MANY)
    assert torch.equal(torch.func.vmap(torch.sin)(rows), rows.sin()) and torch.equal(torch.func.vmap(torch.tan)(rows), rows.tan())
    assert torch.tensor([10.0, 1000.0, 1e10, 0.1]).log10().tolist() == [1, 3, 10, -1]
