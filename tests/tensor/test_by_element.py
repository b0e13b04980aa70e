"""`apply_`, `map_`, `map2_`, and the constructor of old, `new`: what PyTorch makes of the same."""
import numpy as np
import pytest

import jtensor

torch = pytest.importorskip("torch")
DTYPES = ("float32", "float64", "int64", "uint8", "bool", "bfloat16", "float16", "complex64")


def seen(f, library):
    try:
        made = f(library)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]
    return repr(made), made._version, made.stride(), made.requires_grad


def both(f):
    assert seen(f, jtensor) == seen(f, torch)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_function_on_each_element(dtype):
    for function in (lambda v: v + v, lambda v: 2, lambda v: 2.5, lambda v: not v):
        if dtype == "uint8" or not (function(1) == 2.5 and dtype == "bool"):
            both(lambda t, f=function: t.tensor([[0, 1], [3, 4]], dtype=getattr(t, dtype)).t().apply_(f))


def test_elements_come_in_order_and_what_was_done_stays():
    def until_two(v):
        if v == 2:
            raise ValueError("two")
        order.append(v)
        return v + 10
    shown = []
    for library in (jtensor, torch):
        order, x = [], library.arange(6.).reshape(2, 3)
        with pytest.raises(ValueError, match="two"):
            x.t()[1:].apply_(until_two)
        shown.append((order, x.tolist(), x._version))
        assert library.ones(1).expand(2).apply_(lambda v: v + 1).tolist() == [3, 3]
        z = library.tensor([1 + 2j]).conj()
        assert z.apply_(lambda v: v * 1j).tolist() == [-2 - 1j]                   # of what lies in memory
    assert shown[0] == shown[1]


@pytest.mark.parametrize("f", [
    lambda t: t.arange(4.).reshape(2, 2).map_(t.tensor([1., 2.]), lambda a, b: a * b),
    lambda t: t.arange(4.).map2_(t.tensor([2.]), t.ones(4), lambda a, b, c: a * b + c),
    lambda t: t.ones(2).map_(t.ones(3), lambda a, b: a),
    lambda t: t.ones(2).map_(t.ones(2, dtype=t.float64), lambda a, b: a),
    lambda t: t.ones(2).map2_(t.ones(2), t.ones(2, dtype=t.int64), lambda a, b, c: a),
    lambda t: t.ones(2).map_(3, lambda a, b: a),
    lambda t: t.ones(2).map_(t.ones(2, requires_grad=True), lambda a, b: a),
    lambda t: t.ones(2, requires_grad=True).apply_(lambda a: a),
    lambda t: t.ones(2).apply_(3),
    lambda t: t.ones(2).apply_(lambda v: "a"),
    lambda t: t.arange(2).apply_(lambda v: "a"),
])
def test_other_operands(f):
    both(f)


@pytest.mark.parametrize("f", [
    lambda t: t.ones(1, dtype=t.float64).new([1, 2]),
    lambda t: t.arange(3).new([[1.5], [2]]),
    lambda t: t.ones(1, dtype=t.bool).new((1, 0)),
    lambda t: t.ones(2).new(np.ones(2)),
    lambda t: t.ones(2, requires_grad=True).new([1.]),
    lambda t: t.ones(2).new().new(0, 3),
    lambda t: t.ones(2).new(t.Size([0, 2])),
    lambda t: t.ones(2).new(size=(0,)),
    lambda t: t.ones(2).new(t.ones(2, dtype=t.int64)),
    lambda t: t.ones(2).new(2.5),
    lambda t: t.ones(2).new("a"),
    lambda t: t.ones(2).new(3, device="meta"),
])
def test_the_constructor_of_old(f):
    both(f)


def test_it_takes_the_memory_of_a_tensor():
    x = jtensor.ones(2)
    x.new(x)[0] = 5
    assert x.tolist() == [5, 1]
