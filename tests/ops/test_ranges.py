"""Regular numbers have PyTorch's bits: each is rounded where PyTorch's loops round, in registers of 32 bytes, two a turn.

The law is stated with fractions, so that it needs no PyTorch; where there is one, it is asked as well.
"""
import math
from fractions import Fraction

import numpy as np
import pytest

import jtensor

CALLS = [(0, 1, 0.1), (-1, 1, 0.1), (-5, 5, 0.7), (0.3, 40, 0.37), (7, -4, -0.7), (2.5, 2.6, 0.01), (0, 300, 1), (-3.7, 12, 0.05)]
FLOATS = ["float32", "float64"]


def once(start, step, at):
    return float(Fraction(start) + Fraction(step) * at)


def arange(start, end, step, kind):
    count, width = max(0, math.ceil((end - start) / step)), 32 // kind().itemsize
    whole = count - count % (2 * width)
    return [once(float(kind(once(start, step, at - at % width))), step, at % width) if at < whole else once(start, step, at)
            for at in range(count)]


def linspace(start, end, steps, kind):
    start, end = float(kind(start)), float(kind(end))
    step = float((kind(end) - kind(start)) / kind(max(steps - 1, 1)))
    return [once(start, step, at) if at < steps // 2 or steps == 1 else once(end, -step, steps - 1 - at) for at in range(steps)]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("call", CALLS)
def test_arange_counts_on_from_the_first_of_a_register(call, name):
    found = jtensor.arange(*call, dtype=getattr(jtensor, name)).numpy()
    np.testing.assert_array_equal(found, np.array(arange(*call, getattr(np, name)), name))
    if name == "float32" and call == (-1, 1, 0.1):
        assert found[10] != 0                               # as everybody knows it


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("steps", [1, 2, 7, 100])
@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (0.3, 17.1), (5, -2.2)])
def test_linspace_rounds_once(ends, steps, name):
    found = jtensor.linspace(*ends, steps, dtype=getattr(jtensor, name)).numpy()
    np.testing.assert_array_equal(found, np.array(linspace(*ends, steps, getattr(np, name)), name))


@pytest.mark.parametrize("name", [*FLOATS, "int64", "int32", "uint8"])
def test_as_pytorch(name):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)

    def numbers(library):
        dtype = getattr(library, name)
        made = [library.arange(*call, dtype=dtype) for call in CALLS if name not in ("int64", "uint8")]
        made += [library.linspace(a, b, n, dtype=dtype) for a, b, n in spaces]
        if dtype.is_floating_point:
            with pytest.warns(UserWarning, match="deprecated"):
                made += [library.range(a, b, (b - a) / n, dtype=dtype) for a, b, n in spaces]
        return [(x.shape, x.numpy().tobytes()) for x in made]
    spaces = [(float(a.round(1)), float((a + w).round(1)), int(n)) for a, w, n in
              zip(rng.uniform(0, 9, 40), rng.uniform(1, 90, 40), rng.integers(1, 90, 40), strict=True)]
    assert numbers(jtensor) == numbers(torch)


def test_an_int64_step_of_nothing_and_counts_of_other_integers():
    with pytest.raises(ValueError, match="step must be nonzero"):
        jtensor.arange(0, 2, 0.5, dtype=jtensor.int64)
    assert jtensor.arange(0, 2, 0.5, dtype=jtensor.int32).tolist() == [0, 0, 0, 0]
    assert jtensor.arange(0, 5, 1.5, dtype=jtensor.int32).tolist() == [0, 1, 2, 3]
    assert jtensor.arange(0, 5, 1.5, dtype=jtensor.int64).tolist() == [0, 1, 2, 3, 4]


def test_small_refusals():
    assert jtensor.block_diag().shape == (1, 0)
    for given, said in ((int, "does not inherit from Tensor"), (3, r"cls must be a type \(got int\)")):
        with pytest.raises(TypeError, match=said):
            jtensor.ones(2).as_subclass(given)
