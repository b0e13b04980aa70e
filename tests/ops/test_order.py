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


def expected_median(x, ignore):
    """By NumPy's sort, which puts NaNs last."""
    ordered, nans = np.sort(x, -1), np.isnan(x).sum(-1)
    found = []
    for row, missing in zip(ordered.reshape(-1, x.shape[-1]), np.ravel(nans), strict=True):
        there = len(row) - missing if ignore else len(row)
        found.append(float("nan") if missing and not ignore or not there else row[(there - 1) // 2])
    return np.array(found).reshape(x.shape[:-1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8], ids=str)
def test_medians_of_many_numbers(dtype):
    for nans in (0, 1, MANY // 2 + 3, MANY + 2) if dtype.is_floating_point else (0,):
        x = torch.from_numpy(DRAWS.normal(size=MANY + 2) * 50).abs().to(dtype)
        x[torch.from_numpy(DRAWS.permutation(MANY + 2)[:nans])] = float("nan") if nans else 0
        for function in (torch.median, torch.nanmedian):
            expected = expected_median(x.double().numpy(), function is torch.nanmedian)
            along = function(x, 0)
            for many in (function(x), along.values, x[along.indices]):
                assert many.dtype is dtype and np.array_equal(many.double().numpy(), expected, equal_nan=True)
    ends = torch.tensor([-EXTREME - 1, EXTREME]).repeat(MANY)
    assert ends.median().item() == -EXTREME - 1


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_of_many_along_an_axis(axis):
    shape = [3, 4, 5]
    shape[axis] = MANY // 4
    x = np.round(DRAWS.normal(size=shape) * 100).astype(np.float32)                # some are equal
    x[tuple(np.zeros((2, 3), int) + [[1], [2]] % np.array(shape))] = np.nan
    ordered, t = np.sort(x, axis), torch.from_numpy(x.copy())
    for k in (1, 77, shape[axis]):
        values, places = t.kthvalue(k, axis, keepdim=True)
        assert np.array_equal(values.numpy(), np.take(ordered, [k - 1], axis), equal_nan=True)
        assert np.array_equal(np.take_along_axis(x, places.numpy(), axis), values.numpy(), equal_nan=True)
    for function in (torch.median, torch.nanmedian):
        found = function(t, axis).values.numpy()
        assert np.array_equal(found, expected_median(np.moveaxis(x, axis, -1), function is torch.nanmedian), equal_nan=True)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.uint64, np.float32, np.bool_], ids=lambda dtype: dtype.__name__)
def test_distinct_elements_in_every_way(dtype):
    """Counted, sorted, and with their places."""
    wide = [(-EXTREME, EXTREME), (EXTREME - 5, EXTREME)] if np.dtype(dtype).itemsize > 1 else []
    for least, most in [(0, 5), (0, 128) if np.dtype(dtype).kind in "ub" else (-128, 128), *wide]:
        least = max(least, 0) if dtype is np.uint64 else least
        x = DRAWS.integers(least, most, (20, 11)).astype(dtype)
        if dtype is np.uint64:
            x += np.uint64(EXTREME)                                             # beyond what int64 holds
        if dtype is np.float32:
            x[0, 2:4] = np.nan
        values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
        for places in (False, True):
            for how_often in (False, True):
                found = torch.unique(torch.from_numpy(x), return_inverse=places, return_counts=how_often)
                found = found if isinstance(found, tuple) else (found,)
                expected = values, *([inverse.reshape(x.shape)] if places else []), *([counts] if how_often else [])
                for one, other in zip(found, expected, strict=True):
                    assert np.array_equal(one.numpy(), other, equal_nan=dtype is np.float32) and one.dtype is not None
                assert found[0].numpy().dtype == dtype and all(t.dtype is torch.int64 for t in found[1:])
    assert torch.unique(torch.zeros(0, dtype=torch.int32)).dtype is torch.int32


def test_distinct_elements_of_bfloat16():
    x = torch.tensor([3, 1, float("nan"), 2, 1, float("nan"), 2], dtype=torch.bfloat16)
    values, counts = torch.unique(x, return_counts=True)
    assert values.dtype is torch.bfloat16 and values[:3].tolist() == [1, 2, 3] and values[3:].isnan().all() and len(values) == 5
    assert counts.tolist() == [2, 2, 1, 1, 1]


@pytest.mark.parametrize("inverse", [False, True])
def test_of_two_zeros_the_first_is_distinct(inverse):
    for numbers in ([1, 0.0, -0.0, 2, -0.0], [1, -0.0, 0.0, 0.0, 2]):
        found = torch.unique(torch.tensor(numbers), return_inverse=inverse)
        values = found[0] if inverse else found
        assert values.tolist() == [0, 1, 2] and values[0].signbit().item() == (str(numbers[1]) == "-0.0")
