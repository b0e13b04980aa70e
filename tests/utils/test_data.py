"""Datasets, samplers and the DataLoader: the same samples in the same order from the same seed, workers included."""
import random

import numpy as np
import pytest

import jtensor
from jtensor.utils.data._utils import fetch

from ..nn.both import raised, same, warned


def _table(torch):
    return torch.utils.data.TensorDataset(torch.arange(20.).reshape(10, 2), torch.arange(10))


LOADERS = [
    "batch_size=3, shuffle=True", "batch_size=4", "batch_size=3, drop_last=True, shuffle=True", "batch_size=None",
    "sampler=D.WeightedRandomSampler([.1, .2, .3, .4], 6)", "sampler=D.SubsetRandomSampler([1, 5, 7]), batch_size=2",
    "sampler=D.RandomSampler(data, True, 40), batch_size=20", "sampler=D.RandomSampler(data, num_samples=13), batch_size=5",
    "batch_sampler=D.BatchSampler(D.SequentialSampler(data), 4, False)", "shuffle=True, generator=torch.Generator().manual_seed(3)",
    "sampler=D.DistributedSampler(data, 3, 1, seed=4), batch_size=2", "shuffle=True, batch_size=4, num_workers=2",
]


@pytest.mark.parametrize("settings", LOADERS)
def test_passes_and_what_they_draw(settings):
    def program(torch):
        data = _table(torch)
        made = eval(f"D.DataLoader(data, {settings})", {"torch": torch, "D": torch.utils.data, "data": data})
        return [[list(made) for _ in range(2)], len(made), torch.rand(2)]

    same(program)


def test_random_split():
    def program(torch):
        D, data = torch.utils.data, _table(torch)
        return [[part.indices for part in D.random_split(data, lengths, *generator)] for lengths, generator in (
            ([7, 3], ()), ([.33, .33, .34], (torch.Generator().manual_seed(1),)))] + [
            torch.rand(1), raised(lambda: D.random_split(data, [3, 3])), raised(lambda: D.random_split(data, [1.5, -.5])),
            warned(lambda: D.random_split([1], [.5, .5]))]

    same(program)


def test_combined_datasets():
    def program(torch):
        D, data = torch.utils.data, _table(torch)
        joined = data + D.Subset(data, [8, 9])
        stack = D.StackDataset(a=[1, 2], b=["x", "y"])
        return [len(joined), joined[-1], joined[11], stack[1], stack.__getitems__([0, 1]), D.StackDataset([1], [2])[0],
                raised(lambda: joined[-13]), raised(lambda: D.ConcatDataset([])), raised(lambda: D.StackDataset()),
                raised(lambda: D.TensorDataset(torch.ones(2), torch.ones(3))), raised(lambda: D.Dataset()[0])]

    same(program)


def _streams(torch):
    D = torch.utils.data

    class Stream(D.IterableDataset):
        def __init__(self):
            self.low, self.high = 0, 11

        def __iter__(self):
            worker = D.get_worker_info()
            return iter(range(self.low, self.high - 3 * (worker.id if worker else 0)))

    return Stream()


def test_streams():
    def program(torch):
        D, answers = torch.utils.data, []

        def share(i):
            worker = D.get_worker_info()
            worker.dataset.low, worker.dataset.high = 5 * i, 5 * i + 5 + 3 * i

        for settings in ({}, {"num_workers": 1}, {"num_workers": 3, "drop_last": True}, {"num_workers": 2, "worker_init_fn": share}):
            answers.append(list(D.DataLoader(_streams(torch), batch_size=2, **settings)))
        return answers + [list(D.ChainDataset([_streams(torch), _streams(torch)]))[9:13]]

    same(program)


def test_random_numbers_of_workers():
    def program(torch):
        D = torch.utils.data

        class Noise(D.Dataset):
            def __len__(self):
                return 7

            def __getitem__(self, i):
                return i, torch.rand(2), random.random(), np.random.rand(), D.get_worker_info().seed % 1000

        random.seed(1)
        np.random.seed(2)
        loader = D.DataLoader(Noise(), batch_size=2, shuffle=True, num_workers=2, persistent_workers=True)
        return [list(loader), list(loader), torch.rand(1), random.random()]

    same(program)


def test_collating():
    def program(torch):
        D = torch.utils.data
        batch = [{"a": 1, "b": [np.float32(2), "x"], "c": (1., np.arange(2))}, {"a": 3, "b": [np.float32(5), "y"], "c": (2., np.arange(2))}]
        return [D.default_collate(batch), D.default_collate([torch.ones(2), torch.zeros(2)]), D.default_collate([True, False]),
                D.default_convert({"a": np.arange(2), "b": (1, np.float64(2)), "c": ["x"]}),
                [raised(f) for f in (lambda: D.default_collate([{1}]), lambda: D.default_collate([[1], [1, 2]]),
                                     lambda: D.default_collate([np.array(["a"])]))]]

    same(program)


def test_settings_that_exclude_each_other():
    def program(torch):
        D, data = torch.utils.data, _table(torch)
        return [raised(f) for f in (
            lambda: D.DataLoader(data, num_workers=-1), lambda: D.DataLoader(data, sampler=[1], shuffle=True),
            lambda: D.DataLoader(data, batch_size=0), lambda: D.DataLoader(_streams(torch), shuffle=True),
            lambda: D.DataLoader(data, batch_size=None, drop_last=True), lambda: D.DataLoader(data, timeout=-1),
            lambda: D.DataLoader(data, prefetch_factor=2), lambda: D.DataLoader(data, persistent_workers=True),
            lambda: D.DataLoader(data, batch_sampler=[[1]], shuffle=True), lambda: setattr(D.DataLoader(data), "batch_size", 3),
            lambda: D.DataLoader(data, multiprocessing_context="spawn"), lambda: D.RandomSampler(data, num_samples=0),
            lambda: D.RandomSampler(data, replacement=1), lambda: D.WeightedRandomSampler([[1.]], 1), lambda: D.BatchSampler([1], 0, False),
            lambda: D.DistributedSampler(data, 2, 2))]

    same(program)


def test_a_workers_exception_names_it():
    class Bad(jtensor.utils.data.Dataset):
        def __len__(self):
            return 1

        def __getitem__(self, i):
            raise KeyError("here")

    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 0") as raised:
        next(iter(jtensor.utils.data.DataLoader(Bad(), num_workers=1)))
    assert str(raised.value).splitlines()[-1] == "KeyError: 'here'"


def test_rows_of_tensors_are_gathered_at_once():
    """The short cut gives what stacking rows gives, and keeps out of the way of gradients and of other datasets."""
    rows, labels = jtensor.arange(12.).reshape(6, 2).t().contiguous().t(), jtensor.arange(6)
    subset = jtensor.utils.data.Subset(jtensor.utils.data.TensorDataset(rows, labels), [5, 3, 1, 0])
    x, y = next(iter(jtensor.utils.data.DataLoader(subset, batch_size=3)))
    assert x.tolist() == [[10.0, 11.0], [6.0, 7.0], [2.0, 3.0]] and y.tolist() == [5, 3, 1] and x.is_contiguous()
    leaf = jtensor.ones(4, 2, requires_grad=True)
    (x,) = next(iter(jtensor.utils.data.DataLoader(jtensor.utils.data.TensorDataset(leaf), batch_size=2)))
    assert type(x.grad_fn).__name__ == "StackBackward0"


def test_the_types_by_which_loaders_are_annotated():
    from jtensor.utils.data import dataloader

    def loader(collate_fn: dataloader._collate_fn_t | None = None, worker_init_fn: dataloader._worker_init_fn_t | None = None):
        return collate_fn

    assert loader() is None


class Flipped(jtensor.utils.data.Dataset):
    """Samples of which some are flipped, as a generator says."""

    def __init__(self):
        self.x, self.chance = jtensor.arange(240.0).reshape(80, 3), np.random.default_rng(0)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i].flip(-1) if self.chance.random() < 0.5 else self.x[i]
        return (x - 0.5) / 0.25, i


def test_samples_that_chance_decides_on_become_tapes_of_their_own(afresh, monkeypatch):
    flushed, flush = [], fetch.executor.flush
    monkeypatch.setattr(fetch.executor, "flush", lambda reason, *asked: flushed.append(reason) or flush(reason, *asked))
    dataset, chance = Flipped(), np.random.default_rng(0)
    table = np.arange(240, dtype=np.float32).reshape(80, 3)
    for _ in range(2):
        for batch, numbers in jtensor.utils.data.DataLoader(dataset, 8):
            rows = [table[i][::-1] if chance.random() < 0.5 else table[i] for i in numbers.tolist()]
            np.testing.assert_array_equal(batch.numpy(), (np.stack(rows) - np.float32(0.5)) / np.float32(0.25))
    assert flushed.count("samples") == 8 * (20 - fetch._FEW)


def test_samples_that_are_all_alike_stay_one_tape(afresh, monkeypatch):
    flushed, flush = [], fetch.executor.flush
    monkeypatch.setattr(fetch.executor, "flush", lambda reason, *asked: flushed.append(reason) or flush(reason, *asked))
    dataset = Flipped()
    dataset.chance = type("Never", (), {"random": staticmethod(lambda: 1.0)})
    for _ in range(2):
        assert [batch.sum().item() for batch, _ in jtensor.utils.data.DataLoader(dataset, 8)]
    assert "samples" not in flushed


ARRAYS = {
    "alike": lambda a: [a, a + 1], "types": lambda a: [a, a.astype("f4")], "shapes": lambda a: [a, a[:1]],
    "from behind": lambda a: [a[::-1]] * 2, "turned": lambda a: [a.T] * 2, "of another machine": lambda a: [a.astype(">f4")] * 2,
    "unknown": lambda a: [a.astype("g")] * 2, "nothing": lambda a: [np.empty((0, 3))] * 2, "text": lambda a: [np.array(["a"])] * 2,
    "numbers": lambda a: [np.array(1), np.array(2)]}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_put_together(name):
    def program(torch):
        def collated():
            made.append(torch.utils.data.default_collate(ARRAYS[name](np.arange(6.0).reshape(2, 3))))
        made = []
        failed = raised(collated)
        return [failed, *[(m, m.stride(), m.dtype == torch.float64) for m in made]]
    same(program)


def test_an_endless_sampler_begins_at_once():
    """As minGPT asks for batches: nothing is made for all of the ten thousand million indices."""
    import itertools

    def first(lib):
        lib.manual_seed(3)
        drawn = lib.utils.data.RandomSampler(range(60), replacement=True, num_samples=int(1e10))
        return list(itertools.islice(iter(drawn), 70))
    assert first(jtensor) == first(pytest.importorskip("torch"))
