"""Cells: one value at a time, a version for each write, addresses; host mode begins with an exported array and ends with the last one."""
import ctypes
import gc
import weakref

import numpy as np
import pytest

import jtensor as torch
from jtensor.base import dtypes
from jtensor.storage import VersionCounter, cell, host
from jtensor.trace import executor, spec, tape


def made(array):
    return cell.of_numpy(np.asarray(array), dtypes.of_numpy(np.asarray(array).dtype), spec.devices.cpu)


def values(storage):
    return np.asarray(executor.value_of(storage.current())).tolist()


def test_a_storage_keeps_a_private_copy():
    array = np.arange(6.0).reshape(2, 3)
    storage = made(array)
    array[:] = -1
    assert values(storage) == [[0, 1, 2], [3, 4, 5]]
    assert (storage.size(), storage.nbytes(), storage.dtype, storage.version) == (6, 48, dtypes.float64, 0)


def test_addresses_tell_memories_apart():
    one, other, empty = made([1.0]), made([1.0]), made(np.zeros(0))
    assert one.data_ptr() == one.data_ptr() != other.data_ptr() and empty.data_ptr() == 0


def at(address, count):
    return (ctypes.c_float * count).from_address(address)


@pytest.mark.parametrize("size", [6, 1 << 15])
def test_elements_lie_where_the_address_says(size):
    x = torch.arange(float(size))
    address = x.data_ptr()
    assert list(at(address, 3)) == [0, 1, 2] and list(at(x[4:].data_ptr(), 2)) == [4, 5]
    x += 1
    assert x._storage.host is None and x.data_ptr() == address and list(at(address, 3)) == [1, 2, 3]
    assert x.sum().item() == size * (size + 1) / 2 and x._storage.host is None
    assert x.numpy().ctypes.data == address


def test_what_is_written_by_an_address_is_seen():
    x = torch.zeros(3)
    memory = at(x.data_ptr(), 3)
    memory[1] = 5
    assert x.tolist() == [0, 5, 0] and (x + 1).tolist() == [1, 6, 1]
    memory[2] = 7                                       # somebody writes there: it stays the tensor's memory
    assert x.sum().item() == 12
    x.mul_(2)
    assert list(memory) == [0, 10, 14]


def test_the_address_of_what_has_just_died_is_not_given_away():
    for n in (3, 300):
        x = torch.ones(n, n + 1).t()
        assert x.contiguous().data_ptr() != x.data_ptr()
        assert x.data_ptr() == x.t().contiguous().data_ptr()


def test_an_address_outlives_arrays_that_share_the_memory(only_the_young):
    x = torch.ones(4)
    address = x.data_ptr()
    x.add_(1)
    array = x.numpy()
    assert array.ctypes.data == address
    del array
    gc.collect(1)
    assert x._storage.host is None and x.data_ptr() == address and list(at(address, 4)) == [2, 2, 2, 2]


def test_an_address_does_not_keep_a_tensor_from_growing():
    x = torch.ones(4)
    x.data_ptr()
    assert x.resize_(6).shape == (6,) and list(at(x.data_ptr(), 4)) == [1, 1, 1, 1]


def test_memory_in_another_order_lies_there_in_that_order():
    x = torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    assert list(at(x.data_ptr(), 4)) == [0, 12, 1, 13] and x._storage.host is not None
    assert x.sum().item() == 276 and x._storage.host is None


def test_host_mode_and_back(only_the_young):
    storage = made(np.arange(4))
    flat = host.export(storage)
    assert storage.spec is None and storage.value is None and storage.host is not None
    assert flat.flags.writeable and storage.data_ptr() == flat.ctypes.data
    flat[1] = 10
    assert values(storage) == [0, 10, 2, 3]
    again = host.export(storage)
    del flat
    gc.collect(1)
    again[2] = 20
    assert storage.host is not None and values(storage) == [0, 10, 20, 3]
    del again
    gc.collect(1)
    assert storage.host is None and storage.spec is storage.layout and values(storage) == [0, 10, 20, 3]


def test_a_view_of_an_exported_array_keeps_host_mode(only_the_young):
    storage = made(np.arange(4))
    part = host.export(storage)[::2]
    gc.collect(1)
    part += 100
    assert storage.host is not None and values(storage) == [100, 1, 102, 3]
    del part
    gc.collect(1)
    assert storage.host is None and values(storage) == [100, 1, 102, 3]


def test_the_memory_outlives_the_storage(only_the_young):
    storage = made(np.arange(3))
    flat = host.export(storage)
    gone = weakref.ref(storage)
    del storage
    gc.collect(1)
    flat += 1
    assert gone() is None and flat.tolist() == [1, 2, 3]


def test_a_snapshot_is_taken_once_for_equal_bytes():
    storage = made(np.arange(3))
    flat = host.export(storage)
    first = storage.current()
    assert storage.current() is first
    flat[0] = 5
    second = storage.current()
    assert second is not first and storage.current() is second
    assert np.asarray(tape.there(first)).tolist() == [0, 1, 2] and np.asarray(tape.there(second)).tolist() == [5, 1, 2]


def test_writes_in_host_mode_reach_the_shared_memory():
    storage = made(np.zeros(3))
    flat = host.export(storage)
    storage.set(made([1.0, 2.0, 3.0]).current())
    assert flat.tolist() == [1, 2, 3]


def test_memory_that_was_adopted_is_never_left(only_the_young):
    flat = np.arange(3.0)
    storage = made(np.zeros(3))
    host.adopt(storage, flat, flat)
    assert storage.data_ptr() == flat.ctypes.data
    exported = host.export(storage)
    del exported
    gc.collect(1)
    flat[0] = 7
    assert storage.host is not None and values(storage) == [7, 1, 2]


def test_versions_are_shared_by_views_and_detach_and_not_by_data():
    x = torch.zeros(4)
    view, detached, data = x[1:], x.detach(), x.data
    assert x._counter is view._counter is detached._counter is x._storage and isinstance(data._counter, VersionCounter)
    view += 1
    detached.zero_()
    assert (x._version, view._version, detached._version, data._version) == (2, 2, 2, 0)
    data += 1
    assert (x._version, data._version) == (2, 1) and x.tolist() == [1] * 4


@pytest.mark.parametrize("write", [lambda t: t.add_(1), lambda t: t.__setitem__(0, 5), lambda t: t.copy_(torch.ones(3)),
                                   lambda t: t[1:].mul_(2), lambda t: t.fill_(3)])
def test_a_write_is_another_value_and_one_version_more(write):
    x = torch.arange(3.0)
    old, version = x._storage.value, x._version
    kept = x.jax()
    write(x)
    assert x._storage.value is not old and x._version == version + 1
    assert kept.tolist() == [0, 1, 2]


def test_a_copy_made_before_a_write_shows_the_old_values():
    x = torch.zeros(3)
    y = x.clone()
    z = x + 0
    x += 1
    assert (y.tolist(), z.tolist(), x.tolist()) == ([0] * 3, [0] * 3, [1] * 3)
