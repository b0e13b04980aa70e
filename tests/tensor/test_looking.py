"""Looking at values: `item`, `tolist`, `bool` of tensors and of views."""
import pytest

import jtensor


def test_a_view_is_looked_at_where_it_lies():
    """Of a value that is there, nothing runs to see a part of it: any geometry, any type."""
    def seen(torch, name):
        dtype, found = getattr(torch, name), []
        x = torch.tensor([[1, 2, 0, 1], [3, 0, 1, 2]]).to(dtype)
        x.tolist()
        for v in (x[1, 0], x.t()[1], x[:, 1:][1, 0], x[:, ::2].t(), x[0].expand(2, 4), x[:, 1].unfold(0, 1, 1), x[1:, 3], x[2:], x[0, 1:1]):
            found += [v.tolist(), v.shape == x.shape]
            if v.numel() == 1:
                found += [v.item(), bool(v)]
        return found
    torch = pytest.importorskip("torch")
    before = sum(jtensor.report().flushes.values())
    for name in ("bool", "uint8", "int16", "int64", "uint32", "float16", "bfloat16", "float32", "float64", "complex64", "float8_e5m2"):
        assert repr(seen(jtensor, name)) == repr(seen(torch, name)), name
    assert sum(jtensor.report().flushes.values()) - before <= 11, "one for each cast"
    x = jtensor.arange(6.0)
    view = x[2:4]
    x.add_(1)
    assert view.tolist() == [3.0, 4.0] and x[-1].item() == 6.0 and float(view[0]) == 3.0 and bool(view[1])


def test_what_a_mask_chooses_is_taken_where_it_lies():
    """The number of elements is asked for, so a shape for each number must not be a program for each."""
    def seen(torch):
        x, found = torch.arange(12.0).reshape(3, 4), []
        for k in range(12):
            y = x * 2
            part = y[y > 2 * k]
            found += [part.tolist(), part.stride(), part._version, torch.equal(part, y[x > k]), torch.equal(part, x[x > k])]
            found.append(torch.nn.functional.one_hot(part[:2].long() // 2, 13).tolist())
            part.zero_()
            found.append(y.tolist())
        rows = x[torch.tensor([True, False, True])]
        return [*found, rows.tolist(), x.t()[x.t() > 5].tolist(), x.clone().requires_grad_()[x > 5].requires_grad]
    torch = pytest.importorskip("torch")
    assert seen(jtensor) == seen(torch)
    x = jtensor.arange(50.0).exp().long()
    x.tolist()
    report = jtensor.report()
    before = sum(report.kernels.values()) + sum(report.programs.values())
    masks = [jtensor.tensor([n > k for n in range(50)]) for k in range(50)]
    assert [len(x[mask]) for mask in masks] == list(range(49, -1, -1))
    assert sum(report.kernels.values()) + sum(report.programs.values()) == before
