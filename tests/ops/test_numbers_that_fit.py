"""Numbers that a type has no room for, and the types' names by which PyTorch refuses them."""
import itertools

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
