"""Data pipes: what they yield, say, warn of and refuse, as texts that PyTorch was asked for.

The answers are stored (`tests/goldens/datapipes.json`, made by ``python tests/utils/test_datapipes.py`` where PyTorch is installed), and
compared with live PyTorch where there is one.
"""
import functools
import importlib
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

LIBRARY = None               # whose pipes are at work
STORED = Path(__file__).resolve().parents[1] / "goldens" / "datapipes.json"


def double(x):
    return 2 * x


def even(x):
    return x % 2 == 0


def third(x):
    return x % 3


def add(a, b):
    return a + b


def refuse_two(x):
    if x == 2:
        raise ValueError("two")
    return x


def whoami(x):
    return x, LIBRARY.utils.data.get_worker_info().id


def two_iterators(pipe):
    first = iter(pipe)
    next(first)
    return next(iter(pipe)), next(first)


def after(pipe, *steps):
    """The answers of functions of a pipe, one after the other."""
    return [step(pipe) for step in steps]


# Expressions in which `dp` is a stream of 0 to 5, `m` a table of "abcde", I and M the rooms of pipes, D that of data, G and S of graphs.
CASES = """
repr(dp), str(dp.map(double)), vars(dp), sorted(vars(dp.map(double)))
list(dp.map(double).batch(4)), [type(x).__name__ for x in dp.batch(4)], list(dp.batch(4, drop_last=True)), list(dp.batch(4, True, tuple))
dp.batch(0)
list(I.IterableWrapper([[0, [1, 2]], [3]]).unbatch(-1)), list(dp.batch(2).batch(2).unbatch(unbatch_level=2))
list(I.IterableWrapper([(0, 1)]).unbatch())
[list(I.IterableWrapper([(0, 1, 2), (3, 4, 5)]).map(add, input_col=[2, 0], output_col=out)) for out in (None, 1, -1)]
list(I.IterableWrapper([{"a": 1, "b": 2}]).map(add, input_col=["a", "b"], output_col="c"))
dp.map(add)
dp.map(add, input_col=0, output_col=[1, 2])
dp.map(double, output_col=1)
dp.map(3)
list(dp.map(refuse_two).batch(2).map(len))
list(dp.filter(even)), len(dp.filter(even))
list(dp.filter(double))
dp.map(functools.partial(lambda x: x))
dp.foo
[list(dp.shuffle(buffer_size=n).set_seed(3)) for n in (1, 2, 3, 100)], list(dp.shuffle().set_shuffle(False))
torch.manual_seed(5) and None, list(dp.shuffle()), list(dp.shuffle(buffer_size=2)), torch.rand(1).item()
list(dp.batch(2).shuffle(unbatch_level=1).set_seed(1))
dp.shuffle(buffer_size=0)
list(pickle.loads(pickle.dumps(dp.shuffle().set_seed(1)))), list(copy.deepcopy(dp.map(double)))
two_iterators(dp)
two_iterators(dp.map(double))
list(dp.zip(dp))
[list(x) for x in dp.fork(2)], list(I.Zipper(*dp.fork(2))), [len(x) for x in dp.fork(2)], dp.fork(1)
list(dp.fork(2, buffer_size=2)[0])
dp.fork(0)
dp.fork(2, copy="x")
after(dp.fork(2), lambda f: list(f[0]), lambda f: list(f[0]), lambda f: list(f[1]), lambda f: list(f[1]))
two_iterators(dp.fork(2)[0])
after(dp.map(refuse_two).fork(2), lambda f: pickle.loads(pickle.dumps(f))[0].main_datapipe, lambda f: list(f[0]))
[list(x) for x in dp.demux(2, even)], [list(x) for x in dp.demux(3, third, buffer_size=-1)]
list(dp.demux(2, even, buffer_size=2)[0])
list(dp.demux(2, third)[0])
len(dp.demux(2, even)[0])
list(dp.mux(I.IterableWrapper("abc"))), len(dp.mux(I.IterableWrapper("abc"))), list(dp.concat(dp.map(double))), len(dp.concat(dp))
dp.zip([1])
list(I.IterableWrapper(range(12)).groupby(third, group_size=3, keep_key=True)), list(dp.groupby(third, buffer_size=3))
list(dp.groupby(third, buffer_size=2, group_size=2, guaranteed_group_size=2))
list(I.IterableWrapper("abcab").groupby(ord, buffer_size=2, keep_key=True))
[list(S.apply_sharding(dp.sharding_filter(), 4, i)) for i in range(4)], len(S.apply_sharding(dp.sharding_filter(), 4, 3))
S.apply_sharding(dp.sharding_filter().map(double).sharding_filter(), 2, 0)
dp.sharding_filter().apply_sharding(2, 2)
S.get_all_graph_pipes(G.traverse_dps(dp.map(double).shuffle().zip(dp)))
S.apply_shuffle_settings(dp.map(double), shuffle=True)
S.apply_random_seed(dp.shuffle(), torch.Generator().manual_seed(3))._seed
G.traverse_dps(3)
list(I.Sampler(dp)), len(I.Sampler(dp)), list(dp.batch(3).collate()), list(dp.batch(3).collate(collate_fn=sum))
len(I.IterableWrapper(iter([1])).batch(2))
list(I.IterableWrapper(iter([1])))
list(m), m[-1], len(m), list(m.map(ord)), list(m.batch(2)), list(m.zip(m.map(ord)))[1], list(m.concat(m))[5:], len(m.batch(2, True))
m.batch(2)[7]
m.zip(M.SequenceWrapper([1]))[3]
m.concat(m)[10]
torch.manual_seed(1) and None, list(m.shuffle()), list(m.shuffle().set_seed(0)), list(m.shuffle(indices=[0, 2]).set_shuffle(False))
D.DataChunk("ab"), D.DataChunk("ab").as_str("> "), list(D.DataChunk("ab").raw_iterator())
D.functional_datapipe("map")(type(dp))
D.non_deterministic(3)
list(D.DataLoader(dp, batch_size=4)), len(D.DataLoader(dp, batch_size=4)), repr(D.DataLoader(m).dataset)
torch.manual_seed(0) and 1, [list(D.DataLoader(dp.shuffle(), batch_size=4, shuffle=s)) for s in (None, True, False)], torch.rand(1).item()
len(D.DataLoader(dp.filter(even)))
list(D.DataLoader(dp, batch_size=None, shuffle=True))
D.DataLoader(dp, sampler=[1])
list(I.FileLister(FILES, "*.txt")), list(I.FileLister([FILES], recursive=True)), list(I.FileOpener([FILES + "/a.txt"]).read_from_stream(3))
I.FileOpener(["a"], mode="w")
list(I.FileOpener([FILES + "/b.json", FILES + "/sub/c.cls"], mode="b").routed_decode())
""".strip().splitlines()
WITH_WORKERS = """
torch.manual_seed(0) and None, list(L(dp.shuffle().sharding_filter())), list(L(dp.map(whoami))), torch.rand(1).item()
torch.manual_seed(0) and None, after(L(dp.shuffle().sharding_filter(), persistent_workers=True), list, list, list)
list(L(dp.sharding_filter().sharding_filter()))
""".strip().splitlines()


def answer(torch, expression, folder):
    """What an expression answers or raises, and the warnings, as one text."""
    D = torch.utils.data
    names = dict(globals(), torch=torch, D=D, I=D.datapipes.iter, M=D.datapipes.map, G=D.graph, S=D.graph_settings, FILES=str(folder),
                 L=functools.partial(D.DataLoader, batch_size=None, num_workers=2, multiprocessing_context="fork"))
    names.update(dp=names["I"].IterableWrapper(range(6)), m=names["M"].SequenceWrapper(list("abcde")))
    globals()["LIBRARY"] = torch
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            text = repr(eval(expression, names))
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).partition('Original')[0]}"
    said = "".join(f" [{w.category.__name__}: {w.message}]" for w in seen if "fork()" not in str(w.message))
    return re.sub("0x[0-9a-f]+", "0x", text + said).replace(str(folder), "FILES").replace("jtensor.", "torch.")


def write_files(folder):
    (folder / "sub").mkdir(exist_ok=True)
    for name, text in {"a.txt": "hello", "b.json": '{"k": [1]}', "sub/c.cls": "7"}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("expression", CASES)
def test_as_stored_and_as_pytorch_answers(expression, files):
    ours = answer(importlib.import_module("jtensor"), expression, files)
    assert ours == json.loads(STORED.read_text())[expression]
    if "torch" in sys.modules or importlib.util.find_spec("torch"):
        assert ours == answer(importlib.import_module("torch"), expression, files)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the workers here are forked")
@pytest.mark.parametrize("expression", WITH_WORKERS)
def test_workers(expression, files):
    assert answer(importlib.import_module("jtensor"), expression, files) == json.loads(STORED.read_text())[expression]


def test_frames_are_refused():
    import jtensor as torch
    from jtensor.base.errors import MissingFeature
    D = torch.utils.data

    class Frames(D.DFIterDataPipe):
        def __iter__(self):
            yield from range(3)

    assert list(Frames()) == [0, 1, 2] and isinstance(Frames(), D.IterDataPipe)
    for function in (lambda: Frames().batch(2), lambda: Frames().trace_as_dataframe(), lambda: D.datapipes.dataframe.CaptureDataFrame(),
                     lambda: list(D.datapipes.iter.IterableWrapper([[1]]).collate({"a": double}))):
        with pytest.raises(MissingFeature, match="data frame"):
            function()


def test_a_pipe_goes_on_where_another_stood():
    from jtensor.utils.data.datapipes.iter import IterableWrapper
    from jtensor.utils.data.datapipes.utils.snapshot import _simple_graph_snapshot_restoration as restore
    pipe = IterableWrapper(range(6)).map(double)
    stopped = iter(pipe)
    assert [next(stopped), next(stopped)] == [0, 2]
    again = pickle.loads(pickle.dumps(pipe))
    restore(again, again._number_of_samples_yielded)
    with pytest.raises(RuntimeError, match="has not been restored"):
        restore(again, 1)
    assert list(again) == [4, 6, 8, 10] and list(again) == [0, 2, 4, 6, 8, 10]


def test_a_loader_loads_no_pipes_for_those_who_have_none():
    code = ("import sys, jtensor as torch\nD = torch.utils.data\nassert list(D.DataLoader(range(2)))\n"
            "assert not any('datapipes' in name or 'graph_settings' in name for name in sys.modules)\nD.IterDataPipe\n"
            "assert 'jtensor.utils.data.datapipes.iter' in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    import tempfile

    import torch
    with tempfile.TemporaryDirectory() as name:
        folder = write_files(Path(name))
        STORED.write_text(json.dumps({case: answer(torch, case, folder) for case in CASES + WITH_WORKERS}, indent=0) + "\n")
