"""Remainders of many numbers are computed another way than those of few, with the same bits."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.ops.families.division import MANY


def spread(draws, powers):
    return np.ldexp(draws.normal(size=MANY), draws.integers(-powers, powers, MANY)).astype(np.float32)


@pytest.mark.parametrize("powers", [(3, 3), (60, 3), (100, 20)])
def test_remainders_of_many_numbers_are_those_of_few(powers):
    draws = np.random.default_rng(0)
    a, b = (spread(draws, p) for p in powers)
    a[:6], b[:6] = [np.inf, np.nan, 5, -0.0, -6, 5], [2, 2, np.inf, 3, 3, 0]
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    for function in (torch.fmod, torch.remainder, torch.floor_divide):
        few = torch.cat([function(x[k:k + MANY // 2], y[k:k + MANY // 2]) for k in (0, MANY // 2)])
        for _ in range(2):
            many = function(x, y)
            assert np.array_equal(many.numpy(), few.numpy(), equal_nan=True)
            assert (many.signbit() == few.signbit()).logical_or(many.isnan()).all()
    with np.errstate(invalid="ignore"):
        exact = np.fmod(a, b)
    exact[abs(exact) < np.finfo(np.float32).tiny] *= 0
    assert np.array_equal(torch.fmod(x, y).numpy(), exact, equal_nan=True)


def test_slopes_at_multiples_of_the_divisor():
    x, one = torch.arange(-8.0, 8.0).repeat(MANY // 16), torch.ones(MANY)
    assert torch.func.jvp(lambda t: torch.fmod(t, 2), (x,), (one,))[1].unique().tolist() == [1.0]
    assert torch.func.jvp(lambda t: torch.fmod(x, t), (one * 2,), (one,))[1].tolist() == (-(x / 2).trunc()).tolist()
