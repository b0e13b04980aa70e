"""Orthogonal polynomials: their angles, their orders beyond all integers, and PyTorch's numbers."""
import itertools
import math

import pytest

import jtensor

INF, NAN = math.inf, math.nan
NAMES = [f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"] + [
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
DEGREES = [-INF, INF, NAN, -3.0, -0.5, 0.0, 0.7, 1.0, 2.0, 5.0, 8.0, 9.0, 10.0, 31.0, 100.0, 129.0, 513.0, 1e19]
PLACES = [-INF, INF, NAN, -3.0, -1.0, -0.999, -0.5, 0.0, 0.3, 0.9, 1.0, 1.2]


@pytest.mark.parametrize("degree", [3, 8, 9, 10**12 + 1])
def test_chebyshevs_are_cosines_of_angles(degree):
    angle = jtensor.tensor([0.1, 0.7, 2.0, 3.0], dtype=jtensor.float64)
    made = jtensor.special.chebyshev_polynomial_t(angle.cos(), degree)
    assert made.tolist() == pytest.approx([math.cos(degree * a) for a in angle.tolist()], abs=1e-14 * degree + 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("degree", [INF, -INF, NAN, 1e19])
def test_an_order_that_is_no_integer_is_negative(name, degree):
    assert getattr(jtensor.special, name)(jtensor.tensor([0.3, 2.0]), jtensor.tensor([degree, degree])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_pytorchs(name, dtype):
    torch = pytest.importorskip("torch")
    x, n = zip(*itertools.product(PLACES, DEGREES))
    ours, wanted = (getattr(T.special, name)(T.tensor(x, dtype=getattr(T, dtype)), T.tensor(n, dtype=getattr(T, dtype))).tolist()
                    for T in (jtensor, torch))
    near = 2e-3 if dtype == "float32" else 1e-8                 # PyTorch's steps are in the type itself
    assert ours == pytest.approx(wanted, rel=near, abs=near, nan_ok=True)
