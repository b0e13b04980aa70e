"""Orders of many numbers are found in other ways than those of few."""
import numpy as np
import pytest

import jtensor as torch
from jtensor.ops.families.sort import MANY

DRAWS = np.random.default_rng(0)
EXTREME = 2**63 - 1


@pytest.mark.parametrize("least, most", [(0, 10), (-1000, 1000), (-EXTREME, EXTREME), (EXTREME - 5, EXTREME)])
def test_integers_in_order(least, most):
    for shape, dim in (((MANY,), 0), ((64, 100), 0), ((64, 100), 1), ((MANY, 1), 1)):
        a = DRAWS.integers(least, most, shape)
        for descending in (False, True):
            values, places = torch.from_numpy(a).sort(dim=dim, descending=descending, stable=True)
            expected = np.argsort(~a if descending else a, axis=dim, kind="stable")
            assert (places.numpy() == expected).all() and (values.numpy() == np.take_along_axis(a, expected, dim)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8], ids=str)
def test_medians_of_many_numbers_are_those_of_few(dtype):
    for nans in (0, 1, MANY // 2 + 3, MANY + 2) if dtype.is_floating_point else (0,):
        x = torch.from_numpy(DRAWS.normal(size=MANY + 2) * 50).to(dtype)
        x[torch.from_numpy(DRAWS.permutation(MANY + 2)[:nans])] = float("nan") if nans else 0
        for function in (torch.median, torch.nanmedian):
            many, few = function(x), function(x, 0).values               # along a dimension all are put in order
            assert many.dtype is dtype and (many == few or many.isnan() and few.isnan())
    ends = torch.tensor([-EXTREME - 1, EXTREME]).repeat(MANY)
    assert ends.median().item() == -EXTREME - 1
