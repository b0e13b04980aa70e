"""``__torch_function__`` of classes that are tuples or lists, which PyTorch asks as any other wherever it does not want their items."""
from typing import NamedTuple

import pytest

import jtensor


def classes():
    class Pair(NamedTuple):
        value: object

    def answers(cls, func, types, args=(), kwargs=None):
        return f"asked {func.__name__} {[kind.__name__ for kind in types]} {len(args)} {sorted(kwargs or {})}"

    return [type(name, (base,), {"__torch_function__": classmethod(answers)}) for name, base in (("Named", Pair), ("Listed", list))]


CALLS = {
    "relu": lambda t, F, x, q: t.relu(q), "add": lambda t, F, x, q: t.add(q, 1), "plus": lambda t, F, x, q: x + q,
    "plus_right": lambda t, F, x, q: q + x, "matmul_right": lambda t, F, x, q: q @ x, "F.relu": lambda t, F, x, q: F.relu(q),
    "conv": lambda t, F, x, q: F.conv2d(q, x), "linear": lambda t, F, x, q: F.linear(q, x), "sum": lambda t, F, x, q: t.sum(q),
    "sum_dim": lambda t, F, x, q: x.sum(dim=q), "norm": lambda t, F, x, q: t.norm(q), "where": lambda t, F, x, q: t.where(q, x, x),
    "cat": lambda t, F, x, q: t.cat(q), "stack": lambda t, F, x, q: t.stack(q), "view": lambda t, F, x, q: x.view(q),
    "reshape": lambda t, F, x, q: t.reshape(x, q), "zeros": lambda t, F, x, q: t.zeros(q), "permute": lambda t, F, x, q: x.permute(q),
    "split": lambda t, F, x, q: t.split(q, 1), "broadcast": lambda t, F, x, q: t.broadcast_tensors(q),
    "einsum": lambda t, F, x, q: t.einsum("i,i->", q), "index": lambda t, F, x, q: x[q], "inner_index": lambda t, F, x, q: x[q, 0],
    "dropout": lambda t, F, x, q: F.dropout(q), "has": lambda t, F, x, q: t.overrides.has_torch_function((q,)),
    "ones_like": lambda t, F, x, q: t.ones_like(q), "tensor": lambda t, F, x, q: t.as_tensor(q), "nested": lambda t, F, x, q: t.cat([q]),
    "full": lambda t, F, x, q: t.full(q, 1.),
}
HELD = {"tensor": lambda x: x, "int": lambda x: 1, "text": lambda x: "a"}


def answer(torch, call, which, held):
    x = torch.ones(2, 2)
    kind = classes()[which]
    q = kind([HELD[held](x)]) if kind.__name__ == "Listed" else kind(HELD[held](x))
    try:
        found = CALLS[call](torch, torch.nn.functional, x, q)
    except Exception as error:
        return type(error).__name__
    return found if isinstance(found, (str, bool)) else type(found).__name__


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("call", CALLS)
def test_lists_are_asked_as_in_pytorch(call, which):
    torch = pytest.importorskip("torch")
    assert [answer(jtensor, call, which, held) for held in HELD] == [answer(torch, call, which, held) for held in HELD]


def test_a_named_tuple_answers():
    named, listed = classes()
    x = jtensor.ones(2)
    assert jtensor.relu(named(x)) == "asked relu ['Named'] 1 []"
    assert x + listed([x]) == "asked add ['Listed'] 2 []"
    assert jtensor.nn.functional.relu(named(x)) == "asked relu ['Named'] 1 ['inplace']"
    assert jtensor.cat(listed([x, x])).shape == (4,)                      # its items are what is wanted
    assert jtensor.zeros(2, 3).sum(dim=named(1)).shape == (2,)
