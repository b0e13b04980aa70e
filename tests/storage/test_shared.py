"""Memory that processes share: `share_memory_`, and what goes through `multiprocessing`."""
import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import jtensor as torch

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors are handed on by POSIX systems")


def test_memory_is_shared_with_its_views_and_not_with_copies():
    x = torch.arange(6.0).reshape(2, 3)
    row, before = x[1], x._version
    assert not x.is_shared() and not x.untyped_storage().is_shared()
    assert x.share_memory_() is x and x._version == before
    assert x.is_shared() and row.is_shared() and x.detach().is_shared() and x.untyped_storage().is_shared()
    assert not x.clone().is_shared() and not (x + 1).is_shared() and not copy.deepcopy(x).is_shared()
    row[0] = 9
    x.mul_(2)
    assert x.tolist() == [[0.0, 2.0, 4.0], [18.0, 8.0, 10.0]] and row.tolist() == [18.0, 8.0, 10.0]
    array = x.numpy()
    array[0, 0] = 7
    del array
    assert x[0, 0].item() == 7 and x.is_shared() and x.share_memory_() is x


def test_every_type_and_no_elements():
    for dtype in (torch.bool, torch.int8, torch.bfloat16, torch.float64, torch.complex64):
        x = torch.tensor([1, 0, 1]).to(dtype)
        assert torch.equal(x.clone(), x.share_memory_()) and x.is_shared()
    assert torch.empty(0, 3).share_memory_().is_shared()
    assert torch.zeros(2, 3).t().share_memory_().stride() == (1, 3)


def test_what_numpy_had_before_stays_numpys():
    x = torch.zeros(3)
    array = x.numpy()
    x.share_memory_()[0] = 5
    assert array.tolist() == [0, 0, 0] and x.numpy().tolist() == [5, 0, 0]
    y = torch.from_numpy(np.ones(2)).share_memory_()
    assert y.is_shared() and y.tolist() == [1, 1]


def test_refusals():
    with pytest.raises(RuntimeError, match="_share_fd_: only available on CPU"):
        torch.zeros(2, device="meta").share_memory_()
    with pytest.raises(NotImplementedError, match="Cannot access storage of SparseTensorImpl"):
        torch.eye(2).to_sparse().share_memory_()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        torch.zeros(2).share_memory_().resize_(10)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        ForkingPickler.dumps(torch.ones(2, requires_grad=True) * 2)


def test_multiprocessing_knows_tensors_once_jtensor_is_imported():
    program = """if True:
        from multiprocessing.reduction import ForkingPickler
        import jtensor
        try:
            ForkingPickler.dumps(jtensor.ones(2, requires_grad=True) * 2)
        except RuntimeError as error:
            print(str(error)[:18])
    """
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "Cowardly refusing \n"


def test_modules_train_in_shared_memory():
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 2)
    other = copy.deepcopy(net)
    assert net.share_memory() is net and all(p.is_shared() and p.requires_grad for p in net.parameters())
    for module in net, other:
        optimizer = torch.optim.SGD(module.parameters(), 0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            module(torch.ones(4, 3)).square().sum().backward()
            optimizer.step()
    assert torch.equal(net.weight, other.weight) and net.weight.is_shared() and not net.weight.grad.is_shared()


def test_a_plain_pickle_is_a_copy():
    x = torch.zeros(2).share_memory_()
    again = pickle.loads(pickle.dumps(x))
    again[0] = 1
    assert not again.is_shared() and x.tolist() == [0, 0]


PROCESSES = """
    import sys
    import jtensor as torch

    def write(x, net, counter, lock):
        for _ in range(20):
            with lock:
                counter += 1
        with torch.no_grad(), lock:
            net.weight.fill_(counter.dtype.itemsize)
            x[1].mul_(2)

    def through(asked, answered, done):
        whole, row, storage = asked.get()
        row += 1
        storage[0] = 1
        answered.put((whole, torch.nn.Parameter(torch.ones(2)), row.sum()))
        done.wait()

    if __name__ == "__main__":
        context = torch.multiprocessing.get_context(sys.argv[1])
        x, net, lock = torch.ones(2, 2).share_memory_(), torch.nn.Linear(2, 1).share_memory(), context.Lock()
        counter = torch.zeros(1, dtype=torch.int32).share_memory_()
        x.sum().item()
        processes = [context.Process(target=write, args=(x, net, counter, lock)) for _ in range(2)]
        [process.start() for process in processes]
        [process.join() for process in processes]
        print(x.tolist(), net.weight.tolist(), counter.item(), [process.exitcode for process in processes])

        asked, answered, done = context.Queue(), context.Queue(), context.Event()
        process = context.Process(target=through, args=(asked, answered, done))
        process.start()
        whole, bytes_ = torch.arange(6.0).view(3, 2).t(), torch.zeros(2, dtype=torch.uint8)
        asked.put((whole, whole[:, 1], bytes_.untyped_storage()))
        back, parameter, total = answered.get()
        done.set()
        process.join()
        print(whole.tolist(), back.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr(), back.stride(), bytes_.tolist())
        print(type(parameter).__name__, parameter.requires_grad, total.item(), whole.is_shared(), process.exitcode)
"""


def test_processes_write_side_by_side_without_a_lock():
    program = """if True:
        import multiprocessing
        import jtensor as torch

        def write(rank, x, y):
            for _ in range(50):
                x[rank] += 1
                y[:, rank].copy_(torch.ones(3) * rank)
                y.t()[rank, 0] = -rank

        x, y = torch.zeros(3).share_memory_(), torch.zeros(3, 3).share_memory_()
        processes = [multiprocessing.get_context("fork").Process(target=write, args=(rank, x, y)) for rank in range(3)]
        [process.start() for process in processes]
        [process.join() for process in processes]
        print(x.tolist(), y.tolist())
    """
    found = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=240)
    assert found.stdout == "[50.0, 50.0, 50.0] [[0.0, -1.0, -2.0], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]\n", found.stderr


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_see_what_others_write(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PROCESSES))
    found = subprocess.run([sys.executable, "-W", "error", str(script), method], capture_output=True, text=True, timeout=240)
    assert found.returncode == 0 and not found.stderr, found.stderr
    assert found.stdout.splitlines() == [
        "[[1.0, 1.0], [4.0, 4.0]] [[4.0, 4.0]] 40 [0, 0]",
        "[[0.0, 3.0, 4.0], [1.0, 4.0, 5.0]] True (1, 2) [1, 0]",
        "Parameter True 7.0 True 0",
    ]


def test_a_region_that_finds_no_room_leaves_no_descriptor(monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "ftruncate", full)
    gc.collect()                            # closes what earlier tests have left open
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        with pytest.raises(OSError, match="No space"):
            torch.ones(3).share_memory_()
    assert len(os.listdir("/dev/fd")) == before
