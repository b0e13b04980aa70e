"""Complex numbers with a part that is infinite or NaN: PyTorch's answers, alone and in a program."""
import itertools

import pytest

import jtensor

PARTS = [float("inf"), float("-inf"), float("nan"), 1.0, -3.0, 0.0]
NUMBERS = [complex(*parts) for parts in itertools.product(PARTS, PARTS)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["exp", "abs", "log", "sinh", "cosh", "sin", "cos"])
def test_functions_of_one(name, dtype):
    torch = pytest.importorskip("torch")
    ours, theirs = (library.tensor(NUMBERS, dtype=getattr(library, dtype)) for library in (jtensor, torch))
    want = getattr(theirs, name)()
    for found in (getattr(ours, name)(), getattr(ours.t().clone(), name)() + 0):
        pairs = zip(NUMBERS, jtensor.view_as_real(found + 0j).tolist(), torch.view_as_real(want + 0j).tolist(), strict=True)
        for number, a, b in pairs:
            assert a == [pytest.approx(part, rel=1e-6, nan_ok=True) for part in b], number


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_logarithms_of_sums(dtype):
    torch = pytest.importorskip("torch")
    found = []
    for library in (jtensor, torch):
        x = library.tensor(NUMBERS, dtype=getattr(library, dtype))
        rows, columns = x[:, None].expand(36, 36).contiguous(), x.expand(36, 36).contiguous()
        found.append(library.view_as_real(library.logaddexp(rows, columns)))
    ours, theirs = (one.tolist() for one in found)
    assert ours == [[[pytest.approx(part, rel=1e-5, nan_ok=True) for part in pair] for pair in row] for row in theirs]


@pytest.mark.parametrize("name", ["sinh", "cosh", "sin", "cos"])
def test_near_zero_and_far_from_it(name):
    """Beside 0 a difference of exponential functions is nothing but rounding; far from it the exponent's own rounding counts."""
    torch = pytest.importorskip("torch")
    numbers = [1e-8 + 2e-8j, 1e-3 - 1e-3j, 1e-20 + 3j, 0.5 + 1e-12j, 85.3 - 2j, -85.3 + 1j, 1 + 85.3j, 80j]
    for dtype, digits in (("complex64", 1e-6), ("complex128", 2e-15)):
        ours, theirs = (getattr(library.tensor(numbers, dtype=getattr(library, dtype)), name)().tolist() for library in (jtensor, torch))
        assert ours == [pytest.approx(one, rel=digits, abs=0) for one in theirs]
