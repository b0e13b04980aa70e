"""Numbers that a type has no room for, and the types' names by which PyTorch refuses them."""
import itertools

import numpy as np
import pytest

import jtensor

TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
         "complex64", "complex128"]
WRITES = {
    "fill_": lambda T, x, v: x.fill_(v),
    "fill_ of one": lambda T, x, v: x[:1].fill_(v),
    "fill": lambda T, x, v: T.fill(x, v),
    "full": lambda T, x, v: T.full((2,), v, dtype=x.dtype),
    "full of one": lambda T, x, v: T.full((1,), v, dtype=x.dtype),
    "full_like": lambda T, x, v: T.full_like(x, v),
    "set": lambda T, x, v: x.__setitem__(0, v),
    "set all": lambda T, x, v: x.__setitem__(..., v),
    "set by mask": lambda T, x, v: x.__setitem__(x == 0, v),
    "masked_fill_": lambda T, x, v: x.masked_fill_(x == 0, v),
    "index_fill": lambda T, x, v: x.index_fill(0, T.tensor([0]), v),
    "index_fill_ of none": lambda T, x, v: x.index_fill_(0, T.tensor([0])[:0], v),
    "index_add_": lambda T, x, v: x.index_add_(0, T.tensor([0]), x[:1].clone(), alpha=v),
    "scatter_": lambda T, x, v: x.scatter_(0, T.tensor([0]), v),
}
NUMBERS = [1j, 300, -1, 1e39, 300 + 0j, 1e39 + 0j, 1e39j, float("inf"), float("nan")]


def outcome(T, write, dtype, number):
    x = T.zeros(2, dtype=getattr(T, dtype))
    try:
        made = WRITES[write](T, x, number)
    except Exception as error:
        return type(error).__name__, str(error)
    return str(x), str(made)


@pytest.mark.parametrize("write", WRITES)
def test_a_number_that_does_not_fit_is_refused(write):
    torch = pytest.importorskip("torch")
    for dtype, number in itertools.product(["bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"], NUMBERS):
        theirs = outcome(torch, write, dtype, number)
        if theirs[0] == "RuntimeError" or number == 1e39:
            assert outcome(jtensor, write, dtype, number) == theirs, (dtype, number)


LARGE = {
    "mul": lambda T, x: x * 2**63,
    "radd": lambda T, x: (2**64 - 1) + x,
    "eq": lambda T, x: x == 2**63,
    "alpha": lambda T, x: x.add(x, alpha=2**63),
    "value": lambda T, x: T.addcmul(x, x, x, value=2**63),
    "in place": lambda T, x: x.clone().mul_(2**63),
    "clamp": lambda T, x: x.clamp(2**63),
    "fill_": lambda T, x: x.clone().fill_(2**63),
    "full_like": lambda T, x: T.full_like(x, 2**63),
    "new_full": lambda T, x: x.new_full((2,), 2**63),
    "full": lambda T, x: T.full((2,), 2**63, dtype=x.dtype),
    "pad": lambda T, x: T.nn.functional.pad(x, (1, 1), value=2**63),
}


@pytest.mark.parametrize("call", LARGE)
def test_what_has_room_as_uint64_alone_is_a_number_like_others_among_floats(call):
    torch = pytest.importorskip("torch")
    for _ in range(2):
        assert LARGE[call](jtensor, jtensor.ones(2)).tolist() == LARGE[call](torch, torch.ones(2)).tolist()


def test_it_wraps_around_in_integers():
    assert (jtensor.ones(1, dtype=jtensor.int64) * 2**63).tolist() == [-2**63]
    assert (jtensor.ones(1) * 2**63).tolist() == [2.0**63]


MESSAGES = {
    "mm": lambda T, x, y: x.mm(y),
    "baddbmm": lambda T, x, y: T.baddbmm(x[None], y[None], y[None]),
    "lerp": lambda T, x, y: T.lerp(x, y, 0.5),
    "set_": lambda T, x, y: x.set_(y),
    "new": lambda T, x, y: y.new(x),
    "grad": lambda T, x, y: setattr(x.requires_grad_(), "grad", y),
    "masked_fill_": lambda T, x, y: x.masked_fill_(y, 1),
    "bias": lambda T, x, y: T.conv1d(y[None], y[:, :, None], x[0]),
    "bins": lambda T, x, y: T.histogramdd(x, [y[0], y[0]]),
    "weight": lambda T, x, y: T.histogramdd(x, bins=[2, 2], weight=y[0]),
    "cauchy_": lambda T, x, y: y.cauchy_(),
    "exponential_": lambda T, x, y: y.exponential_(),
    "random_": lambda T, x, y: y.random_(2**63 - 2, 2**63 - 1),
}


@pytest.mark.filterwarnings("ignore:from is out of bounds", "ignore:to - 1 is out of bounds")
@pytest.mark.parametrize("call", MESSAGES)
def test_types_go_by_pytorchs_names(call):
    def told(T, dtype):
        x, y = T.zeros(2, 2, dtype=T.float64 if dtype == "float32" else T.float32), T.zeros(2, 2, dtype=getattr(T, dtype))
        try:
            MESSAGES[call](T, x, y)
        except Exception as error:
            return type(error).__name__, str(error)
    torch = pytest.importorskip("torch")
    assert {d: told(jtensor, d) for d in TYPES} == {d: told(torch, d) for d in TYPES}


def test_names_without_pytorch():
    with pytest.raises(RuntimeError, match="type c10::Half without overflow"):
        jtensor.zeros(2, dtype=jtensor.float16).fill_(1e39)
    with pytest.raises(RuntimeError, match="double != short unsigned int"):
        jtensor.zeros(2, 2, dtype=jtensor.float64).mm(jtensor.zeros(2, 2, dtype=jtensor.uint16))
    assert jtensor.full((1,), 1e39, dtype=jtensor.float16).item() == float("inf")


def matrix(x):
    return x[:1].expand(4).reshape(2, 2)


FACTORS = {
    "add": lambda T, x, v: T.add(x, x, alpha=v),
    "sub": lambda T, x, v: T.sub(x, x, alpha=v),
    "rsub": lambda T, x, v: T.rsub(x, x, alpha=v),
    "add_": lambda T, x, v: x.add_(T.ones_like(x), alpha=v),
    "sub_": lambda T, x, v: x.sub_(T.ones_like(x), alpha=v),
    "add_ to a view": lambda T, x, v: x[1:].add_(T.ones_like(x[1:]), alpha=v),
    "add out": lambda T, x, v: T.add(x, x, alpha=v, out=T.empty_like(x)),
    "addcmul": lambda T, x, v: T.addcmul(x, x, x, value=v),
    "addcdiv_": lambda T, x, v: x.addcdiv_(x.clone(), T.ones_like(x), value=v),
    "addmm": lambda T, x, v: T.addmm(matrix(x), matrix(x), matrix(x).t(), beta=v),
    "addmm_": lambda T, x, v: matrix(x).clone().addmm_(matrix(x), matrix(x), alpha=v),
    "addmv": lambda T, x, v: T.addmv(x, matrix(x), x, alpha=v),
    "addr": lambda T, x, v: T.addr(matrix(x), x, x, beta=v),
    "baddbmm": lambda T, x, v: T.baddbmm(matrix(x)[None], matrix(x)[None], matrix(x)[None], beta=v, alpha=1),
    "clamp": lambda T, x, v: T.clamp(x, v),
    "clamp both": lambda T, x, v: T.clamp(x, 1, v),
    "clamp_max_": lambda T, x, v: x.clamp_max_(v),
    "lerp": lambda T, x, v: T.lerp(x, T.ones_like(x), v),
    "threshold": lambda T, x, v: T.nn.functional.threshold(x, v, 1),
    "threshold_": lambda T, x, v: T.nn.functional.threshold_(x, 1, v),
    "hardtanh": lambda T, x, v: T.nn.functional.hardtanh(x, 0, v),
    "leaky_relu": lambda T, x, v: T.nn.functional.leaky_relu(x, v),
    "elu": lambda T, x, v: T.nn.functional.elu(x, v),
    "celu": lambda T, x, v: T.nn.functional.celu(x, v),
    "softplus": lambda T, x, v: T.nn.functional.softplus(x, 1, v),
    "hardshrink": lambda T, x, v: T.nn.functional.hardshrink(x, v),
    "softshrink": lambda T, x, v: T.nn.functional.softshrink(x, v),
    "pad": lambda T, x, v: T.nn.functional.pad(x, (1, 1), value=v),
    "pow": lambda T, x, v: T.pow(x, v),
    "pow_": lambda T, x, v: x.pow_(v),
    "floor_divide": lambda T, x, v: x // v,
    "remainder": lambda T, x, v: x % T.tensor(v),
    "fmod_": lambda T, x, v: x.fmod_(v),
    "renorm": lambda T, x, v: T.renorm(x[:, None].expand(2, 2), 2, 0, v),
}


@pytest.mark.parametrize("factor", FACTORS)
def test_a_factor_that_the_type_of_the_sum_does_not_hold_is_refused(factor):
    torch = pytest.importorskip("torch")

    def outcome(T, dtype, number):
        x = T.tensor([0, 1], dtype=getattr(T, dtype))
        try:
            return str(FACTORS[factor](T, x, number)), str(x)
        except Exception as error:
            return type(error).__name__, str(error)
    for dtype, number in itertools.product(["uint8", "int32", "int64", "float16", "bfloat16", "float32"],
                                           [2, 300, -1, -2**31, 2**31, 2**40, 1e39, 70000, float("inf"), float("nan")]):
        theirs = outcome(torch, dtype, number)
        for _ in range(2):                                              # the second one finds what the first has recorded
            assert outcome(jtensor, dtype, number) == theirs, (dtype, number)


MADE = {
    "tensor": lambda T, d, v: T.tensor(v, dtype=d),
    "tensor of a list": lambda T, d, v: T.tensor([v, 1], dtype=d),
    "linspace to": lambda T, d, v: T.linspace(0, v, 3, dtype=d),
    "linspace from": lambda T, d, v: T.linspace(v, 1, 2, dtype=d),
    "linspace of one": lambda T, d, v: T.linspace(0, v, 1, dtype=d),
    "logspace": lambda T, d, v: T.logspace(0, v, 2, dtype=d),
    "trapezoid": lambda T, d, v: T.trapezoid(T.ones(3, dtype=d), dx=v),
}


@pytest.mark.parametrize("make", MADE)
def test_a_tensor_is_made_of_numbers_that_it_holds(make):
    torch = pytest.importorskip("torch")

    def outcome(T, dtype, number):
        try:
            return str(MADE[make](T, getattr(T, dtype), number))
        except Exception as error:
            return type(error).__name__, str(error)
    for dtype, number in itertools.product(["bool", "uint8", "int32", "int64", "float16", "float32"],
                                           [2j, True, 300, 2**40, 2**63, 2**64, 1e39, np.int64(300)]):
        theirs = outcome(torch, dtype, number)
        if theirs[0] not in ("TypeError", "OverflowError"):             # which the parser of arguments raises
            assert outcome(jtensor, dtype, number) == theirs, (dtype, number)


@pytest.mark.parametrize(("kind", "least"), [("int8", -128), ("int64", -2**63)])
def test_divisors_of_the_smallest_integer(kind, least):
    a, b = jtensor.tensor([least, least, 0], dtype=getattr(jtensor, kind)), jtensor.tensor([3, least, least], dtype=getattr(jtensor, kind))
    assert jtensor.gcd(a, b).tolist() == [1, least, least]


def test_a_multiple_that_does_not_fit_is_cut_after_its_sign():
    a, b = jtensor.tensor([100, -100], dtype=jtensor.int8), jtensor.tensor([-7, 7], dtype=jtensor.int8)
    assert jtensor.lcm(a, b).tolist() == [-68, -68]
