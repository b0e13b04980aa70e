"""Refused arguments: the type and the text of the exception are PyTorch's, and nothing was drawn."""

import warnings

import ml_dtypes
import numpy as np
import pytest

from jtensor.random import checks

torch = pytest.importorskip("torch")
NAN, INF = float("nan"), float("inf")
DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()


def _np(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def _outcome(function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            function()
        except Exception as error:
            return type(error).__name__, str(error)
    return [str(w.message).split(" (Triggered")[0] for w in seen if "bounds" in str(w.message)]


def _same(mine, theirs, label):
    def spoken():
        for text in mine() or ():
            warnings.warn(text, stacklevel=1)

    assert _outcome(spoken) == _outcome(theirs), label


PAIRS = {
    "uniform_": (
        [(2, 1), (NAN, 1), (0, INF), (-3e38, 3e38), (-1e39, 0), (0, 1), (0, 7e4), (-6e4, 6e4)],
        lambda a, d: checks.uniform(*a, d),
    ),
    "normal_": ([(0, -1), (0, NAN), (0, 1)], lambda a, d: checks.normal(a[1], d)),
    "exponential_": ([(0,), (-1,), (NAN,), (2,)], lambda a, d: checks.exponential(*a, d)),
    "cauchy_": ([(0, 0), (0, -0.5), (0, NAN), (NAN, 1)], lambda a, d: checks.cauchy(*a, d)),
    "log_normal_": ([(0, 0), (0, -1 / 3), (0, NAN), (0, 1)], lambda a, d: checks.log_normal(a[1], d)),
    "geometric_": ([(0,), (1,), (1.5,), (NAN,), (0.5,)], lambda a, d: checks.geometric(*a, d)),
    "bernoulli_": ([(-0.1,), (1.5,), (NAN,), (0.5,)], lambda a, d: checks.bernoulli(*a, d)),
    "random_": (
        [(2, 2), (3, 2), (0, 257), (-1, 25), (0, 3), (0, 70000), (0, 2**25), (0, 2), (2**53 + 1, 2**53 + 9), (-(2**40), 1), (0, 4000)],
        lambda a, d: checks.integer_range(*a, d),
    ),
    "random_from": ([(300, None), (3, None), (2**24, None), (2**25, None), (-(2**63), None)], lambda a, d: checks.integer_from(a[0], d)),
}


@pytest.mark.parametrize("function", PAIRS)
def test_in_place_fills(function):
    arguments, mine = PAIRS[function]
    for dtype in DTYPES:
        for some in arguments:
            target = torch.empty(3, dtype=getattr(torch, dtype))
            fill = getattr(target, "random_" if function == "random_from" else function)
            _fresh_warnings()
            _same(lambda some=some, dtype=dtype: mine(some, _np(dtype)), lambda fill=fill, some=some: fill(*some), (function, dtype, some))


def _fresh_warnings():
    torch.set_warn_always(True)


def teardown_module():
    torch.set_warn_always(False)


@pytest.mark.parametrize("n", [-1, 0, 3, 129, 257, 2050, 70000, 2**24 + 2])
def test_randperm(n):
    for dtype in DTYPES:
        if dtype == "float64" and n > 1000:
            continue  # 2**53 numbers are no test
        if n < 1000 or dtype not in ("int32", "int64", "bfloat16"):
            target = getattr(torch, dtype)
            _same(lambda dtype=dtype: checks.randperm(n, _np(dtype)), lambda target=target: torch.randperm(n, dtype=target), (n, dtype))


@pytest.mark.parametrize(
    "p",
    [[1.0, 1, 1], [0.0, 0, 0], [-1.0, 2], [NAN, 2], [INF, 2], [-INF, 1], [], [[0.0, 0], [1, 1]], [[0.0, 1], [-1, 1]], [[[1.0]]], 1.0]
    + [[[], []]],
)
def test_multinomial(p):
    for k in (-1, 0, 1, 2, 4):
        for again in (False, True):
            for dtype in ("float32", "float64"):
                weights = np.array(p, dtype)
                if k > 1 and again and weights.shape[-1:] == (0,):
                    continue  # PyTorch reads behind the end of an empty row
                _same(
                    lambda weights=weights, k=k, again=again: checks.multinomial(weights, k, again),
                    lambda weights=weights, k=k, again=again: torch.multinomial(torch.from_numpy(weights), k, again),
                    (p, k, again),
                )
    whole = np.ones(3, np.int64)
    _same(lambda: checks.multinomial(whole, 1, False), lambda: torch.multinomial(torch.from_numpy(whole), 1), "dtype")


@pytest.mark.parametrize("values", [[0.5, 1.0], [1.5], [NAN], [-1.0], []])
def test_arrays_of_parameters(values):
    for dtype in ("float32", "float64", "int64"):
        array = np.array(values).astype(dtype) if NAN not in values or dtype != "int64" else np.array([3])
        tensor = torch.from_numpy(array)
        label = values, dtype
        _same(lambda a=array: checks.bernoulli_probabilities(a, a.dtype), lambda t=tensor: torch.bernoulli(t), label)
        _same(lambda a=array: checks.poisson(a), lambda t=tensor: torch.poisson(t), label)
        if dtype != "int64":
            _same(lambda a=array: checks.normal_deviations(a), lambda t=tensor: torch.normal(0.0, t), label)


def test_dropout():
    f = torch.nn.functional.dropout
    _same(lambda: checks.dropout(1.5), lambda: f(torch.ones(3), 1.5), "functional")
    _same(lambda: checks.dropout(1.5, RuntimeError), lambda: torch.dropout(torch.ones(3), 1.5, True), "torch")
