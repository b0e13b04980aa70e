"""Last bits: the fused multiply-adds against exact fractions, the C library's functions against Python's, the JAX twin against numpy."""

import math
from fractions import Fraction

import numpy as np
import pytest

from jtensor.random import exact, normals, normals_jax
from jtensor.random.mt19937 import MT19937


def _nearest32(x):
    """An exact fraction rounded to float32 once."""
    near = np.float32(float(x))
    return min((np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))), key=lambda y: _distance(y, x))


def _distance(y, x):
    return abs(Fraction(float(y)) - x), int(y.view(np.uint32)) & 1


@pytest.mark.parametrize(
    "b, c", [(0.3, 0.7), (3.0, 1.0), (0.1, -2.5), (1e-3, 1e3), (0.75, 16777215.0), (1.0, 2.0**-25), (5.0, 1e-10), (2.0, 0.0)]
)
def test_fma32_rounds_once(b, c):
    b, c = float(np.float32(b)), float(np.float32(c))
    a = np.random.RandomState(1).randn(300).astype(np.float32)
    a[:4] = 1.0, 1.0 + 2.0**-23, 1.5, -1.0
    expected = [_nearest32(Fraction(float(x)) * Fraction(b) + Fraction(c)) for x in a]
    np.testing.assert_array_equal(exact.fma32(a, b, c), np.array(expected, np.float32))


@pytest.mark.parametrize("b, c", [(0.3, 0.7), (1.0, 0.7), (-1.0, 3.0), (0.1, -0.05), (1e-3, 1e3), (1e18, 1e-18), (1e250, 1.0), (2.0, 0.0)])
def test_fma64_rounds_once(b, c):
    a = np.random.RandomState(2).randn(300)
    expected = [float(Fraction(x) * Fraction(b) + Fraction(c)) for x in a.tolist()]
    np.testing.assert_array_equal(exact.fma64(a, b, c), expected)


def test_fma_lets_infinities_and_nans_through():
    a = np.array([0.5, -2.0])
    np.testing.assert_array_equal(exact.fma64(a, math.inf, 1.0), [math.inf, -math.inf])
    assert np.isnan(exact.fma64(a, 1.0, math.nan)).all()


@pytest.mark.parametrize(
    "name, low, high", [("log", 0, 1), ("log1p", -1, 0), ("exp", -8, 8), ("sin", 0, 6.3), ("cos", 0, 6.3), ("tan", -1.57, 1.57)]
)
def test_functions_are_the_c_librarys(name, low, high):
    x = np.random.RandomState(3).uniform(low, high, 20000)
    np.testing.assert_array_equal(getattr(exact, name)(x), [getattr(math, name)(v) for v in x.tolist()])
    np.testing.assert_array_equal(getattr(exact, name)(x[:5]), [getattr(math, name)(v) for v in x[:5].tolist()])


def test_functions_at_their_edges():
    for size in (1, 100):
        assert (exact.log(np.zeros(size)) == -math.inf).all()
        assert (exact.log1p(np.full(size, -1.0)) == -math.inf).all()
        assert (exact.exp(np.full(size, 1000.0)) == math.inf).all()


@pytest.mark.parametrize("mean, std", [(0.0, 1.0), (0.5, 0.7), (-0.0, 2.0), (1e4, 1e-3)])
@pytest.mark.parametrize("few", [False, True])
def test_the_jax_twins_give_the_same_bits(few, mean, std):
    program, chunk = (normals_jax.FOR_FEW, normals_jax.FEW) if few else (normals_jax.PROGRAM, normals_jax.CHUNK)
    mean, std = float(np.float32(mean)), float(np.float32(std))
    for n in (16, 17, 70, chunk - 1, chunk, chunk + 5, 2 * chunk + 37):
        for fill_first, standard in ((True, normals._standard32), (False, normals._standard_half)):
            one, other = MT19937(n), MT19937(n)
            quick = normals_jax.normal32(program.now(), chunk, one, n, mean, std, fill_first)
            plain = normals.stretched32(standard(other, n), std, mean)
            np.testing.assert_array_equal(quick.view(np.uint32), plain.view(np.uint32))
            assert one.state_bytes() == other.state_bytes()


def test_the_jax_twin_knows_its_limits():
    assert normals_jax.PROGRAM.now() is not None and normals_jax.FOR_FEW.now() is not None
    for mean, std in ((math.nan, 1.0), (0.0, math.nan), (0.0, math.inf), (0.0, 0.0), (1e-30, 1.0), (0.0, 1e-30)):
        assert normals_jax.serves(1 << 23, mean, std) is None
    assert normals_jax.serves(1 << 23, 0.0, 1.0) and normals_jax.serves(16, 0.0, 1.0)


def test_a_fused_step_too_many_is_found_out():
    """The proof rejects a program that rounds elsewhere: here one whose angle is the sum of two products."""
    import jax

    def careless(words, stretch, zero):
        import jax.numpy as jnp
        u = ((words & 0xFFFFFF).astype(jnp.float32) * np.float32(2.0**-24)).reshape(-1, 2, 8)
        cosine, sine = normals_jax._cos_sin32(jnp, u[:, 1] * np.float32(6) + u[:, 1] * np.float32(0.2831855))
        radius = normals_jax._radius32(jnp, 1 - u[:, 0])
        return [radius * cosine * stretch[0] + stretch[1], radius * sine * stretch[0] + stretch[1]]
    run = jax.jit(careless)
    for chunk in (normals_jax.CHUNK, normals_jax.FEW):
        assert not normals_jax._proven(lambda arrays: run(*arrays), chunk)
