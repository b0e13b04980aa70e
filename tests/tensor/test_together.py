"""Lists of tensors that lie on the host are put together there: the same as a program does, whatever they are."""
import itertools

import numpy as np
import pytest

import jtensor as torch
from jtensor.tensor.recording import together
from jtensor.tensor.values import read


def hosted(tensor):
    """Whether the numbers are there without a program."""
    return read(tensor).segment.__class__ is np.ndarray


def tables(dtype):
    numbers = torch.arange(600).reshape(40, 5, 3).remainder(7).to(dtype)
    computed = numbers.clone()
    assert read(computed).array is None or read(computed).array.is_ready()
    numbers.tolist(), computed.tolist()
    return torch.from_numpy(np.arange(600).reshape(40, 5, 3)).to(dtype), numbers, computed


LISTS = {
    "rows": lambda x: [x[i] for i in (3, 0, 0, 39, 7, 8, 2, 1)], "elements": lambda x: [x[i, 2, 1] for i in range(9)],
    "columns": lambda x: [x[:, i % 5] for i in range(10)], "windows": lambda x: [x[i:i + 4] for i in range(0, 32, 3)],
    "off the rows": lambda x: [x.view(-1)[i:i + 7] for i in range(3, 90, 5)], "whole": lambda x: [x, x + 1, x * 2, x, x, x, x + 2, x],
    "ends": lambda x: [x[i, 1:] for i in range(12)], "flat": lambda x: [x.view(-1)[i:i + 3] for i in range(1, 100, 3)]}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex128])
def test_as_a_program_does(name, dtype, monkeypatch):
    ways = (torch.stack, 0), (torch.stack, 1), (torch.stack, -1), (torch.cat, 0), (torch.cat, 1)
    for x, (function, dim) in itertools.product(tables(dtype), ways):
        if LISTS[name](x)[0].ndim <= dim - (function is torch.stack) or function is torch.cat and not LISTS[name](x)[0].ndim:
            continue
        found = function(LISTS[name](x), dim)
        with monkeypatch.context() as patch:
            patch.setattr(together, "_memory", lambda storage, spec: None)
            expected = function(LISTS[name](x), dim)
        assert found.stride() == expected.stride() and found.dtype is expected.dtype and found.tolist() == expected.tolist()


def test_on_the_host_where_all_is_there():
    x = torch.arange(60.0).reshape(20, 3)
    x.tolist()
    assert hosted(torch.stack([x[i] for i in range(8)])) and hosted(torch.cat([x[i] for i in range(8)]))
    assert not hosted(torch.stack([x[i] for i in range(7)]))                    # few
    y = x + 1                                                                   # not run yet: a part of what is going to run
    assert not hosted(torch.stack([y[i] for i in range(8)])) and not hosted(torch.stack([x[i] for i in range(8)] + [y[0]]))


def test_what_is_written_to_afterwards_shows_on_neither_side():
    array = np.arange(60.0).reshape(20, 3)
    for x in (torch.from_numpy(array), torch.tensor(array)):
        made = torch.stack([x[i] for i in range(8)])
        x[0] = 9
        assert made[0].tolist() == [0, 1, 2]
        made[1] = 7
        assert x[1].tolist() == [3, 4, 5]


def test_gradients_go_through_lists():
    x = torch.arange(60.0).reshape(20, 3).requires_grad_()
    made = torch.stack([x[i] for i in range(8)])
    made.sum().backward()
    assert made.grad_fn.name() == "StackBackward0" and x.grad.sum() == 24
    with torch.no_grad():
        assert not torch.stack([x[i] for i in range(8)]).requires_grad
    with torch.inference_mode():
        assert torch.stack([x[i] for i in range(8)]).is_inference()


def test_other_lists_get_their_answers_and_errors_as_ever():
    x = torch.arange(60.0).reshape(20, 3)
    x.tolist()
    rows = [x[i] for i in range(8)]
    assert torch.cat([*rows, x[0].long()]).dtype is torch.float32
    assert torch.cat([torch.empty(0), *rows]).shape == (24,)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.stack(rows, 2)
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        torch.stack([*rows, x[0, :2]])
    with pytest.raises(RuntimeError, match="zero-dimensional tensor .* cannot be concatenated"):
        torch.cat([x[i, 0] for i in range(8)])
    with pytest.raises(TypeError):
        torch.stack([*rows, 1.0])
    assert torch.vmap(lambda y: torch.stack([y[i] for i in range(8)]))(x.reshape(2, 10, 3)).shape == (2, 8, 3)


def test_numbers_of_rows_that_come_once_in_a_while():
    x = torch.arange(60.0).reshape(20, 3)
    for i in (5, 0, 19, -1, -20):
        assert x[i].tolist() == x.tolist()[i] and x[i][-1].item() == x.tolist()[i][-1]
    for i in (20, -21):
        with pytest.raises(IndexError, match=f"index {i} is out of bounds for dimension 0 with size 20"):
            x[i]
    y = torch.ones(4, 2, requires_grad=True)
    assert [y[i].grad_fn.name() for i in (1, 3, -1)] == ["SelectBackward0"] * 3
    with torch.no_grad():
        assert y[2].grad_fn is None and y[2]._base is y
