"""Logs for TensorBoard: what is in the files is what PyTorch's writer puts there. Needs the package ``tensorboard``, but for one test."""
import glob
import importlib
import os
import sys

import numpy as np
import pytest

import jtensor


def test_without_the_package_its_absence_is_what_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="tensorboard"):
        from jtensor.utils.tensorboard import SummaryWriter  # noqa: F401


def log(name, folder):
    """Writes some of everything; answers what was refused."""
    torch, refused = importlib.import_module(name), []
    writer = importlib.import_module(name + ".utils.tensorboard").SummaryWriter(folder, purge_step=2)
    with writer as w:
        w.add_scalar("a/b", 1.5, 3, walltime=7.0)
        w.add_scalar("tensor", torch.tensor(2.5, requires_grad=True), 1)
        w.add_scalar("new", np.float32(2), 2, new_style=True)
        w.add_scalar("double", 0.1, 2, new_style=True, double_precision=True)
        w.add_scalars("main", {"x": 1.0, "y": torch.tensor(2.0)}, 4)
        w.add_histogram("h", torch.arange(10.0), 1)
        w.add_histogram("five", np.array([1.0, 2, 2, 3, 9]), 1, bins=5)
        w.add_histogram("most", torch.arange(100.0).bfloat16(), 1, max_bins=10)
        w.add_histogram_raw("raw", 0, 1, 2, 3.0, 4.0, [1.0, 2.0], [1, 1], 3)
        w.add_text("text", "hello *x*", 2)
        w.add_tensor("numbers", torch.arange(3.0), 1)
        w.add_pr_curve("pr", torch.tensor([0, 1, 1, 0]), torch.tensor([0.1, 0.8, 0.6, 0.7]), 1, num_thresholds=5)
        w.add_audio("sound", torch.linspace(-1, 1, 100).view(1, 100), 1, sample_rate=8000)
        w.add_custom_scalars({"one": {"two": ["Multiline", ["a", "b"]]}, "three": {"four": ["Margin", ["a", "b", "c"]]}})
        w.add_hparams({"lr": 0.1, "b": True, "s": "x", "n": 3}, {"acc": 0.5}, run_name="hp")
        w.add_embedding(torch.arange(6.0).view(3, 2), metadata=["a", "b", "c"], global_step=1, tag="emb")
        for call in (lambda: w.add_scalar("x", torch.ones(2)), lambda: w.add_scalar("x", "text"), lambda: w.add_scalar("x", None),
                     lambda: w.add_histogram("x", torch.ones(0)), lambda: w.add_hparams(1, {}), lambda: w.add_histogram("x", "abc")):
            with pytest.raises(Exception) as error:
                call()
            refused.append((type(error.value).__name__, str(error.value)))
    return refused


def found(folder):
    """{file: its events, or its text}, without times."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
    files = {}
    for path in glob.glob(os.path.join(folder, "**", "*"), recursive=True):
        place = os.path.relpath(path, folder)
        if "events" in place:
            events = list(LegacyEventFileLoader(path).Load())
            for event in events:
                event.wall_time *= event.wall_time == 7.0
            files[os.path.dirname(place)] = [str(event) for event in events]
        elif os.path.isfile(path):
            with open(path, encoding="utf-8") as text:
                files[place] = text.read()
    return files


def test_the_files_are_pytorchs(tmp_path):
    pytest.importorskip("tensorboard", reason="it is no dependency")
    pytest.importorskip("torch")
    said = log("torch", str(tmp_path / "torch"))
    assert log("jtensor", str(tmp_path / "jtensor")) == said and len(said) == 6
    theirs, ours = found(tmp_path / "torch"), found(tmp_path / "jtensor")
    assert ours == theirs and len(theirs) == 7 and len(theirs[""]) > 15


def test_pictures_are_pytorchs(tmp_path):
    pytest.importorskip("tensorboard", reason="it is no dependency")
    pytest.importorskip("PIL", reason="it is no dependency")
    torch = pytest.importorskip("torch")
    for library in (torch, jtensor):
        writer = importlib.import_module(library.__name__ + ".utils.tensorboard").SummaryWriter(str(tmp_path / library.__name__))
        with writer as w:
            w.add_image("chw", library.linspace(0, 1, 48).view(3, 4, 4), 1)
            w.add_image("hw", np.arange(16, dtype=np.uint8).reshape(4, 4), 1, dataformats="HW")
            w.add_image("hwc", library.zeros(4, 4, 1), 1, dataformats="HWC")
            w.add_images("many", library.linspace(0, 1, 480).view(10, 3, 4, 4), 1)
            with pytest.raises(AssertionError, match="size of input tensor and input format are different"):
                w.add_image("wrong", library.zeros(2, 3))
    assert found(tmp_path / "jtensor") == found(tmp_path / "torch")


def test_what_is_not_there_says_so(tmp_path):
    pytest.importorskip("tensorboard", reason="it is no dependency")
    from jtensor.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(tmp_path)) as writer, pytest.raises(NotImplementedError, match="print"):
        writer.add_graph(jtensor.nn.Linear(2, 2), jtensor.ones(2))
