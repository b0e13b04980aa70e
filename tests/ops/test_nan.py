"""NaN goes through the extremes, however many numbers there are."""
import pytest

import jtensor as torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_extremes_of_many_numbers_keep_a_nan(dtype):
    x = torch.arange(80.0 * 80).sin().to(dtype).reshape(80, 80)
    x[40, 3] = float("nan")
    rows = [k == 40 for k in range(80)]
    for _ in range(2):                                              # the second time as one program
        y = x * 2
        for found in (y.max(), y.min(), y.amax(), (-y).amin(), *y.aminmax()):
            assert found.isnan()
        assert y.amax(1).isnan().tolist() == y.min(1).values.isnan().tolist() == rows
        assert y.amin(0).isnan().tolist() == [k == 3 for k in range(80)]
        assert y[:40].amax() == y[:40].to(torch.float64).amax() and not y[:40].amin().isnan()


def test_extremes_of_rows_whose_sums_are_no_numbers():
    """Where infinities meet, or a sum overflows, the sum that looks for NaNs is NaN without one."""
    inf, nan, far = float("inf"), float("nan"), 3e38
    rows = [[], [inf, -inf], [nan, inf, -inf], [far, far, -far, -far], [nan], [-inf]]
    x = torch.arange(6.0 * 11000).sin().reshape(6, 11000)
    for row, odd in zip(x, rows, strict=True):
        row[5:5 + len(odd)] = torch.tensor(odd)
    highest, lowest = [1, inf, nan, torch.tensor(far).item(), nan, 1], [-1, -inf, nan, torch.tensor(-far).item(), nan, -inf]
    for y in (x, x * 1):
        for found, wanted in ((y.amax(1), highest), (y.min(1).values, lowest), (y.t().amax(0), highest)):
            torch.testing.assert_close(found, torch.tensor(wanted), equal_nan=True, atol=1e-4, rtol=1e-4)
        assert y.max().isnan() and y[3:4].amax().item() == torch.tensor(far).item() and y[1].min() == -inf


@pytest.mark.parametrize("sizes", [(2, 5), (3, 7), (7, 4)])
def test_adaptive_means_keep_a_nan_to_its_windows(sizes):
    x = torch.arange(56.0).reshape(1, 7, 8)
    whole = torch.nn.functional.adaptive_avg_pool2d(x, sizes)
    for odd in (float("nan"), float("inf")):
        y = x.clone()
        y[0, 3, 5] = odd
        found = torch.nn.functional.adaptive_avg_pool2d(y, sizes)
        hit = torch.nn.functional.adaptive_avg_pool2d((x == x[0, 3, 5]).float(), sizes) > 0
        assert (found == whole).tolist() == (~hit).tolist() and 0 < hit.sum() < 7
