"""Special functions where few digits would be left of a plain formula, against numbers of 20 digits."""
import pytest

import jtensor


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithms_of_areas_beside_1_and_of_nothing(dtype):
    """Compared with 40 digits: XLA's own are off by 7 per cent at 8, and in the eleventh digit at -20."""
    exact = {8.0: -6.2209605742717860585e-16, 5.0: -2.8665161296376359338e-07, 1.0: -0.17275377902344988953, 0.0: -0.69314718055994530942,
             -0.75: -1.484448229919656292, -5.0: -15.064998393988725736, -20.0: -203.91715537109726394}
    found = jtensor.special.log_ndtr(jtensor.tensor([*exact], dtype=getattr(jtensor, dtype))).tolist()
    assert found == pytest.approx(list(exact.values()), rel=1e-7 if dtype == "float32" else 5e-15, abs=0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_number_has_a_hyperbolic_cosine_below_1(dtype):
    x = jtensor.tensor([0.5, -1.0, -3e4, -1e9, float("-inf"), float("nan")], dtype=getattr(jtensor, dtype))
    assert x.acosh().isnan().all()


def test_airys_function_far_to_the_right():
    found = jtensor.special.airy_ai(jtensor.tensor([103.0, 105.0, 1e7, 1e300], dtype=jtensor.float64)).tolist()
    assert found[0] == pytest.approx(1.9562320229339847e-304, rel=1e-9, abs=0) and found[1:] == [0, 0, 0]


def test_gelu_is_straight_far_from_0_however_often_it_is_differentiated():
    x = jtensor.tensor([-1e30, -75846.0, -1e3, 1e3, 75846.0, 1e30], requires_grad=True)
    y = jtensor.nn.functional.gelu(x)
    slope, = jtensor.autograd.grad(y.sum(), x, create_graph=True)
    bend, = jtensor.autograd.grad(slope.sum(), x)
    assert y.tolist()[:3] == [0, 0, 0] and y[3:].equal(x[3:]) and slope.tolist() == [0, 0, 0, 1, 1, 1] and bend.tolist() == [0] * 6
