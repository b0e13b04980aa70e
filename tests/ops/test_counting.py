"""How many are true: counted in bytes where there are many, the same number as one by one."""
import numpy as np
import pytest

import jtensor as torch

SHAPES = [(0,), (5,), (1024,), (16384,), (16385,), (40001,), (100, 1024), (17, 1030), (3, 32769), (2, 3, 2048), (129, 127), (2000, 9), ()]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("share", [0.7, 1.0])
def test_truth_values_add_up(shape, share):
    """All true too: then a byte would be the first to overflow."""
    array = np.random.default_rng(0).random(shape) < share
    x = torch.tensor(array)
    for axis in (None, *range(-len(shape), 0)):
        found = x.sum() if axis is None else x.sum(axis)
        assert found.dtype is torch.int64
        np.testing.assert_array_equal(found.numpy(), array.sum(axis))
        np.testing.assert_array_equal(torch.count_nonzero(x, axis).numpy(), np.count_nonzero(array, axis))
        if axis is not None:
            np.testing.assert_array_equal(x.sum(axis, keepdim=True, dtype=torch.int64).numpy(), array.sum(axis, keepdims=True))


def test_comparisons_add_up_inside_of_a_program_and_by_themselves():
    x = torch.arange(50000.0) % 7
    total = (x == 3).sum() * 2 + (x > 5).sum()
    assert total.item() == 2 * 7143 + 7142
    with torch.eager():
        assert ((x == 3).sum() * 2 + (x > 5).sum()).item() == total.item()
    assert torch.vmap(lambda row: (row > 0).sum())(torch.ones(3, 20000)).tolist() == [20000] * 3
