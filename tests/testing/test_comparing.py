"""`assert_close` accepts and refuses what PyTorch's does, with the same words."""
import math

import numpy as np
import pytest

import jtensor

CASES = {
    "one of three": lambda t: ((t.tensor([1.0, 2, 3]), t.tensor([1.0, 2.5, 3])), {}),
    "tolerances": lambda t: ((t.tensor([[1.0, 2, 3]]), t.tensor([[1.0, 2.5, 4]])), {"rtol": 0.1, "atol": 0}),
    "0-d": lambda t: ((t.tensor(1.0), t.tensor(2.0)), {}), "floats": lambda t: ((1.0, 2.0), {}), "ints": lambda t: ((1, 2), {}),
    "bools": lambda t: ((True, False), {}), "texts": lambda t: (("a", "b"), {}), "lists": lambda t: (([1, 2.0], [1, 3.0]), {}),
    "dictionary": lambda t: (({"a": t.tensor([1.0])}, {"a": t.tensor([2.0])}), {}), "keys": lambda t: (({"a": 1}, {"b": 1}), {}),
    "lengths": lambda t: (([1], [1, 2]), {}), "integers": lambda t: ((t.tensor([1]), t.tensor([2])), {}),
    "dtypes": lambda t: ((t.tensor([1]), t.tensor([1.0])), {}),
    "a third of halves": lambda t: ((t.tensor([2.0]).half(), t.tensor([3.0]).half()), {}),
    "a third of integers": lambda t: ((t.tensor([2]), t.tensor([3])), {}),
    "dtypes unchecked": lambda t: ((t.tensor([1]), t.tensor([1.0])), {"check_dtype": False}),
    "shapes": lambda t: ((t.tensor([1.0]), t.tensor([1.0, 2])), {}),
    "nan": lambda t: ((t.tensor([math.nan]), t.tensor([math.nan])), {}),
    "equal nan": lambda t: ((t.tensor([math.nan]), t.tensor([math.nan])), {"equal_nan": True}),
    "message": lambda t: ((t.tensor([1.0]), t.tensor([2.0])), {"msg": lambda text: "before " + text}),
    "one tolerance": lambda t: ((t.tensor([1.0]), t.tensor([1.0])), {"rtol": 1}),
    "list and tensor": lambda t: (([t.tensor([1.0])], [[1.0]]), {}), "none": lambda t: ((None, 1), {}),
    "bool tensors": lambda t: ((t.tensor([True, False]), t.tensor([True, True])), {}),
    "bfloat16": lambda t: ((t.tensor([1.0, 2]).to(t.bfloat16), t.tensor([1.0, 2.02]).to(t.bfloat16)), {}),
    "complex": lambda t: ((t.tensor([1 + 1j]), t.tensor([1 + 2j])), {}),
    "strides": lambda t: ((t.tensor([[1.0, 2], [3, 4]]).t(), t.tensor([[1.0, 3], [2, 4]])), {"check_stride": True}),
    "infinite": lambda t: ((t.tensor([math.inf, math.inf]), t.tensor([math.inf, 1.0])), {}),
    "exact": lambda t: ((t.tensor([1.0, 2]), t.tensor([1.0, 0.0])), {"rtol": 0, "atol": 0}),
    "numbers of NumPy's": lambda t: ((np.float32(1.5), 1.5), {}), "unequal numbers of NumPy's": lambda t: (([np.int64(1)], [2]), {}),
    "truth of NumPy's": lambda t: ((np.bool_(True), False), {}),
    "kinds of numbers": lambda t: ((1.0, 1), {}), "close": lambda t: ((t.tensor([1.0]), t.tensor([1.0 + 1e-7])), {}),
}


def outcome(library, case):
    args, options = CASES[case](library)
    try:
        library.testing.assert_close(*args, **options)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("case", CASES)
def test_same_verdict_and_words(case):
    torch = pytest.importorskip("torch")
    assert outcome(jtensor, case) == outcome(torch, case)


def test_pytest_shows_the_line_that_asserts():
    with pytest.raises(AssertionError) as error:
        jtensor.testing.assert_close(jtensor.ones(2), jtensor.zeros(2))
    assert str(error.traceback.filter(error)[-1].path) == __file__
