"""Objects that say by ``__index__`` which int they are, as sizes and in lists of positions; as one dimension PyTorch refuses them."""
import pytest

import jtensor


class Whole:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Refusing:
    def __index__(self):
        raise TypeError("no int")


CALLS = {
    "narrow": lambda t, x, i: t.narrow(x, 0, i, 1), "narrow_dim": lambda t, x, i: x.narrow(i, 0, 1), "zeros": lambda t, x, i: t.zeros(i, 3),
    "zeros_list": lambda t, x, i: t.zeros([2, i]), "full": lambda t, x, i: t.full((i,), 2.), "eye": lambda t, x, i: t.eye(i),
    "view": lambda t, x, i: x.view(i, -1), "view_last": lambda t, x, i: x.view(-1, i), "reshape": lambda t, x, i: t.reshape(x, (i, -1)),
    "select": lambda t, x, i: x.select(0, i), "permute": lambda t, x, i: x.permute(0, 2, i), "expand": lambda t, x, i: x.expand(i, 2, 3, 4),
    "repeat": lambda t, x, i: x.repeat(i, 1, 1), "tile": lambda t, x, i: t.tile(x, (i,)), "sum": lambda t, x, i: x.sum(dim=[i, 2]),
    "mean": lambda t, x, i: x.mean((i,)), "topk": lambda t, x, i: x.topk(i)[0], "topk_named": lambda t, x, i: x.topk(k=i)[0],
    "flip": lambda t, x, i: x.flip(i, 0), "flip_list": lambda t, x, i: t.flip(x, [i]), "tril": lambda t, x, i: x.tril(i),
    "as_strided": lambda t, x, i: x.as_strided((2,), (i,), i), "pad": lambda t, x, i: t.nn.functional.pad(x, (i, 0)),
    "new_zeros": lambda t, x, i: x.new_zeros(i, 2), "resize_": lambda t, x, i: t.zeros(4).resize_((i, 2)),
    "interleave": lambda t, x, i: x.repeat_interleave(i, 0), "squeeze": lambda t, x, i: x.squeeze(i), "sort": lambda t, x, i: x.sort(i)[0],
    "split": lambda t, x, i: t.split(x, (i, 2), 1)[0], "movedim": lambda t, x, i: t.movedim(x, (0, i), (i, 0)),
    "cat": lambda t, x, i: t.cat([x, x], i), "softmax": lambda t, x, i: x.softmax(i), "arange": lambda t, x, i: t.arange(i),
    "tensor": lambda t, x, i: t.tensor([i]), "multiplied": lambda t, x, i: x * i, "size": lambda t, x, i: t.Size([i]),
    "unfold": lambda t, x, i: x.unfold(0, i, 1), "diagonal": lambda t, x, i: x[0].diagonal(i), "randperm": lambda t, x, i: t.randperm(i),
}


def answer(torch, call, value):
    try:
        found = CALLS[call](torch, torch.arange(24.).view(2, 3, 4), value)
    except Exception as error:
        return type(error).__name__
    return found.tolist() if isinstance(found, torch.Tensor) else found


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call):
    torch = pytest.importorskip("torch")
    assert answer(jtensor, call, Whole(1)) == answer(torch, call, Whole(1))
    assert answer(jtensor, call, Refusing()) == answer(torch, call, Refusing())


REFUSED = ("narrow_dim", "sort", "cat", "softmax", "arange", "tensor", "multiplied", "unfold", "diagonal")


@pytest.mark.parametrize("call", CALLS)
def test_as_with_the_int(call):
    found = answer(jtensor, call, Whole(1))
    if found not in ("TypeError", "RuntimeError"):
        assert found == answer(jtensor, call, 1)
    else:
        assert call in REFUSED
