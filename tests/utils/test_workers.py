"""The processes of a DataLoader's workers: what they send, how they end, what is said when they do not end well."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import jtensor as torch

D = torch.utils.data
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the datasets here are no module's")


class Samples(D.Dataset):
    """What ``sample(i)`` answers, six times."""

    def __init__(self, sample):
        self.sample, self.asked = sample, []

    def __len__(self):
        return 6

    def __getitem__(self, i):
        self.asked.append(i)
        return self.sample(i)


def forked(sample, **settings):
    return D.DataLoader(Samples(sample), **{"batch_size": None, "num_workers": 2, "multiprocessing_context": "fork", **settings})


def test_workers_are_processes_of_their_own():
    loader = forked(lambda i: (i, D.get_worker_info().id, os.getpid(), (torch.ones(2, 3) * i @ torch.ones(3, 1)).sum().item()))
    found = list(loader)
    assert [(i, worker, total) for i, worker, _, total in found] == [(i, i % 2, 6.0 * i) for i in range(6)]
    assert len({pid for _, _, pid, _ in found} | {os.getpid()}) == 3 and loader.dataset.asked == []
    assert not multiprocessing.active_children() and D.get_worker_info() is None


def test_what_is_sent_arrives_as_it_was():
    def sample(i):
        twice = torch.full((2,), i, dtype=torch.bfloat16)
        large = torch.arange(40000.0).reshape(200, 200) + i                     # which goes through memory
        return {"large": large, "twice": (twice, twice), "none": [torch.tensor(i), torch.empty(0, 3), None], "turned": large[:3, :2].t(),
                "array": np.arange(3) * i, "sparse": torch.eye(2).to_sparse()}

    for i, found in enumerate(forked(sample)):
        first, second = found["twice"]
        assert first is second and first.dtype is torch.bfloat16 and first.tolist() == [i, i]
        assert found["large"].shape == (200, 200) and found["large"][-1, -1].item() == 39999 + i
        number, empty, nothing = found["none"]
        assert number.item() == i and number.shape == () and empty.shape == (0, 3) and nothing is None
        assert found["turned"].tolist() == found["large"][:3, :2].t().tolist() and found["sparse"].to_dense().tolist() == [[1, 0], [0, 1]]
        assert found["array"].tolist() == [0, i, 2 * i]
        found["large"].add_(1)                                                  # it is the reader's alone
        assert found["large"][0, 0].item() == i + 1


def test_a_worker_that_cannot_begin_says_so_each_time():
    def init(id):
        raise ValueError("no beginning")

    loader = iter(forked(lambda i: i, num_workers=1, worker_init_fn=init))
    for _ in range(2):
        with pytest.raises(ValueError, match="no beginning"):
            next(loader)


def test_an_error_is_raised_in_its_turn_and_the_others_come():
    def sample(i):
        if i == 2:
            raise ValueError("two")
        return i

    loader, found = iter(forked(sample)), []
    for _ in range(6):
        try:
            found.append(next(loader))
        except ValueError as error:
            found.append(str(error).splitlines()[0])
    assert found == [0, 1, "Caught ValueError in DataLoader worker process 0.", 3, 4, 5]
    with pytest.raises(StopIteration):
        next(loader)


def test_a_worker_that_ends_or_is_slow_is_named():
    for end, how in ((lambda: os._exit(3), "exit code 3"), (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by signal: Killed")):
        loader = iter(forked(lambda i, end=end: end() if i == 1 else i, num_workers=1))
        assert next(loader) == 0
        with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as raised:
            next(loader)
        assert how in str(raised.value.__cause__)
    with pytest.raises(RuntimeError, match="DataLoader timed out after 1 seconds"):
        next(iter(forked(lambda i: time.sleep(60), timeout=1)))
    gc.collect()
    assert not multiprocessing.active_children()


def test_what_cannot_be_sent_is_an_error_of_the_workers():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(forked(lambda i: torch.ones(2, requires_grad=True) * 2))
    with pytest.raises(Exception, match="Caught .* in DataLoader worker process 0"):
        list(forked(lambda i: lambda: i))


def test_persistent_workers_stay_and_others_go():
    loader = forked(lambda i: os.getpid(), persistent_workers=True)
    first = set(loader)
    half = iter(loader)                                                         # what was asked for and not taken is thrown away
    next(half)
    assert set(loader) == first == {process.pid for process in multiprocessing.active_children()}
    del loader, half
    gc.collect()
    assert not multiprocessing.active_children()
    begun = iter(forked(lambda i: i))
    next(begun)
    assert len(multiprocessing.active_children()) == 2
    del begun
    gc.collect()
    assert not multiprocessing.active_children()


def test_streams_end_worker_by_worker():
    class Stream(D.IterableDataset):
        def __iter__(self):
            id = D.get_worker_info().id
            return iter(range(10 * id, 10 * id + 2 + id))

    for size, found in (None, [0, 10, 1, 11, 12]), (2, [[0, 1], [10, 11], [12]]):
        loader = D.DataLoader(Stream(), batch_size=size, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
        for _ in range(2):
            assert [x if size is None else x.tolist() for x in loader] == found


def test_a_child_of_fork_leaves_its_parents_workers_alone():
    loader = iter(forked(lambda i: i))
    assert next(loader) == 0
    child = os.fork()
    if child == 0:
        loader._end()
        os._exit(0)
    os.waitpid(child, 0)
    assert list(loader) == [1, 2, 3, 4, 5]


def test_rows_of_tensors_need_no_process():
    gc.collect()
    loader = iter(D.DataLoader(D.TensorDataset(torch.arange(4)), num_workers=2))
    assert not multiprocessing.active_children() and [batch[0].item() for batch in loader] == [0, 1, 2, 3]


def test_more_workers_than_processors_are_warned_of():
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with pytest.warns(UserWarning, match=f"This DataLoader will create {most + 1} worker processes in total"):
        D.DataLoader([1], num_workers=most + 1)


def test_workers_that_are_started_anew(tmp_path):
    (tmp_path / "script.py").write_text(textwrap.dedent("""
        import torch

        class Error(Exception):
            pass

        class Squares(torch.utils.data.Dataset):
            def __len__(self):
                return 5

            def __getitem__(self, i):
                if i == 4:
                    raise Error("four")
                return torch.tensor(i) ** 2

        if __name__ == "__main__":
            try:
                for x in torch.utils.data.DataLoader(Squares(), batch_size=2, num_workers=1, multiprocessing_context="spawn"):
                    print(x)
            except Error as error:
                print(str(error).splitlines()[-1])
    """))
    found = subprocess.run([sys.executable, "-m", "jtensor", "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert found.stdout.splitlines() == ["tensor([0, 1])", "tensor([4, 9])", "__mp_main__.Error: four"], found.stderr
