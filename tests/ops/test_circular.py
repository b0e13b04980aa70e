"""Sines and cosines of float32: rounded as well as can be, the same bits among many numbers as among few, near 0 and far from it."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.ops.families.trigonometry import MANY

DRAWS = np.random.default_rng(0)


@pytest.mark.parametrize("powers", [(-100, 2), (0, 20), (0, 100)])
def test_units_in_the_last_place(powers):
    x = np.ldexp(DRAWS.normal(size=MANY), DRAWS.integers(*powers, MANY)).astype(np.float32)
    x[:1000] = np.arange(1000) * np.float32(np.pi / 2)
    for ours, exact in ((torch.sin, np.sin), (torch.cos, np.cos)):
        many = ours(torch.from_numpy(x)).numpy()
        few = torch.cat([ours(t) for t in torch.from_numpy(x).chunk(4)]).numpy()
        expected = exact(x.astype(np.float64))
        assert np.array_equal(many.view(np.int32), few.view(np.int32))
        assert (abs(many - expected) <= 0.56 * np.spacing(abs(expected).astype(np.float32))).all()


def test_odd_numbers_and_slopes():
    inf = float("inf")
    for count in (1, MANY // 4):
        x = torch.tensor([inf, -0.0, 0.0, float("nan")]).repeat(count)
        assert str(x.sin()[:4].tolist()) == "[nan, -0.0, 0.0, nan]" and str(x.cos()[:4].tolist()) == "[nan, 1.0, 1.0, nan]"
        x = torch.linspace(-3, 3, 4 * count, requires_grad=True)
        x.sin().sum().backward()
        assert torch.equal(x.grad, x.detach().cos())
        slopes = torch.func.jvp(torch.cos, (x.detach(),), (torch.ones(4 * count),))[1]
        assert torch.equal(slopes, -x.detach().sin())
    rows = torch.linspace(0, 9, 3 * MANY).reshape(3, MANY)
    assert torch.equal(torch.func.vmap(torch.sin)(rows), rows.sin())
