"""Continuous distributions made of one uniform or one normal each: exponential, Cauchy, log-normal, and the slopes of ``rrelu``.

All draw doubles for every dtype, compute in double with the C library's functions and round once at the end. Owns these formulas.
Knows the engine, exact arithmetic and the pair-wise normal; arguments are taken as checked.
"""

import math

import numpy as np

from . import exact
from .exact import float32_of, fma64
from .normals import pairwise
from .rounding import FLOAT32, FLOAT64, cast, compute_dtype, rounded
from .uniforms import alike, u53

_FEW = 64  # below, the careful way is as quick as the quick one


def exponential(engine, n, rate=1.0, dtype=FLOAT32):
    """``n`` numbers of the exponential distribution: ``(-1 / rate) * log1p(-u)``."""
    with engine.lock:
        return alike(engine, ("exponential", rate, dtype), n, 2 * n, lambda engine, n: _exponential(engine, n, -1.0 / rate, dtype))


def _exponential(engine, n, scale, dtype):
    u = u53(engine, n)
    np.negative(u, out=u)
    if dtype == FLOAT64 or n < _FEW or not 1e-30 < -scale < 1e30:
        return cast(_in_place(exact.log1p, u, scale), dtype)
    return cast(float32_of(lambda x: np.log1p(x) * scale, lambda x: exact.log1p(x) * scale, u), dtype)


def _in_place(function, u, scale):
    for part in exact.chunks(u.size):
        np.multiply(function(u[part]), scale, out=u[part])
    return u


def cauchy(engine, n, median=0.0, sigma=1.0, dtype=FLOAT32):
    """``n`` numbers of the Cauchy distribution: ``fma(sigma, tan(pi * (u - 0.5)), median)``."""
    with engine.lock:
        u = u53(engine, n)
    u -= 0.5
    u *= math.pi
    median, sigma = float(median), float(sigma)
    if dtype == FLOAT64 or n < _FEW or median != 0.0 or not 1e-20 < sigma < 1e20:
        # around a median the sum can cancel, and what a quick tangent loses would show
        return cast(fma64(exact.tan(u), sigma, median), dtype)
    return cast(float32_of(lambda x: np.tan(x) * sigma + median, lambda x: exact.tan(x) * sigma + median, u), dtype)


def log_normal(engine, n, mean=1.0, std=2.0, dtype=FLOAT32):
    """``n`` numbers whose logarithm is N(mean, std**2). Drawn pair by pair at every size; shares the cached normal."""
    with engine.lock:
        values = fma64(pairwise(engine, n), float(std), float(mean))
    if dtype == FLOAT64 or n < _FEW:
        return cast(exact.exp(values), dtype)
    return cast(float32_of(np.exp, exact.exp, values), dtype)


def rrelu_slopes(engine, n, lower, upper, dtype=FLOAT32):
    """``n`` slopes in [lower, upper) for the elements of ``rrelu``'s input that are <= 0, in their order; no others are drawn for."""
    lower, upper = (rounded(bound, compute_dtype(dtype)) for bound in (lower, upper))
    with engine.lock:
        u = u53(engine, n)
    u *= upper - lower
    u += lower
    return cast(u, dtype)
