"""Looking at values: `item`, `tolist`, `bool` of tensors and of views."""
import numpy as np
import pytest

import jtensor
from jtensor.trace import executor, tape


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


def test_the_only_element_of_a_view_wherever_it_lies():
    x = jtensor.tensor([[1.5, -2.5], [3.5, 4.5]])
    truths = jtensor.tensor([[True, False], [False, True]])
    for base in (x, x * 1, jtensor.tensor(np.arange(4).reshape(2, 2)), truths, x.to(jtensor.bfloat16)):
        expected = base.tolist()
        for i in range(2):
            for view in (base[i, 1], base[i, 1:], base.t()[1, i], base[i:i + 1].t()[1]):
                assert view.item() == expected[i][1] and type(view.item()) is type(expected[i][1])
    z = jtensor.tensor([1 + 2j, 3 - 4j])
    assert (z[1].item(), z.conj()[1].item(), z.imag[1].item(), z.conj().imag[1].item()) == (3 - 4j, 3 + 4j, -4.0, 4.0)
    pending = (x * 2)[1, 0]
    x[1, 0] = 8.0
    assert (pending.item(), x[1, 0].item()) == (7.0, 8.0)


def test_host_numbers_of_another_shape_are_no_operation():
    executor.flush("a new start")
    numbers = np.arange(6, dtype=np.float32)
    x = jtensor.tensor(numbers)
    numbers += 1
    view = x.unsqueeze(0).reshape(2, 3)
    y = view * view
    assert len(tape.LOCAL.segment.nodes) == 1                   # the product alone
    x[0] = 9.0
    assert y.tolist() == [[0.0, 1.0, 4.0], [9.0, 16.0, 25.0]] and view.tolist()[0] == [9.0, 1.0, 2.0]
    assert (jtensor.tensor([1 + 2j]).conj().reshape(1, 1) * 1).tolist() == [[1 - 2j]]
    assert (jtensor.tensor(numbers).reshape(2, 3).t() * 1).tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]


def test_ndarrays_alike_are_copied_alike():
    arrays = [np.arange(4.0), np.arange(4.0)[::2], np.arange(8, dtype=np.int16).reshape(2, 4).T, np.zeros((0, 3)), np.array(2.5),
              np.lib.stride_tricks.as_strided(np.arange(3.0), (1, 3), (80, 8))]
    for array in arrays:
        tensors = [jtensor.tensor(array) for _ in range(3)]
        for made in tensors:
            assert made.dtype is tensors[0].dtype and made.stride() == tensors[0].stride() and made.tolist() == array.tolist()
        made.add_(1)
        assert tensors[0].tolist() == array.tolist() and made._version == 1
    for _ in range(2):
        assert jtensor.tensor(arrays[0], requires_grad=True).requires_grad
        assert jtensor.tensor(arrays[0], dtype=jtensor.float32).dtype is jtensor.float32
        with pytest.raises(RuntimeError, match="floating point"):
            jtensor.tensor(np.arange(3), requires_grad=True)
        with jtensor.device("meta"):
            assert jtensor.tensor(arrays[0]).is_meta
        with jtensor.inference_mode():
            assert jtensor.tensor(arrays[0]).is_inference()
