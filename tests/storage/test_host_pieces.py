"""Views of large memory that NumPy has, too: read and written without a look at the rest, and nobody can tell."""
import ctypes

import numpy as np
import pytest

import jtensor as torch
from jtensor.storage import host

ROWS, WIDTH = 300, 70                                       # 84,000 bytes of float32


def shared(dtype="float32"):
    array = np.random.default_rng(0).integers(-50, 50, (ROWS, WIDTH)).astype(dtype)
    return array, torch.from_numpy(array)


@pytest.fixture
def looks(monkeypatch):
    """The large memories that were looked at as a whole."""
    found, snapshot = [], host.HostMemory.snapshot

    def seen(memory):
        if memory.flat.nbytes > 1 << 16:
            found.append(memory)
        return snapshot(memory)
    monkeypatch.setattr(host.HostMemory, "snapshot", seen)
    return found


VIEWS = [lambda x: x[3:40], lambda x: x[7], lambda x: x[:, 5], lambda x: x.t()[2:9, ::3], lambda x: x[::7, 3:11], lambda x: x[4:8][1:3].t(),
         lambda x: x.view(-1)[100:300].view(20, 10), lambda x: x[11:13].expand(2, 2, WIDTH), lambda x: x.diagonal()]


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16", "bool"])
def test_views_are_read_alone_and_as_they_are_at_the_time(dtype, looks):
    array, x = shared(dtype)
    views = [view(x) for view in VIEWS]
    for value in (3, 5):
        before = [v.numpy().copy() for v in views]
        made = [v.clone() for v in views]                   # recorded, not run
        array[:, 3:12] = value
        for old, clone, view, v in zip(before, made, VIEWS, views, strict=True):
            np.testing.assert_array_equal(clone.numpy(), old)
            np.testing.assert_array_equal(v.clone().numpy(), v.numpy())
            np.testing.assert_array_equal(view(x).clone().numpy(), v.numpy())
    assert not looks


def test_a_view_that_nobody_has_written_to_is_the_same_value():
    from jtensor.tensor.values import read
    array, x = shared()
    view = x[2:9]
    value = read(view)
    assert read(view) is value
    array[40] = 1
    assert read(view) is value
    array[3] = np.nan
    assert read(view) is not value and read(view) is read(view)


def test_what_is_most_of_the_memory_is_read_as_all_of_it(looks):
    array, x = shared()
    assert x[1:].sum().item() == array[1:].sum() and looks


@pytest.mark.parametrize("write", [
    lambda x, i: x.__setitem__(i, 2), lambda x, i: x[i:i + 5].fill_(3), lambda x, i: x[i].add_(1), lambda x, i: x[:, i].copy_(x[:, i + 1]),
    lambda x, i: x[i:i + 3].mul_(x[i + 3:i + 6]), lambda x, i: x[::50, i:i + 2].zero_(), lambda x, i: x.t()[i, :5].neg_(),
    lambda x, i: x.__setitem__((slice(i, i + 2), 4), torch.tensor([8, 9], dtype=x.dtype)), lambda x, i: x[i].swapaxes(0, 0).sub_(4)])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_views_are_written_to_alone(write, dtype, looks):
    array, x = shared(dtype)
    y = torch.tensor(array)
    assert y._storage.host is None
    version = x._version
    for i in (1, 60):
        write(x, i)
        write(y, i)
    assert not looks and x._version == version + 2
    np.testing.assert_array_equal(array, y.numpy())


def test_views_that_are_conjugates_or_of_another_type_are_written_to_as_ever():
    array = np.full((ROWS, WIDTH), 1 + 2j)
    x = torch.from_numpy(array)
    x[3:5].conj().fill_(3 + 1j)
    x[7].conj().copy_(torch.full((WIDTH,), 5j))
    x[9].imag.add_(1)
    x[10].conj().imag.mul_(2)
    x[12].view(torch.float64)[:4] = 8
    assert (array[3:5] == 3 - 1j).all() and (array[7] == -5j).all() and (array[9] == 1 + 3j).all() and (array[10] == 1 + 4j).all()
    assert array[12, :3].tolist() == [8 + 8j, 8 + 8j, 1 + 2j] and array[13, 0] == 1 + 2j


def test_rows_that_a_transformation_names():
    array, x = shared()
    rows = torch.tensor([[1, 2], [5, 5]])
    np.testing.assert_array_equal(torch.vmap(lambda i: x[i])(rows).numpy(), array[rows.numpy()])


def test_what_overlaps_itself_is_written_to_as_ever():
    array, x = shared()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        x[1].expand(2, WIDTH).add_(1)
    np.testing.assert_array_equal(array, shared()[0])


def test_a_failed_write_leaves_the_memory_as_it_was():
    array, x = shared()
    with pytest.raises(RuntimeError):
        x[3:5] = torch.ones(3, WIDTH)
    with pytest.raises(RuntimeError):
        x[1].copy_(torch.ones(WIDTH + 1))
    np.testing.assert_array_equal(array, shared()[0])


@pytest.mark.parametrize("numbers", [[3], [[5, -1], [0, 5]], []])
def test_rows_are_picked_alone(numbers, looks):
    array, x = shared()
    rows = torch.tensor(numbers, dtype=torch.int64)
    found = x[rows]
    array[5] = 7
    before = shared()[0]
    np.testing.assert_array_equal(found.numpy(), before[np.array(numbers, np.int64)])
    np.testing.assert_array_equal(x[rows].numpy(), array[np.array(numbers, np.int64)])
    with pytest.raises(IndexError, match=f"index {ROWS} is out of bounds for dimension 0 with size {ROWS}"):
        x[torch.tensor([1, ROWS])]
    assert not looks


def test_a_batch_of_a_table_is_picked_alone(looks):
    array, x = shared()
    batches = list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, torch.arange(ROWS)), 50))
    np.testing.assert_array_equal(np.concatenate([rows.numpy() for rows, _ in batches]), array)
    assert not looks


def test_gradients_are_those_of_what_lies_there_at_the_time():
    """Round after round, so that the backward pass is known again, and written out."""
    array, x = shared()
    w = torch.ones(WIDTH, requires_grad=True)
    for i in range(150):
        w.grad = None
        loss = (x[i:i + 4] @ w).sum()
        assert loss.item() == array[i:i + 4].sum()
        if i % 3 == 0:
            array[i:i + 4] = i                              # PyTorch saves the memory, not the numbers
        loss.backward()
        np.testing.assert_array_equal(w.grad.numpy(), array[i:i + 4].sum(0))


def test_a_write_by_the_tensor_is_refused_in_backward():
    array, x = shared()
    w = torch.ones(WIDTH, requires_grad=True)
    loss = (x[:4] * w).sum()
    x[2] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_memory_that_nobody_else_has_any_more_is_a_value_like_any_other(looks):
    array, x = shared()
    view = x[3:5]
    assert view.sum().item() == array[3:5].sum() and x._storage.host is not None
    total = array[3:5].sum()
    del array
    assert view.sum().item() == total and x._storage.host is None and not looks


def test_exported_memory_too(looks):
    x = torch.arange(float(ROWS * WIDTH)).reshape(ROWS, WIDTH)
    array = x.numpy()
    array[3] = 1
    x[4:6] = x[3]
    assert array[5].tolist() == [1] * WIDTH and x[3:6].sum().item() == 3 * WIDTH
    assert not looks
    del array
    assert x._storage.host is None and x[3:6].sum().item() == 3 * WIDTH


@pytest.mark.parametrize("first", ["numpy", "address"])
def test_an_address_that_is_told_beside_an_array_stays(first):
    x = torch.arange(float(ROWS * WIDTH))
    address = x.data_ptr() if first == "address" else None
    array = x.numpy()
    address = address or x.data_ptr()
    assert array.ctypes.data == address
    array[3] = -1
    del array
    x.add_(1)
    assert x.data_ptr() == address
    lying = np.ctypeslib.as_array((ctypes.c_float * 5).from_address(address))
    assert lying.tolist() == [1, 2, 3, 0, 5]
    lying[0] = 8
    assert x[:2].tolist() == [8, 2]
